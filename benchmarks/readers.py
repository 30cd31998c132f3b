"""A reader without a browser: one tab that speaks Streamlit's own messages over the websocket.

It does what the browser does: sends the address when it opens, a widget's new value when one is used (with the
fragment it belongs to), keeps what the server calls cacheable and says so, and follows the address bar.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException
from websockets.typing import Subprotocol

from benchmarks.screen import Screen, Widget, points

PATIENCE_SECONDS = 120.0
# As the browser: forgotten when so many runs passed since the last use.
KEPT_RUNS = 2


class ReadFailed(Exception):
    """The tab lost its server, or a run did not end."""


@dataclass(frozen=True)
class Run:
    """One script run, from the message that asked for it to its end. Bytes are those of all messages received."""

    seconds: float
    bytes: int
    charts: Mapping[str, str] = field(repr=False)
    failures: tuple[str, ...] = ()

    @property
    def points(self) -> dict[str, int]:
        """Points of each chart by its key."""
        return {key: points(spec) for key, spec in self.charts.items()}


class Reader:
    """One tab. `widgets` is what can be used now, `pages` the paths of the menu, `path` and `query` the address.

    `patience` is how many seconds a run may take before it counts as lost.
    """

    def __init__(self, socket: ClientConnection, patience: float = PATIENCE_SECONDS) -> None:
        self.pages: dict[str, str] = {}
        self.query = ""
        self.widgets: dict[str, Widget] = {}
        self._socket = socket
        self.patience = patience
        self._page_hash = ""
        self._kept: dict[str, ForwardMsg] = {}
        self._used: dict[str, int] = {}
        self._runs = 0

    @property
    def path(self) -> str:
        """Path of the open page; "" is the overview."""
        return next((path for path, hash_ in self.pages.items() if hash_ == self._page_hash), "")

    @property
    def address(self) -> tuple[str, str]:
        """Path and query of the open page, the parameters in order: equal for equal views."""
        return self.path, "&".join(sorted(self.query.split("&")))

    async def open(self, path: str, query: str = "") -> Run:
        """Open an address: as a fresh tab does, or as a link inside the app once the pages are known."""
        self.query = query
        if path in self.pages:
            return await self._run(ClientState(page_script_hash=self.pages[path], query_string=query))
        return await self._run(ClientState(page_name=path, query_string=query))

    async def back(self, path: str, query: str) -> Run:
        """The Back button, to an address that was open before."""
        self.query = query
        state = ClientState(page_script_hash=self.pages[path], query_string=query, is_history_navigation=True)
        return await self._run(state)

    async def rerun(self) -> Run:
        """The whole page once more, nothing changed."""
        return await self._run(ClientState(page_script_hash=self._page_hash, query_string=self.query))

    async def use(self, key: str, value: Any = True) -> Run:
        """Give a widget a value, or click it."""
        widget = self.widgets[key]
        state = ClientState(page_script_hash=self._page_hash, query_string=self.query, fragment_id=widget.fragment)
        state.widget_states.widgets.append(widget.state(value))
        return await self._run(state)

    async def click_row(self, key: str, row: int) -> Run:
        """Click a link to a source code in a table; the row is drawn to the last there is."""
        queries = self.widgets[key].options
        return await self.open("submission", queries[min(row, len(queries) - 1)])

    async def _run(self, state: ClientState) -> Run:
        state.cached_message_hashes.extend(self._kept)
        state.context_info.timezone = "UTC"
        state.context_info.color_scheme = "light"
        begin = time.perf_counter()
        try:
            async with asyncio.timeout(self.patience):
                await self._socket.send(BackMsg(rerun_script=state).SerializeToString())
                screen, size = await self._listen()
        except TimeoutError as error:
            raise ReadFailed(f"no end of the run within {self.patience:.0f} s") from error
        except (WebSocketException, OSError) as error:
            raise ReadFailed(f"connection lost: {error}") from error
        return Run(time.perf_counter() - begin, size, screen.charts, tuple(screen.failures))

    async def _listen(self) -> tuple[Screen, int]:
        """The screen at the end of the run, and the bytes that came."""
        screen, size = Screen(), 0
        while True:
            received = await self._socket.recv(decode=False)
            size += len(received)
            message = self._whole(ForwardMsg.FromString(received))
            kind = message.WhichOneof("type")
            if kind == "new_session":
                # A run that began anew, as after a redirect to another page, draws the page from the start.
                screen, self._page_hash = Screen(), message.new_session.page_script_hash
            elif kind == "delta":
                screen.take(message)
            elif kind == "navigation":
                self._page_hash = message.navigation.page_script_hash
                self.pages = {page.url_pathname: page.page_script_hash for page in message.navigation.app_pages}
            elif kind == "page_info_changed":
                self.query = message.page_info_changed.query_string
            elif kind == "script_finished" and message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                self._finish(screen, message.script_finished)
                return screen, size

    def _whole(self, message: ForwardMsg) -> ForwardMsg:
        """The message itself, or the kept one it refers to, in the place it is wanted now."""
        hash_ = message.ref_hash or message.hash
        if message.ref_hash:
            metadata, message = message.metadata, ForwardMsg.FromString(self._kept[hash_].SerializeToString())
            message.metadata.CopyFrom(metadata)
        elif message.metadata.cacheable:
            self._kept[hash_] = message
        if hash_ in self._kept:
            self._used[hash_] = self._runs
        return message

    def _finish(self, screen: Screen, status: int) -> None:
        """Forget what is gone from the page and what was not used for some runs."""
        if status == ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY:
            self.widgets |= screen.widgets
            return
        self.widgets = screen.widgets
        self._runs += 1
        for hash_ in [hash_ for hash_, run in self._used.items() if self._runs - run > KEPT_RUNS]:
            del self._used[hash_], self._kept[hash_]


@asynccontextmanager
async def tab(port: int, patience: float = PATIENCE_SECONDS, number: int = 0) -> AsyncIterator[Reader]:
    """A new tab on the server at this port of loopback; nothing is open in it yet.

    Readers of different numbers come from different addresses, as people do: a public server has limits for each.
    """
    address = f"ws://127.0.0.1:{port}/_stcore/stream"
    try:
        socket = await connect(
            address,
            subprotocols=[Subprotocol("streamlit")],
            open_timeout=patience,
            # A server that is busy answers pings late; only a run that does not end is a failure.
            ping_interval=None,
            max_size=None,
            local_addr=(f"127.0.{number // 250}.{number % 250 + 1}", 0),
        )
    except (WebSocketException, OSError) as error:
        raise ReadFailed(f"no connection: {error}") from error
    async with socket:
        yield Reader(socket, patience)
