-- Which share of the users is at least this fast? Per runner, at most $points steps, first and last included.
-- $competition, $problem, $runner, $since, $until, $flagged, $points,
-- $facets (null, or a bitmap of the rows of the file that hold them)
-- score in seconds (each user's best, impossible ones excluded); share between 0 and 1.
with placed as (
    select runner, score,
        row_number() over (partition by runner order by score) as place,
        count(*) over (partition by runner order by score) as at_least_as_fast,
        count(*) over (partition by runner) as users
    from bests($competition, $problem, $runner, $since, $until, $flagged, held := $facets)
    where not impossible
)
select runner, score, max(at_least_as_fast / users) as share
from placed
where place = 1 or place = users or place % greatest(1, ceil(users / $points)::int) = 0
group by runner, score
order by runner, score
