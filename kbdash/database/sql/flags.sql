-- Why should a time be doubted? One row per submission, runner and kind of flag.
-- $competition, $problem (null: all)
select competition, problem, submission_id, runner, flag.kind as kind, flag.reason as reason, flag.source as source
from (
    select competition, problem, submission_id, runner, file_row, unnest(flag_rows) as flag
    from judged($competition)
    where flagged and ($problem is null or problem = $problem)
)
order by problem, submission_id, runner, file_row, kind, reason
