"""Rows made by hand for the AMD legacy files."""

from collections.abc import Iterator

import numpy as np

from kbdash.dataset.sample import trap_code
from kbdash.dataset.sample.boards import day
from kbdash.dataset.sample.courses import microseconds
from kbdash.dataset.sample.kernels import Draft, render
from kbdash.dataset.sample.legacy import GPUS, LegacyRun, LegacySubmission, Slot, passed_run
from kbdash.dataset.sample.legacy_boards import LEGACY_BOARDS, LegacyBoard

_BOARDS = {board.name: board for board in LEGACY_BOARDS}
_MINUTE = 60_000_000


def legacy_traps() -> list[LegacySubmission]:
    """All hand-made submissions of the AMD legacy files."""
    rng = np.random.default_rng(11)
    return [*_odd_code(rng), *_every_gpu(rng), *_odd_runs(rng), *_public_and_secret(rng), *_other_hours(rng)]


def _text(note: str, board: str = "amd-fp8-mm") -> bytes:
    return render(Draft("hip_gemm", board, "trap", style=1, level=5, note=note)).encode()


def _ranked(board: LegacyBoard, at: int, seconds: float, gpu: str | None, rng: np.random.Generator) -> LegacyRun:
    return passed_run(board, Slot("leaderboard", at + _MINUTE, at + 2 * _MINUTE, gpu), seconds, rng)


def _odd_code(rng: np.random.Generator) -> Iterator[LegacySubmission]:
    board = _BOARDS["amd-fp8-mm"]
    texts = (trap_code.LEGACY_LATIN_1, trap_code.LEGACY_BINARY, trap_code.LEGACY_HEX_TEXT, b"", None)
    for place, text in enumerate(texts):
        at = microseconds(day(f"2025-05-0{place + 3}T10:00"))
        run = _ranked(board, at, board.best * (4.0 + 0.1 * place), GPUS[0], rng)
        yield LegacySubmission(board, 101 + place, at, "submission.py", text, (run,))


def _every_gpu(rng: np.random.Generator) -> Iterator[LegacySubmission]:
    """The same text on each kind of device, and once where the device is not known."""
    board = _BOARDS["amd-mixture-of-experts"]
    for place, gpu in enumerate(GPUS):
        at = microseconds(day(f"2025-05-1{place}T10:00"))
        run = _ranked(board, at, board.best * (3.0 + 0.1 * place), gpu, rng)
        yield LegacySubmission(board, 106, at, "submission.py", _text("one text, four devices"), (run,))


def _odd_runs(rng: np.random.Generator) -> Iterator[LegacySubmission]:
    board = _BOARDS["amd-identity"]
    at = microseconds(day("2025-05-20T10:00"))
    yield LegacySubmission(board, 107, at, "never ran.py", _text("a submission without a single run", board.name))
    slot = Slot("test", at + _MINUTE, at + 2 * _MINUTE, GPUS[0])
    log = "error: <b>sample</b> `undeclared` identifier\n" * 40
    compiled = {"nvcc_found": True, "nvcc_version": "sample", "success": False, "command": "hipcc", "stdout": ""}
    broken = LegacyRun(slot, stderr=log, exit_code=1, compilation=compiled | {"stderr": log, "exit_code": 1})
    yield LegacySubmission(board, 108, at, "submission.py", _text("does not compile", board.name), (broken,))
    silent = LegacyRun(Slot("leaderboard", slot.start, slot.end, None), score=9e-6)
    yield LegacySubmission(board, 109, at, "submission.py", _text("a score, and not passed", board.name), (silent,))
    slow = _ranked(board, at, board.best * 500, GPUS[0], rng)
    yield LegacySubmission(board, 110, at, "submission.py", _text("very slow", board.name), (slow,))


def _public_and_secret(rng: np.random.Generator) -> Iterator[LegacySubmission]:
    """Two ranked runs of one submission, the secret one faster; then one whose secret run failed."""
    board = _BOARDS["amd-mla-decode"]
    at = microseconds(day("2025-05-25T10:00"))
    public, secret = (_ranked(board, at, board.best * factor, GPUS[0], rng) for factor in (2.1, 2.0))
    yield LegacySubmission(board, 111, at, "submission.py", _text("secret run faster", board.name), (public, secret))
    failed = LegacyRun(Slot("leaderboard", at, at + _MINUTE, GPUS[0]), stderr="Killed\n", exit_code=-9)
    yield LegacySubmission(board, 112, at, "submission.py", _text("secret run failed", board.name), (public, failed))


def _other_hours(rng: np.random.Generator) -> Iterator[LegacySubmission]:
    """Midnight in UTC, and a submission after the deadline of its board."""
    board = _BOARDS["amd-gemm-rs"]
    for user, moment in ((113, "2025-09-30T23:59:59.999999"), (114, "2025-10-01T00:00"), (115, "2025-10-16T09:00")):
        at = microseconds(day(moment))
        run = _ranked(board, at, board.best * user / 90, "AMD Instinct MI300X VF", rng)
        yield LegacySubmission(board, user, at, "submission.py", _text(f"sent {moment}", board.name), (run,))
