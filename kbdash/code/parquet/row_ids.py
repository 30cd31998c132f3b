"""The submission id of every row, read by our own page reader, to verify independently whose text a row holds."""

from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from kbdash.cache import BYTES, SharedCache
from kbdash.code.parquet.as_parquet import ColumnType
from kbdash.code.parquet.cell import fetch_page
from kbdash.code.parquet.decode import ArrowValues, decode_data_page, decode_dictionary, open_data_page
from kbdash.code.parquet.directories import PageDirectories
from kbdash.code.parquet.directory import PageDirectory, PageGroup, empty_directory
from kbdash.code.parquet.page_scan import extend
from kbdash.code.parquet.pages import Physical
from kbdash.dataset.http import ByteSource, damage_named
from kbdash.errors import CorruptData, DataUnavailable

ID_COLUMN = "submission_id"
# Eight bytes a row: the ids of the whole dataset take about 5 MB. The usual writer makes row groups of up to a
# million rows, which take 8 MB uncompressed.
_MAX_CHUNK_BYTES = 32 << 20
_MAX_ROWS = 1 << 22


class RowIds:
    """Submission ids by file and row; the ids of a row group are one range, fetched once and cached."""

    def __init__(self, directories: PageDirectories, column: str = ID_COLUMN) -> None:
        self._directories = directories
        self._column = column
        self._ids: SharedCache[tuple[str, str, int], pa.ChunkedArray]
        self._ids = SharedCache(BYTES.limit, lambda ids: int(ids.get_total_buffer_size()), BYTES)

    def id_of(self, source: ByteSource, row: int) -> int | None:
        """The id in a row of the file, counted from 0; None if it is null."""
        directory = self._directory(source)
        number, group_row = directory.locate(row)
        value: int | None = self._group_ids(source, directory, number)[group_row].as_py()
        return value

    def fetch(self, source: ByteSource) -> None:
        """Prefetch the ids of all rows."""
        directory = self._directory(source)
        for number in range(len(directory.groups)):
            self._group_ids(source, directory, number)

    def _directory(self, source: ByteSource) -> PageDirectory:
        column = self._directories.footer(source).column(self._column)
        return empty_directory(source.name, source.version, source.size, column)

    def _group_ids(self, source: ByteSource, directory: PageDirectory, number: int) -> pa.ChunkedArray:
        key = (source.name, source.version, number)
        with damage_named(source):
            return self._ids.get(key, lambda: _read_ids(source, directory, directory.groups[number]))


def _read_ids(source: ByteSource, directory: PageDirectory, group: PageGroup) -> pa.ChunkedArray:
    """The ids of a row group; its pages must add up to its rows."""
    length = group.end - group.start
    if directory.physical not in (Physical.INT32, Physical.INT64):
        raise DataUnavailable(f"The submission ids of {source.name} are no integers.", advice="Check the file.")
    if length > _MAX_CHUNK_BYTES or group.rows > _MAX_ROWS:
        raise DataUnavailable(
            f"The submission ids of {source.name} are too many to check: {group.rows:,} rows in one row group.",
            advice="Write the file with smaller row groups.",
        )
    window = _Window(source, group.start, source.read(group.start, length))
    whole = extend(window, replace(group, index=None), optional=directory.optional, requests=length + 1)
    if not whole.complete:
        raise CorruptData("The pages of the submission ids do not add up to the rows.")
    column = ColumnType(directory.physical, directory.optional)
    entries = _entries(window, whole, column)
    pages = [_page_ids(window, page.offset, page.total, whole, column, entries) for page in whole.pages]
    return pa.chunked_array(pages, pa.int64())


def _entries(window: ByteSource, group: PageGroup, column: ColumnType) -> pa.Array | None:
    if group.dictionary is None:
        return None
    header, payload = fetch_page(window, *group.dictionary)
    return _numbers(decode_dictionary(header, payload, column.physical, group.codec))


def _page_ids(
    window: ByteSource, offset: int, total: int, group: PageGroup, column: ColumnType, entries: pa.Array | None
) -> pa.Array:
    header, payload = fetch_page(window, offset, total)
    if header.is_large:
        raise CorruptData("A page of submission ids is larger than the ids of a row group.")
    opened = open_data_page(header, payload, column, group.codec)
    values = _numbers(decode_data_page(opened, column, None if entries is None else len(entries)))
    if not header.needs_dictionary:
        return values
    return pc.take(entries, values)


def _numbers(values: object) -> pa.Array:
    if not isinstance(values, ArrowValues):
        raise CorruptData("The column of submission ids holds texts.")
    return pc.cast(values.array, pa.int64()).combine_chunks()


class _Window(ByteSource):
    """A part of a file that has been fetched already."""

    def __init__(self, source: ByteSource, start: int, data: bytes) -> None:
        super().__init__(source.name, source.size, source.version)
        self._start = start
        self._data = data

    def _fetch(self, offset: int, length: int) -> bytes:
        at = offset - self._start
        if not 0 <= at <= len(self._data) - length:
            raise CorruptData("A page lies outside its column chunk.")
        return self._data[at : at + length]
