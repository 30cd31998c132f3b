-- Who is fastest on a problem? One row per user and runner, best first.
-- $competition, $problem, $runner (null: every runner by itself), $since, $until (UTC days), $flagged, $top (null: all)
-- score and gap in seconds; gap = behind the previous rank; ratio = score / best of the runner.
-- submissions = the user's submissions on that runner, and those that never got to run anywhere.
select rank, user_name, user_id, runner, score, gap, ratio, submission_id, submitted_at, submissions, flags
from ranking($competition, $problem, $runner, $since, $until, $flagged)
where $top is null or rank <= $top
order by runner, rank, submitted_at, user_id
