-- How close is it at the top? The first ranks of every problem, on the runner of its best time.
-- $competition. Scores in seconds; median = median of each user's best; second, third, tenth null where nobody is.
-- user_ids, user_names, submission_ids: of the first three.
with field as materialized (
    from ranking($competition, null, null, null, null, true) where not impossible
),
fastest as (select problem, arg_min(runner, (score, submitted_at, submission_id, runner)) as runner from field group by problem),
placed as (
    select f.*, row_number() over (partition by f.problem order by score, submitted_at, submission_id) as place
    from field f join fastest b on b.problem = f.problem and b.runner = f.runner
)
select
    $competition as competition, problem, any_value(runner) as runner,
    count(*) as users,
    median(score) as median,
    min(score) as best,
    any_value(score) filter (place = 2) as second,
    any_value(score) filter (place = 3) as third,
    any_value(score) filter (place = 10) as tenth,
    list(user_id order by place) filter (place <= 3) as user_ids,
    list(user_name order by place) filter (place <= 3) as user_names,
    list(submission_id::varchar order by place) filter (place <= 3) as submission_ids
from placed
group by problem
order by problem
