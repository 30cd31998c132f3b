"""Verify a store: every text against its sha256, and some against the data file."""

import random
from collections.abc import Callable

from kbdash.code.parquet import ByteSource, CellReader, PageDirectories
from kbdash.content.building.build import COLUMN
from kbdash.content.store.finished import Store
from kbdash.errors import CorruptData

SAMPLE_ROWS = 50


def check_store(store: Store, file: ByteSource, tell: Callable[[int, int], None] = lambda done, of: None) -> int:
    """Raise CorruptData at the first wrong text; else return how many were checked."""
    texts = store.manifest.texts
    for text in range(texts):
        store.text(text)
        if text % 1000 == 0:
            tell(text, texts)
    rows = len(store.text_of_row)
    if rows != store.manifest.rows or store.texts.num_rows != texts or len(store.lines) != store.manifest.lines:
        raise CorruptData(f"{store.folder.name} does not hold what its manifest says.", advice="Build it again.")
    cells = CellReader(PageDirectories())
    # A page holds many rows, so rows next to each other cost few pages.
    start = random.Random(store.manifest.version).randrange(max(1, rows - SAMPLE_ROWS))  # noqa: S311
    for row in range(start, min(rows, start + SAMPLE_ROWS)):
        if store.cell(row, int(store.submission_of_row[row])) != cells.read(file, COLUMN, row):
            raise CorruptData(f"Row {row} of {file.name} has another text than the store.", advice="Build it again.")
    return texts
