-- When was each problem worked on? Submissions a week (UTC, from Monday), and when the standing record was set.
-- $competition. record_at is that of the problem's best time on any runner; null without one.
with weeks as (
    select problem, any_value(leaderboard_id) as leaderboard_id, date_trunc('week', submitted_at)::date as week,
        count(*) as submissions
    from judged($competition)
    group by problem, week
),
standing as (
    select problem, arg_min(
        {moment: submitted_at, user_id: user_id, user_name: user_name, submission_id: submission_id, runner: runner, score: score},
        (score, submitted_at, submission_id, runner)) as best
    from judged($competition)
    where eligible
    group by problem
)
select
    $competition as competition, w.problem, w.leaderboard_id, w.week, w.submissions,
    s.best.moment as record_at, s.best.user_id as user_id, s.best.user_name as user_name,
    s.best.submission_id as submission_id, s.best.runner as runner, s.best.score as score
from weeks w left join standing s on s.problem = w.problem
order by w.leaderboard_id, w.problem, w.week
