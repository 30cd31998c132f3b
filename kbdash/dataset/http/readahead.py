"""A remote file with prefetching: many ranges in parallel, each fetched once however many read it (single-flight)."""

import asyncio
import time
from collections import OrderedDict
from concurrent.futures import Future
from threading import Lock

from kbdash.dataset.http.failures import too_slow
from kbdash.dataset.http.loop import submit
from kbdash.dataset.http.plan import Plan, Span, footer_span, plan_of, tail_span
from kbdash.dataset.http.ranges import ByteSource
from kbdash.dataset.http.remote import READ_SECONDS, HttpBytes
from kbdash.dataset.http.store import RangeStore
from kbdash.deadline import read_deadline


class HeldRanges:
    """An LRU cache of ranges in memory, at most `limit` bytes."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._bytes = 0
        self._ranges: OrderedDict[tuple[str, Span], bytes] = OrderedDict()
        self._lock = Lock()

    def get(self, content: str, span: Span) -> bytes | None:
        """The bytes of a range of a file, if cached."""
        with self._lock:
            data = self._ranges.get((content, span))
            if data is not None:
                self._ranges.move_to_end((content, span))
            return data

    def put(self, content: str, span: Span, data: bytes) -> None:
        """Keep the bytes of a range."""
        with self._lock:
            self._bytes += len(data) - len(self._ranges.pop((content, span), b""))
            self._ranges[content, span] = data
            while self._bytes > self._limit:
                _, dropped = self._ranges.popitem(last=False)
                self._bytes -= len(dropped)

    def forget(self, content: str) -> None:
        """Drop the ranges of a file."""
        with self._lock:
            for key in [key for key in self._ranges if key[0] == content]:
                self._bytes -= len(self._ranges.pop(key))


class ReadAhead(ByteSource):
    """A file at the Hub, shared by the page reader and DuckDB.

    `read` gives exact ranges, from the cache or from the Hub. `read_ahead` is for reading columns: it also prefetches
    the neighbours that are wanted next. A caller who asks for a range that is being fetched waits for that fetch and
    shares its failure (single-flight).
    """

    def __init__(self, file: HttpBytes, content: str, held: HeldRanges, store: RangeStore) -> None:
        super().__init__(file.name, file.size, file.version)
        self._file = file
        self._content = content
        self._held = held
        self._store = store
        self._tail = tail_span(file.size)
        self._plan: Plan | None = None
        self._fetching: dict[Span, Future[bytes]] = {}
        self._forgotten = 0
        self._lock = Lock()
        self._storing = Lock()

    @property
    def bytes_read(self) -> int:
        """Bytes that came over the network."""
        return self._file.bytes_read

    @property
    def requests(self) -> int:
        """Requests sent for this file."""
        return self._file.requests

    @property
    def tail_bytes(self) -> int:
        """As much as DuckDB reads first, so that one request serves both readers."""
        return self._tail[1] - self._tail[0]

    def read_ahead(self, offset: int, length: int) -> bytes:
        """As `read`; also fetches the columns around."""
        self.check_inside(offset, length)
        return self._composed(offset, offset + length) if length else b""

    def begin(self) -> None:
        """Start to fetch what a first question reads, if the end of the file, which has the footer, is cached."""
        if self._held.get(self._content, self._tail) is not None:
            expires = read_deadline(READ_SECONDS)
            for span in self._planned(expires).first():
                self._start(span, expires)

    def forget(self) -> None:
        """Drop the cached ranges, in memory and on disk, because they turned out to be damaged."""
        with self._lock:
            self._plan = None
            self._fetching = {}
            self._forgotten += 1
            self._held.forget(self._content)
        with self._storing:
            self._store.forget(self._content)

    def _fetch(self, offset: int, length: int) -> bytes:
        end = offset + length
        for span in (self._tail, *(self._plan.touching(offset, end) if self._plan else ())):
            if span[0] <= offset and end <= span[1]:
                data = self._known(span)
                if data is not None:
                    return data[offset - span[0] : end - span[0]]
        return self._file.read(offset, length)

    def _composed(self, start: int, end: int) -> bytes:
        """The bytes, assembled from planned spans and, between those, from separate ranges."""
        expires = read_deadline(READ_SECONDS)
        plan = self._planned(expires) if start < self._tail[0] else Plan()
        spans = [*plan.touching(start, end), self._tail]
        fetched = {span: self._start(span, expires) for span in spans if span[0] < end and start < span[1]}
        for span, future in fetched.items():
            for more in () if future.done() or span == self._tail else plan.together(span):
                self._start(more, expires)
        parts, at = [], start
        for span, future in fetched.items():
            if at < span[0]:
                parts.append(self._file.read(at, span[0] - at))
                at = span[0]
            parts.append(self._wait(future, expires)[at - span[0] : end - span[0]])
            at = min(end, span[1])
        if at < end:
            parts.append(self._file.read(at, end - at))
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _planned(self, expires: float) -> Plan:
        if self._plan is None:
            tail = self._wait(self._start(self._tail, expires), expires)
            footer = footer_span(tail, self.size)
            if footer is None:
                return Plan()
            missing = (footer[0], self._tail[0])
            head = self._wait(self._start(missing, expires), expires) if missing[0] < missing[1] else b""
            plan = plan_of((head + tail)[-(footer[1] - footer[0]) :], min(missing))
            self._plan = plan.with_footer(missing) if head else plan
        return self._plan

    def _start(self, span: Span, expires: float) -> Future[bytes]:
        """A future of the range: being fetched, or done already."""
        data = self._known(span)
        if data is not None:
            here: Future[bytes] = Future()
            here.set_result(data)
            return here
        with self._lock:
            future = self._fetching.get(span)
            if future is None:
                future = Future()
                data = self._held.get(self._content, span)  # it may have arrived since the first look
                if data is not None:
                    future.set_result(data)
                    return future
                future = self._fetching[span] = submit(self._fetch_span(span, expires))
                future.add_done_callback(lambda done: self._landed(span, done))
            return future

    def _known(self, span: Span) -> bytes | None:
        before = self._forgotten
        data = self._held.get(self._content, span)
        if data is None:
            data = self._store.get(self._content, span)
            if data is not None:
                self._hold(before, span, data)
        return data

    def _hold(self, before: int, span: Span, data: bytes) -> bool:
        """Cache a range in memory, unless `forget` was called since: what was read before may be just as damaged."""
        with self._lock:
            if before != self._forgotten:
                return False
            self._held.put(self._content, span, data)
            return True

    def _landed(self, span: Span, done: Future[bytes]) -> None:
        if self._fetching.get(span) is done:
            self._fetching.pop(span, None)

    async def _fetch_span(self, span: Span, expires: float) -> bytes:
        before = self._forgotten
        # The end is fetched in two halves, so that two connections are open when the columns are fetched in parallel.
        parts = _halves(span) if span == self._tail else (span,)
        fetches = (self._file.fetch(start, end - start, expires) for start, end in parts if start < end)
        data = b"".join(await asyncio.gather(*fetches))
        if self._hold(before, span, data):
            asyncio.get_running_loop().run_in_executor(None, self._keep, before, span, data)
        return data

    def _keep(self, before: int, span: Span, data: bytes) -> None:
        with self._storing:
            if before == self._forgotten:
                self._store.put(self._content, span, data)

    def _wait(self, future: Future[bytes], expires: float) -> bytes:
        try:
            # Perhaps a question with a later deadline started the fetch.
            return future.result(max(0.0, expires - time.monotonic()))
        except TimeoutError:
            raise too_slow(self._file.asked) from None


def _halves(span: Span) -> tuple[Span, Span]:
    start, end = span
    middle = (start + end) // 2
    return (start, middle), (middle, end)
