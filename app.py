"""The launcher: `streamlit run app.py` or `uvicorn app:app`. No user interface here.

The main script is kbdash/main.py, which has no `pages` folder beside it. With one, Streamlit does its own routing until
somebody opens `/`, and a deep link into a freshly started server opens a page without its frame.
"""

import gc
import logging
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import Scope

import kbdash
from kbdash.api.agents_http import AgentsOverHttp
from kbdash.api.preview import LinkPreviews, Previews
from kbdash.api.routes import routes
from kbdash.engine import KernelBot
from kbdash.web import logs, session, widgets
from kbdash.web.server import address
from kbdash.web.server.limits import Limits, raise_descriptors, shortage
from kbdash.web.server.memory import keep_flat
from kbdash.web.server.middleware import ClosedRoutes, Readers, SecurityHeaders
from kbdash.web.server.stopping import end_within

# First of all: the bound on sessions is computed from this limit.
raise_descriptors()
LIMITS = Limits.from_env()


@asynccontextmanager
async def lifespan(_: st.App) -> AsyncIterator[None]:
    """Open the dataset in the background: a Hub that hangs must not keep the server from starting."""
    logs.install()
    keep_flat()
    if threading.current_thread() is threading.main_thread():
        end_within()
    if said := shortage(LIMITS):
        logging.getLogger("kbdash").warning(said)
    threading.Thread(target=_warm, daemon=True, name="kbdash-warm").start()
    async with AGENTS.running():
        yield


async def health(_: Request) -> JSONResponse:
    """Liveness: the process answers. It says nothing about the data."""
    return JSONResponse({"status": "ok", "version": kbdash.__version__})


def failed(error: Exception) -> bool:
    """Handle errors outside a page, such as in a callback: log them and show a neutral message."""
    logging.getLogger("kbdash").error("A callback failed", exc_info=error)
    widgets.unexpected()
    return True


def _warm() -> None:
    session.warm()
    # Objects made at start-up live forever; leaving them out of garbage collection halves a page's run time.
    gc.collect()
    gc.freeze()
    # A full garbage collection stops every reader for up to half a second, so it should be rare.
    gc.set_threshold(20_000, 10, 10)


def _data() -> KernelBot:
    return session.engines().get(None).kb


def _client(scope: Scope) -> str | None:
    return address.client(scope, LIMITS.client_header)


PREVIEWS = Previews(_data, _client)
AGENTS = AgentsOverHttp(_data)
app = st.App(
    Path(kbdash.__file__).parent / "main.py",
    lifespan=lifespan,
    routes=[
        Route("/api/health", health),
        *routes(_data, _client),
        *PREVIEWS.routes(),
        *AGENTS.routes(),
    ],
    middleware=[
        Middleware(SecurityHeaders),
        Middleware(ClosedRoutes, limits=LIMITS),
        Middleware(Readers, limits=LIMITS),
        Middleware(LinkPreviews, previews=PREVIEWS),
    ],
    on_script_error=failed,
)
