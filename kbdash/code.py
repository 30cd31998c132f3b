"""One submission's source text out of a file of gigabytes, decoded, with its facts."""

import threading
from dataclasses import dataclass
from typing import Protocol

import pandas as pd

from kbdash.config import Settings
from kbdash.errors import CorruptData, DataUnavailable, KbdashError
from kbdash.language import embedded_cpp, outer_language, techniques
from kbdash.model import Submission
from kbdash.parquet import ByteSource, Cell, CellReader, PageDirectories, hub_client, open_bytes
from kbdash.source import Source

COLUMN = "code"


class Rows(Protocol):
    """Who can say which submission a row of a file belongs to."""

    def frame(self, question: str, /, **parameters: object) -> pd.DataFrame: ...


@dataclass(frozen=True)
class SourceText:
    """A source text; `notes` say what was done to show it, `cost_bytes` what fetching it moved just now."""

    text: str
    size_bytes: int
    lines: int
    language: str
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
        self._stop = threading.Event()
        self._lock = threading.Lock()

    def read(self, submission: Submission, rows: Rows) -> SourceText:
        """The text of a submission; its row must carry its id, or nothing is shown."""
        _check_identity(submission, rows)
        file = self._file(submission.file)
        before = file.bytes_read
        cell = self._cells.read(file, COLUMN, submission.file_row)
        return decoded(cell, cost_bytes=file.bytes_read - before)

    def index(self, name: str) -> Indexing:
        """Progress of finding a file's pages; the first to ask starts it in the background."""
        with self._lock:
            started = name in self._indexing
            state = self._indexing.setdefault(name, Indexing())
        if not started or state.problem:
            self._note(name, Indexing(state.known, state.rows))
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

    def _note(self, name: str, state: Indexing) -> None:
        with self._lock:
            self._indexing[name] = state

    def _file(self, name: str) -> ByteSource:
        with self._lock:
            if name not in self._files:
                if name not in self._source.files:
                    raise DataUnavailable(f"{name} is not part of this dataset.", advice="Reload the page.")
                self._files[name] = open_bytes(self._source.files[name], client=self._client, token=self._source.token)
            return self._files[name]


def decoded(cell: Cell, *, cost_bytes: int = 0) -> SourceText:
    """A stored value as text: UTF-8, or hex written as \\x…; what cannot be decoded is replaced and noted."""
    if cell is not None and not isinstance(cell, bytes):
        raise CorruptData("The column that should hold source texts holds numbers.", advice="Reload the dataset.")
    raw = cell or b""
    notes: list[str] = []
    if cell is None:
        notes.append("The dataset holds no source text for this submission.")
    plain = _from_hex(raw)
    if plain is not None:
        notes.append("Stored as hexadecimal digits, shown decoded.")
        raw = plain
    text = raw.decode("utf-8", errors="replace")
    if (lost := text.count("\ufffd") - raw.count("\ufffd".encode())) > 0:
        notes.append(f"Not valid UTF-8: {lost} bad sequences are shown as \ufffd.")
    if "\0" in text:
        notes.append("NUL bytes are shown as \u2400.")
        text = text.replace("\0", "\u2400")
    return SourceText(
        text=text,
        size_bytes=len(raw),
        lines=len(text.splitlines()),
        language=outer_language(text),
        techniques=techniques(text),
        embedded=embedded_cpp(text),
        notes=tuple(notes),
        cost_bytes=cost_bytes,
    )


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
