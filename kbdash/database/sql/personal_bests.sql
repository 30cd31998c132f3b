-- How did everybody get faster? Every new personal best of every user, per runner in time order.
-- $competition, $problem, $runner, $since, $until, $flagged
-- $facets (null, or a bitmap of the rows of the file that hold them)
-- score and previous (the user's best before, null at first) in seconds. Ties in time go by id.
with scored as (
    select user_id, user_name, runner, submission_id, submitted_at, score,
        min(score) over (partition by runner, user_id order by submitted_at, submission_id
            rows between unbounded preceding and 1 preceding) as previous
    from entries($competition, $problem, $runner, $since, $until, $flagged, held := $facets)
    where eligible
)
select user_id, user_name, runner, submission_id, submitted_at, score, previous
from scored
where previous is null or score < previous
order by runner, submitted_at, submission_id
