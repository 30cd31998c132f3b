"""Questions about one board, or about all of them."""

from kbdash.database.questions import parameters as p
from kbdash.database.questions.columns import DID_PASS, columns
from kbdash.database.questions.kinds import Column, Question

_GEMM = (("problem", "nvfp4_gemm"), ("runner", "NVIDIA"))
_TRIMUL = (("problem", "trimul"),)

OVERVIEW = Question(
    "overview",
    "The state of every problem: how much, how fast, who, when. One row per problem.",
    "each",
    columns(
        "competition problem leaderboard_id rows passed users best best_user_name best_user_id best_runner "
        "best_submission_id first_at last_at runners trend rows_without_runner pass_rate best_flags"
    ),
    options=(p.BOARD_ORDER,),
)
PROBLEMS = Question(
    "problems",
    "What is there? One row per problem and runner.",
    "each",
    columns("competition problem leaderboard_id runner rows passed users best first_at last_at pass_rate"),
    asks=(p.COMPETITION,),
    example=(("competition", "trimul"),),
)
CONTESTED = Question(
    "contested",
    "How close is it at the top? The first ranks of every problem, on the runner of its best time.",
    "each",
    columns("competition problem runner users median best second third tenth user_ids user_names submission_ids"),
)
WEEKLY = Question(
    "weekly",
    "When was each problem worked on? Submissions a week, and when the standing record was set.",
    "each",
    columns(
        "competition problem leaderboard_id week submissions record_at user_id user_name submission_id runner score"
    ),
)
FLAGS = Question(
    "flags",
    "What speaks against a time? One row per submission, runner and kind of flag.",
    "each",
    columns(
        "competition problem submission_id runner kind reason source",
        kind=Column("kind", "text", "kind of flag: impossible, below floor or reported"),
    ),
    asks=(p.ON_BOARD,),
    options=(p.COMPETITION,),
    example=(("problem", "nvfp4_group_gemm"),),
)
LEADERBOARD = Question(
    "leaderboard",
    "Who is fastest on a problem? One row per user and runner, best first.",
    "board",
    columns("rank user_name user_id runner score gap ratio submission_id submitted_at submissions flags"),
    asks=(p.PROBLEM,),
    options=(p.TOP, p.ALWAYS, p.AROUND, p.BESIDE, p.RANK_ORDER, *p.SCOPE),
    example=(*_GEMM, ("until", "2025-12-21")),
)
TRENDS = Question(
    "trends",
    "How did each of these users get faster? A short best-so-far series per user and runner.",
    "board",
    columns("user_id runner trend"),
    asks=(p.PROBLEM, p.USERS),
    options=(p.TREND_POINTS, *p.SCOPE),
    example=(*_TRIMUL, ("users", ["9000000000000000000"])),
)
SUMMARY = Question(
    "summary",
    "The numbers above a board: one row per runner.",
    "board",
    columns("runner rows passed users best median_best first_at last_at rows_without_runner pass_rate"),
    asks=(p.PROBLEM,),
    options=p.SCOPE,
    example=_TRIMUL,
)
DISTRIBUTION = Question(
    "distribution",
    "How are the times spread? Passing rows and users' bests in bins of equal width on a log scale.",
    "board",
    columns("runner lo hi rows users"),
    asks=(p.PROBLEM,),
    options=(p.BINS, *p.SCOPE),
    example=_GEMM,
)
ECDF = Question(
    "ecdf",
    "Which share of the users is at least this fast? Per runner.",
    "board",
    columns("runner score share"),
    asks=(p.PROBLEM,),
    options=(p.CURVE_POINTS, *p.SCOPE),
    example=_GEMM,
)
STANDING = Question(
    "standing",
    "Where would a time stand among the users' bests of one runner?",
    "board",
    columns("rank of faster_than ties"),
    asks=(p.PROBLEM, p.SCORE),
    options=p.SCOPE,
    example=(("problem", "nvfp4_gemm"), ("score", 3e-05), ("runner", "NVIDIA")),
)
PROGRESSION = Question(
    "progression",
    "Every attempt of some users in time order, failures included, with each user's best so far.",
    "board",
    columns(
        "user_id user_name runner submission_id submitted_at score passed status best_so_far is_best flags total "
        "impossible",
        passed=DID_PASS,
    ),
    asks=(p.PROBLEM, p.ANY_USER),
    options=(p.ANY_USERS, p.MOST_ATTEMPTS, *p.SCOPE),
    example=_GEMM,
)
PERSONAL_BESTS = Question(
    "personal_bests",
    "How did everybody get faster? Every new personal best in time order, with the rank it brought then.",
    "board",
    columns(
        "user_id user_name runner submission_id submitted_at score previous rank of",
    ),
    asks=(p.PROBLEM,),
    options=p.SCOPE,
    example=_GEMM,
)
RECORDS = Question(
    "records",
    "Who held the record, since when, by how much, for how long?",
    "board",
    columns("runner user_name user_id submission_id submitted_at score previous gain held_days until_at flags"),
    asks=(p.PROBLEM,),
    options=(p.RECORD_ORDER, *p.SCOPE),
    example=_GEMM,
)
RANK_HISTORY = Question(
    "rank_history",
    "How did the leaders' ranks change? Rank of the present top users at equal steps of the board's life.",
    "board",
    columns("at user_id user_name rank score"),
    asks=(p.PROBLEM,),
    options=(p.TOP_LINES, p.STEPS, *p.SCOPE),
    example=_GEMM,
)
SAME_CODE = Question(
    "same_code",
    "The same code of the same user on two runners: how do the machines compare?",
    "board",
    columns("user_id user_name code_id runner_a runner_b score_a score_b ratio"),
    asks=(p.PROBLEM,),
    options=p.SCOPE,
    example=_TRIMUL,
)
RUNNER_RATIOS = Question(
    "runner_ratios",
    "How much faster is one runner than another, for the same code and for the same users' bests?",
    "board",
    columns(
        "kind runner_a runner_b pairs ratio low high ratios",
        kind=Column("kind", "text", "what is compared: same code, or same user best"),
    ),
    asks=(p.PROBLEM,),
    options=p.SCOPE,
    example=_TRIMUL,
)
PAIRED = Question(
    "paired",
    "Users with a best on both of two boards of a competition, side by side.",
    "board",
    columns("user_id user_name score_a score_b rank_a rank_b submission_a submission_b runner_a runner_b"),
    asks=(p.PROBLEM_A, p.PROBLEM_B),
    options=p.SCOPE,
    example=(("problem_a", "nvfp4_dual_gemm"), ("problem_b", "modal_nvfp4_dual_gemm")),
)
SUBMISSIONS = Question(
    "submissions",
    "All submissions of a problem, filtered, sorted, one page of them.",
    "board",
    columns(
        "submission_id runner user_name user_id submitted_at status mode passed score file_name code_id flags",
        passed=DID_PASS,
    ),
    asks=(p.PROBLEM,),
    options=(
        p.ANY_USERS, p.PASSED, p.ANY_TEXT, p.SORT, p.DESCENDING, p.PAGE, p.PAGE_SIZE, *p.SCOPE,
    ),
    example=_TRIMUL,
)  # fmt: skip
STATUS_OVER_TIME = Question(
    "status_over_time",
    "How many submissions a day, how did they end, how many passed?",
    "board",
    columns("day status rows passed"),
    asks=(p.PROBLEM,),
    options=p.SCOPE,
    example=_TRIMUL,
)
SHAPES = Question(
    "shapes",
    "Timings per benchmark shape of the best runs of some users, or of the first ranks; empty where none exist.",
    "board",
    columns(
        "rank user_id user_name runner submission_id score shape spec mean_ns best_ns worst_ns std_ns runs",
    ),
    asks=(p.PROBLEM,),
    options=(p.ANY_USERS, p.TOP_SHAPES, *p.SCOPE),
    example=(("problem", "amd-fp8-mm"), ("runner", "MI300")),
)
