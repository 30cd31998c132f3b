"""Signed links to the content of files: good for a while, or for a number of uses."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
import time
from collections import Counter
from itertools import count
from urllib.parse import quote, urlencode

from tests.hub.messages import HubError, Request

LIFE_SECONDS = 3600.0


class Links:
    """Makes links and checks those that come back."""

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)
        self._serials = count()
        self._uses: Counter[int] = Counter()
        self._oldest_valid = 0
        self._lock = threading.Lock()
        self.life_seconds = LIFE_SECONDS
        self.max_uses: int | None = None

    def sign(self, path: str) -> str:
        """Path and query of a link; each one is different."""
        with self._lock:
            serial = next(self._serials)
        path = quote(path)
        expires = f"{time.time() + self.life_seconds:.6f}"
        signature = self._signature(path, expires, str(serial))
        return f"{path}?{urlencode({'expires': expires, 'serial': serial, 'signature': signature})}"

    def check(self, request: Request) -> None:
        """Refuse a link that was tampered with or has expired; a download counts as a use."""
        expires, serial, signature = (request.query.get(name, "") for name in ("expires", "serial", "signature"))
        genuine = self._signature(request.raw_path, expires, serial)
        if not hmac.compare_digest(genuine.encode(), signature.encode()):
            raise HubError(403, "The signature of the link does not match")
        if time.time() >= float(expires) or self._is_worn(int(serial), request.method):
            raise HubError(403, "The link has expired")

    def expire_all(self) -> None:
        """Let every link made so far be expired."""
        with self._lock:
            self._oldest_valid = next(self._serials) + 1

    def _is_worn(self, serial: int, method: str) -> bool:
        with self._lock:
            self._uses[serial] += method == "GET"
            too_often = self.max_uses is not None and self._uses[serial] > self.max_uses
            return too_often or serial < self._oldest_valid

    def _signature(self, *parts: str) -> str:
        return hmac.new(self._key, "\n".join(parts).encode(), hashlib.sha256).hexdigest()
