"""Rows made by hand: everything that ever broke a reader of the flat files, at least once each."""

import math
from collections.abc import Iterator
from dataclasses import replace

from kbdash.dataset.sample import trap_code
from kbdash.dataset.sample.boards import FLAT_BOARDS, SampleBoard, day
from kbdash.dataset.sample.careers import Run, Submission
from kbdash.dataset.sample.courses import microseconds
from kbdash.dataset.sample.kernels import Draft, render
from kbdash.dataset.sample.people import TRAP_USERS, USERS, User

_BOARDS = {board.name: board for board in FLAT_BOARDS}
_LAST_USERS = USERS[-40:]


def flat_traps() -> list[Submission]:
    """All hand-made submissions of the flat files."""
    return [
        *_hostile_names(),
        *_odd_scores(),
        *_odd_runs(),
        *_below_floor(),
        *_ties_between_users(),
        *_ties_inside_a_user(),
        *_several_runners(),
        *_shared_code(),
        *_odd_file_names(),
        *_odd_code(),
        *_odd_moments(),
    ]


def _submission(
    board: str, user: User, when: str, score: float | None, *, code: str | None = "", runner: str | None = None
) -> Submission:
    """A ranked, passing submission; `code` defaults to a text of its own."""
    at = microseconds(day(when))
    target = _BOARDS[board]
    if code == "":
        code = _own_text(target, user, at, score)
    run = Run("succeeded", runner or target.lanes[0].runner, score, True, "leaderboard")
    return Submission(target, user, at, "submission.py", code, (run,))


def _own_text(board: SampleBoard, user: User, at: int, score: float | None) -> str:
    note = f"sent at {at}, hoping for {score}"
    return render(Draft(board.kernel, board.name, user.tag, style=user.index, level=6, revision=900, note=note))


def _hostile_names() -> Iterator[Submission]:
    """Every hostile name on the first page of one board, so that it is on screen without a search."""
    for place, user in enumerate(TRAP_USERS):
        yield _submission("nvfp4_gemm", user, f"2025-12-{place % 6 + 15}T14:{place:02d}", 12.1e-6 + 0.09e-6 * place)
    # And one in first place, where an overview prints it.
    yield _submission("fp8_quant", TRAP_USERS[0], "2026-03-15T00:40", 8.45e-6)


def _odd_scores() -> Iterator[Submission]:
    numbers = (0.0, -4.2e-5, math.nan, math.inf, -math.inf, 5e-324, None, 9.9e-8)
    for place, score in enumerate(numbers):
        yield _submission("qr_v2", _LAST_USERS[place], f"2026-06-1{place}T10:00", score)
    # One shape timed as 0 pulls the geometric mean down to this. The first user has other scores too, the
    # second has no other.
    yield _submission("eigh", USERS[2], "2026-06-27T17:00", 9.6e-5)
    yield _submission("eigh", USERS[2], "2026-06-29T09:30", 3.9e-25)
    yield _submission("eigh", _LAST_USERS[20], "2026-06-30T11:00", 7.3e-12)
    yield _submission("prefixsum_v2", _LAST_USERS[11], "2026-01-11T20:00", 8.4, runner="B200")


def _odd_runs() -> Iterator[Submission]:
    """Runs whose fields contradict each other, and every status and mode there is."""
    runs = (
        Run("failed", "NVIDIA", 9.1e-6, False, "leaderboard"),
        Run("succeeded", "NVIDIA", 9.2e-6, None, "leaderboard"),
        Run("succeeded", "NVIDIA", None, True, "leaderboard"),
        Run("succeeded", "NVIDIA", 9.3e-6, True, None),
        Run("succeeded", "NVIDIA", 9.4e-6, True, "benchmark"),
        Run("succeeded", "NVIDIA", None, True, "benchmark"),
        Run("succeeded", "NVIDIA", None, True, "test"),
        Run("failed", "NVIDIA", None, False, "test"),
        Run("succeeded", "NVIDIA", None, True, "profile.0"),
        Run("succeeded", "NVIDIA", None, True, "profile.3"),
        Run("succeeded", None, 9.5e-6, True, "leaderboard"),
        Run("hacked", "NVIDIA", 45e-6, True, "leaderboard"),
        Run("hacked"),
        Run("active"),
        Run("timed_out"),
        Run("pending"),
        Run("running"),
        Run("failed"),
    )
    for place, run in enumerate(runs):
        base = _submission("nvfp4_gemm", _LAST_USERS[place], f"2025-12-10T{place:02d}:20", run.score)
        yield replace(base, runs=(run,))
    nothing = _submission("cholesky", replace(_LAST_USERS[0], name=None), "2026-07-01T12:00", None, code=None)
    yield replace(nothing, file_name=None, runs=(Run(None),))


def _below_floor() -> Iterator[Submission]:
    """Faster than the hardware should allow, yet not impossible: kept in place and marked. Their texts match rules of
    KernelGuard, the last one although it is honest."""
    kept = trap_code.KEPT_ANSWERS
    later = kept.replace("ANSWERS", "KNOWN")
    yield _submission("amd-mixed-mla", USERS[8], "2026-04-07T02:10", 8.2e-6, code=trap_code.STOPPED_CLOCK)
    yield _submission("nvfp4_group_gemm", USERS[11], "2026-02-21T06:40", 11.6e-6, code=later, runner="NVIDIA")
    yield _submission("nvfp4_group_gemm", USERS[11], "2026-02-21T05:40", 11.9e-6, code=kept, runner="B200")
    yield _submission("amd-mxfp4-mm", USERS[14], "2026-04-02T18:00", 3.7e-6, code=trap_code.KEPT_GRAPH)


def _ties_between_users() -> Iterator[Submission]:
    for place, user in enumerate(USERS[20:25]):
        yield _submission("vectoradd_v2", user, f"2026-02-1{place}T08:00", 8.90112e-4, runner="A100")
    for place, user in enumerate(USERS[26:28]):
        yield _submission("grayscale_v2", user, f"2026-03-0{place + 1}T08:00", 2.360192e-3, runner="A100")


def _ties_inside_a_user() -> Iterator[Submission]:
    user = USERS[30]
    yield _submission("vectoradd_v2", user, "2026-03-31T20:40", 2.31968e-4, runner="B200")
    later = _submission("vectoradd_v2", user, "2026-03-31T21:15", 2.31968e-4, runner="B200")
    yield later
    yield replace(later, code=f"{later.code}# the same moment, the same time, another text\n")


def _several_runners() -> Iterator[Submission]:
    """One submission id with a row per runner: the id alone does not name a row."""
    sets = (("A100", "B200"), ("B200", "H100", "MI300"), ("A100", "B200", "H100", "MI300"), ("A100", "H100"))
    lanes = {lane.runner: lane for lane in _BOARDS["trimul"].lanes}
    for place in range(10):
        base = _submission("trimul", USERS[3 * place + 1], f"2025-07-{place + 10}T16:00", None)
        runs = tuple(
            Run("succeeded", runner, lanes[runner].best * (4.0 + 0.2 * place), True, "leaderboard")
            for runner in sets[place % len(sets)]
        )
        yield replace(base, runs=runs)
    mixed = _submission("trimul", USERS[33], "2025-07-22T16:00", None)
    passed = Run("succeeded", "H100", 5.2e-3, True, "leaderboard")
    failed = Run("failed", "A100", None, False, "leaderboard")
    yield replace(mixed, runs=(failed, passed))


def _shared_code() -> Iterator[Submission]:
    """The same text by different users, and on boards of different files."""
    text = render(Draft("gemm", "matmul_v2", "shared", style=1, level=7, note="passed from hand to hand"))
    for place, user in enumerate(USERS[41:45]):
        yield _submission(
            "matmul_v2", user, f"2026-01-0{place + 2}T10:00", 1.2e-4 + 1e-6 * place, code=text, runner="B200"
        )
    yield _submission("trimul", USERS[41], "2026-01-08T10:00", 4.4e-3, code=text, runner="A100")
    yield _submission("nvfp4_gemm", USERS[45], "2025-12-20T10:00", 14.2e-6, code=text)


def _odd_file_names() -> Iterator[Submission]:
    names = (
        "sample_name_of_165_characters_".ljust(162, "x") + ".py",
        "moe competition sample v28.py",
        "../../etc/passwd.py",
        "C:\\sample\\kernel.py",
        "/absolute/sample.py",
        "<b>sample</b>.py",
        "样本.py",
        "sample",
        "",
        'sample";rm -rf sample;".py',
        "sample\nname.py",
        "*`sample`*_$1$.py",
    )
    for place, name in enumerate(names):
        base = _submission("amd-moe-mxfp4", USERS[50 + place], f"2026-03-{place + 20}T09:00", 96e-6 + 1e-6 * place)
        yield replace(base, file_name=name)


def _odd_code() -> Iterator[Submission]:
    """Odd source texts among the leaders of two boards, where readers will open them."""
    texts = (
        trap_code.HTML, trap_code.MARKDOWN, trap_code.PROMPT, trap_code.CRLF, trap_code.MIXED_LINE_ENDS,
        trap_code.TABS, trap_code.LONG_LINE, trap_code.NO_LAST_NEWLINE, trap_code.UNICODE, trap_code.CONTROL,
        trap_code.ONE_LINE, trap_code.NESTED_QUOTES, None,
    )  # fmt: skip
    for place, text in enumerate(texts):
        score = 14.2e-6 + 0.05e-6 * place
        yield _submission(
            "nvfp4_dual_gemm", TRAP_USERS[place], f"2026-01-{place % 6 + 14}T11:{place:02d}", score, code=text
        )
    empty = _submission("nvfp4_dual_gemm", TRAP_USERS[14], "2026-01-17T11:00", 15.1e-6, code=None)
    yield replace(empty, code="")
    yield _submission("nvfp4_group_gemm", USERS[6], "2026-02-18T19:00", 13.9e-6, code=trap_code.very_large())
    yield _submission("cholesky", USERS[9], "2026-07-20T19:00", 1.48e-4, code=trap_code.very_long())


def _odd_moments() -> Iterator[Submission]:
    """Both sides of midnight and of a deadline, where an off-by-one day or zone shows."""
    for user, moment in (
        (USERS[60], "2026-01-14T23:59:59.999999"),
        (USERS[61], "2026-01-15T00:00:00"),
        (USERS[62], "2026-01-15T23:59:59.999999"),
        (USERS[63], "2026-01-16T00:00:00"),
        (USERS[64], "2026-01-20T07:58:59.999999"),
        (USERS[65], "2026-01-20T07:59:00"),
        (USERS[66], "2026-01-20T07:59:00.000001"),
        (USERS[67], "2026-01-22T12:00:00"),
    ):
        yield _submission("nvfp4_dual_gemm", user, moment, 19e-6 + 1e-8 * user.index)
