-- The numbers above a board: one row per runner.
-- $competition, $problem, $runner, $since, $until, $flagged
-- $facets (null, or a bitmap of the rows of the file that hold them)
-- users = users with a ranked score; median_best = median of each user's best; times in seconds, impossible ones excluded.
with people as materialized (from tried($competition, $problem, $runner, $since, $until, $flagged, held := $facets))
select
    runner,
    sum(tries)::bigint as rows,
    sum(passes)::bigint as passed,
    count(best) as users,
    min(best.score) filter (not best.impossible) as best,
    median(best.score) filter (not best.impossible) as median_best,
    min(first_at) as first_at,
    max(last_at) as last_at,
    coalesce((select sum(tries) from people where runner is null), 0)::bigint as rows_without_runner,
    pass_rate(sum(passes), sum(tries)) as pass_rate
from people
where runner is not null
group by runner
order by min(best.score) filter (not best.impossible) nulls last, runner
