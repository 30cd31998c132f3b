"""A process that builds one store: `python -m tests.content.worker ROWS ROOT [LARGEST_FILE]`."""

import resource
import signal
import sys
from pathlib import Path

from kbdash.content.build import Build
from kbdash.content.command import _stoppable
from kbdash.errors import KbdashError
from tests.content.files import Made, Sent

PART_BYTES = 8_000


def made(rows: int) -> Made:
    """A file of so many rows in many pages: histories of a few users, with copies among them."""
    sent = []
    for row in range(rows):
        user = row % 7
        version = row // 7
        lines = [f"line {n} of user {user if n % 3 else 0} at {max(0, version - n % 11)}" for n in range(40)]
        text = "\n".join(lines).encode() if row % 50 else None
        sent.append(Sent(row, text, user=f"u{user}", problem=f"p{row % 2}", at=version % 300))
    return Made(sent, {"data_page_size": 1, "write_batch_size": 20, "row_group_size": 500, "compression": "snappy"})


def main() -> int:
    rows, root = int(sys.argv[1]), Path(sys.argv[2])
    if len(sys.argv) > 3:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), resource.RLIM_INFINITY))
    build = Build(made(rows).order(root, part_bytes=PART_BYTES))
    try:
        with _stoppable(build):
            sys.stdout.write("ready\n")
            sys.stdout.flush()
            build.run()
    except KbdashError as error:
        sys.stdout.write(f"{type(error).__name__} {error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
