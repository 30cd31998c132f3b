"""Questions about one person or one submission, and SQL that other questions use."""

from kbdash.database.questions import parameters as p
from kbdash.database.questions.columns import DID_PASS, columns
from kbdash.database.questions.kinds import Column, Question

USER = Question(
    "user",
    "One person on every board of the competitions whose users can be linked; no runner: what never ran.",
    "linkable",
    columns(
        "competition problem leaderboard_id runner user_name rank of score best ratio submissions passed first_at "
        "last_at submission_id flags"
    ),
    asks=(p.USER,),
    options=(p.USER_ORDER,),
)
USER_FIELD = Question(
    "user_field",
    "Where does a person stand in the field of each board? Everybody's ratio to the best, where they have a rank.",
    "linkable",
    columns("competition problem runner users best ratios slowest user_name rank score submission_id"),
    asks=(p.USER,),
)
FIND_USERS = Question(
    "find_users",
    "People whose name contains a text, or whose id it is, with the competitions they took part in.",
    "linkable",
    columns("user_id user_name competitions submissions"),
    asks=(p.TEXT, p.MOST_PEOPLE),
    example=(("text", "a"),),
)
LADDER = Question(
    "ladder",
    "Each new personal best of one user on one board and runner: gain, time waited and attempts since the last.",
    "board",
    columns("step submission_id runner submitted_at score previous gain attempts waited"),
    asks=(p.PROBLEM, p.USER),
    options=p.SCOPE,
)
SUBMISSION_ROWS = Question(
    "submission_rows",
    "Every row with this submission id, over runners and competitions.",
    "each",
    columns(
        "competition file file_row submission_id leaderboard_id problem user_id user_name code_id file_name "
        "submitted_at status mode passed score runner flags counts impossible eligible copies",
        passed=DID_PASS,
    ),
    asks=(p.SUBMISSION_ID, p.ON_RUNNER, p.COMPETITION),
)
PLACEMENT = Question(
    "placement",
    "Where one submission stands on its board and runner, and what its user had done before.",
    "submission",
    columns("rank of best users_best is_users_best is_personal_best best_before best_before_id attempts_before"),
    asks=(p.OF,),
)
SAME_CODE_ELSEWHERE = Question(
    "same_code_elsewhere",
    "Other submissions with the same source text, in the competitions that share code ids.",
    "submission",
    columns("competition problem runner submission_id user_name user_id submitted_at score"),
    asks=(p.OF, p.MOST_TWINS),
)

PARTS = (
    Question("problem_names", "Which problems have rows in a competition?", "part", columns("problem")),
    Question("submissions_total", "How many submissions of a problem match?", "part", columns("total")),
    Question(
        "who",
        "Who is meant by these texts? The users whose id or name one of them is.",
        "part",
        columns("text user_id user_name match"),
    ),
    Question(
        "content_rows",
        "Which submission stands in which row of the file? For the questions about all source texts.",
        "part",
        columns(
            "file_row submission_id problem runner user_id user_name submitted_at at passed score ranked",
            at=Column("at", "whole", "when it was submitted, in microseconds since 1970"),
            passed=DID_PASS,
            ranked=Column("ranked", "switch", "whether it may be a user's best"),
        ),
    ),
    Question(
        "noise_runs",
        "Which ranked runs does a board have, where the file has every run?",
        "part",
        columns("submission_id runner score"),
    ),
    Question(
        "noise_shapes",
        "How much do the timings within one run vary, per benchmark shape?",
        "part",
        columns(
            "shape spec ranked_runs std",
            ranked_runs=Column("ranked_runs", "whole", "ranked runs that log the shape", "count"),
            std=Column("std", "number", "standard deviation of one timing, relative to the mean", "share"),
        ),
    ),
    Question("close_names", "Which of these names come close to a text?", "part", columns("name likeness")),
    Question("close_users", "Whose names come close to a text?", "part", columns("user_id user_name likeness")),
)
