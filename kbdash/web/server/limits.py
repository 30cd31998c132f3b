"""Limits of one reader, one address and all readers of this process."""

import os
import resource
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

# A session holds its websocket, and while it runs up to three files or sockets.
DESCRIPTORS_PER_SESSION = 4
# Start-up, the dataset, static files, and connections without a session.
DESCRIPTORS_APART = 96
WANTED_DESCRIPTORS = 65_536


@dataclass(frozen=True)
class Rate:
    """A rate per second on average, and `burst` at once."""

    per_second: float
    burst: float


@dataclass(frozen=True)
class Limits:
    """Generous for people, even for a classroom behind one address; tight for programs."""

    sessions: int = 1000
    sessions_per_address: int = 100
    downloads: int = 24
    runs: Rate = Rate(4, 24)
    runs_per_address: Rate = Rate(15, 90)
    requests_per_address: Rate = Rate(150, 900)
    request_bytes: int = 2**20
    stuck_seconds: float = 60.0
    client_header: str | None = None

    @classmethod
    def from_env(cls, environ: Mapping[str, str] = os.environ) -> "Limits":
        """KBDASH_MAX_SESSIONS (as file descriptors allow), KBDASH_RUNS_PER_SECOND and KBDASH_CLIENT_HEADER."""
        sessions = min(_whole(environ.get("KBDASH_MAX_SESSIONS", ""), cls.sessions), sessions_for(descriptors()))
        runs = _whole(environ.get("KBDASH_RUNS_PER_SECOND", ""), int(cls.runs.per_second))
        header = environ.get("KBDASH_CLIENT_HEADER", "").strip().lower() or None
        return cls(sessions=max(1, sessions), runs=Rate(max(1, runs), 6 * max(1, runs)), client_header=header)


class Bucket:
    """A token bucket: `take` always succeeds, and returns how long to wait first."""

    def __init__(self, rate: Rate, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = rate
        self._clock = clock
        self._level = rate.burst
        self._at = clock()

    def take(self) -> float:
        """Seconds until the token taken is due."""
        self._refill()
        self._level -= 1
        return max(0.0, -self._level / self._rate.per_second)

    def is_full(self) -> bool:
        """Whether nothing was taken lately."""
        self._refill()
        return self._level >= self._rate.burst

    def _refill(self) -> None:
        now = self._clock()
        self._level = min(self._rate.burst, self._level + (now - self._at) * self._rate.per_second)
        self._at = now


def _whole(text: str, default: int) -> int:
    """The text as a whole number; the default when it is not one."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else default


def descriptors() -> int:
    """File descriptors this process may have open."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return WANTED_DESCRIPTORS if soft == resource.RLIM_INFINITY else soft


def raise_descriptors() -> int:
    """Raise the soft limit to the hard one, if possible; returns the new limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = WANTED_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, WANTED_DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return descriptors()


def sessions_for(limit: int) -> int:
    """The number of sessions that this many file descriptors allow."""
    return max(0, limit - DESCRIPTORS_APART) // DESCRIPTORS_PER_SESSION


def shortage(limits: Limits) -> str | None:
    """A warning for the operator when file descriptors, not settings, limit the sessions."""
    if limits.sessions >= Limits.sessions or limits.sessions < sessions_for(descriptors()):
        return None
    return (
        f"File descriptors allow {limits.sessions} readers at once (limit {descriptors()}). "
        "For more, raise the limit: ulimit -n 65536, LimitNOFILE= of systemd, or --ulimit nofile=65536 of Docker."
    )
