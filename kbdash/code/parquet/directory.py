"""The page directory of a column: which bytes of the file hold which rows."""

from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate

from kbdash.code.parquet.footer import Column
from kbdash.code.parquet.pages import Codec, Encoding, PageHeader, PageKind, Physical
from kbdash.errors import DataUnavailable

ByteRange = tuple[int, int]  # offset and length, bytes
_LARGE_BYTES = 64 << 10


@dataclass(frozen=True, slots=True)
class Page:
    """A data page: its bytes, header included, and the rows it holds, counted within its row group.

    The header's facts are known only if the header was read; an offset index does not have them. `counted` says
    that the page's levels, not only its header, give this number of rows.
    """

    offset: int
    total: int
    first_row: int
    rows: int
    header_bytes: int | None = None
    uncompressed: int | None = None
    encoding: Encoding | None = None
    kind: PageKind | None = None
    counted: bool = False

    @property
    def stands_alone(self) -> bool:
        """Whether its header is much too short to contain another page; a header with a damaged length could."""
        return self.total >= _LARGE_BYTES and (self.header_bytes or 0) <= _LARGE_BYTES // 4

    def agrees_with(self, header: PageHeader) -> bool:
        """Whether the page's header is the one this directory was built from."""
        seen = (header.size, header.uncompressed, header.encoding, header.kind)
        noted = (self.header_bytes, self.uncompressed, self.encoding, self.kind)
        same = all(old is None or old == new for old, new in zip(noted, seen, strict=True))
        return same and (header.total, header.values) == (self.total, self.rows)


@dataclass(frozen=True, slots=True)
class PageGroup:
    """The pages of one row group, as far as they are known; the next header is at `position`.

    `dictionary` spans the dictionary page, `index` the offset index.
    """

    rows: int
    codec: Codec
    start: int
    data_start: int
    end: int
    index: ByteRange | None
    position: int
    dictionary: ByteRange | None = None
    pages: tuple[Page, ...] = ()

    @property
    def known_rows(self) -> int:
        """Rows whose page is known; they are the first ones."""
        return self.pages[-1].first_row + self.pages[-1].rows if self.pages else 0

    @property
    def complete(self) -> bool:
        """Whether every row's page is known."""
        return self.known_rows == self.rows

    def page_of(self, row: int) -> Page | None:
        """The page with that row of the group, if it is known for certain.

        One wrong count in a header would shift all later rows. So either the whole group must add up, or the levels
        of each earlier page must confirm its count, and no header may be long enough to contain another page. (The
        row's own page is checked when it is read.)
        """
        if not row < self.known_rows:
            return None
        at = bisect_right(self.pages, row, key=lambda page: page.first_row) - 1
        counted = all(page.counted for page in self.pages[:at])
        sure = self.complete or (counted and all(page.stands_alone for page in self.pages[: at + 1]))
        return self.pages[at] if sure else None


@dataclass(frozen=True, slots=True)
class PageDirectory:
    """The pages of one column of one version of a file, over all row groups."""

    file: str
    version: str
    size: int
    column: str
    physical: Physical
    optional: bool
    groups: tuple[PageGroup, ...]

    @property
    def rows(self) -> int:
        """Rows of the file."""
        return sum(group.rows for group in self.groups)

    @property
    def known_rows(self) -> int:
        """Rows whose page is known."""
        return sum(group.known_rows for group in self.groups)

    @property
    def complete(self) -> bool:
        """Whether every row's page is known."""
        return all(group.complete for group in self.groups)

    def locate(self, row: int) -> tuple[int, int]:
        """The number of the row group, and the row within it."""
        ends = list(accumulate(group.rows for group in self.groups))
        if not 0 <= row < (ends[-1] if ends else 0):
            raise DataUnavailable(
                f"{self.file} has no row {row}; it has {self.rows} rows.",
                advice="Reload the dashboard so that it reads the file as it is now.",
            )
        at = bisect_right(ends, row)
        return at, row - (ends[at - 1] if at else 0)


def empty_directory(file: str, version: str, size: int, column: Column) -> PageDirectory:
    """A new directory of a column: only the footer is known."""
    groups = tuple(
        PageGroup(each.rows, each.codec, each.start, each.data_start, each.end, each.index, each.start)
        for each in column.chunks
    )
    return PageDirectory(file, version, size, column.name, column.physical, column.optional, groups)
