-- How many submissions a day, how did they end, how many passed? UTC days (weeks when there are more than 200 days).
-- $competition, $problem, $runner, $since, $until
with rows as (
    select submitted_at, coalesce(status, 'unknown') as status, coalesce(passed, false) as passed
    from entries($competition, $problem, $runner, $since, $until)
),
span as (select date_diff('day', min(submitted_at), max(submitted_at)) > 200 as long from rows)
select
    date_trunc(case when long then 'week' else 'day' end, submitted_at)::date as day,
    status, count(*) as rows, count(*) filter (passed) as passed
from rows, span
group by all
order by day, status
