-- Who held the record, since when, by how much, for how long?
-- $competition, $problem, $runner, $since, $until, $flagged
-- score, previous in seconds; gain = share of the previous record saved; until_at null = still standing.
with scored as (
    select runner, user_id, user_name, submission_id, submitted_at, score,
        min(score) over (partition by runner order by submitted_at, score, submission_id
            rows between unbounded preceding and 1 preceding) as previous
    from entries($competition, $problem, $runner, $since, $until)
    where counts and not impossible and runner is not null and ($flagged or flags = '')
),
records as (
    select *, lead(submitted_at) over (partition by runner order by submitted_at, score desc) as until_at
    from scored where previous is null or score < previous
),
ends as (
    select max(submitted_at) as last_at from entries($competition, $problem, $runner, $since, $until)
)
select
    runner, user_name, user_id, submission_id, submitted_at, score, previous,
    (previous - score) / previous as gain,
    epoch(coalesce(until_at, ends.last_at) - submitted_at) / 86400 as held_days,
    until_at
from records, ends
order by runner, submitted_at, score desc
