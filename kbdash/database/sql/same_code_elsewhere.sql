-- The same source text in other submissions: by others, on other boards, on other runners. Fastest first per board.
-- $competition (where to look), $code_id, $submission_id, $home, $runner (of the submission that is asked about), $limit
select competition, problem, runner, submission_id, user_name, user_id, submitted_at, score
from submissions_of($competition)
where code_id = $code_id
    and not (competition = $home and submission_id = $submission_id and runner is not distinct from $runner)
order by competition <> $home, competition, problem, score nulls last, submission_id, runner
limit $limit
