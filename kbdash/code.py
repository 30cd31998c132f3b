"""One submission's source text out of a file of gigabytes, decoded, with its facts."""

import logging
import threading
import time
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

import pandas as pd

from kbdash.config import Settings
from kbdash.errors import CorruptData, DataUnavailable, KbdashError
from kbdash.language import Language, embedded_cpp, outer_language, source_lines, techniques
from kbdash.model import Submission
from kbdash.parquet import ByteSource, Cell, CellReader, PageDirectories, hub_client, open_bytes
from kbdash.source import Source

COLUMN = "code"
RETRY_SECONDS = 30.0
# Letters that turn the reading direction: what is shown may not be what a compiler reads.
_TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c")
_SHOWN_CONTROLS = frozenset("\t\n\r\f")
_log = logging.getLogger(__name__)


class Rows(Protocol):
    """Who can say which submission a row of a file belongs to."""

    def frame(self, question: str, /, **parameters: object) -> pd.DataFrame: ...


@dataclass(frozen=True)
class SourceText:
    """A source text; `notes` say what was done to show it, `cost_bytes` what fetching it moved just now.

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
    """How far the page directory of a file is known: rows known of all rows, and what went wrong, if anything."""

    known: int = 0
    rows: int = 0
    problem: str | None = None

    @property
    def complete(self) -> bool:
        """Whether a text can be had for the price of its page."""
        return 0 < self.rows == self.known


class CodeReader:
    """Source texts of one open source; pages are shared by all who ask. Safe to use from many threads."""

    def __init__(self, source: Source, settings: Settings) -> None:
        self._source = source
        self._client = hub_client()
        self._cells = CellReader(PageDirectories(settings.cache))
        self._files: dict[str, ByteSource] = {}
        self._indexing: dict[str, Indexing] = {}
        self._retry_at: dict[str, float] = {}
        self._stop = threading.Event()
        self._lock = threading.Lock()

    def read(self, submission: Submission, rows: Rows) -> SourceText:
        """The text of a submission; its row must carry its id, or nothing is shown."""
        _check_identity(submission, rows)
        file = _Metered(self._file(submission.file))
        cell = self._cells.read(file, COLUMN, submission.file_row)
        return decoded(cell, cost_bytes=file.bytes_read)

    def read_many(self, submissions: Iterable[Submission], rows: Rows) -> Iterator[tuple[Submission, SourceText]]:
        """Texts in the order of the file, each page fetched once; whoever has enough stops asking."""
        for submission in sorted(set(submissions), key=lambda one: (one.file, one.file_row)):
            yield submission, self.read(submission, rows)

    def index(self, name: str) -> Indexing:
        """Progress of finding a file's pages; the first to ask starts it in the background."""
        with self._lock:
            state = self._indexing.get(name)
            due = state is None or (state.problem is not None and time.monotonic() >= self._retry_at[name])
            if state is None or due:
                state = self._indexing[name] = Indexing()
        if due:
            threading.Thread(target=self._build, args=(name,), daemon=True, name=f"kbdash-index {name}").start()
        return state

    def bytes_moved(self) -> int:
        """Bytes read over the network for source texts since start."""
        with self._lock:
            files = list(self._files.values())
        return sum(file.bytes_read for file in files) if self._source.kind == "hub" else 0

    def close(self) -> None:
        """Stop background work and drop the connections."""
        self._stop.set()
        self._client.close()

    def _build(self, name: str) -> None:
        def progress(known: int, rows: int) -> None:
            self._note(name, Indexing(known, rows))

        try:
            directory = self._cells.directories.build(self._file(name), COLUMN, progress=progress, cancel=self._stop)
            progress(directory.known_rows, directory.rows)
        except KbdashError as error:
            self._note(name, Indexing(problem=str(error)))
        except Exception:
            _log.exception("The pages of %s could not be found", name)
            self._note(name, Indexing(problem=f"The pages of {name} could not be found."))

    def _note(self, name: str, state: Indexing) -> None:
        with self._lock:
            self._indexing[name] = state
            self._retry_at[name] = time.monotonic() + RETRY_SECONDS

    def _file(self, name: str) -> ByteSource:
        with self._lock:
            if name not in self._files:
                if name not in self._source.files:
                    raise DataUnavailable(f"{name} is not part of this dataset.", advice="Reload the page.")
                self._files[name] = open_bytes(self._source.files[name], client=self._client, token=self._source.token)
            return self._files[name]


class _Metered(ByteSource):
    """A file as one reader sees it: counts what this reader alone made it move."""

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


def _remarks(cell: Cell, raw: bytes, text: str) -> Iterator[str]:
    """What a reader should know before trusting their eyes."""
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
    if any(unicodedata.category(letter) == "Cc" for letter in letters - _SHOWN_CONTROLS - {"\0"}):
        yield "Holds control characters that no screen shows."


def _from_hex(raw: bytes) -> bytes | None:
    r"""Bytes behind a text of the form \x2369…, the way old exports wrote them; None when it is not one."""
    if not raw.startswith(b"\\x"):
        return None
    try:
        return bytes.fromhex(raw[2:].decode("ascii"))
    except ValueError:
        return None


def _check_identity(submission: Submission, rows: Rows) -> None:
    """Refuse to read when the row at the submission's address is not its own."""
    found = rows.frame(
        "row_identity", competition=submission.competition, file=submission.file, file_row=submission.file_row
    )
    if found["submission_id"].tolist() != [submission.submission_id]:
        raise CorruptData(
            f"Row {submission.file_row} of {submission.file} is not submission {submission.submission_id}.",
            advice="Reload the page; if it stays, the file itself is damaged.",
        )
