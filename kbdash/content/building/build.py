"""Build the store of one data file: read its texts part by part, number them, then publish the whole atomically."""

import shutil
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event

import numpy as np
import numpy.typing as npt

from kbdash.code.parquet import ByteSource
from kbdash.code.parquet.pages import Physical
from kbdash.code.parquet.store import DirectoryStore
from kbdash.content.building.disk import check_room, flush_folder, full_disk_named
from kbdash.content.building.facts import NOBODY, Ask, read_facts
from kbdash.content.building.pages import PageStream, RawPage
from kbdash.content.building.parts import PageTexts, finished_parts, split_page, write_part
from kbdash.content.building.progress import ContentStopped, Phase, Progress, WorkFolder
from kbdash.content.building.read_ahead import ReadAhead
from kbdash.content.building.tables import write_tables
from kbdash.content.store.layout import PAGES, RULES, Manifest, folder_name, has_tables, schemas_key
from kbdash.content.techniques.rules import rules
from kbdash.dataset.model import DataFile
from kbdash.errors import CorruptData, KbdashError

COLUMN = "code"
PART_BYTES = 96 << 20
_PENDING_BYTES = 192 << 20  # decoded pages that may wait for a worker
_PENDING_PAGES = 8
_WORKERS = 2


@dataclass(frozen=True)
class Job:
    """What to build: a competition's data file, its bytes, how to get the facts of its rows, and the target folder."""

    competition: str
    file: DataFile
    bytes: ByteSource
    ask: Ask
    root: Path
    origin: dict[str, str]
    part_bytes: int = PART_BYTES


class Build:
    """One build. `run` resumes where an earlier one stopped; `stop` ends it at the next check."""

    def __init__(self, job: Job, tell: Callable[[Progress], None] = lambda _: None) -> None:
        self._job = job
        self._tell = tell
        self.stop = Event()
        self.work = WorkFolder(job.root, folder_name(job.file))
        self._progress = Progress()

    def run(self) -> Manifest:
        """Build the store, unless it exists; returns its manifest."""
        try:
            with full_disk_named(self._job.root), self.work.locked():
                ready = Manifest.read(self.work.finished)
                if ready and ready.fits(self._job.file) and has_tables(self.work.finished):
                    shutil.rmtree(self.work.parts, ignore_errors=True)  # left by a build killed at the very end
                    return ready
                return self._build()
        except ContentStopped:
            self._note(phase="stopped")
            raise
        except KbdashError as error:
            if self._progress.started_at:  # otherwise the state on disk belongs to another build
                self._note(phase="failed", error=f"{error} {error.advice}".strip())
            raise

    def _build(self) -> Manifest:
        stream = PageStream(self._job.bytes, COLUMN)
        check_room(self._job.root, stream.size_bytes)
        self._read(stream)
        self._note(phase="numbering", bytes_done=stream.size_bytes)
        draft = self.work.parts / "store"
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(parents=True)
        ids = submission_ids(self._job.bytes)
        facts = read_facts(self._job.ask, self._job.competition, ids)
        parts = finished_parts(self.work.parts)
        counts = write_tables(parts, facts, draft, self.check)
        DirectoryStore(draft / PAGES).save(self._job.bytes, stream.directory)
        file = self._job.file
        manifest = Manifest(
            file=file.name,
            version=file.version,
            file_bytes=file.size,
            competition=self._job.competition,
            rows=len(ids),
            users=len(facts.users),
            rules=RULES | {"techniques": rules().version},
            origin=self._job.origin,
            schemas=schemas_key(),
            **counts,
        )
        manifest.write(draft)
        flush_folder(draft)
        self.check()
        self._publish(draft)
        self._note(phase="done")
        return manifest

    def _publish(self, draft: Path) -> None:
        """Rename the finished folder into place; replaces an outdated store."""
        if self.work.finished.exists():
            old = self.work.parts / "old"
            shutil.rmtree(old, ignore_errors=True)
            self.work.finished.rename(old)
        draft.rename(self.work.finished)
        shutil.rmtree(self.work.parts, ignore_errors=True)

    def _read(self, stream: PageStream) -> None:
        """Write parts until every row of the file is in one."""
        known = DirectoryStore(self.work.parts / PAGES)
        if (earlier := known.load(self._job.bytes, COLUMN)) is not None:
            stream.resume(earlier)
        parts = finished_parts(self.work.parts)
        seen = {digest for part in parts for digest in part.array("texts", "sha256").to_pylist()}
        row = parts[-1].first_row + parts[-1].rows if parts else 0
        done = _bytes_before(stream, row)
        self._note(
            phase="reading", bytes=stream.size_bytes, bytes_done=done, bytes_before=done, rows_done=row,
            texts=len(seen), started_at=time.time(),
        )  # fmt: skip
        number = len(parts)
        with ReadAhead(self._job.bytes, stream.end) as reader:
            for pages in self._part_pages(stream, reader, row, seen):
                write_part(self.work.parts, number, pages)
                known.save(self._job.bytes, stream.directory)
                number += 1
                rows = self._progress.rows_done + sum(len(page.digest_of_row) for page in pages)
                self._note(bytes_done=_bytes_before(stream, rows), rows_done=rows, texts=len(seen))
        if self._progress.rows_done != stream.directory.rows:
            raise CorruptData(f"{self._job.file.name} ended before its last row.", advice="Start again.")

    def _part_pages(
        self, stream: PageStream, reader: ReadAhead, row: int, seen: set[bytes]
    ) -> Iterator[list[PageTexts]]:
        """The pages of each part in turn."""
        pages: list[PageTexts] = []
        size = 0
        for texts, length in self._split_pages(stream, reader, row, seen):
            self.check()
            seen.update(texts.digests)
            pages.append(texts)
            # Tightly packed pages are small in the file, but their texts take memory here all the same.
            size += max(length, texts.memory_bytes // 4)
            if size >= self._job.part_bytes:
                yield pages
                pages, size = [], 0
        if pages:
            yield pages

    def _split_pages(
        self, stream: PageStream, reader: ReadAhead, row: int, seen: set[bytes]
    ) -> Iterator[tuple[PageTexts, int]]:
        """Pages split by a few threads, in file order."""
        waiting: deque[tuple[Future[PageTexts], int, int]] = deque()
        with ThreadPoolExecutor(_WORKERS, "kbdash-content-split") as pool:
            try:
                for raw in stream.pages(reader, row):
                    waiting.append((pool.submit(split_page, stream, raw, seen), raw.page.total, _decoded_bytes(raw)))
                    while _too_many(waiting):
                        future, length, _ = waiting.popleft()
                        yield future.result(), length
                while waiting:
                    future, length, _ = waiting.popleft()
                    yield future.result(), length
            finally:
                for future, _, _ in waiting:
                    future.cancel()

    def check(self) -> None:
        """Raise ContentStopped once a stop was requested."""
        if self.stop.is_set() or self.work.asked_to_stop():
            raise ContentStopped("The build was stopped.", advice="Start it again: it goes on where it stopped.")

    def _note(self, *, phase: Phase | None = None, **facts: object) -> None:
        changed = phase is not None and phase != self._progress.phase
        self._progress = replace(self._progress, phase=phase or self._progress.phase, **facts)  # type: ignore[arg-type]
        self.work.note(self._progress, now=changed)
        self._tell(self._progress)


def _too_many(waiting: Sequence[tuple[object, int, int]]) -> bool:
    """Whether reading should pause (backpressure): too many pages wait for a worker or for their turn."""
    return len(waiting) > _PENDING_PAGES or (len(waiting) > 1 and sum(each[2] for each in waiting) > _PENDING_BYTES)


def _decoded_bytes(raw: RawPage) -> int:
    """Bytes of the decompressed page; an estimate if only the offset index is known."""
    return raw.page.uncompressed or 4 * raw.page.total


def _bytes_before(stream: PageStream, row: int) -> int:
    """Bytes from the start of the column to the end of the last page before a row, dictionaries included."""
    size = start = 0
    for group in stream.directory.groups:
        ends = [page.offset + page.total for page in group.pages if start + page.first_row < row]
        size += max(ends, default=group.start) - group.start
        start += group.rows
    return size


def submission_ids(source: ByteSource) -> npt.NDArray[np.int64]:
    """The submission id of every row, read from the file itself; NOBODY for null."""
    stream = PageStream(source, "submission_id", kinds=(Physical.INT32, Physical.INT64))
    with ReadAhead(source, stream.end, range_bytes=1 << 20) as reader:
        column = stream.values(reader)
    ids: npt.NDArray[np.int64] = column.fill_null(NOBODY).to_numpy().astype(np.int64)
    return ids
