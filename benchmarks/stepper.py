"""One way of doing a thing in a process of its own, step by step, with what each step moved."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.workers import STARTED
from tests.hub import LoopbackHub


@dataclass(frozen=True)
class Step:
    """What one step took: seconds, requests and bytes at the Hub, and the process's peak memory so far.

    `whole` are the seconds since the process was started, imports included.
    """

    name: str
    seconds: float
    requests: int
    bytes: int
    peak_mb: float
    result: str
    whole: float = 0.0


def run_worker(hub: LoopbackHub, worker: str, *arguments: str, env: dict[str, str] | None = None) -> Iterator[Step]:
    """Steps of `python -m benchmarks.workers WORKER`, each counted at the Hub while nothing else runs."""
    command = [sys.executable, "-m", "benchmarks.workers", worker, hub.endpoint, *arguments]
    environment = os.environ | (env or {}) | {STARTED: repr(time.time())}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdin
        assert process.stdout
        hub.reset()
        for line in process.stdout:
            told = json.loads(line)
            step = Step(requests=hub.counts.requests, bytes=hub.counts.bytes, **told)
            print(f"{worker}: {step}", file=sys.stderr)
            yield step
            hub.reset()
            process.stdin.write("\n")
            process.stdin.flush()
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
