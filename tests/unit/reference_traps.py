"""Rows with traps: every value that a question must not trip over, in three flat files and a legacy one.

Ties inside and between users, missing values in every column, several boards and runners in one file, impossible,
flagged and reported rows, both sides of midnight UTC, other modes, unusable scores, one id twice, one name for
several users and several names for one user.
"""

import math
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa

from kbdash.dataset.model import FlagCase
from tests.unit.tables import LEGACY, NVFP4, RUNS, TRIMUL, write_flat, write_runs

LOOSE = "loose_submissions.parquet"
FILES = {"nvfp4": NVFP4, "amd-mi300": LEGACY, "trimul": TRIMUL, "loose": LOOSE}
BOARDS = {598: "nvfp4_dual_gemm", 697: "modal_nvfp4_dual_gemm", 730: "nvfp4_group_gemm"}
USERS = ("7", "8", "9", "42", "43", "77", "103906690925649842288")
NAMES = {"7": "ada", "8": "ada", "9": "Ada", "43": "eve", "77": "7", "103906690925649842288": None}
RUNNERS = ("NVIDIA", "B200", "A100")
MIDNIGHT = datetime(2025, 12, 21, tzinfo=UTC)
TICK = timedelta(microseconds=1)
HOUR = timedelta(hours=1)
TIMES = (
    MIDNIGHT - TICK, MIDNIGHT, MIDNIGHT + TICK, MIDNIGHT + timedelta(days=1) - TICK, MIDNIGHT + timedelta(days=1),
    *(MIDNIGHT + HOUR * hours for hours in (-230, -100, -99, -31, -7, -7, 5, 11, 12, 13, 40, 77, 90)),
)  # fmt: skip
SCORES = (
    *(7.3e-6, 1e-5, 2e-5, 3e-5, 5e-5) * 6, *(7.1e-6, 7.2e-6, 1.2e-5, 1.203e-05, 4e-6, 6e-5, 9e-5, 2e-4) * 2,
    math.nextafter(7.2e-6, 0), 1e-7, math.nextafter(1e-7, 0), 3e-8, 4.6e-25, 8.85,
    None, None, math.nan, math.inf, -math.inf, 0.0, -1e-5,
)  # fmt: skip
REPORTS = (
    FlagCase(730, 506336, "batches its calls", "news"),
    FlagCase(730, 1007, "told on one machine", "chat", runner="B200"),
    FlagCase(730, 1007, "a second word", "chat", kind="admitted"),
    FlagCase(730, 1007, "yet another word", "mail", kind="admitted"),
    FlagCase(597, 4701, "just not too fast", "news"),
    FlagCase(598, 506336, "the id of another board", "news"),
    FlagCase(697, 1015, "told on a machine it never ran on", "news", runner="T4"),
)
AGES = {
    8e-6: datetime(1969, 12, 31, 23, tzinfo=UTC),
    3e-5: datetime(1970, 1, 1, tzinfo=UTC),
    2e-5: datetime(2200, 1, 1, tzinfo=UTC),
    1e-5: datetime(2200, 1, 1, tzinfo=UTC) - TICK,
}
LONG = "é" * 480 + "x" * 30
CLOSE_NAMES = ("sandra", "sandro", "Sandra K", "s" * 60 + "andra", "koxrij")
"""The last one has a likeness of exactly 0.8 to "korp"."""
REVERSED = "reversed"
BRIEF = "brief"
PODIUM = "podium"
CASED = "cased"


def name_of(user: str, at: datetime | None) -> str | None:
    """What a user was called then: one has changed the name."""
    return ("late" if at and at > MIDNIGHT else "early") if user == "42" else NAMES.get(user)


def flat_rows(seed: int, count: int, boards: dict[int, str]) -> Iterator[dict[str, Any]]:
    """Submissions with ids in no order of time, each on some of the runners or on none."""
    random = Random(seed)
    for number in range(count):
        board = random.choice(tuple(boards))
        user = random.choice(USERS)
        at = random.choice(TIMES) if number % 23 else None
        shared = {
            "submission_id": 1000 + (number * 7) % 211,
            "leaderboard_id": board,
            "problem_name": boards[board],
            "user_id": user,
            "user_name": name_of(user, at),
            "code_id": random.choice((1, 2, 3, 3, None)),
            "file_name": random.choice(("a.py", "B.py", "b.py", "with Ada.py", "%_'.py", None)),
            "submission_time": at,
            "code": "never read",
        }
        for runner in random.choice(((None,), RUNNERS[:1], RUNNERS[1:2], RUNNERS[:2], RUNNERS[:2], RUNNERS)):
            passed = random.choice((True,) * 9 + (False, None))
            ran = {
                "runner": runner,
                "status": random.choice(("succeeded", "failed", "Timeout", None)),
                "mode": random.choice(("leaderboard",) * 9 + ("benchmark", "test", None)),
                "passed": passed,
                "score": random.choice(SCORES),
            }
            never = {"runner": None, "status": "no run", "mode": None, "passed": None, "score": None}
            yield shared | (ran if runner or number % 2 else never)


def row(number: int, user: str = "7", **fields: Any) -> dict[str, Any]:
    """A ranked row on the board 730 that passed."""
    return {
        "submission_id": number, "leaderboard_id": 730, "problem_name": BOARDS[730], "user_id": user,
        "user_name": name_of(user, None), "code_id": 1, "file_name": "own.py", "submission_time": MIDNIGHT,
        "status": "succeeded", "mode": "leaderboard", "passed": True, "score": 2.5e-5, "runner": "NVIDIA",
    } | fields  # fmt: skip


def special_rows() -> list[dict[str, Any]]:
    """What chance does not bring: one id several times, reported rows, boards with one number, values out of range."""
    same_moment = {"submission_time": MIDNIGHT + 2 * HOUR}
    return [
        *(row(506336, "8", runner=runner, score=1.3e-5, **same_moment) for runner in ("NVIDIA", "B200")),
        *(row(1007, "43", runner=runner, score=1.4e-5, **same_moment) for runner in ("NVIDIA", "B200")),
        # One id and runner several times: the ranking takes the lowest, then the earliest.
        row(4000, "9", code_id=None, score=3.5e-5, submission_time=MIDNIGHT + 3 * HOUR),
        row(4000, "9", code_id=None, score=3.5e-5, submission_time=MIDNIGHT + 4 * HOUR),
        row(4000, "9", code_id=None, score=9.5e-5, submission_time=MIDNIGHT + 1 * HOUR),
        row(4000, "9", code_id=None, score=1e-9, submission_time=MIDNIGHT),
        row(4000, "9", code_id=None, runner="B200", passed=False, score=1e-6),
        row(4001, "9", code_id=None, runner=None, mode=None, passed=None, score=None),
        row(4002, "9", code_id=None, score=4.5e-5, submission_time=MIDNIGHT + 5 * HOUR, mode="benchmark"),
        row(4002, "9", code_id=None, score=4.5e-5, submission_time=MIDNIGHT + 5 * HOUR, mode="benchmark"),
        row(4003, "9", code_id=None, score=4.7e-5, submission_time=MIDNIGHT + 7 * HOUR, mode="test"),
        row(4003, "9", code_id=None, score=4.7e-5, submission_time=MIDNIGHT + 6 * HOUR, mode="test"),
        # Two boards of one number, and one whose name sorts before those of lower numbers.
        *(row(4100 + n, "8", leaderboard_id=12, problem_name=f"twin_{name}", score=(3 - n) * 1e-5)
          for n, name in enumerate("ba")),
        *(row(4200 + n, user, leaderboard_id=900, problem_name="a_late_board", runner=runner)
          for n, (user, runner) in enumerate((("7", None), ("8", "T4"), ("8", "B200"), ("9", "A100")))),
        # Equal in all but the id, the lowest of which comes last.
        *(row(number, user, leaderboard_id=902, problem_name="tied")
          for number, user in ((4402, "7"), (4404, "42"), (4401, "8"), (4403, "9"))),
        # The edges of what a time may be.
        *(row(4300 + n, "7", leaderboard_id=901, problem_name="ages", score=score, submission_time=at)
          for n, (score, at) in enumerate(AGES.items())),
        # The edges of what a score may be.
        *(row(4370 + n, str(n), leaderboard_id=907, problem_name="scores", score=score)
          for n, score in enumerate((1e9, math.nextafter(1e9, 0), -1e9, math.nextafter(-1e9, 0), 1e303, 2e-5))),
        # Names that differ in one letter's case alone, the one that sorts first as it is written before the other.
        *(row(4350 + n, user, leaderboard_id=906, problem_name=CASED, score=(4 - n) * 1e-5,
              submission_time=MIDNIGHT + n * HOUR) for n, user in enumerate(("9", "7", "43"))),
        row(None, "8", score=1e-6),
        # One id and runner with two flags: the order of the file, not that of their kinds.
        *(row(4700, "7", leaderboard_id=597, problem_name="floored", score=score) for score in (1e-9, 4e-6)),
        row(4701, "8", leaderboard_id=597, problem_name="floored", score=4.27e-6),  # reported, and just not too fast
        *reversed_rows(),
        *podium_rows(),
        # Boards of less than two seconds, with two records in the last of forty steps, and of less than one.
        *(row(4800 + n, "7", leaderboard_id=904, problem_name=BRIEF, runner=runner, score=score,
              submission_time=MIDNIGHT + timedelta(seconds=seconds))
          for n, (runner, seconds, score) in enumerate(
              (("NVIDIA", 0, 9e-5), ("NVIDIA", 0.7, 8e-5), ("NVIDIA", 1.48, 4e-5), ("NVIDIA", 1.5, 3e-5),
               ("B200", 0, 6e-5), ("B200", 0.5, 5e-5)))),
    ]  # fmt: skip


def reversed_rows() -> list[dict[str, Any]]:
    """A board with ties in time, id, score and rank, on which what comes first by the rules comes last in the file."""
    board = {"leaderboard_id": 903, "problem_name": REVERSED}
    runs = (
        (8, "NVIDIA", 2e-5), (7, "NVIDIA", 4e-5), (7, "B200", 3e-5), (6, "NVIDIA", 5e-5), (5, "NVIDIA", 7e-5),
        (5, "B200", 8e-5),
    )  # fmt: skip
    return [
        row(4590, "7", **board, runner="A100", passed=False),  # a runner without any best
        row(4570, "42", **board, score=2e-5, submission_time=MIDNIGHT + HOUR),
        *(row(4480 + 10 * int(user) + number, user, **board, runner=runner, score=score)
          for user in "987" for number, runner, score in runs),
        *(row(4600 + 10 * int(user) + code, user, **board, runner=runner, score=6e-5, code_id=code,
              submission_time=MIDNIGHT + 2 * HOUR)
          for user in "98" for code in (9, 8, 7, 6, 5, 4) for runner in ("NVIDIA", "B200")),
    ]  # fmt: skip


def podium_rows() -> list[dict[str, Any]]:
    """More people than stand beside somebody: three share each rank, some of them the time, and two are impossible."""
    board = {"leaderboard_id": 905, "problem_name": PODIUM}
    rows = [
        row(4900 + place, f"p{place * 7 % 15:02}", **board, score=(2 + (place + 2) // 3) * 1e-5 if place < 13 else 1e-9,
            user_name="bAcB"[place % 4], submission_time=MIDNIGHT + place % 2 * HOUR)
        for place in range(15)
    ]  # fmt: skip
    others = [
        row(4920 + place, f"p{place:02}", **board, runner="B200", score=(9 - place) * 1e-5, submission_time=None)
        for place in range(4)
    ]
    return [*rows[1::2], *rows[::2], *others]


def loose_rows() -> list[dict[str, Any]]:
    """A file that the catalog does not know: missing and long texts, a person without any time, one without a rank."""
    rows = [row(6000 + n, "7", user_name=f"user {n}", user_id=f"u{n}", leaderboard_id=None, problem_name="loose",
                score=(n % 3 + 1) * 1e-5, submission_time=MIDNIGHT + n * HOUR) for n in range(5)]  # fmt: skip
    return [
        *rows,
        row(6010, "7", problem_name=None, leaderboard_id=1, runner=None, mode=None, passed=None, score=None),
        row(6011, "7", problem_name="nobody ran", leaderboard_id=2, runner=None, mode=None, passed=None, score=None),
        row(6012, "timeless", user_name="timeless", problem_name="loose", submission_time=None),
        *(row(6040 + n, "mixed", user_name=name, problem_name="loose") for n, name in enumerate(("Mixed", "miXed"))),
        # The name of the first and of the last row, and between them the same in other letters.
        *(row(6045 + n, "swap", user_name=name, problem_name="loose", submission_time=MIDNIGHT + n * HOUR)
          for n, name in enumerate(("Swap", "sWap", "Swap"))),
        row(6013, "long", user_name=LONG, problem_name="p" * 501, runner="r" * 501, file_name="f" * 500),
        row(6014, "long2", user_name=LONG[:-1] + "y", problem_name="p" * 500, runner="é" * 300, status="s" * 502),
        *(row(6020 + n, f"c{n}", user_name=name, problem_name="loose") for n, name in enumerate(CLOSE_NAMES)),
        *(row(6030 + n, "7", problem_name="loose", runner="A100", code_id=1, score=score)
          for n, score in enumerate((math.nan, None, math.inf, 2e-5, 2e-5))),
        *(row(6035, "7", problem_name="loose", runner=runner, code_id=1, score=2e-5) for runner in ("H100", "B200")),
        # Letters of both kinds in the names of a file.
        row(6050, "v", user_name="Vera", problem_name="Loud"),
        row(6051, "7", problem_name="Loud", runner="b201"),
        row(3980, "7", problem_name="loose", runner="MI300x8"),  # the id and the machine of runs in another file
    ]  # fmt: skip


def trimul_rows() -> list[dict[str, Any]]:
    rows = list(flat_rows(3, 60, {496: "trimul"}))
    return [row | {"submission_id": row["submission_id"] + 2000} for row in rows]


def legacy_runs() -> Iterator[dict[str, Any]]:
    """Runs of an AMD legacy file: several for each submission, on the board's own machine and on another."""
    random = Random(11)
    for number in range(70):
        board = random.choice((399, 399, 399, 563, 77))
        submission = {
            "submission_id": 3000 + (number * 3) % 70, "leaderboard_id": board, "user_id": random.choice((1, 2, 3, 4)),
            "submission_time": random.choice(TIMES).replace(tzinfo=None), "file_name": "s.py", "code": b"never read",
            "code_id": random.choice((1, 2)),
        }  # fmt: skip
        if number % 9 == 0:
            yield submission
            continue
        for _ in range(random.randint(1, 5)):
            gpu = random.choice((None, "AMD Instinct MI300X", "AMD Instinct MI325X", "an AMD Instinct MI325X"))
            yield submission | {
                "run_mode": random.choice(("leaderboard",) * 4 + ("benchmark", "test", "other")),
                "run_passed": random.choice((True, True, True, False, None)),
                "run_score": random.choice(SCORES),
                "run_system_info": {"gpu": gpu, "cpu": "c"} if gpu or random.random() < 0.5 else None,
                "run_result": shape_timings(random),
            }
    yield from noisy_runs()
    # One without an id; and the first of both machines.
    yield {"submission_id": None, "leaderboard_id": 399, "user_id": 2, "run_mode": "leaderboard", "run_score": 1e-6}
    for gpu in ("AMD Instinct MI325X", "AMD Instinct MI300X"):
        timings = {f"benchmark.{shape}.mean": "300" for shape in range(3)}
        yield {
            "submission_id": 3999, "leaderboard_id": 399, "user_id": 2, "file_name": "s.py",
            "submission_time": TIMES[0].replace(tzinfo=None), "code": b"never read", "code_id": 1,
            "run_mode": "leaderboard", "run_passed": True, "run_score": 1e-7,
            "run_system_info": {"gpu": gpu, "cpu": "c"}, "run_result": timings,
        }  # fmt: skip


def noisy_runs() -> Iterator[dict[str, Any]]:
    """Runs that log one shape in several sizes, without any noise, and with means and deviations that none can have."""
    told = (("z: 1", 900, "0"), ("z: 1", 400, "0.5"), ("a: 1", "0.5", "0.25"), ("m: 0", 0, "5"), ("m: 0", 700, "-7"),
            ("m: 0", "1e18", "5"), ("m: 0", "900000000000000000", "9e17"), ("m: 0", "-1e303", "5"))  # fmt: skip
    for number, (spec, mean, std) in enumerate(told):
        other = {"benchmark.1.spec": "m: 1", "benchmark.1.mean": "600", "benchmark.1.std": "6"}
        result = other | {"benchmark.0.spec": spec, "benchmark.0.mean": str(mean), "benchmark.0.std": std}
        yield {
            "submission_id": 3980 + number // 2, "leaderboard_id": 563, "user_id": 4, "code_id": 2,
            "submission_time": TIMES[3].replace(tzinfo=None), "file_name": "s.py", "code": b"never read",
            "run_mode": "leaderboard",
            "run_passed": True, "run_score": 4e-5, "run_result": result,
        }  # fmt: skip


def shape_timings(random: Random) -> dict[str, str | None] | None:
    """What a run tells of its three shapes, as text; some of it is missing or no number."""
    if random.random() < 0.1:
        return None
    told = {"benchmark-count": "3"}
    for shape in random.sample(range(3), random.randint(1, 3)):
        told |= {
            f"benchmark.{shape}.spec": f"m: {shape}",
            f"benchmark.{shape}.mean": random.choice(("1500.5", "2e3", "nonsense", "700")),
            f"benchmark.{shape}.runs": str(random.randint(1, 100)),
            **{f"benchmark.{shape}.{field}": str(random.randint(500, 900)) for field in ("best", "worst", "std")},
        }
    return {name: text for name, text in told.items() if name in RESULT_FIELDS}


RESULT_FIELDS = (
    "benchmark-count",
    *(f"benchmark.{shape}.{field}" for shape in (2, 0, 1) for field in ("spec", "mean", "runs")),
    *(f"benchmark.{shape}.{field}" for shape in (0, 1) for field in ("best", "worst", "std")),
)


def write_traps(folder: Path) -> None:
    """All four files."""
    write_flat([*flat_rows(5, 211, BOARDS), *special_rows()], folder / NVFP4)
    write_flat(trimul_rows(), folder / TRIMUL)
    write_flat(loose_rows(), folder / LOOSE)
    result = pa.field("run_result", pa.struct([(name, pa.string()) for name in RESULT_FIELDS]))
    write_runs(legacy_runs(), folder / LEGACY, RUNS.set(RUNS.get_field_index("run_result"), result))


CROWD = 2101
"""One more than 150 goes into: of 150 evenly picked ones the step is another than of 151."""


def crowd_ratio(user: int) -> float:
    """How much slower one of the crowd is on the second machine, in no order of the users; all but one in pairs."""
    return 1 + (user * 7919 % CROWD + 1) // 2 / CROWD


def write_crowd(folder: Path) -> None:
    """More people, personal bests, machines and shapes than any answer holds."""
    boards = ((598, "NVIDIA"), (598, "B200"), (697, "NVIDIA"))
    people = [
        row(100 + user, f"u{user}", leaderboard_id=board, problem_name=BOARDS[board], runner=runner, code_id=user,
            score=(1 + user / CROWD) * 1e-3 * (crowd_ratio(user) if runner == "B200" else 1),
            submission_time=MIDNIGHT + user * TICK)
        for board, runner in boards for user in range(CROWD)
    ]  # fmt: skip
    third = [entry | {"runner": "H100", "score": 2 * entry["score"]} for entry in people[:CROWD:5]]
    climbs = [
        row(10_000 + step, "climber", leaderboard_id=598, problem_name=BOARDS[598], runner="A100",
            score=1 / (1 + step), submission_time=MIDNIGHT + step * HOUR)
        for step in range(501)
    ]  # fmt: skip
    machines = [row(1, runner=f"machine {number}") for number in range(21)]
    twice = [row(20_000 + number, leaderboard_id=number, problem_name="twice") for number in (1, 900)]
    write_flat([*people, *third, *climbs, *machines, *twice], folder / NVFP4)
    timings = {f"benchmark.{shape}.mean": "5" for shape in range(3)}
    runs = (
        {"submission_id": user, "leaderboard_id": 399, "user_id": user, "code_id": 1,
         "submission_time": MIDNIGHT.replace(tzinfo=None),
         "run_mode": "leaderboard", "run_passed": True, "run_score": 1e-3, "run_result": timings}
        for user in range(1334)
    )  # fmt: skip
    write_runs(runs, folder / LEGACY)
