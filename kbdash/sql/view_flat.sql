-- One flat file as canonical rows: one row per (submission, runner).
-- Filled in by kbdash.db: {view}, {competition}, {file}, {location}. The source text is deliberately not here.
create or replace view {view} as
select
    {competition} as competition,
    {file} as file,
    file_row_number as file_row,
    submission_id::bigint as submission_id,
    leaderboard_id::bigint as leaderboard_id,
    problem_name::varchar as problem,
    user_id::varchar as user_id,
    coalesce(user_name, '')::varchar as user_name,
    code_id::bigint as code_id,
    file_name::varchar as file_name,
    submission_time::timestamptz as submitted_at,
    status::varchar as status,
    mode::varchar as mode,
    passed::boolean as passed,
    score::double as score,
    runner::varchar as runner
from read_parquet({location}, file_row_number = true)
