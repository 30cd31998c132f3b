-- Where would a time stand? Rank among the users' bests of one runner.
-- $competition, $problem, $runner, $since, $until, $flagged, $score (seconds)
select
    count(*) filter (not impossible and score < $score) + 1 as rank,
    count(*) as "of",
    count(*) filter (impossible or score > $score) as slower,
    count(*) filter (not impossible and score = $score) as ties
from bests($competition, $problem, $runner, $since, $until, $flagged)
