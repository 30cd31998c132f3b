"""From a URL to the answer."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import unquote

from tests.hub.messages import HubError, Request, Response
from tests.hub.reading import Reading
from tests.hub.spaces import Spaces

_KIND = r"(?P<kind>dataset|space|model)s"
_NAME = r"(?P<name>[^/]+/[^/]+)"
_REPO = rf"/api/{_KIND}/{_NAME}"
_REVISION = r"(?P<revision>[^/]+)"


@dataclass(frozen=True)
class Route:
    """The methods and paths that one function answers; named groups are its arguments, unescaped."""

    methods: str
    path: str
    answer: Callable[..., Response]

    def arguments(self, request: Request) -> dict[str, str] | None:
        """The arguments in the path of the request, None when it is not for this route."""
        match = re.fullmatch(self.path, request.raw_path)
        if match is None or request.method not in self.methods.split():
            return None
        return {name: unquote(value) for name, value in match.groupdict().items() if value is not None}


class Routes:
    """Every URL the Hub answers."""

    def __init__(self, reading: Reading, spaces: Spaces) -> None:
        self._routes = (
            Route("GET HEAD", rf"(/{_KIND})?/{_NAME}/resolve/{_REVISION}/(?P<path>.+)", reading.resolve),
            Route("GET HEAD", rf"/cdn/{_KIND}/{_NAME}/(?P<sha>[^/]+)/(?P<path>.+)", reading.content),
            Route("GET", rf"{_REPO}(/revision/{_REVISION})?", reading.info),
            Route("GET", rf"{_REPO}/tree/{_REVISION}(/(?P<folder>.+))?", reading.tree),
            Route("POST", rf"{_REPO}/paths-info/{_REVISION}", reading.paths_info),
            Route("GET", rf"{_REPO}/refs", reading.refs),
            Route("GET", "/api/whoami-v2", spaces.whoami),
            Route("POST", "/api/repos/create", spaces.create),
            Route("POST", "/api/validate-yaml", spaces.validate_yaml),
            Route("POST", rf"{_REPO}/preupload/{_REVISION}", spaces.preupload),
            Route("POST", rf"{_REPO}/commit/{_REVISION}", spaces.commit),
            Route("GET POST DELETE", rf"/api/spaces/{_NAME}/(?P<which>variables|secrets)", spaces.variables),
            Route("GET", rf"/api/spaces/{_NAME}/runtime", spaces.runtime),
        )

    def answer(self, request: Request) -> Response:
        """The answer of the route that fits, or the Hub's refusal."""
        for route in self._routes:
            arguments = route.arguments(request)
            if arguments is not None:
                try:
                    return route.answer(request, **arguments)
                except HubError as error:
                    return error.response()
        return HubError(404, "There is no such page").response()
