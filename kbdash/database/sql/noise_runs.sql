-- The ranked runs of a board, where the file has a row per run: several of one submission differ by noise alone.
-- $competition, $problem, $runner (null: all)
select submission_id, runner, score
from runs_of($competition)
where problem = $problem and ($runner is null or runner = $runner) and ranked
order by file_row
