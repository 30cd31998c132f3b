"""The parameters of all questions, each defined once."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import Literal, TypedDict, get_args

from kbdash.database.questions.kinds import Parameter
from kbdash.dataset.model import LARGEST_ID

Day = date | str | None
Sort = Literal["submitted_at", "score", "submission_id", "user_name", "status", "mode", "file_name", "runner"]
SORTS: tuple[Sort, ...] = get_args(Sort)
LARGEST_PAGE = 100_000
LARGEST_LIMIT = 100_000


class Scope(TypedDict, total=False):
    """The keywords of SCOPE for type checkers; every key may be left out."""

    runner: str | None
    since: Day
    until: Day
    flagged: bool
    facets: Sequence[str]
    competition: str | None


def order_by(*names: str) -> Parameter:
    """The order of an answer's rows: one of these columns, descending with a - before it."""
    orders = (*names, *(f"-{name}" for name in names))
    return Parameter(
        "order", "choice", "the column to sort by; - before it: largest first", None, choices=orders, annotation=str
    )


PROBLEM = Parameter("problem", "text", "name, nickname or leaderboard id of a board")
PROBLEM_A = replace(PROBLEM, name="problem_a")
PROBLEM_B = replace(PROBLEM, name="problem_b", meaning="another board of the same competition")
RUNNER = Parameter(
    "runner",
    "text",
    "label of a machine, such as NVIDIA or MI300; none means every machine, each ranked by itself",
    None,
)
SINCE = Parameter("since", "day", "first UTC day", None)
UNTIL = Parameter("until", "day", "last UTC day, included", None)
FLAGGED = Parameter("flagged", "switch", "false leaves out the rows that carry a flag, and ranks again", True)
COMPETITION = Parameter(
    "competition", "text", "slug of a competition; needed only where several have what is asked for", None
)
FACETS = Parameter(
    "facets",
    "texts",
    "techniques that the source text holds; with a ! before it, does not hold; none means any text",
    (),
)
SCOPE = (RUNNER, SINCE, UNTIL, FLAGGED, FACETS, COMPETITION)

USER = Parameter("user", "text", "id or exact name of a user")
ANY_USER = replace(USER, default=None)
USERS = Parameter("users", "texts", "ids or exact names of users", annotation=Sequence[str])
ANY_USERS = replace(USERS, meaning="ids or exact names of users; none means all", default=())
ALWAYS = replace(ANY_USERS, meaning="ids or exact names of users who are always among the rows")
AROUND = Parameter("find", "text", "id or exact name of a user: only the places around theirs, on each runner", None)
BESIDE = Parameter("score", "number", "a time in seconds: the places next to it are among the rows", None, low=0.0)
TEXT = Parameter("text", "text", "part of a name, or an id")
ANY_TEXT = Parameter("text", "text", "part of a file name or of a user name", None)
SCORE = Parameter("score", "number", "a time in seconds", low=0.0)
TOP = Parameter("top", "whole", "only the first ranks; none means all", None, low=0, high=1_000_000)
TOP_SHAPES = Parameter("top", "whole", "the first ranks, where no users are named", 30, low=1, high=1000)
TOP_LINES = Parameter("top", "whole", "how many users", 10, low=1, high=20)
STEPS = Parameter("steps", "whole", "how many moments", 60, low=2, high=200)
BINS = Parameter("bins", "whole", "how many bins", 60, low=1, high=400)
TREND_POINTS = Parameter("points", "whole", "how many values in a series", 24, low=1, high=400)
CURVE_POINTS = Parameter("points", "whole", "how many steps of the curve", 400, low=2, high=1000)
MOST_ATTEMPTS = Parameter("limit", "whole", "most rows", 4000, low=0, high=5000)
MOST_PEOPLE = Parameter("limit", "whole", "most rows", 20, low=0, high=1000)
MOST_TWINS = Parameter("limit", "whole", "most rows", 50, low=0, high=1000)
PASSED = Parameter("passed", "switch", "true: only ranked runs that passed; false: all others; none means both", None)
SORT = Parameter("sort", "choice", "the column to sort by", SORTS[0], choices=SORTS, annotation=Sort)
DESCENDING = Parameter("descending", "switch", "largest first", True)
PAGE = Parameter("page", "whole", "which page, from 1; one past the end gives the last", 1, low=1, high=LARGEST_ID)
PAGE_SIZE = Parameter("page_size", "whole", "rows on a page", 50, low=1, high=LARGEST_PAGE)
SUBMISSION_ID = Parameter("submission_id", "whole", "id of a submission")
ON_RUNNER = Parameter("runner", "text", "the machine it ran on, where there were several", None)
OF = Parameter("of", "submission", "a submission that was looked up before")
ONE_SUBMISSION = (SUBMISSION_ID, ON_RUNNER, COMPETITION)
ON_BOARD = replace(PROBLEM, default=None, meaning="only this board")
BOARD_ORDER = order_by("problem", "best", "best_user_name", "users", "rows", "pass_rate", "first_at", "last_at")
RANK_ORDER = order_by("rank", "user_name", "runner", "score", "ratio", "gap", "submissions", "submitted_at")
USER_ORDER = order_by(
    "problem", "runner", "rank", "of", "score", "ratio", "submissions", "first_at", "last_at", "competition"
)
RECORD_ORDER = order_by("submitted_at", "user_name", "score", "gain", "held_days")

PATTERN = Parameter("pattern", "text", "what the line must hold; spaces at its ends count")
REGEX = Parameter("regex", "switch", "whether the pattern is a regular expression (RE2)", False)
CASE = Parameter("case", "switch", "whether capitals matter", True)
HOLDERS_PASSED = Parameter("passed", "switch", "true: only texts that passed; false: all others; none: both", None)
MOST_LINES = Parameter("limit", "whole", "most rows", 100, low=0, high=LARGEST_LIMIT)
LEAST = Parameter("least", "number", "the least similarity, from 0 to 1", 0.5, low=0.0, high=1.0)
LEAST_GAIN = Parameter("least_gain", "number", "the least share of time saved, from 0 to 1", 0.1, low=0.0, high=1.0)
GAINED = Parameter("gained", "text", "a technique that only the later text holds", None)
