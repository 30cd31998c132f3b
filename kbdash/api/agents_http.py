"""The server for agents over HTTP. It starts when the first agent asks: importing it takes a third of a cold start."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
from anyio.abc import TaskGroup, TaskStatus
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from kbdash.engine import KernelBot


class AgentsOverHttp:
    """The route /mcp; `engine` returns the current engine."""

    def __init__(self, engine: Callable[[], KernelBot]) -> None:
        self._engine = engine
        self._tasks: TaskGroup | None = None
        self._starting = asyncio.Lock()
        self._app: ASGIApp | None = None

    def routes(self) -> list[Route]:
        """Where agents ask."""
        return [Route("/mcp", self)]

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serves agents while the context is open; ends their sessions on exit."""
        async with anyio.create_task_group() as self._tasks:
            yield
            self._tasks.cancel_scope.cancel()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; the first one waits until the server has started."""
        async with self._starting:
            if self._app is None:
                assert self._tasks is not None, "asked before the lifespan began"  # noqa: S101
                self._app = await self._tasks.start(self._serve)
        await self._app(scope, receive, send)

    async def _serve(self, *, task_status: TaskStatus[ASGIApp]) -> None:
        server, app = await asyncio.to_thread(self._load)
        async with server.session_manager.run():
            task_status.started(app)
            await anyio.sleep_forever()

    def _load(self) -> tuple[Any, ASGIApp]:
        from kbdash.api.agents import agents_server, allowed_hosts  # noqa: PLC0415  (a slow import, see above)

        server = agents_server(self._engine)
        hosts = allowed_hosts()
        return server, server.streamable_http_app(stateless_http=True, json_response=True, transport_security=hosts)
