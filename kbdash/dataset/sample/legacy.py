"""The AMD legacy files: one row per run, nested structs, code as bytes, users as small integers."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from kbdash.dataset.sample.courses import attempt_counts, course
from kbdash.dataset.sample.legacy_boards import LEGACY_BOARDS, LegacyBoard

GPUS = ("AMD Instinct MI300X", "AMD Instinct MI300X VF", "AMD Instinct MI325X", None)
_GPU_SHARES = (0.84, 0.09, 0.05, 0.02)

# Commands, how often people use each, and the chance that each of its runs passes. The second ranked run has a
# secret seed; nothing in the file distinguishes it from the public one.
_COMMANDS: tuple[tuple[tuple[str, float], ...], ...] = (
    (("test", 0.72), ("benchmark", 0.93), ("leaderboard", 0.96), ("leaderboard", 0.97)),
    (("test", 0.72),),
    (("benchmark", 0.7),),
    (),
    (("profile.0", 0.72),),
)
_COMMAND_SHARES = (0.56, 0.2, 0.14, 0.06, 0.04)

_ERRORS = (
    "Memory access fault by GPU node-2 (Agent handle: 0x5a3e10) on address 0x7e0000. Reason: Unknown.\n",
    "triton.compiler.errors.CompilationError: at 41:12: incompatible shapes for dot\n",
    "RuntimeError: Error building extension 'sample': ninja: build stopped: subcommand failed.\n",
    "torch.OutOfMemoryError: HIP out of memory. Tried to allocate 3.52 GiB.\n",
    "ImportError: cannot import name 'tile_kernel' from 'submission'\n",
)
_MISMATCH = "mismatch found! custom implementation doesn't match reference: (12, 7): -0.5 != 0.25"


@dataclass(frozen=True, slots=True)
class Slot:
    """When and where a run takes place; times are microseconds since 1970."""

    mode: str
    start: int
    end: int
    gpu: str | None


@dataclass(frozen=True, slots=True)
class LegacyRun:
    """One run of a submission and what it logged."""

    slot: Slot
    passed: bool = False
    score: float | None = None
    result: dict[str, str] = field(default_factory=dict)
    stderr: str = ""
    exit_code: int = 0
    compilation: dict[str, object] | None = None


@dataclass(frozen=True, slots=True)
class LegacySubmission:
    """One upload; a submission without runs gives one row whose run columns are all null."""

    board: LegacyBoard
    user: int
    at: int
    file_name: str
    code: bytes | None
    runs: tuple[LegacyRun, ...] = field(default=())


def legacy_submissions(seed: int, boards: Sequence[LegacyBoard] = LEGACY_BOARDS) -> list[LegacySubmission]:
    """All AMD legacy submissions before the traps are added."""
    submissions: list[LegacySubmission] = []
    for board in boards:
        rng = np.random.default_rng([seed, board.id])
        users = rng.permutation(150)[: board.users] + 1
        counts = attempt_counts(board.users, board.submissions, rng)
        for place, (user, count) in enumerate(zip(users.tolist(), counts.tolist(), strict=True)):
            submissions.extend(_career(board, user, count, place / board.users, rng))
    return submissions


def _career(
    board: LegacyBoard, user: int, count: int, place: float, rng: np.random.Generator
) -> Iterator[LegacySubmission]:
    for attempt in course(board, f"u{user:03d}", count, place, rng):
        runs = tuple(_runs(board, attempt.at, board.best * attempt.multiple, rng))
        name = "submission.py" if user % 3 else f"{board.name}_v{attempt.number + 1}.py"
        yield LegacySubmission(board, user, attempt.at, name, attempt.code.encode(), runs)


def _runs(board: LegacyBoard, at: int, seconds: float, rng: np.random.Generator) -> Iterator[LegacyRun]:
    """The runs that one command starts, up to the first that fails."""
    asked = rng.choice(len(_COMMANDS), p=_COMMAND_SHARES)
    gpu = GPUS[int(rng.choice(len(GPUS), p=_GPU_SHARES))]
    if board.devices > 1 and gpu:
        gpu = "AMD Instinct MI300X VF" if gpu.endswith("VF") else "AMD Instinct MI300X"
    start = at + int(rng.integers(20_000_000, 90_000_000))
    for mode, chance in _COMMANDS[asked]:
        slot = Slot(mode, start, start + int(rng.integers(4_000_000, 45_000_000)), gpu)
        if rng.random() >= chance:
            yield _failed_run(board, slot, rng)
            return
        yield passed_run(board, slot, seconds, rng)
        start = slot.end + 1_500_000


def _failed_run(board: LegacyBoard, slot: Slot, rng: np.random.Generator) -> LegacyRun:
    kind = int(rng.integers(len(_ERRORS) + 3))
    if kind < len(_ERRORS):
        return LegacyRun(slot, stderr="Traceback (most recent call last):\n" + _ERRORS[kind], exit_code=1)
    if kind == len(_ERRORS):
        return LegacyRun(slot, stderr="Killed: the run took longer than allowed\n", exit_code=-9)
    part = "test" if slot.mode == "test" else "benchmark"
    result = {
        "check": "fail",
        f"{part}-count": str(len(board.shapes)),
        f"{part}.0.spec": board.shapes[0],
        f"{part}.0.status": "fail",
        f"{part}.0.error": _MISMATCH,
    }
    return LegacyRun(slot, result=result, exit_code=112)


def passed_run(board: LegacyBoard, slot: Slot, seconds: float, rng: np.random.Generator) -> LegacyRun:
    """A run that passed; a ranked one has a score, the geometric mean of the shape times it logs."""
    if slot.mode == "test":
        shapes = board.shapes[:5]
        result = {"check": "pass", "test-count": str(len(shapes))}
        for i, spec in enumerate(shapes):
            result |= {f"test.{i}.spec": spec, f"test.{i}.status": "pass"}
        return LegacyRun(slot, passed=True, result=result)
    if slot.mode.startswith("profile"):
        trace = {
            "benchmark-count": "1",
            "benchmark.0.spec": board.shapes[0],
            "benchmark.0.report": "c2FtcGxl",
        }
        return LegacyRun(slot, passed=True, result=trace)
    means = _shape_means(board, seconds, rng)
    score = geometric_mean(means) if slot.mode == "leaderboard" else None
    return LegacyRun(slot, passed=True, score=score, result=_benchmark_result(board, means, rng))


def geometric_mean(means_ns: list[float]) -> float:
    """Seconds: the product of the shape times to the power of one over their number, as the platform does."""
    return math.pow(math.prod(mean / 1e9 for mean in means_ns), 1.0 / len(means_ns))


def _shape_means(board: LegacyBoard, seconds: float, rng: np.random.Generator) -> list[float]:
    """Mean times in nanoseconds per ranked shape around a geometric mean of `seconds`."""
    size = np.linspace(-0.8, 0.8, board.ranked_shapes) if board.ranked_shapes > 1 else np.zeros(1)
    skew = size + rng.normal(0.0, 0.05, board.ranked_shapes)
    means = seconds * 1e9 * np.exp(skew - skew.mean()) * (1.0 + rng.exponential(0.006, board.ranked_shapes))
    return [round(float(mean), 2) for mean in means]


def _benchmark_result(board: LegacyBoard, means: list[float], rng: np.random.Generator) -> dict[str, str]:
    """What the evaluation logs about each shape: all values are text, times in nanoseconds."""
    runs = 3 if board.name == "amd-mla-decode" else 100
    result = {"check": "pass", "benchmark-count": str(len(means))}
    for i, mean in enumerate(means):
        std = mean * (0.004 + 0.02 * float(rng.random()))
        result |= {
            f"benchmark.{i}.spec": board.shapes[i],
            f"benchmark.{i}.runs": str(runs),
            f"benchmark.{i}.mean": repr(mean),
            f"benchmark.{i}.std": repr(std),
            f"benchmark.{i}.err": repr(std / math.sqrt(runs)),
        }
        if board.name != "amd-mla-decode":
            result |= {
                f"benchmark.{i}.best": repr(float(round(mean - 1.4 * std))),
                f"benchmark.{i}.worst": repr(float(round(mean + 4.0 * std))),
            }
    return result
