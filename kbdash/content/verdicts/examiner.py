"""Verdicts of KernelGuard, the platform's own rules, about a text: which rules match, and where.

A match is not a judgement: honest texts match rules, too. KernelGuard is optional; without it a question for a verdict
says so and everything else works.
"""

import importlib.metadata
import json
import os
import re
import select
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import IO, Literal, TypedDict

from kbdash.errors import DataUnavailable

PACKAGE = "kernelguard"
SECONDS = 20.0
"""Deadline of one text, in seconds; after it the result is `timed out`."""
MOST_LINES = 20
LONGEST_WORD, SHORT_WORD = 512, 32
_START_SECONDS = 30.0
_LONG_WORD = re.compile(r"[^\s\"']+")
_NAME = re.compile(r"[A-Za-z_][\w.]*[._]\w[\w.]*|\b[a-z]+[A-Z]\w+")
_PROJECT = Path(__file__).parents[3]


class Rule(TypedDict):
    """A rule that matches; `lines` (from 1) are those with the names in its evidence."""

    rule: str
    severity: str
    evidence: str
    lines: list[int]


class Verdict(TypedDict):
    """The answer about one text."""

    status: Literal["clean", "matched", "timed out", "no text"]
    rules: list[Rule]
    version: str


class KernelGuardMissing(DataUnavailable):
    """The package is not installed."""


def kernelguard_version() -> str | None:
    """The version of KernelGuard that is installed, if it is."""
    try:
        return importlib.metadata.version(PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        return None


def shortened(text: str) -> str:
    """The text with words over 512 letters cut: packed data mean nothing to KernelGuard and take it minutes."""
    return _LONG_WORD.sub(
        lambda word: word.group() if len(word.group()) <= LONGEST_WORD else word.group()[:SHORT_WORD], text
    )


class Examiner:
    """KernelGuard in a separate process, one text at a time. Thread-safe; close it when done."""

    def __init__(
        self, seconds: float = SECONDS, command: tuple[str, ...] = ("kbdash.content.verdicts.worker",)
    ) -> None:
        version = kernelguard_version()
        if version is None:
            raise KernelGuardMissing("KernelGuard is not installed.", advice="pip install kernelguard")
        self.version = version
        self._seconds = seconds
        self._command = command
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def examine(self, text: str) -> Verdict:
        """The verdict about a text, by the deadline."""
        with self._lock:
            answer = self._ask(json.dumps(shortened(text)).encode() + b"\n")
        if answer is None:
            return Verdict(status="timed out", rules=[], version=self.version)
        found = json.loads(answer)
        if isinstance(found, dict):
            raise DataUnavailable("KernelGuard failed on this text.", advice=str(found.get("failed", "")))
        rules = [_rule(text, each) for each in found]
        return Verdict(status="matched" if rules else "clean", rules=rules, version=self.version)

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _ask(self, question: bytes) -> bytes | None:
        """The process's reply; on timeout, kills the process and returns None."""
        fresh = self._process is None
        process = self._process or self._started()
        deadline = time.monotonic() + self._seconds + (_START_SECONDS if fresh and self._seconds >= 1 else 0.0)
        pipe = process.stdin, process.stdout
        if pipe[0] is None or pipe[1] is None:
            raise DataUnavailable("KernelGuard could not be started.", advice="Try again.")
        try:
            pipe[0].write(question)
            pipe[0].flush()
            answer = _line(pipe[1], deadline)
        except BrokenPipeError:
            answer = b""
        if not answer:
            self.close()
        if answer == b"":
            raise DataUnavailable("KernelGuard ended while it looked at this text.", advice="Try again.")
        return answer

    def _started(self) -> subprocess.Popen[bytes]:
        self._process = subprocess.Popen(  # noqa: S603  (our own module)
            [sys.executable, "-m", *self._command],
            cwd=_PROJECT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
        )
        return self._process


def _line(pipe: IO[bytes], deadline: float) -> bytes | None:
    """The next line; None on timeout, b"" at the end of the stream."""
    parts: list[bytes] = []
    while not parts or not parts[-1].endswith(b"\n"):
        ready, _, _ = select.select([pipe], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            return None
        data = os.read(pipe.fileno(), 1 << 16)
        if not data:
            return b""
        parts.append(data)
    return b"".join(parts)


def _rule(text: str, match: dict[str, str]) -> Rule:
    return Rule(
        rule=match["pattern"],
        severity=match["severity"],
        evidence=match["evidence"],
        lines=evidence_lines(text, match["evidence"]),
    )


def evidence_lines(text: str, evidence: str) -> list[int]:
    """Lines with the names that the evidence mentions; names that are everywhere are ignored."""
    names = set(_NAME.findall(evidence))
    places = {name: [number for number, line in enumerate(text.split("\n"), 1) if name in line] for name in names}
    telling = [lines for lines in places.values() if 0 < len(lines) <= MOST_LINES]
    return sorted({number for lines in telling for number in lines})[:MOST_LINES]
