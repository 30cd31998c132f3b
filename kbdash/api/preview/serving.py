"""Serve previews, in the HTML and as pictures: memoised, and only a few computed at once."""

import asyncio
from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from functools import partial
from html import escape

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kbdash.api import failures
from kbdash.api.answers import source_headers
from kbdash.api.gate import Bounds, Gate
from kbdash.api.preview.picture import SIZE, picture_of
from kbdash.api.preview.summary import Preview, fallback, preview_of, summarised
from kbdash.api.responses import Body, respond
from kbdash.api.routes import given, origin
from kbdash.cache import BYTES, SharedCache
from kbdash.dataset.page_paths import ROUTES
from kbdash.engine import KernelBot
from kbdash.errors import KbdashError
from kbdash.view import MAX_STATEMENT, View, href, view_at

FRONT = "overview"
"""The picture of the front page, whose path is empty."""
WAIT_SECONDS = 4.0
BOUNDS = Bounds(in_all=4, per_client=2, seconds=20.0)
_MOST_KEPT, _MOST_PICTURES = 1 << 20, 16 << 20
_LONGEST_QUERY = 4 * MAX_STATEMENT  # characters: each may be written as three


class Previews:
    """Makes previews and pictures for the current dataset version. Thread-safe."""

    def __init__(self, engine: Callable[[], KernelBot], client: Callable[[Scope], str | None]) -> None:
        self._engine = engine
        self._gate = Gate(BOUNDS, client)
        self._kept: SharedCache[Hashable, Preview] = SharedCache(_MOST_KEPT, _size, BYTES)
        self._pictures: SharedCache[Hashable, Body] = SharedCache(_MOST_PICTURES, lambda body: body.size, BYTES)

    def routes(self) -> list[BaseRoute]:
        """The routes of the pictures."""
        return [Route("/preview/{page}.png", self._picture)]

    async def of(self, request: Request, path: str) -> Preview:
        """The preview of the page at an address; one without data if the data do not arrive in time."""
        view = summarised(path, _params(request))
        with suppress(KbdashError, TimeoutError):
            work = self._gate.run(request, partial(self._preview, path, view))
            return await asyncio.wait_for(work, WAIT_SECONDS)
        return fallback(path)

    def _preview(self, path: str, view: View) -> Preview:
        kb = self._engine()
        return self._kept.get((*_version(kb), path, view), lambda: preview_of(kb, path, view))

    async def _picture(self, request: Request) -> Response:
        page = request.path_params["page"]
        path = "" if page == FRONT else page
        view = summarised(path, _params(request))
        try:
            return respond(request, await self._gate.run(request, partial(self._picture_of, path, view)))
        except Exception as error:  # `answer` logs unexpected ones
            return failures.answer(error)

    def _picture_of(self, path: str, view: View) -> Body:
        kb = self._engine()
        return self._pictures.get((*_version(kb), path, view), partial(self._body, kb, path, view))

    def _body(self, kb: KernelBot, path: str, view: View) -> Body:
        try:
            preview = self._preview(path, view)
        except KbdashError:
            preview = fallback(path)
        content = picture_of(preview, sample=kb.source.kind == "sample")
        return Body(content, "image/png", headers=source_headers(kb.source))


class LinkPreviews:
    """Puts title and preview into the page that is served for an address.

    Browsers set the title themselves and show no preview, so only chat programs wait for one.
    """

    def __init__(self, app: ASGIApp, previews: Previews) -> None:
        self.app = app
        self._previews = previews

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; for a page, change the head of its HTML."""
        if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD") or not _is_page(scope["path"]):
            await self.app(scope, receive, send)
            return
        request = Request(scope)
        path = scope["path"].strip("/")
        reads = request.headers.get("sec-fetch-mode") == "navigate"
        preview = fallback(path) if reads else await self._previews.of(request, path)
        answer = _Page(send, tags(preview, _addresses(request, path)).encode())
        await self.app(_whole(scope), receive, answer.take)


def tags(preview: Preview, address: Mapping[str, str]) -> str:
    """Title, Open Graph and Twitter tags as HTML; user text is escaped."""
    title = preview.title if preview.title.startswith("kbdash") else f"{preview.title} · kbdash"
    named = {"description": preview.sentence, "twitter:card": "summary_large_image", "twitter:title": preview.title,
             "twitter:description": preview.sentence, "twitter:image": address["image"]}  # fmt: skip
    graph = {"type": "website", "site_name": "kbdash", "title": preview.title, "description": preview.sentence,
             "url": address["page"], "image": address["image"], "image:width": str(SIZE[0]),
             "image:height": str(SIZE[1]), "image:alt": preview.title}  # fmt: skip
    lines = [f"<title>{escape(title)}</title>"]
    lines += [f'<meta name="{name}" content="{escape(value)}">' for name, value in named.items()]
    lines += [f'<meta property="og:{name}" content="{escape(value)}">' for name, value in graph.items()]
    return "\n    ".join(lines)


class _Page:
    """A response in transit: HTML is buffered until it is complete, everything else passes through."""

    def __init__(self, send: Send, head: bytes) -> None:
        self._send = send
        self._head = head
        self._start: Message | None = None
        self._body = b""

    async def take(self, message: Message) -> None:
        """Take a part of the response."""
        if message["type"] == "http.response.start" and _is_html(message):
            self._start = message
            return
        if self._start is None or message["type"] != "http.response.body":
            await self._send(message)
            return
        self._body += message.get("body", b"")
        if not message.get("more_body"):
            await self._finish(self._start)

    async def _finish(self, start: Message) -> None:
        before, _, rest = self._body.partition(b"<title>")
        _, found, after = rest.partition(b"</title>")
        body = before + self._head + after if found else self._body
        headers = MutableHeaders(scope=start)
        for name in ("etag", "last-modified"):
            del headers[name]
        if body or headers.get("content-length") is None:
            headers["content-length"] = str(len(body))
        await self._send(start)
        await self._send({"type": "http.response.body", "body": body})


def _is_page(path: str) -> bool:
    return path.removeprefix("/") not in ROUTES and "." not in path and path.count("/") == 1


def _is_html(start: Message) -> bool:
    return start["status"] == 200 and Headers(scope=start).get("content-type", "").startswith("text/html")


def _whole(scope: Scope) -> Scope:
    """The request without compression and conditions (ETag), so that the response can be changed."""
    left_out = (b"accept-encoding", b"if-none-match", b"if-modified-since", b"range")
    return {**scope, "headers": [pair for pair in scope["headers"] if pair[0] not in left_out]}


def _params(request: Request) -> dict[str, list[str]]:
    """The parameters of an address; none if it is too long to be one of ours (cut, it would be another view)."""
    return given(request) if len(request.url.query) <= _LONGEST_QUERY else {}


def _addresses(request: Request, path: str) -> dict[str, str]:
    """Public addresses of the page and its picture."""
    root, params = origin(request), _params(request)
    shown, _ = view_at(path).parse(params)
    picture = href(f"preview/{path or FRONT}.png", summarised(path, params))
    return {"page": f"{root}{href(path, shown)}", "image": f"{root}{picture}"}


def _version(kb: KernelBot) -> tuple[Hashable, ...]:
    return kb.source.version, kb.source.notice, kb.readable()


def _size(preview: Preview) -> int:
    return 2 * (len(preview.title) + len(preview.sentence) + sum(len(line.name) + 60 for line in preview.lines))
