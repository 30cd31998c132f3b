"""Questions about all source texts. They are answered by kbdash.content, without SQL."""

from kbdash.database.questions import parameters as p
from kbdash.database.questions.columns import columns
from kbdash.database.questions.kinds import Column, Question

_HOLDERS = Column("users", "whole", "users with a submission that holds it", "count")
_HOLDING = Column("submissions", "whole", "submissions that hold it", "count")

SEARCH = Question(
    "search",
    "Which lines hold a text? One row per distinct line of all source texts, best rank first.",
    "texts",
    columns(
        "line users submissions first_submission_id first_user_name first_at best_rank best_score best_submission_id "
        "line_no",
        users=_HOLDERS,
        submissions=_HOLDING,
        first_at=Column("first_at", "time", "when the line was first submitted", "UTC"),
        line_no=Column("line_no", "whole", "line in that best submission, from 1", "row"),
    ),
    asks=(p.PATTERN,),
    options=(
        p.REGEX, p.CASE, p.ON_BOARD, p.RUNNER, p.ANY_USER, p.HOLDERS_PASSED, p.SINCE, p.UNTIL, p.FACETS, p.MOST_LINES,
        p.COMPETITION,
    ),
    example=(("pattern", "import"), ("problem", "trimul")),
)  # fmt: skip
TECHNIQUES = Question(
    "techniques",
    "Who uses which technique on a board, since when, and how fast are they? A text that holds one need not run it.",
    "texts",
    columns(
        "group facet users submissions share share_top10 first_at first_user_name first_submission_id best_score "
        "median_with median_without",
        users=_HOLDERS,
        submissions=_HOLDING,
        share=Column("share", "number", "share of the users with a submission that holds it", "share"),
        first_at=Column("first_at", "time", "when it was first submitted", "UTC"),
    ),
    asks=(p.PROBLEM, p.RUNNER),
    options=(p.ANY_USER, p.HOLDERS_PASSED, p.SINCE, p.UNTIL, p.FACETS, p.COMPETITION),
    example=(("problem", "trimul"),),
)
ORIGINS = Question(
    "origins",
    "Who wrote each line of a submission first? Trivial lines have no origin.",
    "texts",
    columns(
        "line_no line first_submission_id first_user_id first_user_name first_at users own",
        users=_HOLDERS,
        first_at=Column("first_at", "time", "when the line was first submitted", "UTC"),
    ),
    asks=p.ONE_SUBMISSION,
)
RELATIVES = Question(
    "relatives",
    "Which other users hold much the same text? The closest text of each, weighed by rare lines.",
    "texts",
    columns(
        "submission_id user_name problem runner submitted_at score similarity shared_lines earlier kind",
        kind=Column("kind", "text", "exact copy, same program or similar"),
    ),
    asks=p.ONE_SUBMISSION,
    options=(p.LEAST,),
)
STEPS = Question(
    "steps",
    "Which changes gained most? Personal bests of all users as pairs of submissions, the largest gain first.",
    "texts",
    columns("user_name problem runner before_id after_id before after gain changed_lines"),
    asks=(p.ON_BOARD, p.RUNNER),
    options=(p.LEAST_GAIN, p.MOST_LINES, p.ANY_USER, p.GAINED, p.COMPETITION),
    example=(("problem", "trimul"),),
)
FACETS = Question(
    "facets",
    "Which techniques does the text of a submission hold? Holding says nothing about running.",
    "texts",
    columns("facet"),
    asks=p.ONE_SUBMISSION,
)
VERDICT = Question(
    "verdict",
    "Which rules of KernelGuard match the text of a submission? No judgement: honest texts match rules too.",
    "texts",
    columns(
        "status rule severity evidence lines version",
        status=Column("status", "text", "clean, matched, timed out or no text"),
    ),
    asks=p.ONE_SUBMISSION,
)
NOISE = Question(
    "noise",
    "How much does one measurement on a board vary by itself, and who sent the same program again?",
    "texts",
    columns(
        "sigma programs pairs reroll_users rerolls",
        pairs=Column("pairs", "whole", "pairs of measurements of the same program", "count"),
    ),
    asks=(p.PROBLEM, p.RUNNER, p.COMPETITION),
    example=(("problem", "trimul"),),
)
