-- The canonical view: one row per (file, submission, runner) of every attached competition.
-- kbdash.database.connection adds a branch per competition; this one has no rows and defines names and types.
create or replace view submissions as
select
    null::varchar as competition,
    null::varchar as file,
    null::bigint as file_row,
    null::bigint as submission_id,
    null::bigint as leaderboard_id,
    null::varchar as problem,
    null::varchar as user_id,
    null::varchar as user_name,
    null::bigint as code_id,
    null::varchar as file_name,
    null::timestamptz as submitted_at,
    null::varchar as status,
    null::varchar as mode,
    null::boolean as passed,
    null::double as score,
    null::varchar as runner
where false
