-- One flat file as canonical rows: one row per (submission, runner).
-- Filled in by kbdash.database.competition_views: {view}, {competition}, {file}, {location}. The source text is deliberately not here.
create or replace view {view} as
select
    {competition} as competition,
    {file} as file,
    file_row_number as file_row,
    try_cast(submission_id as bigint) as submission_id,
    try_cast(leaderboard_id as bigint) as leaderboard_id,
    short_text(problem_name) as problem,
    short_text(user_id::varchar) as user_id,
    short_text(coalesce(user_name, '')) as user_name,
    try_cast(code_id as bigint) as code_id,
    short_text(file_name) as file_name,
    possible_time(try_cast(submission_time as timestamptz)) as submitted_at,
    short_text(status) as status,
    short_text(mode) as mode,
    passed::boolean as passed,
    possible_score(try_cast(score as double)) as score,
    short_text(runner) as runner
from read_parquet({location}, file_row_number = true)
-- Without an id (or with one beyond 64 bits) a submission could not be asked for.
where try_cast(submission_id as bigint) is not null
