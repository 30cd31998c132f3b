"""The HTTP client of one open source: created lazily, closed with the source."""

import ssl
import threading
import time
from contextlib import suppress
from functools import cache

# httpx2 imports these lazily, with its first client and first request; imported here, no reader waits for them.
import anyio._backends._asyncio  # noqa: F401
import httpcore2  # noqa: F401
import httpx2

from kbdash.dataset.http.loop import submit, wait
from kbdash.errors import DataUnavailable

_CLOSE_SECONDS = 2.0


class HttpClient:
    """A pool of keep-alive connections for all requests of a source. It follows no redirects by itself.

    Proxies come from the environment. Everything but `close` runs in the network thread.
    """

    def __init__(self, transport: httpx2.AsyncBaseTransport | None = None) -> None:
        self._transport = transport
        self._client: httpx2.AsyncClient | None = None
        self.closed = False

    async def opened(self) -> httpx2.AsyncClient:
        """The client; DataUnavailable when it cannot be made."""
        if self.closed:
            raise closed_source()
        if self._client is None:
            try:
                self._client = httpx2.AsyncClient(
                    transport=self._transport,
                    verify=_tls(),
                    # Timeouts of single steps; the deadline limits their sum.
                    timeout=httpx2.Timeout(connect=5, read=8, write=8, pool=None),
                    limits=httpx2.Limits(max_connections=32, max_keepalive_connections=16, keepalive_expiry=60),
                    headers={"User-Agent": "kbdash", "Accept-Encoding": "identity"},
                    follow_redirects=False,
                )
            except (ValueError, ImportError, httpx2.InvalidURL) as error:  # (their messages may quote a password)
                raise DataUnavailable(
                    f"The proxy settings of the environment cannot be used ({type(error).__name__}).",
                    advice="Check HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY.",
                ) from None
            except OSError:
                raise DataUnavailable(
                    "The certificates of the environment cannot be read.",
                    advice="Check SSL_CERT_FILE and SSL_CERT_DIR, or unset them.",
                ) from None
        return self._client

    def close(self) -> None:
        """Close the connections; reads that are under way fail with `closed_source`."""
        self.closed = True
        if self._client is not None:
            with suppress(TimeoutError):
                wait(submit(self._client.aclose()), time.monotonic() + _CLOSE_SECONDS)


def closed_source() -> DataUnavailable:
    """The error for a read from a closed source."""
    return DataUnavailable("This source was closed.", advice="Connect again, or reload the page.")


@cache
def _tls() -> ssl.SSLContext:
    """The TLS context, made once per process: loading the certificates takes longer than most requests."""
    return httpx2.create_ssl_context()


def _load_early() -> None:
    with suppress(OSError):  # reported when a client is made
        _tls()


# OpenSSL reads the certificates without the interpreter's lock, so other modules are imported meanwhile.
threading.Thread(target=_load_early, daemon=True, name="kbdash-certificates").start()
