-- The numbers above a board: one row per runner.
-- $competition, $problem, $runner, $since, $until, $flagged
-- users = users with a ranked score; median_best = median of each user's best; times in seconds, impossible ones left aside.
with people as materialized (from tried($competition, $problem, $runner, $since, $until, $flagged))
select
    runner,
    sum(tries)::bigint as rows,
    sum(passes)::bigint as passed,
    count(best) as users,
    min(best.score) filter (not best.impossible) as best,
    median(best.score) filter (not best.impossible) as median_best,
    min(first_at) as first_at,
    max(last_at) as last_at,
    coalesce((select sum(tries) from people where runner is null), 0)::bigint as rows_without_runner
from people
where runner is not null
group by runner
order by min(best.score) filter (not best.impossible) nulls last, runner
