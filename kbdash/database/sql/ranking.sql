-- The ranking rule of kbdash, in one place. Everything that ranks asks these.
--
-- A row counts when it was a ranked run on a known runner that passed with a finite score above zero. Per problem
-- and runner each user has one row: the lowest score that is not impossible (under 100 ns: no launch is that fast),
-- ties to the earliest submission, then to the lowest id. Users are ranked by score; equal scores share a rank and
-- the next rank is skipped. Users with only impossible rows come after all others. Other flags are hints and keep the
-- rank.
--
-- Counts: a try is a submission on a runner (one that never ran is a try without a runner), a pass is a try that
-- counts, a user of a board is one with a pass, the pass rate is passes per try that got a runner.
--
-- The table reports (leaderboard_id, submission_id, reports) and the macros is_impossible(score) and floor_of(board)
-- are made from the catalog by kbdash.database.rules.

-- The canonical rows of one competition. (The view `submissions` has them all, but planning it costs far more.)
create or replace macro submissions_of(in_competition) as table
from query_table('submissions of ' || in_competition);

-- Its runs, and the times of these per benchmark shape, where the file has a row per run; else no rows.
create or replace macro runs_of(in_competition) as table from query_table('runs of ' || in_competition);
create or replace macro shapes_of(in_competition) as table from query_table('shapes of ' || in_competition);

-- Every flag of a passing row as kind, reason and source: from the rules about its score, and from reports.
create or replace macro flag_list(score, board_floor, reported, on_runner) as list_concat(
    case
        when is_impossible(score) then
            [{kind: 'impossible', reason: 'under 100 ns', source: 'rule: no launch is that fast'}]
        when score < board_floor then
            [{kind: 'below floor', reason: 'under the heuristic bound of ' || round(board_floor * 1e6, 2) || ' µs',
              source: 'roofline bounds of gpu-mode/kernelguard'}]
    end,
    [{kind: r.kind, reason: r.reason, source: r.source} for r in reported if r.runner is null or r.runner = on_runner]);

-- Flags as one text; '' when there is none.
create or replace macro flag_text(flag_rows) as
array_to_string([f.kind || ': ' || f.reason for f in flag_rows], '; ');

create or replace macro pass_rate(passes, ran) as passes / nullif(ran, 0);

-- Whether a run is ranked: the runner is all that it still needs to count.
create or replace macro is_ranked(mode, passed, score) as
coalesce(mode = 'leaderboard' and passed and isfinite(score) and score > 0, false);

-- Every submission of a competition: whether it counts, and whether it is eligible for a best.
create or replace macro counted(in_competition) as table
select
    *,
    is_ranked(mode, passed, score) and runner is not null as counts,
    is_impossible(score) as impossible,
    counts and not impossible as eligible
from submissions_of(in_competition);

-- The same with the flags of each. They are listed once, and only for rows that have one: most have none.
create or replace macro judging(in_competition) as table
with rows as (
    select s.*, floor_of(s.leaderboard_id) as board_floor, r.reports
    from counted(in_competition) s
    left join reports r on r.submission_id = s.submission_id and r.leaderboard_id = s.leaderboard_id
),
listed as (
    select
        * exclude (board_floor, reports),
        case when passed and (impossible or score < board_floor or reports is not null)
            then flag_list(score, board_floor, reports, runner) else [] end as flag_rows
    from rows
)
select *, case when len(flag_rows) > 0 then flag_text(flag_rows) else '' end as flags, flags <> '' as flagged
from listed;

-- The judged rows: computed for each question, or a table once the competition is materialised.
create or replace macro judged(in_competition) as table
from query_table('judged of ' || in_competition);

-- Each row as a tally of one. The fields of `best` are in the order of the rule, so that min() is the best row.
create or replace macro tally(in_competition) as table
select
    problem, runner, user_id, flagged, file_row,
    1 as tries, counts::int as passes, submitted_at as first_at, submitted_at as last_at,
    case when counts then
        {impossible: impossible, score: score, submitted_at: submitted_at, submission_id: submission_id,
         file_row: file_row, user_name: user_name, flags: flags}
    end as best
from judged(in_competition);

-- The same tallies, summed per problem, runner, user and UTC day: exact for any period of days.
create or replace macro daily(in_competition) as table
select
    problem, runner, user_id, flagged, null::bigint as file_row,
    sum(tries)::bigint as tries, sum(passes)::bigint as passes, min(first_at) as first_at, max(last_at) as last_at,
    min(best) as best
from tally(in_competition)
group by problem, runner, user_id, flagged, epoch_us(first_at) // 86_400_000_000;

-- Daily sums once the competition is materialised, else single tries. Daily sums do not know the rows of the file, so a
-- question about selected rows always reads single tries.
create or replace macro tallies(in_competition, held) as table
from query_table(case when held is null then 'tallies of ' else 'tries of ' end || in_competition);

-- Whether a row of the file is selected: `held` is a bitmap of its rows, the first one first; null: all rows.
create or replace macro is_held(held, file_row) as (held is null or get_bit(held::bit, file_row::int) = 1);

-- Whether a row belongs to the problem (null: any) and to the period. Days are UTC and inclusive; null means no limit.
-- "problem is null" does not change the result. It makes the conditions on runner and time refer to two columns: DuckDB
-- pushes a condition on a single column down into the scan, and then fetches that column in a separate request.
create or replace macro in_scope(
    problem, runner, moment, flagged, in_problem, in_runner, first_day, last_day, with_flagged
) as (in_problem is null or problem = in_problem)
    and (in_runner is null or problem is null or coalesce(runner, in_runner) = in_runner)
    and (first_day is null or problem is null or moment >= first_day::date::timestamptz)
    and (last_day is null or problem is null or moment < (last_day::date + 1)::timestamptz)
    and (with_flagged or not flagged);

create or replace macro entries(
    in_competition, in_problem, in_runner, first_day, last_day, with_flagged, held := null
) as table
select * from judged(in_competition)
where in_scope(problem, runner, submitted_at, flagged, in_problem, in_runner, first_day, last_day, with_flagged)
    and is_held(held, file_row);

-- Tries, passes and best row of each user per problem and runner (null: submissions that never ran).
create or replace macro tried(
    in_competition, in_problem, in_runner, first_day, last_day, with_flagged, held := null
) as table
select
    problem,
    runner,
    user_id,
    sum(tries)::bigint as tries,
    sum(passes)::bigint as passes,
    min(first_at) as first_at,
    max(last_at) as last_at,
    min(best) as best
from tallies(in_competition, held)
where in_scope(problem, runner, first_at, flagged, in_problem, in_runner, first_day, last_day, with_flagged)
    and is_held(held, file_row)
group by problem, runner, user_id;

-- Each user's best row per problem and runner, and their number of tries there.
create or replace macro bests(
    in_competition, in_problem, in_runner, first_day, last_day, with_flagged, held := null
) as table
select problem, runner, user_id, tries as submissions, unnest(best)
from tried(in_competition, in_problem, in_runner, first_day, last_day, with_flagged, held := held)
where runner is not null and best is not null;

-- What a row of `bests` is among the others of its problem and runner: its rank, the gap to the previous rank and the
-- ratio to the best (both null for impossible scores), and its place, which is a row's own. All windows have the same
-- partitions, and orders that begin alike, so that DuckDB sorts once.
create or replace macro rank_in(problem, runner, impossible, score) as
rank() over (partition by problem, runner order by impossible, score);

create or replace macro gap_in(problem, runner, impossible, score) as
case when not impossible then score - max(score) over (
    partition by problem, runner order by impossible, score
    range between unbounded preceding and current row exclude group) end;

create or replace macro ratio_in(problem, runner, impossible, score) as
case when not impossible then
    score / first_value(score) over (partition by problem, runner order by impossible, score) end;

create or replace macro place_in(problem, runner, impossible, score, submitted_at, user_id) as
row_number() over (partition by problem, runner order by impossible, score, submitted_at, user_id);

-- The leaderboard.
create or replace macro ranking(
    in_competition, in_problem, in_runner, first_day, last_day, with_flagged, held := null
) as table
select
    rank_in(problem, runner, impossible, score) as rank,
    *,
    gap_in(problem, runner, impossible, score) as gap,
    ratio_in(problem, runner, impossible, score) as ratio
from bests(in_competition, in_problem, in_runner, first_day, last_day, with_flagged, held := held);

-- A number as a key to sort by: negative for an order that starts with "-", so that what is missing stays last.
create or replace macro turned(value, in_order) as if(starts_with(in_order, '-'), -value, value)
