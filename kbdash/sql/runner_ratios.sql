-- How much faster is one runner than another, for the same code and for the same user's bests?
-- $competition, $problem, $since, $until, $flagged
-- ratio = median of time on runner_b / time on runner_a; pairs = how many it rests on.
with codes as (
    select user_id, code_id, runner, min(score) as score
    from entries($competition, $problem, null, $since, $until)
    where counts and not impossible and runner is not null and ($flagged or flags = '')
    group by all
),
people as (
    select user_id, runner, score
    from bests($competition, $problem, null, $since, $until, $flagged) where not impossible
)
select 'same code' as kind, a.runner as runner_a, b.runner as runner_b, count(*) as pairs, median(b.score / a.score) as ratio
from codes a join codes b on b.user_id = a.user_id and b.code_id = a.code_id and b.runner <> a.runner
group by all
union all
select 'same user best', a.runner, b.runner, count(*), median(b.score / a.score)
from people a join people b on b.user_id = a.user_id and b.runner <> a.runner
group by all
order by kind, runner_a, runner_b
