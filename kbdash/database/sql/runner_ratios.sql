-- Is it the code or the machine? Times on one runner against another, for the same code and for each user's bests.
-- $competition, $problem, $runner (null: all pairs; else those with it), $since, $until, $flagged
-- $facets (null, or a bitmap of the rows of the file that hold them)
-- ratio = median of time on runner_b / time on runner_a over `pairs` pairs; low and high are the quartiles;
-- ratios is an even sample of at most about 150 of them.
with codes as (
    select user_id, code_id, runner, min(score) as score
    from entries($competition, $problem, null, $since, $until, $flagged, held := $facets)
    where eligible
    group by all
),
people as (
    select user_id, runner, score
    from bests($competition, $problem, null, $since, $until, $flagged, held := $facets) where not impossible
),
compared as (
    select 'same code' as kind, a.runner as runner_a, b.runner as runner_b, b.score / a.score as ratio
    from codes a join codes b on b.user_id = a.user_id and b.code_id = a.code_id and b.runner <> a.runner
    union all
    select 'same user best', a.runner, b.runner, b.score / a.score
    from people a join people b on b.user_id = a.user_id and b.runner <> a.runner
),
placed as (
    select *,
        row_number() over (partition by kind, runner_a, runner_b order by ratio) as place,
        count(*) over (partition by kind, runner_a, runner_b) as pairs
    from compared
    where $runner is null or $runner in (runner_a, runner_b)
)
select
    kind, runner_a, runner_b, any_value(pairs) as pairs, median(ratio) as ratio,
    quantile_cont(ratio, 0.25) as low, quantile_cont(ratio, 0.75) as high,
    list(ratio order by place) filter (place % ceil(pairs / 150)::bigint = 0 or place = 1) as ratios
from placed
group by kind, runner_a, runner_b
order by kind, runner_a, runner_b
