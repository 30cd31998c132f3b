-- Where would a time stand? Rank among the users' bests of one runner.
-- $competition, $problem, $runner, $since, $until, $flagged, $score (seconds)
-- $facets (null, or a bitmap of the rows of the file that hold them)
select
    count(*) filter (not impossible and score < $score) + 1 as rank,
    count(*) as "of",
    coalesce(count(*) filter (impossible or score > $score) / nullif(count(*), 0), 0) as faster_than,
    count(*) filter (not impossible and score = $score) as ties
from bests($competition, $problem, $runner, $since, $until, $flagged, held := $facets)
