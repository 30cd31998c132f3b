-- What is there? One row per problem and runner; runner is null for submissions that never ran.
-- $competition. best in seconds, impossible scores excluded.
select
    competition, problem, any_value(leaderboard_id) as leaderboard_id, runner,
    count(*) as rows,
    count(*) filter (counts) as passed,
    count(distinct user_id) filter (counts) as users,
    min(score) filter (eligible) as best,
    min(submitted_at) as first_at,
    max(submitted_at) as last_at,
    pass_rate(count(*) filter (counts), count(*) filter (runner is not null)) as pass_rate
from counted($competition)
group by competition, problem, runner
order by competition, leaderboard_id, problem, runner nulls last
