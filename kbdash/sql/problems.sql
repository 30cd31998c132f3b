-- What is there? One row per problem and runner; runner is null for submissions that never ran.
-- $competition. best in seconds, impossible scores left aside.
select
    competition, problem, any_value(leaderboard_id) as leaderboard_id, runner,
    count(*) as rows,
    count(*) filter (counts) as passed,
    count(distinct user_id) as users,
    min(score) filter (counts and not impossible) as best,
    min(submitted_at) as first_at,
    max(submitted_at) as last_at
from judged($competition)
group by competition, problem, runner
order by competition, leaderboard_id, problem, runner nulls last
