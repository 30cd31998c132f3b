-- What did its user do on a board before a submission? Number of tries, and the best of them on the same runner.
-- $competition, $problem, $runner, $user, $id, $at. best in seconds; of equal times, the first.
with earlier as (
    select submission_id, submitted_at, score, runner = $runner and eligible as eligible
    from entries($competition, $problem, $runner, null, null, true)
    where user_id = $user and (submitted_at, submission_id) < ($at::timestamptz, $id)
)
select
    count(distinct submission_id) as attempts,
    min(score) filter (eligible) as best,
    arg_min(submission_id, (score, submitted_at, submission_id)) filter (eligible) as best_id
from earlier
