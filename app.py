"""The launcher: `streamlit run app.py` or `uvicorn app:app`. No user interface here.

The main script lives in kbdash/main.py so that no `pages` folder lies beside it: Streamlit would route by itself
until somebody opened `/`, and a link into a freshly started server would open a page without its frame.
"""

import gc
import logging
import threading
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import streamlit as st
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

import kbdash
from kbdash.ui import engines, parts

# Framing is allowed on purpose: a Space shows this app inside huggingface.co.
HEADERS: Mapping[str, str] = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "strict-origin-when-cross-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


class SecurityHeaders:
    """Adds the headers above to every HTTP answer."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on and complete the headers of its answer."""

        async def complete(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        await self.app(scope, receive, complete if scope["type"] == "http" else send)


@asynccontextmanager
async def lifespan(_: st.App) -> AsyncIterator[None]:
    """Open the dataset in the background: a Hub that hangs must not keep the server from starting."""
    threading.Thread(target=_warm, daemon=True, name="kbdash-warm").start()
    yield


async def health(_: Request) -> JSONResponse:
    """Whether the process answers; the data behind it are a matter of their own."""
    return JSONResponse({"status": "ok", "version": kbdash.__version__})


def failed(error: Exception) -> bool:
    """What is left for errors outside a page, such as in a callback: a log entry and a neutral message."""
    logging.getLogger("kbdash").error("A callback failed", exc_info=error)
    parts.unexpected()
    return True


def _warm() -> None:
    engines.warm()
    # What start-up made stays for good; keeping it out of every later collection halves a page's run time.
    gc.collect()
    gc.freeze()
    # A full collection stops every reader for up to half a second, so it should be rare.
    gc.set_threshold(20_000, 10, 10)


app = st.App(
    Path(__file__).parent / "kbdash" / "main.py",
    lifespan=lifespan,
    routes=[Route("/api/health", health)],
    middleware=[Middleware(SecurityHeaders)],
    on_script_error=failed,
)
