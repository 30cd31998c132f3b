-- How many submissions a day, and how did they end? UTC days; a day without any has no row.
-- $competition, $problem, $runner, $since, $until, $flagged
-- $facets (null, or a bitmap of the rows of the file that hold them)
-- A submission that ran on several runners is one row per runner.
select
    submitted_at::date as day, coalesce(status, 'unknown') as status,
    count(*) as rows, count(*) filter (counts) as passed
from entries($competition, $problem, $runner, $since, $until, $flagged, held := $facets)
group by all
order by day, status
