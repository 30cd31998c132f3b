"""Single cells of parquet files too large to download."""

from kbdash.code.parquet.cell import Cell, CellReader
from kbdash.code.parquet.directories import PageDirectories
from kbdash.code.parquet.directory import PageDirectory
from kbdash.code.parquet.footer import inspect
from kbdash.code.parquet.row_ids import RowIds
from kbdash.dataset.http import ByteSource, LocalBytes

__all__ = ["ByteSource", "Cell", "CellReader", "LocalBytes", "PageDirectories", "PageDirectory", "RowIds", "inspect"]
