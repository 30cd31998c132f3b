"""The routes: read a request, run its work in a thread, send the response."""

import os
from collections.abc import Callable, Sequence
from functools import cache, partial

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import Scope

from kbdash.api import failures, openapi, options
from kbdash.api.answers import Answers, hashable
from kbdash.api.badge import BADGE_OPTIONS, badge
from kbdash.api.feed import FEED_OPTIONS, feed
from kbdash.api.gate import Bounds, Gate
from kbdash.api.page import page
from kbdash.api.responses import EXPOSED, Body, Stream, respond
from kbdash.api.tables import json_bytes
from kbdash.engine import KernelBot
from kbdash.errors import UnknownSubmission


def routes(
    engine: Callable[[], KernelBot], client: Callable[[Scope], str | None], bounds: Bounds | None = None
) -> list[BaseRoute]:
    """What the server mounts. `engine` returns the current engine, `client` the client, None if unknown."""
    bounds = bounds or Bounds()
    links = Links(Answers(engine, bounds.rows), Gate(bounds, client))
    data = [
        Route("/", links.page),
        Route("/openapi.json", links.openapi),
        Route("/records.atom", links.feed),
        Route("/diff.patch", links.patch),
        Route("/submission/{id}/code", links.code),
        Route("/{name}.{format}", links.data),
    ]
    # A name may contain a slash.
    pictures = [Route("/{problem}/{user:path}.svg", links.badge)]
    return [Route("/api", links.page), Mount("/api", _app(data)), Mount("/badge", _app(pictures))]


class Links:
    """The endpoints."""

    def __init__(self, answers: Answers, gate: Gate) -> None:
        self._answers = answers
        self._gate = gate

    async def page(self, request: Request) -> Response:
        """The description for people."""
        return respond(request, page(origin(request), self._gate.bounds))

    async def openapi(self, request: Request) -> Response:
        """The description for programs."""
        return respond(request, described())

    async def data(self, request: Request) -> Response:
        """The answer to a question."""
        asked = request.path_params
        return await self._respond(request, partial(self._answers.data, asked["name"], asked["format"], given(request)))

    async def code(self, request: Request) -> Response:
        """A source text; never sent as HTML."""
        id_ = request.path_params["id"]
        if not (id_.isascii() and id_.isdigit() and len(id_) < 19):
            return failures.answer(UnknownSubmission(f"There is no submission {id_[:20]}.", advice="Ids are numbers."))
        return await self._respond(request, partial(self._answers.code, int(id_), given(request)))

    async def patch(self, request: Request) -> Response:
        """What changed between two submissions."""
        return await self._respond(request, partial(self._answers.patch, given(request)))

    async def feed(self, request: Request) -> Response:
        """Records, newest first."""
        root, asked = origin(request), given(request)
        here = f"{root}{request.url.path}" + (f"?{request.url.query}" if request.url.query else "")

        def build() -> Body:
            values = options.read_options(FEED_OPTIONS, asked)
            return self._answers.memoised(("feed", here, hashable(values)), lambda kb: feed(kb, values, root, here))

        return await self._respond(request, build)

    async def badge(self, request: Request) -> Response:
        """The rank of a user as a picture."""
        problem, user, asked = request.path_params["problem"], request.path_params["user"], given(request)

        def build() -> Body:
            values = options.read_options(BADGE_OPTIONS, asked)
            key = ("badge", problem, user, hashable(values))
            return self._answers.memoised(key, lambda kb: badge(kb, problem, user, values))

        return await self._respond(request, build)

    async def _respond(self, request: Request, work: Callable[[], Body | Stream]) -> Response:
        try:
            return respond(request, await self._gate.run(request, work))
        except Exception as error:  # `answer` logs unexpected ones
            return failures.answer(error)


def given(request: Request) -> dict[str, list[str]]:
    """The parameters of the link, each with all its values."""
    return {name: request.query_params.getlist(name) for name in request.query_params}


def origin(request: Request) -> str:
    """Public scheme and host: the Space's own if there is one."""
    space = os.environ.get("SPACE_HOST")
    return f"https://{space}" if space else f"{request.url.scheme}://{request.url.netloc}"


@cache
def described() -> Body:
    """The description for programs, made once."""
    return Body(json_bytes(openapi.description()), "application/json")


def _app(inner: Sequence[BaseRoute]) -> Starlette:
    """Routes whose errors are problem documents, open to scripts of any origin (CORS)."""
    reading = Middleware(
        CORSMiddleware, allow_origins=["*"], allow_methods=["GET", "HEAD"], allow_headers=["*"],
        expose_headers=EXPOSED, max_age=86400,
    )  # fmt: skip
    return Starlette(routes=inner, middleware=[reading], exception_handlers={HTTPException: failures.handler})
