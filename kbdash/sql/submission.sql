-- The submission with this id, once per competition and runner.
-- $competition, $id, $runner (null: any)
select
    competition, file, file_row, submission_id, leaderboard_id, problem, user_id, user_name, code_id, file_name,
    submitted_at, status, mode, passed, score, runner, flags, counts, impossible
from judged($competition)
where submission_id = $id and ($runner is null or runner = $runner)
order by runner nulls last
limit 20
