-- The ranking rule of kbdash, in one place. Everything that ranks asks these.
--
-- A row counts when it was a ranked run on a known runner that passed with a finite score above zero. Per problem
-- and runner each user has one row: the lowest score that is not impossible (under 100 ns: no launch is that fast),
-- ties to the earliest submission, then to the lowest id. Users are ranked by score; equal scores share a rank and
-- the next rank is skipped. Who has only impossible rows comes after all others. Other flags are hints and keep the
-- rank.
--
-- is_impossible(score), floor_of(board) and report_on(board, submission) are made from the catalog by kbdash.db.

-- The canonical rows of one competition. (The view `submissions` has them all, but planning it costs far more.)
create or replace macro submissions_of(in_competition) as table
from query_table('submissions of ' || in_competition);

-- What speaks against a passing score; '' when nothing does.
create or replace macro flags_of(board, submission, score) as concat_ws('; ',
    case when is_impossible(score) then 'impossible: under 100 ns' end,
    case when not is_impossible(score) and score < floor_of(board)
        then 'below floor: under the heuristic bound of ' || round(floor_of(board) * 1e6, 2) || ' µs' end,
    'reported: ' || report_on(board, submission));

-- Every submission of a competition, with whether it counts and what speaks against it.
create or replace macro judged(in_competition) as table
select
    *,
    coalesce(mode = 'leaderboard' and passed and isfinite(score) and score > 0, false) and runner is not null as counts,
    is_impossible(score) as impossible,
    case when passed then flags_of(leaderboard_id, submission_id, score) else '' end as flags
from submissions_of(in_competition);

-- The rows of one problem (null: of all) inside a period. Days are UTC and inclusive; null means no limit.
-- "problem is null" only makes the conditions on runner and time ones on two columns: DuckDB takes a condition on one
-- column into the scan, and then fetches that column in a request of its own.
create or replace macro entries(in_competition, in_problem, in_runner, first_day, last_day) as table
select * from judged(in_competition)
where (in_problem is null or problem = in_problem)
    and (in_runner is null or problem is null or coalesce(runner, in_runner) = in_runner)
    and (first_day is null or problem is null or submitted_at >= first_day::date::timestamptz)
    and (last_day is null or problem is null or submitted_at < (last_day::date + 1)::timestamptz);

-- What each user did per problem and runner (null: submissions that never ran): tries, passes, and their best row.
create or replace macro tried(in_competition, in_problem, in_runner, first_day, last_day, with_flagged) as table
select
    problem,
    runner,
    user_id,
    count(*) as tries,
    count(*) filter (counts) as passes,
    min(submitted_at) as first_at,
    max(submitted_at) as last_at,
    arg_min(
        {board: leaderboard_id, user_name: user_name, score: score, submission_id: submission_id,
         submitted_at: submitted_at, file_row: file_row, impossible: impossible},
        (impossible, score, submitted_at, submission_id)
    ) filter (counts and (with_flagged or flags = '')) as best
from entries(in_competition, in_problem, in_runner, first_day, last_day)
group by problem, runner, user_id;

-- Each user's best row per problem and runner, and how often they tried.
-- submissions = tries on that runner, and those that never got to run anywhere.
-- Materialized, because DuckDB turns the window below into a join of two scans of the file.
create or replace macro bests(in_competition, in_problem, in_runner, first_day, last_day, with_flagged) as table
with people as materialized (
    from tried(in_competition, in_problem, in_runner, first_day, last_day, with_flagged)
),
totalled as (
    select *, tries + coalesce(sum(tries) filter (runner is null) over (partition by problem, user_id), 0) as submissions
    from people
)
select
    problem, runner, user_id, unnest(best), submissions::bigint as submissions,
    flags_of(best.board, best.submission_id, best.score) as flags
from totalled
where runner is not null and best is not null;

-- The leaderboard: rank, gap to the previous rank, ratio to the best (both null for impossible scores).
create or replace macro ranking(in_competition, in_problem, in_runner, first_day, last_day, with_flagged) as table
select
    rank() over (partition by problem, runner order by impossible, score) as rank,
    *,
    case when not impossible then score - max(score) over (
        partition by problem, runner, impossible order by score
        range between unbounded preceding and current row exclude group) end as gap,
    case when not impossible then
        score / min(score) filter (not impossible) over (partition by problem, runner) end as ratio
from bests(in_competition, in_problem, in_runner, first_day, last_day, with_flagged)
