-- Each new personal best of one user on one board and runner.
-- $competition, $problem, $runner, $since, $until, $flagged, $user
-- $facets (null, or a bitmap of the rows of the file that hold them)
-- score in seconds; gain = share saved against the last best; waited_us (microseconds) since it; attempts since it, this one included.
with attempts as (
    select submission_id, runner, submitted_at, score,
        eligible and ($flagged or not flagged) as eligible
    from entries($competition, $problem, $runner, $since, $until, true, held := $facets)
    where user_id = $user
),
numbered as (
    select *, row_number() over (order by submitted_at, submission_id, runner) as attempt,
        min(case when eligible then score end) over (order by submitted_at, submission_id, runner
            rows between unbounded preceding and 1 preceding) as previous
    from attempts
),
climbs as (
    select * from numbered where eligible and (previous is null or score < previous)
)
select
    row_number() over w as step, submission_id, runner, submitted_at, score, previous,
    (previous - score) / previous as gain,
    epoch_us(submitted_at) - lag(epoch_us(submitted_at)) over w as waited_us,
    attempt - coalesce(lag(attempt) over w, 0) as attempts
from climbs
window w as (order by submitted_at, submission_id, runner)
order by step
limit 500
