-- Where one submission stands: its user's rank, the field's best, and how many tries came before it.
-- $competition, $problem, $runner, $user, $id, $at
with field as (
    select
        any_value({rank: rank, submission_id: submission_id, score: score}) filter (user_id = $user) as mine,
        {users: count(*), best: min(score) filter (not impossible)} as field
    from ranking($competition, $problem, $runner, null, null, true)
    where runner = $runner
),
earlier as (
    select
        count(distinct submission_id) as attempts_before,
        min(score) filter (runner = $runner and counts and not impossible) as best_before
    from entries($competition, $problem, $runner, null, null)
    where user_id = $user and (submitted_at, submission_id) < ($at::timestamptz, $id)
)
select mine, field, attempts_before, best_before from field, earlier
