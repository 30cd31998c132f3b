"""Read one submission's source text from a file of gigabytes, decoded, with its facts."""

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Protocol

from kbdash.code.language import Language, embedded_cpp, outer_language, source_lines, techniques
from kbdash.code.parquet import Cell, CellReader, PageDirectories, RowIds
from kbdash.dataset.config import Settings
from kbdash.dataset.http import ByteSource
from kbdash.dataset.model import Submission
from kbdash.dataset.source import Source
from kbdash.deadline import reading
from kbdash.errors import CorruptData, DataUnavailable, KbdashError

COLUMN = "code"
RETRY_SECONDS = 30.0
# The most a page shows of a text, because browsers lay out every line. The longest text so far has 400 kB; kernels of
# one competition average 8,200 lines.
MOST_SHOWN = 2_000_000  # characters
MOST_SHOWN_LINES = 50_000
# Bidirectional control characters: what is shown may differ from what a compiler reads.
_TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c")
_SHOWN_CONTROLS = frozenset("\t\n\r\f")
_CONTROLS = frozenset(map(chr, (*range(0x20), *range(0x7F, 0xA0))))  # all of Unicode's category Cc
_HIDDEN_CONTROLS = _CONTROLS - _SHOWN_CONTROLS - {"\0"}
_log = logging.getLogger(__name__)


class TextStore(Protocol):
    """A local store of source texts: `has` says whether it has that of a submission, `cell` also returns it."""

    def cell(self, submission: Submission) -> tuple[bool, bytes | None]: ...

    def has(self, submission: Submission) -> bool: ...


@dataclass(frozen=True)
class SourceText:
    """A source text; `notes` say what was done to show it, `cost_bytes` is what fetching it transferred just now.

    `embedded` are the line ranges (first, last; from 1) that hold C++ inside a Python string.
    """

    text: str
    size_bytes: int
    lines: int
    language: Language
    techniques: tuple[str, ...]
    embedded: tuple[tuple[int, int], ...]
    notes: tuple[str, ...]
    cost_bytes: int


@dataclass(frozen=True)
class Indexing:
    """Progress of a file's page directory: rows known of all rows, and why it failed, if it did."""

    known: int = 0
    rows: int = 0
    reason: str | None = None

    @property
    def complete(self) -> bool:
        """Whether reading a text costs only its page."""
        return 0 < self.rows == self.known


class CodeReader:
    """Source texts of one open source, with a shared page cache. Thread-safe."""

    def __init__(
        self,
        source: Source,
        settings: Settings,
        store: TextStore | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._source = source
        self._store = store
        self._clock = clock
        self._seconds = settings.query_seconds
        self._cells = CellReader(PageDirectories(settings.cache))
        self._ids = RowIds(self._cells.directories)
        self._indexing: dict[str, Indexing] = {}
        self._retry_at: dict[str, float] = {}
        self._stop = threading.Event()
        self._lock = threading.Lock()

    def read(self, submission: Submission) -> SourceText:
        """The text of a submission; an error unless its row of the file has its id."""
        with reading(self._seconds):
            return self._stored(submission) or self._read(submission)

    def _read(self, submission: Submission) -> SourceText:
        file = _Metered(self._source.bytes.open(submission.file))
        if self._ids.id_of(file, submission.file_row) != submission.submission_id:
            raise CorruptData(
                f"Row {submission.file_row} of {submission.file} is not submission {submission.submission_id}.",
                advice="Reload the page. If it fails again, the file itself is damaged.",
            )
        cell = self._cells.read(file, COLUMN, submission.file_row)
        return decoded(cell, cost_bytes=file.bytes_read)

    def _stored(self, submission: Submission) -> SourceText | None:
        """The text from the local store, which checks its sha256; None if it has none or a damaged one."""
        try:
            found, cell = self._store.cell(submission) if self._store else (False, None)
        except DataUnavailable as error:
            _log.warning("The content store cannot give a text, so the file is read: %s", error)
            return None
        return decoded(cell) if found else None

    def read_many(self, submissions: Iterable[Submission]) -> Iterator[tuple[Submission, SourceText]]:
        """Texts in file order, each page fetched once; lazy, so the caller may stop early."""
        for submission in sorted(set(submissions), key=lambda one: (one.file, one.file_row)):
            yield submission, self.read(submission)

    def cost(self, submissions: Iterable[Submission]) -> tuple[int, int]:
        """Bytes of the pages that hold these texts, and how many texts have no known page yet; fetches nothing."""
        pages: dict[tuple[str, int], int] = {}
        unknown = 0
        for one in submissions:
            if self._store and self._store.has(one):
                continue
            page = self._cells.directories.known_page(self._source.bytes.open(one.file), COLUMN, one.file_row)
            if page is None:
                unknown += 1
            else:
                pages[one.file, page.offset] = page.total
        return sum(pages.values()), unknown

    def index(self, name: str) -> Indexing:
        """Progress of the page directory of a file; the first call starts it in the background."""
        with self._lock:
            state = self._indexing.get(name)
            due = state is None or (state.reason is not None and self._clock() >= self._retry_at[name])
            if state is None or due:
                state = self._indexing[name] = Indexing()
        if due:
            threading.Thread(target=self._build, args=(name,), daemon=True, name=f"kbdash-index {name}").start()
        return state

    def close(self) -> None:
        """Stop background work."""
        self._stop.set()

    def _build(self, name: str) -> None:
        def progress(known: int, rows: int) -> None:
            self._note(name, Indexing(known, rows))

        try:
            file = self._source.bytes.open(name)
            self._ids.fetch(file)
            directory = self._cells.directories.build(file, COLUMN, progress=progress, cancel=self._stop)
            progress(directory.known_rows, directory.rows)
        except KbdashError as error:
            self._note(name, Indexing(reason=str(error)))
        except Exception:
            _log.exception("The pages of %s could not be found", name)
            self._note(name, Indexing(reason=f"The pages of {name} could not be found."))

    def _note(self, name: str, state: Indexing) -> None:
        with self._lock:
            self._indexing[name] = state
            self._retry_at[name] = self._clock() + RETRY_SECONDS


class _Metered(ByteSource):
    """A file with a counter of the bytes that this one read transferred."""

    def __init__(self, inner: ByteSource) -> None:
        super().__init__(inner.name, inner.size, inner.version)
        self._inner = inner

    def _fetch(self, offset: int, length: int) -> bytes:
        data = self._inner.read(offset, length)
        self._count(requests=1, received=len(data))
        return data


def decoded(cell: Cell, *, cost_bytes: int = 0) -> SourceText:
    """A stored value as text: UTF-8, or hex written as \\x…; what cannot be decoded is replaced and noted."""
    if cell is not None and not isinstance(cell, bytes):
        raise CorruptData("The column that should hold source texts holds numbers.", advice="Reload the dataset.")
    raw = cell or b""
    plain = _from_hex(raw)
    notes = [] if plain is None else ["Stored as hexadecimal digits, shown decoded."]
    raw = raw if plain is None else plain
    text = raw.decode("utf-8", errors="replace")
    notes += _remarks(cell, raw, text)
    text = text.replace("\0", "\u2400")
    return SourceText(
        text=text,
        size_bytes=len(raw),
        lines=len(source_lines(text)),
        language=outer_language(text),
        techniques=techniques(text),
        embedded=embedded_cpp(text),
        notes=tuple(notes),
        cost_bytes=cost_bytes,
    )


def shown(found: SourceText) -> SourceText:
    """The text as a page shows it: a very long one is cut, with a note that says so."""
    text = found.text[:MOST_SHOWN]
    lines = source_lines(text)
    if len(lines) > MOST_SHOWN_LINES:
        text = "\n".join(lines[:MOST_SHOWN_LINES])
    if len(text) == len(found.text):
        return found
    last = min(len(lines), MOST_SHOWN_LINES)
    note = f"Very long: only the first {last:,} of {found.lines:,} lines are shown; its download holds all of it."
    embedded = tuple((first, min(end, last)) for first, end in found.embedded if first <= last)
    return replace(found, text=text, embedded=embedded, notes=(*found.notes, note))


def _remarks(cell: Cell, raw: bytes, text: str) -> Iterator[str]:
    """Notes on a missing or empty text, and warnings about characters that are invisible or misleading."""
    if cell is None:
        yield "The dataset holds no source text for this submission."
    elif not text:
        yield "The source text of this submission is empty."
    if (lost := text.count("\ufffd") - raw.count("\ufffd".encode())) > 0:
        yield f"Not valid UTF-8: {lost} bad sequences are shown as \ufffd."
    if "\0" in text:
        yield "NUL bytes are shown as \u2400."
    letters = set(text)
    if letters & _TURNING:
        yield "Holds characters that turn the reading direction: what you see may not be what a compiler reads."
    if letters & _HIDDEN_CONTROLS:
        yield "Holds control characters that no screen shows."


def _from_hex(raw: bytes) -> bytes | None:
    r"""The bytes of a text of the form \x2369…, as old exports wrote them; None for any other text."""
    if not raw.startswith(b"\\x"):
        return None
    try:
        return bytes.fromhex(raw[2:].decode("ascii"))
    except ValueError:
        return None
