"""`python -m kbdash.web.server`: the app for the public, in one process or in several."""

import argparse
import sys

from kbdash.errors import KbdashError
from kbdash.web.server import launcher, proxy, worker


def main() -> int:
    """Serve until told to stop; 2 when that cannot be, with the reason and what to do about it."""
    parser = argparse.ArgumentParser(prog="python -m kbdash.web.server", description=__doc__)
    parser.add_argument("--address", default="127.0.0.1", help="where to listen; 0.0.0.0 is everywhere")
    parser.add_argument("--port", type=int, default=8501)
    parser.add_argument("--workers", type=int, default=1, help="processes; more than one need HAProxy")
    parser.add_argument("--print-config", nargs="+", metavar="HOST:PORT", help="HAProxy's configuration, and no more")
    given = parser.parse_args()
    try:
        if given.print_config:
            sys.stdout.write(proxy.configuration(f"{given.address}:{given.port}", given.print_config))
        elif given.workers > 1:
            launcher.serve(given.address, given.port, given.workers)
        else:
            worker.run(given.address, given.port)
    except KbdashError as error:
        sys.stderr.write(f"{error} {error.advice}\n")
        return 2
    return 0


sys.exit(main())
