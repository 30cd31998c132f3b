-- Where does a person stand in the field of each board? Everybody's ratio to the best, for every board with a rank.
-- $competition, $user. ratios has the first ten and an even sample of about 150 others; times in seconds.
with field as materialized (
    from ranking($competition, null, null, null, null, true) where not impossible
),
mine as (select problem, runner from field where user_id = $user),
placed as (
    select f.*,
        row_number() over (partition by f.problem, f.runner order by score, user_id) as place,
        count(*) over (partition by f.problem, f.runner) as users
    from field f join mine m on m.problem = f.problem and m.runner = f.runner
)
select
    $competition as competition, problem, runner, any_value(users) as users,
    min(score) as best,
    list(ratio order by place) filter (place <= 10 or place % ceil(users / 150)::bigint = 0) as ratios,
    max(ratio) as slowest,
    any_value(user_name) filter (user_id = $user) as user_name,
    any_value(rank) filter (user_id = $user) as rank,
    any_value(score) filter (user_id = $user) as score,
    any_value(submission_id) filter (user_id = $user) as submission_id
from placed
group by problem, runner
order by problem, runner
