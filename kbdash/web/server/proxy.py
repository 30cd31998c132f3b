"""HAProxy in front of several processes: its configuration, and where it is."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from contextlib import closing
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from string import Template

from kbdash.errors import KbdashError

CONFIG = Template((Path(__file__).parent / "haproxy.cfg.template").read_text("utf-8"))
CLIENT_HEADER = "x-forwarded-for"
COOKIE = "kbdash_worker"
"""Names the worker that knows a reader's session."""
PLACES = "/usr/sbin:/usr/local/sbin"
"""Where Debian installs it; not on every user's PATH."""


def configuration(bind: str, workers: Sequence[str], *, header: str = CLIENT_HEADER) -> str:
    """The configuration for these workers (`host:port`).

    `header` is where the workers look for the client's address. HAProxy writes the usual one itself; any other comes
    from an outer proxy and is passed on.
    """
    by_name = any(not worker.startswith("127.0.0.1:") for worker in workers)
    return CONFIG.substitute(
        bind=bind,
        cookie=COOKIE,
        forwarded=FORWARDED if header == CLIENT_HEADER else "",
        resolvers=RESOLVERS if by_name else "",
        servers="\n".join(
            f"    server w{number} {worker} cookie w{number}" + by_name * " resolvers names init-addr libc,none"
            for number, worker in enumerate(workers, 1)
        ),
    )


FORWARDED = f"    http-request set-header {CLIENT_HEADER} %[src]\n"
RESOLVERS = "resolvers names\n    parse-resolv-conf\n\n"


def leads_to(address: str, port: int, number: int) -> bool:
    """Whether the proxy at this address routes a request with this worker's cookie to that worker.

    It answers any other request with the cookie of the worker it chose.
    """
    cookie = {"Cookie": f"{COOKIE}=w{number}"}
    with closing(HTTPConnection(address, port, timeout=2)) as connection:
        try:
            connection.request("GET", "/_stcore/health", headers=cookie)
            answer = connection.getresponse()
        except (OSError, HTTPException):
            return False
        cookies = answer.headers.get_all("Set-Cookie", [])
        return answer.status == 200 and not any(cookie.startswith(f"{COOKIE}=") for cookie in cookies)


def executable() -> str:
    """The path of the program; installs it if possible."""
    if (found := _found()) is None and os.geteuid() == 0 and shutil.which("apt-get"):
        subprocess.run(["apt-get", "update", "-qq"], check=False)  # noqa: S607  (root's own PATH)
        subprocess.run(["apt-get", "install", "-y", "-qq", "haproxy"], check=False)  # noqa: S607
        found = _found()
    if found is None:
        advice = "Install it (apt-get install haproxy, dnf install haproxy, brew install haproxy), or use one worker."
        raise KbdashError("Several workers need HAProxy in front of them, and it is not installed.", advice=advice)
    return found


def _found() -> str | None:
    return shutil.which("haproxy") or shutil.which("haproxy", path=PLACES)
