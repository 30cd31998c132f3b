"""Tables as CSV files, safe against formula injection in spreadsheets."""

from typing import Any

import pandas as pd

# A spreadsheet treats a cell that begins with one of these as a formula; some accept the full-width forms too.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def csv_text(frame: pd.DataFrame) -> str:
    """The frame as CSV: full precision, UTC times, no index, no formulas."""
    # The CSV standard (RFC 4180) asks for CRLF. It also makes the writer quote texts that hold either character.
    return csv_safe(frame).to_csv(index=False, date_format="%Y-%m-%dT%H:%M:%S.%fZ", lineterminator="\r\n")


def csv_safe(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with an apostrophe before each cell or header that a spreadsheet would run as a formula."""
    return frame.apply(_safe_column).rename(columns=_safe)


def _safe_column(column: "pd.Series[Any]") -> "pd.Series[Any]":
    is_text = pd.api.types.is_object_dtype(column) or pd.api.types.is_string_dtype(column)
    return column.map(_safe, na_action="ignore") if is_text else column


def _safe(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA_STARTS) else value
