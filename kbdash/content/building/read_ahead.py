"""Sequential reading with prefetch: large ranges over a few connections."""

from collections import OrderedDict
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType

from kbdash.code.parquet import ByteSource

RANGE_BYTES = 8 << 20
AHEAD = 4


class ReadAhead(ByteSource):
    """A file for one sequential reader, within [start, end)."""

    def __init__(self, inner: ByteSource, end: int, *, range_bytes: int = RANGE_BYTES, ahead: int = AHEAD) -> None:
        super().__init__(inner.name, inner.size, inner.version)
        self._inner = inner
        self._end = end
        self._range_bytes = range_bytes
        self._ahead = ahead
        self._pool = ThreadPoolExecutor(ahead, "kbdash-content-read")
        self._ranges: OrderedDict[int, Future[bytes]] = OrderedDict()

    def __enter__(self) -> "ReadAhead":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _fetch(self, offset: int, length: int) -> bytes:
        if offset + length > self._end:  # an offset index after the data
            return self._inner.read(offset, length)
        first, last = offset // self._range_bytes, (offset + length - 1) // self._range_bytes
        # Keep one range before the position: the scan for page headers runs a little ahead of reading the pages.
        self._drop_before(first - 1)
        for number in range(first, last + 1 + self._ahead):
            self._ask(number)
        parts = [self._ranges[number].result() for number in range(first, last + 1)]
        skip = offset - first * self._range_bytes
        if len(parts) == 1:
            return parts[0][skip : skip + length]
        return b"".join([parts[0][skip:], *parts[1:]])[:length]

    def _drop_before(self, number: int) -> None:
        for old in [each for each in self._ranges if each < number]:
            self._ranges.pop(old).cancel()

    def _ask(self, number: int) -> None:
        start = number * self._range_bytes
        if number not in self._ranges and start < self._end:
            length = min(self._range_bytes, self._end - start)
            self._ranges[number] = self._pool.submit(self._inner.read, start, length)
