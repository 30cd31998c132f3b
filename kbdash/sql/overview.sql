-- The state of every problem: how much, how fast, who, when. One row per problem.
-- $competition. best is the lowest score that is not impossible, on any runner (seconds).
-- trend: the record on the best's runner at the end of each of at most 40 equal steps from first to last score.
with entries as materialized (
    select problem, leaderboard_id, user_id, user_name, runner, submission_id, submitted_at, score, counts, impossible
    from judged($competition)
),
totals as (
    select
        problem,
        any_value(leaderboard_id) as leaderboard_id,
        count(*) as rows,
        count(*) filter (counts) as passed,
        count(distinct user_id) as users,
        min(submitted_at) as first_at,
        max(submitted_at) as last_at,
        list(distinct runner order by runner) filter (runner is not null) as runners
    from entries group by problem
),
best as (
    select problem, unnest(arg_min(
        {best: score, best_user_name: user_name, best_user_id: user_id, best_runner: runner,
         best_submission_id: submission_id},
        (score, submitted_at, submission_id)))
    from entries where counts and not impossible
    group by problem
),
record_steps as (
    select e.problem, epoch(e.submitted_at) as seconds, e.score
    from entries e join best b on b.problem = e.problem and b.best_runner = e.runner
    where e.counts and not e.impossible
),
spans as (select problem, min(seconds) as first, max(seconds) as last from record_steps group by problem),
stepped as (
    select r.problem, least(39, floor(40 * (r.seconds - s.first) / greatest(s.last - s.first, 1)))::int as step, min(r.score) as score
    from record_steps r join spans s on s.problem = r.problem
    group by all
),
running as (select problem, step, min(score) over (partition by problem order by step) as score from stepped),
trends as (select problem, list(score order by step) as trend from running group by problem)
select
    $competition as competition, t.problem, t.leaderboard_id, t.rows, t.passed, t.users,
    b.best, b.best_user_name, b.best_user_id, b.best_runner, b.best_submission_id,
    t.first_at, t.last_at, coalesce(t.runners, []) as runners, coalesce(r.trend, []) as trend
from totals t
left join best b on b.problem = t.problem
left join trends r on r.problem = t.problem
order by t.leaderboard_id, t.problem
