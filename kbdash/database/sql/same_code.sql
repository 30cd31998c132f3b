-- The same code of the same user on two runners: how do the machines compare?
-- $competition, $problem, $runner (null: all pairs; else those with it), $since, $until, $flagged
-- $facets (null, or a bitmap of the rows of the file that hold them)
-- scores in seconds (lowest per code and runner); ratio = score_b / score_a.
with codes as (
    select user_id, coalesce(arg_max(user_name, submitted_at), any_value(user_name)) as user_name, code_id, runner,
        min(score) as score
    from entries($competition, $problem, null, $since, $until, $flagged, held := $facets)
    where eligible
    group by user_id, code_id, runner
)
select a.user_id, a.user_name, a.code_id, a.runner as runner_a, b.runner as runner_b,
    a.score as score_a, b.score as score_b, b.score / a.score as ratio
from codes a
join codes b on b.user_id = a.user_id and b.code_id = a.code_id and b.runner > a.runner
where $runner is null or $runner in (a.runner, b.runner)
order by a.runner, b.runner, a.score, a.user_id, a.code_id
limit 2000
