"""HTTP/1.1 on a loopback port: keep-alive, one thread per connection, able to vanish and come back."""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler

from tests.hub.counts import Counts, Exchange
from tests.hub.messages import Request, Response, Stall

HOST = "127.0.0.1"
_PIECE_BYTES = 2**18
_RESET_ON_CLOSE = struct.pack("ii", 1, 0)
_JOIN_SECONDS = 10.0


class Server:
    """Listens, and hands each request to `answer`; a ConnectionError out of it drops the connection."""

    def __init__(
        self,
        answer: Callable[[Request], Response],
        counts: Counts,
        port: int = 0,
        greeting_seconds: Callable[[], float] = lambda: 0.0,
    ) -> None:
        self._greeting_seconds = greeting_seconds
        self.answer = answer
        self.counts = counts
        self.port = port
        self._listener: socket.socket | None = None
        self._accepting: threading.Thread | None = None
        self._connections: dict[socket.socket, threading.Thread] = {}
        self._lock = threading.Lock()

    def listen(self) -> None:
        """Take connections, on the port of last time if there was one."""
        self._listener = socket.create_server((HOST, self.port), backlog=128)
        self.port = self._listener.getsockname()[1]
        self._accepting = threading.Thread(target=self._accept, args=(self._listener,), daemon=True)
        self._accepting.start()

    def refuse(self) -> None:
        """Reset open connections and take no new ones."""
        if self._listener is None or self._accepting is None:
            return
        listener, self._listener = self._listener, None
        # Portable way to wake a thread out of accept(): it finds that it is not wanted any more.
        with suppress(OSError):
            socket.create_connection((HOST, self.port), timeout=1).close()
        self._accepting.join(_JOIN_SECONDS)
        listener.close()
        for connection in self._open():
            with suppress(OSError):
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
                connection.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Stop for good; returns when no thread is left."""
        self.refuse()
        for thread in self._open().values():
            thread.join(_JOIN_SECONDS)

    def _open(self) -> dict[socket.socket, threading.Thread]:
        with self._lock:
            return dict(self._connections)

    def _accept(self, listener: socket.socket) -> None:
        while True:
            with suppress(ConnectionError):
                connection, _ = listener.accept()
                if self._listener is not listener:
                    connection.close()
                    return
                thread = threading.Thread(target=self._converse, args=(connection,), daemon=True)
                with self._lock:
                    self._connections[connection] = thread
                thread.start()

    def _converse(self, connection: socket.socket) -> None:
        try:
            with connection, suppress(OSError):
                time.sleep(self._greeting_seconds())
                _Conversation(connection, None, self)  # type: ignore[arg-type]
        finally:
            with self._lock:
                del self._connections[connection]


class _Conversation(BaseHTTPRequestHandler):
    """The requests of one connection, one after the other."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Server  # type: ignore[assignment]

    def serve(self) -> None:
        """Answer one request."""
        request = self._request()
        exchange = self.server.counts.begin(request)
        try:
            response = self.server.answer(request)
            self._send(request, response, exchange)
        except ConnectionError:
            self.close_connection = True

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = serve  # noqa: N815

    def log_message(self, *_: object) -> None:
        """Say nothing: the counts are the log."""

    def _request(self) -> Request:
        headers = {name.lower(): value for name, value in self.headers.items()}
        body = self.rfile.read(int(headers.get("content-length", 0)))
        return Request(self.command, self.path, headers, body)

    def _send(self, request: Request, response: Response, exchange: Exchange) -> None:
        exchange.status = response.status
        if response.status == 206:
            exchange.range = (response.first, response.first + response.size - 1)
        self.send_response(response.status)
        for name, value in response.headers.items():
            self.send_header(name, value)
        if response.status != 304:
            self.send_header("Content-Length", str(response.size))
        self.end_headers()
        if request.method != "HEAD":
            self._send_body(response, exchange)

    def _send_body(self, response: Response, exchange: Exchange) -> None:
        if response.stall is not None:
            self._send_stalling(response, response.stall, exchange)
        size = response.size if response.cut_after is None else response.cut_after
        for offset in range(0, size, _PIECE_BYTES):
            piece = min(_PIECE_BYTES, size - offset)
            exchange.bytes += piece
            response.blob.send(self.connection, response.first + offset, piece)
        if response.cut_after is not None:
            raise ConnectionAbortedError("cut short on purpose")

    def _send_stalling(self, response: Response, stall: Stall, exchange: Exchange) -> None:
        if stall.after:
            response.blob.send(self.connection, response.first, stall.after)
        exchange.bytes += stall.after
        for at in range(stall.after, response.size):
            if stall.over.wait(stall.byte_every):
                break
            response.blob.send(self.connection, response.first + at, 1)
            exchange.bytes += 1
        raise ConnectionAbortedError("stalled on purpose")
