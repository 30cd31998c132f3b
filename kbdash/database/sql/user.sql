-- One person on every board of a competition: rank, best, how many tries.
-- $competition, $user, $order (null, or a column; "-" before it: descending).
-- score, best in seconds; ratio = score / best of the board and runner. rank is null without a score.
with field as materialized (from ranking($competition, null, null, null, null, true)),
sizes as (
    select problem, runner, count(*) as "of", min(score) filter (not impossible) as best
    from field group by problem, runner
),
attempts as (
    select problem, runner, any_value(leaderboard_id) as leaderboard_id,
        coalesce(arg_max(user_name, submitted_at), any_value(user_name)) as user_name,
        count(*) as submissions, count(*) filter (counts) as passed,
        min(submitted_at) as first_at, max(submitted_at) as last_at
    from counted($competition) where user_id = $user
    group by problem, runner
)
select
    $competition as competition, a.problem, a.leaderboard_id, a.runner, a.user_name, f.rank, s."of", f.score, s.best,
    f.ratio, a.submissions, a.passed, a.first_at, a.last_at, f.submission_id,
    coalesce(f.flags, '') as flags
from attempts a
left join field f on f.problem = a.problem and f.runner = a.runner and f.user_id = $user
left join sizes s on s.problem = a.problem and s.runner = a.runner
order by
    turned(case ltrim($order, '-') when 'rank' then f.rank when 'of' then s."of" when 'score' then f.score
        when 'ratio' then f.ratio when 'submissions' then a.submissions when 'first_at' then epoch(a.first_at)
        when 'last_at' then epoch(a.last_at) end, $order) nulls last,
    case $order when 'problem' then lower(a.problem) when 'runner' then lower(a.runner) end nulls last,
    case $order when '-problem' then lower(a.problem) when '-runner' then lower(a.runner) end desc nulls last,
    a.leaderboard_id, a.problem, a.runner nulls last
