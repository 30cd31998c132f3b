-- The same code of the same user on two runners: how do the machines compare?
-- $competition, $problem, $since, $until, $flagged
-- scores in seconds (lowest per code and runner); ratio = score_b / score_a.
with codes as (
    select user_id, any_value(user_name) as user_name, code_id, runner, min(score) as score
    from entries($competition, $problem, null, $since, $until)
    where counts and not impossible and runner is not null and ($flagged or flags = '')
    group by user_id, code_id, runner
)
select a.user_id, a.user_name, a.code_id, a.runner as runner_a, b.runner as runner_b,
    a.score as score_a, b.score as score_b, b.score / a.score as ratio
from codes a
join codes b on b.user_id = a.user_id and b.code_id = a.code_id and b.runner > a.runner
order by a.runner, b.runner, a.score
limit 2000
