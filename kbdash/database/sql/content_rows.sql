-- Every submission of a competition and its row in the file, for the questions about all source texts.
-- $competition
-- at = submitted_at in microseconds; ranked = may be a user's best.
select
    file_row, submission_id, problem, runner, user_id, user_name, submitted_at, epoch_us(submitted_at) as at, passed,
    score, eligible as ranked
from counted($competition)
