"""The launcher: it answers for its health and completes the headers of every answer."""

import asyncio
import json
import re
import subprocess
import sys
from typing import Any

import app as launcher
from kbdash import __version__
from kbdash.dataset import page_paths
from kbdash.web.server import middleware


def test_health_tells_the_version() -> None:
    answer = asyncio.run(launcher.health(None))  # type: ignore[arg-type]
    assert json.loads(bytes(answer.body)) == {"status": "ok", "version": __version__}


def answered(kind: str) -> list[dict[str, Any]]:
    """Messages that reach the client when the app behind the middleware answers."""
    sent: list[dict[str, Any]] = []

    async def inner(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": f"{kind}.response.start", "status": 200, "headers": [(b"x-own", b"1")]})

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(middleware.SecurityHeaders(inner)({"type": kind}, None, send))  # type: ignore[arg-type]
    return sent


def test_every_http_answer_carries_the_headers_and_may_be_framed() -> None:
    headers = dict(answered("http")[0]["headers"])
    assert headers[b"x-own"] == b"1"
    assert headers[b"x-content-type-options"] == b"nosniff"
    assert headers[b"referrer-policy"] == b"strict-origin-when-cross-origin"
    assert b"x-frame-options" not in headers


def test_other_traffic_is_left_alone() -> None:
    assert answered("websocket")[0]["headers"] == [(b"x-own", b"1")]


ROUTES = """
import app, json
from streamlit.web.server.starlette.starlette_app import create_streamlit_routes
routes = [*app.app._user_routes, *create_streamlit_routes(app.app._create_runtime())]
print(json.dumps([route.path for route in routes]))
"""


def test_no_file_takes_the_path_of_a_route() -> None:
    folder = launcher.__file__.rpartition("/")[0]
    told = subprocess.run([sys.executable, "-c", ROUTES], cwd=folder, check=True, capture_output=True, text=True)
    first = {path.split("/")[1] for path in json.loads(told.stdout.splitlines()[-1]) if path}
    assert {"api", "mcp", "badge", "preview", "media", "_stcore"} <= first
    slugs = {name for name in first if re.fullmatch(r"[a-z0-9-]+", name)}
    # The files of the browser's part, and the app's own, are served only where these are switched on.
    assert set(page_paths.ROUTES) == slugs | {"static", "app"}
    assert set(page_paths.ROUTES) <= set(page_paths.TAKEN)
