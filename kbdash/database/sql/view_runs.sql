-- Every run of an AMD legacy file (a row per run) that belongs to a submission.
-- The runner is derived from the GPU's name. A run without one counts for the board's own runner; on a board outside the
-- catalog the GPU's name itself is the runner.
-- Filled in by kbdash.database.competition_views: {runs}, {location}. The source text is deliberately not here.
create or replace view {runs} as
select
    r.file_row_number as file_row,
    try_cast(r.submission_id as bigint) as submission_id,
    try_cast(r.leaderboard_id as bigint) as leaderboard_id,
    coalesce(b.name, 'board-' || r.leaderboard_id) as problem,
    short_text(r.user_id::varchar) as user_id,
    try_cast(r.code_id as bigint) as code_id,
    short_text(r.file_name) as file_name,
    possible_time(try_cast(r.submission_time as timestamptz)) as submitted_at,
    short_text(r.run_mode) as mode,
    r.run_passed::boolean as passed,
    possible_score(try_cast(r.run_score as double)) as score,
    case when r.run_mode is not null then coalesce(h.runner, b.runner, short_text(r.run_system_info.gpu)) end as runner,
    case r.run_mode when 'leaderboard' then 3 when 'benchmark' then 2 when 'test' then 1 else 0 end as stage,
    is_ranked(r.run_mode, r.run_passed, score) as ranked
from read_parquet({location}, file_row_number = true) r
left join boards b on b.leaderboard_id = r.leaderboard_id
left join other_hardware h on h.own_runner = b.runner and starts_with(r.run_system_info.gpu, h.gpu)
where try_cast(r.submission_id as bigint) is not null
