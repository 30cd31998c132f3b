-- The submission with this id, once per competition and runner.
-- $competition, $submission_id, $runner (null: any)
-- Of several rows with the same id and runner in a file, the one the ranking takes; copies = how many there are.
select
    competition, file, file_row, submission_id, leaderboard_id, problem, user_id, user_name, code_id, file_name,
    submitted_at, status, mode, passed, score, runner, flags, counts, impossible, eligible,
    count(*) over (partition by runner) as copies
from judged($competition)
where submission_id = $submission_id and ($runner is null or runner = $runner)
qualify row_number() over (partition by runner order by not eligible, score, submitted_at, file_row) = 1
order by runner nulls last
limit 20
