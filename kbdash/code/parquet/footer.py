"""What a parquet file says about its columns: types, row groups, and where their chunks are."""

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise

from kbdash.code.parquet.pages import Codec, Physical, bounded, member
from kbdash.code.parquet.thrift import Shape, Struct, read_struct
from kbdash.dataset.http import ByteSource, damage_named
from kbdash.errors import CorruptData, DataUnavailable, UnsafeFile

MAGIC = b"PAR1"
_ENCRYPTED_MAGIC = b"PARE"
# Limits of a footer. DuckDB has none: a schema nested eleven thousand deep crashes the process, and a hundred
# thousand row groups take gigabytes. So every footer is checked here before anything else reads the file. The
# limits are far above the widest real files: some 240 columns, four levels deep, in 14 row groups, with a footer
# of about 0.6 MB.
MAX_FOOTER_BYTES = 8 << 20
MAX_SCHEMA_ELEMENTS = 10_000
MAX_SCHEMA_DEPTH = 32
MAX_ROW_GROUPS = 10_000
MAX_COLUMN_CHUNKS = 50_000
MAX_ROWS = 1 << 40
_NOT_PARQUET_ADVICE = "The file is damaged or was not uploaded completely; download it again."
_OPTIONAL, _REPEATED = 1, 2
_MOST_REMEMBERED = 1_000

_SCHEMA_SHAPE: Shape = dict.fromkeys((1, 3, 4, 5))
_CHUNK_SHAPE: Shape = {1: None, 3: {**dict.fromkeys((1, 3, 4, 5, 7, 9, 11)), 12: {3: None}}, 4: None, 5: None, 8: {}}
_FOOTER_SHAPE: Shape = {2: _SCHEMA_SHAPE, 3: None, 4: {1: _CHUNK_SHAPE, 3: None}}


@dataclass(frozen=True, slots=True)
class Chunk:
    """The pages of one column in one row group: bytes `start` to `end`, data pages from `data_start` on.

    `index` is offset and length of the chunk's offset index, if it has one.
    """

    rows: int
    codec: Codec
    start: int
    data_start: int
    end: int
    index: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class Column:
    """A flat column: one value or null per row."""

    name: str
    physical: Physical
    optional: bool
    chunks: tuple[Chunk, ...]


@dataclass(frozen=True, slots=True)
class Footer:
    """The flat columns of a file, by name, and the names of those that are not flat."""

    file: str
    rows: int
    columns: dict[str, Column]
    nested: frozenset[str]

    def column(self, name: str) -> Column:
        """The flat column of that name."""
        if name in self.columns:
            return self.columns[name]
        what = "is nested, so single cells of it cannot be read" if name in self.nested else "does not exist"
        raise DataUnavailable(
            f"Column {name!r} of {self.file} {what}.", advice="Read a column that holds one value per row."
        )


@dataclass(frozen=True, slots=True)
class _Leaf:
    """A leaf column of the schema: its path, and whether it has one value per row."""

    path: tuple[str, ...]
    physical: Physical
    optional: bool
    flat: bool


_safe: set[tuple[int, bytes]] = set()
"""Footers that were found safe, by place and digest: a source that is opened again need not be parsed again."""


def inspect(source: ByteSource) -> None:
    """Raise CorruptData or DataUnavailable unless the footer is safe for any reader.

    Costs one range, or two when the footer is long, and at most about a second and 100 MB, whatever is in it.
    """
    with damage_named(source):
        data, body_end = _footer_bytes(source)
        key = body_end, blake2b(data).digest()
        if key in _safe:
            return
        _parsed(source, data, body_end)
        if len(_safe) >= _MOST_REMEMBERED:
            _safe.clear()
        _safe.add(key)


def read_footer(source: ByteSource) -> Footer:
    """The footer of a file, fetched in one range, or two when it is long."""
    return _parsed(source, *_footer_bytes(source))


def _parsed(source: ByteSource, data: bytes, body_end: int) -> Footer:
    """The footer in these bytes, which end where the file does and begin at `body_end`."""
    raw = read_struct(data, _FOOTER_SHAPE)
    elements, groups = raw.structs(2), raw.structs(4)
    _allowed(len(elements), MAX_SCHEMA_ELEMENTS, "number of schema elements")
    _allowed(len(groups), MAX_ROW_GROUPS, "number of row groups")
    leaves = tuple(_leaves(elements))
    _allowed(len(leaves) * len(groups), MAX_COLUMN_CHUNKS, "number of column chunks")
    rows = bounded(raw.integer(3), MAX_ROWS, "number of rows")
    if sum(_rows_of(group) for group in groups) != rows:
        raise _damaged(source, "its row groups do not add up to its rows")
    chunks = [_chunks(group, leaves, source, body_end) for group in groups]
    _check_apart(source, [chunk for group in chunks for chunk in group])
    columns = {
        leaf.path[0]: Column(leaf.path[0], leaf.physical, leaf.optional, tuple(group[at] for group in chunks))
        for at, leaf in enumerate(leaves)
        if leaf.flat
    }
    return Footer(source.name, rows, columns, frozenset(leaf.path[0] for leaf in leaves if not leaf.flat))


def _allowed(number: int, limit: int, what: str) -> None:
    """Refuse a footer that is intact but exceeds the limits: a retry would not help."""
    try:
        bounded(number, limit, what)
    except CorruptData as error:
        raise UnsafeFile(str(error), advice="It is not opened.") from error


def _footer_bytes(source: ByteSource) -> tuple[bytes, int]:
    """The thrift message at the end of the file, and its offset."""
    tail = source.read_ahead(source.size - source.tail_bytes, source.tail_bytes)
    if tail.endswith(_ENCRYPTED_MAGIC):
        raise DataUnavailable(f"{source.name} is encrypted.", advice="Only files that are not encrypted can be read.")
    if len(tail) < 12 or not tail.endswith(MAGIC):
        raise _damaged(source, "it does not end like a parquet file")
    length = int.from_bytes(tail[-8:-4], "little")
    if not 0 < length <= min(MAX_FOOTER_BYTES, source.size - 12):
        raise _damaged(source, f"its footer cannot be {length} bytes long")
    begin = source.size - 8 - length
    known = tail[:-8]
    if length <= len(known):
        return known[-length:], begin
    return source.read_ahead(begin, length - len(known)) + known, begin


def _leaves(elements: list[Struct]) -> Iterator[_Leaf]:
    """The leaves of the schema, which is stored in depth-first order, root first."""
    if not elements or 5 not in elements[0]:
        raise CorruptData("A parquet footer has no schema.", advice=_NOT_PARQUET_ADVICE)
    open_groups = [bounded(elements[0].integer(5), len(elements), "number of fields")]  # children still to come
    path: list[str] = []
    for element in elements[1:]:
        while path and open_groups[-1] == 0:
            open_groups.pop()
            path.pop()
        open_groups[-1] -= 1
        if open_groups[-1] < 0:
            raise CorruptData("A parquet schema has more elements than its groups.", advice=_NOT_PARQUET_ADVICE)
        name, children = element.text(4), element.integer(5, 0)
        if children or 1 not in element:
            open_groups.append(bounded(children, len(elements), "number of fields"))
            path.append(name)
            _allowed(len(path), MAX_SCHEMA_DEPTH, "depth of the schema")
            continue
        repetition = bounded(element.integer(3), _REPEATED, "repetition")
        yield _Leaf(
            path=(*path, name),
            physical=member(Physical, element.integer(1), "physical type"),
            optional=repetition == _OPTIONAL,
            flat=not path and repetition != _REPEATED,
        )
    if any(open_groups):
        raise CorruptData("A parquet schema has fewer elements than its groups.", advice=_NOT_PARQUET_ADVICE)


def _rows_of(group: Struct) -> int:
    return bounded(group.integer(3), MAX_ROWS, "number of rows of a row group")


def _chunks(group: Struct, leaves: tuple[_Leaf, ...], source: ByteSource, body_end: int) -> list[Chunk]:
    raw = group.structs(1)
    if len(raw) != len(leaves):
        raise _damaged(source, f"a row group has {len(raw)} columns where the schema has {len(leaves)}")
    rows = _rows_of(group)
    return [_chunk(each, leaf, rows, source, body_end) for each, leaf in zip(raw, leaves, strict=True)]


def _chunk(raw: Struct, leaf: _Leaf, rows: int, source: ByteSource, body_end: int) -> Chunk:
    if 1 in raw or 8 in raw or 3 not in raw:
        raise DataUnavailable(
            f"Column {leaf.path[0]!r} of {source.name} is encrypted or lies in another file.",
            advice="Only columns in the file itself that are not encrypted can be read.",
        )
    facts = raw.struct(3)
    if tuple(facts.texts(3)) != leaf.path or facts.integer(1) != leaf.physical:
        raise _damaged(source, f"its footer disagrees with itself about column {leaf.path[0]!r}")
    if leaf.flat and facts.integer(5) != rows:
        raise _damaged(source, f"column {leaf.path[0]!r} has more or fewer values than rows")
    if not leaf.optional and leaf.flat and 12 in facts and facts.struct(12).integer(3, 0):
        raise _damaged(source, f"column {leaf.path[0]!r} has nulls, which its schema does not allow")
    data_start = facts.integer(9)
    dictionary_start = facts.integer(11, 0)
    # Some writers omit the dictionary's offset, or write 0; the first page then shows whether there is one.
    start = dictionary_start if 0 < dictionary_start < data_start else data_start
    end = start + facts.integer(7)
    if rows and not len(MAGIC) <= start <= data_start <= end <= body_end:
        raise _damaged(source, f"column {leaf.path[0]!r} lies outside the file")
    index = (raw.integer(4), raw.integer(5)) if 4 in raw and 5 in raw else None
    return Chunk(rows, member(Codec, facts.integer(4), "compression"), start, data_start, end, index)


def _check_apart(source: ByteSource, chunks: list[Chunk]) -> None:
    """Raise when chunks overlap: then an offset is wrong and would lead to the wrong pages."""
    spans = sorted((chunk.start, chunk.end) for chunk in chunks if chunk.rows)
    if any(here[1] > there[0] for here, there in pairwise(spans)):
        raise _damaged(source, "its columns overlap")


def _damaged(source: ByteSource, why: str) -> CorruptData:
    return CorruptData(f"{source.name} is damaged: {why}.", advice=_NOT_PARQUET_ADVICE)
