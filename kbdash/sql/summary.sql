-- The numbers above a board: one row per runner.
-- $competition, $problem, $runner, $since, $until, $flagged
-- users = users with a ranked score; median_best = median of each user's best; times in seconds, impossible ones left aside.
with rows as (
    select runner, count(*) as rows, count(*) filter (counts) as passed,
        min(submitted_at) as first_at, max(submitted_at) as last_at
    from entries($competition, $problem, $runner, $since, $until)
    group by runner
),
bests as (
    select runner, count(*) as users,
        min(score) filter (not impossible) as best,
        median(score) filter (not impossible) as median_best
    from bests($competition, $problem, $runner, $since, $until, $flagged)
    group by runner
)
select
    r.runner, r.rows, r.passed, coalesce(b.users, 0) as users, b.best, b.median_best, r.first_at, r.last_at,
    coalesce((select sum(rows) from rows where runner is null), 0)::bigint as rows_without_runner
from rows r left join bests b on b.runner = r.runner
where r.runner is not null
order by b.best nulls last, r.runner
