"""python -m tests.hub FOLDER: serve a folder as the dataset, until interrupted."""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path

from tests.hub import LoopbackHub


def main() -> None:
    """Serve until SIGINT or SIGTERM."""
    arguments = _parser().parse_args()
    signals = {signal.SIGINT, signal.SIGTERM}
    # Blocked before any thread starts, so that none of them takes the signal.
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    with LoopbackHub(arguments.folder, arguments.repo, port=arguments.port) as hub:
        hub.faults.latency = arguments.latency / 1000
        hub.faults.connection_latency = arguments.connection_latency / 1000
        sys.stdout.write(f"HF_ENDPOINT={hub.endpoint}\n")
        sys.stdout.flush()
        signal.sigwait(signals)
        sys.stdout.write(f"{hub.counts.requests} requests, {hub.counts.bytes} bytes\n")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.hub", description="The Hugging Face Hub on loopback")
    parser.add_argument("folder", type=Path, help="the files of the dataset")
    parser.add_argument("--repo", default="GPUMODE/kernelbot-data", help="the name of the dataset")
    parser.add_argument("--port", type=int, default=0, help="default: any free one")
    parser.add_argument("--latency", type=float, default=0, metavar="MS", help="milliseconds before each answer")
    parser.add_argument(
        "--connection-latency", type=float, default=0, metavar="MS", help="milliseconds more on each new connection"
    )
    return parser


if __name__ == "__main__":
    main()
