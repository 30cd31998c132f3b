-- The state of every problem: how much, how fast, who, when. One row per problem.
-- $competition, $order (null, or a column; "-" before it: descending). best is the lowest score that is not impossible, on any runner (seconds).
-- trend: the record on the best's runner at the end of each of at most 40 equal steps from first to last score.
-- Two scans of a few columns each, because a single one would keep every row in memory.
with totals as materialized (
    select
        problem,
        any_value(leaderboard_id) as leaderboard_id,
        count(*) as rows,
        count(*) filter (counts) as passed,
        count(distinct user_id) filter (counts) as users,
        count(*) filter (runner is null) as rows_without_runner,
        min(submitted_at) as first_at,
        max(submitted_at) as last_at,
        list(distinct runner order by runner) filter (runner is not null) as runners,
        arg_min(
            {score: score, user_name: user_name, user_id: user_id, runner: runner, submission_id: submission_id,
             flags: flags},
            (score, submitted_at, submission_id, runner)
        ) filter (eligible) as best
    from judged($competition)
    group by problem
),
scored as materialized (
    select e.problem, epoch(e.submitted_at) as seconds, e.score
    from counted($competition) e join totals t on t.problem = e.problem and t.best.runner = e.runner
    where e.eligible
),
spans as (select problem, min(seconds) as first, max(seconds) as last from scored group by problem),
stepped as (
    select
        r.problem,
        least(39, floor(40 * (r.seconds - s.first) / greatest(s.last - s.first, 1)))::int as step,
        min(r.score) as score
    from scored r join spans s on s.problem = r.problem
    group by all
),
running as (select problem, step, min(score) over (partition by problem order by step) as score from stepped),
trends as (select problem, list(score order by step) as trend from running group by problem)
select
    $competition as competition, t.problem, t.leaderboard_id, t.rows, t.passed, t.users,
    t.best.score as best, t.best.user_name as best_user_name, t.best.user_id as best_user_id,
    t.best.runner as best_runner, t.best.submission_id as best_submission_id,
    t.first_at, t.last_at, coalesce(t.runners, []) as runners, coalesce(r.trend, []) as trend,
    t.rows_without_runner, pass_rate(t.passed, t.rows - t.rows_without_runner) as pass_rate,
    coalesce(t.best.flags, '') as best_flags
from totals t
left join trends r on r.problem = t.problem
order by
    turned(case ltrim($order, '-') when 'best' then t.best.score when 'users' then t.users when 'rows' then t.rows
        when 'pass_rate' then pass_rate(t.passed, t.rows - t.rows_without_runner)
        when 'first_at' then epoch(t.first_at) when 'last_at' then epoch(t.last_at) end, $order) nulls last,
    case $order when 'problem' then lower(t.problem) when 'best_user_name' then lower(t.best.user_name) end nulls last,
    case $order when '-problem' then lower(t.problem) when '-best_user_name' then lower(t.best.user_name) end desc
        nulls last,
    t.leaderboard_id, t.problem
