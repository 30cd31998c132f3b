"""What readers' SQL can use: tables and macros with their columns, and example statements."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Column:
    """A column, its type and what it holds."""

    name: str
    kind: str
    meaning: str


@dataclass(frozen=True)
class Table:
    """A table or table macro: its name or call, and what it returns."""

    name: str
    meaning: str
    columns: tuple[Column, ...]
    call: str = ""


SUBMISSIONS = Table(
    "submissions",
    "one row per submission and runner, of all competitions",
    (
        Column("competition", "varchar", "slug of the competition"),
        Column("problem", "varchar", "name of the board"),
        Column("runner", "varchar", "the machine; null for what never ran"),
        Column("user_name", "varchar", "name of the user when it was sent"),
        Column("user_id", "varchar", "id of the user; up to 21 digits"),
        Column(
            "score",
            "double",
            "time in seconds; lower is better; 30 years or more is stored as infinity and counts as no time",
        ),
        Column("passed", "boolean", "whether it passed"),
        Column("mode", "varchar", "leaderboard: a ranked run; test, benchmark: others"),
        Column("status", "varchar", "how it ended"),
        Column("submitted_at", "timestamp with time zone", "when it was sent (UTC)"),
        Column("submission_id", "bigint", "its number, as in links"),
        Column("code_id", "bigint", "equal for equal source texts"),
        Column("file_name", "varchar", "name of the file that was sent"),
        Column("leaderboard_id", "bigint", "number of the board"),
        Column("file", "varchar", "file of the dataset"),
        Column("file_row", "bigint", "its row there"),
    ),
)
RANKING = Table(
    "ranking",
    "the leaderboard: each user's best per board and runner",
    (
        Column("rank", "bigint", "rank on the runner; equal scores share one"),
        Column("problem", "varchar", "name of the board"),
        Column("runner", "varchar", "the machine"),
        Column("user_name", "varchar", "name of the user"),
        Column("user_id", "varchar", "id of the user"),
        Column("score", "double", "the best time in seconds"),
        Column("gap", "double", "seconds behind the next-better rank"),
        Column("ratio", "double", "score / best score"),
        Column("submissions", "bigint", "tries of the user there"),
        Column("submitted_at", "timestamp with time zone", "when the best was sent (UTC)"),
        Column("submission_id", "bigint", "its number"),
        Column("flags", "varchar", "what speaks against the time"),
        Column("impossible", "boolean", "under 100 ns"),
        Column("file_row", "bigint", "its row in the file"),
    ),
    "ranking('nvfp4', null, null, null, null, true)",
)
JUDGED = Table(
    "judged",
    "the submissions of a competition, with what the ranking rule says of each",
    (
        *SUBMISSIONS.columns,
        Column("counts", "boolean", "a ranked run on a known runner that passed with a score"),
        Column("impossible", "boolean", "under 100 ns"),
        Column("eligible", "boolean", "counts, and is not impossible"),
        Column("flag_rows", "struct(kind varchar, reason varchar, source varchar)[]", "its flags one by one"),
        Column("flags", "varchar", "the same as text"),
        Column("flagged", "boolean", "whether there is one"),
    ),
    "judged('nvfp4')",
)
SHAPE_TIMES = Table(
    "shapes",
    "times per benchmark shape of the AMD MI300 competition, in nanoseconds",
    (
        Column("competition", "varchar", "slug of the competition"),
        Column("file_row", "bigint", "the run: joins with submissions"),
        Column("shape", "integer", "number of the shape"),
        Column("spec", "varchar", "its sizes"),
        Column("mean_ns", "double", "mean time"),
        Column("best_ns", "double", "lowest time"),
        Column("worst_ns", "double", "highest time"),
        Column("std_ns", "double", "standard deviation"),
        Column("runs", "bigint", "how often it ran"),
    ),
)
TABLES = (SUBMISSIONS, RANKING, JUDGED, SHAPE_TIMES)

EXAMPLES = {
    "Rows per competition": (
        "select competition, count(*) as submissions, count(distinct user_id) as users\n"
        "from submissions\ngroup by all\norder by submissions desc"
    ),
    "Top ten of a board": (
        "select rank, user_name, score * 1e6 as us, submitted_at\n"
        "from ranking('nvfp4', 'nvfp4_gemm', null, null, null, true)\n"
        "where rank <= 10\norder by runner, rank"
    ),
    "Submissions per week": (
        "select date_trunc('week', submitted_at) as week, competition, count(*) as submissions\n"
        "from submissions\nwhere submitted_at is not null\ngroup by all\norder by week"
    ),
    "Who wins on several boards": (
        "select user_name, count(*) as first_places\n"
        "from ranking('pmpp-v2', null, null, null, null, true)\n"
        "where rank = 1\ngroup by all\norder by first_places desc"
    ),
    "Most tries before the best": (
        "select user_name, problem, runner, submissions, score\n"
        "from ranking('nvfp4', null, null, null, null, true)\norder by submissions desc\nlimit 20"
    ),
}
