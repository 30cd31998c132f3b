-- One AMD legacy file (a row per run) as canonical rows: one row per (submission, runner).
-- A submission's score is its lowest passing ranked run; its mode is the furthest stage it reached.
-- Filled in by kbdash.database.competition_views: {view}, {runs}, {competition}, {file}.
create or replace view {view} as
select
    {competition} as competition,
    {file} as file,
    arg_min(file_row, (not ranked, score, file_row)) as file_row,
    submission_id,
    any_value(leaderboard_id) as leaderboard_id,
    any_value(problem) as problem,
    any_value(user_id) as user_id,
    'user ' || any_value(user_id) as user_name,
    any_value(code_id) as code_id,
    any_value(file_name) as file_name,
    any_value(submitted_at) as submitted_at,
    case
        when max(mode) is null then 'no run'
        when bool_or(passed) filter (mode = 'leaderboard') then 'succeeded'
        when bool_and(coalesce(passed, false)) then 'succeeded'
        else 'failed'
    end as status,
    arg_max(mode, stage) as mode,
    case
        when bool_or(mode = 'leaderboard') then coalesce(bool_or(passed) filter (mode = 'leaderboard'), false)
        when max(mode) is not null then bool_and(coalesce(passed, false))
    end as passed,
    case
        when bool_or(ranked) then min(score) filter (ranked)
        -- A passed run without a usable score must not take over the score of a failed run.
        when bool_or(mode = 'leaderboard' and passed) then min(score) filter (mode = 'leaderboard' and passed)
        else min(score)
    end as score,
    runner
from {runs}
group by submission_id, runner
