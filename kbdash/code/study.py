"""A study set in one file: source texts of many submissions with their facts, as zip or as lines of JSON."""

import io
import json
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

import pandas as pd

from kbdash.code.export import credit, safe_name
from kbdash.code.reader import SourceText
from kbdash.csv import csv_text
from kbdash.dataset.credit import CITATION
from kbdash.dataset.model import Submission
from kbdash.dataset.source import Source

Format = Literal["zip", "jsonl"]
MOST_TEXTS = 500
MOST_BYTES = 64 << 20
"""Most bytes of source text in one set; further texts are named and left out."""


@dataclass(frozen=True)
class Cost:
    """Bytes that fetching the texts takes, and the number of texts whose cost is not known yet."""

    bytes: int
    unknown: int


@dataclass(frozen=True)
class Entry:
    """A submission of the set with its rank there, its text, or the reason why there is none."""

    submission: Submission
    rank: int | None
    found: SourceText | None
    reason: str = ""


def packed(entries: Sequence[Entry], source: Source, format_: Format) -> bytes:
    """The set as a file."""
    return _zip(entries, source) if format_ == "zip" else _json_lines(entries, source)


def within(entries: Iterable[Entry]) -> Iterable[Entry]:
    """The entries, without the texts beyond the limit."""
    size = 0
    for entry in entries:
        size += entry.found.size_bytes if entry.found else 0
        if size > MOST_BYTES:
            reason = f"Left out: the set holds at most {MOST_BYTES >> 20} MB of text."
            yield Entry(entry.submission, entry.rank, None, reason)
        else:
            yield entry


def _zip(entries: Sequence[Entry], source: Source) -> bytes:
    # A ZipInfo has a constant timestamp unless one is given, so that equal sets are equal files.
    out = io.BytesIO()
    facts = []
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry in entries:
            name = _file_name(entry) if entry.found else ""
            facts.append(_facts(entry) | {"file": name})
            if entry.found:
                archive.writestr(zipfile.ZipInfo(name), entry.found.text, zipfile.ZIP_DEFLATED)
        archive.writestr(zipfile.ZipInfo("facts.csv"), csv_text(pd.DataFrame(facts)), zipfile.ZIP_DEFLATED)
        archive.writestr(zipfile.ZipInfo("CITATION.txt"), credit(source) + "\n" + CITATION)
    return out.getvalue()


def _json_lines(entries: Sequence[Entry], source: Source) -> bytes:
    """One JSON line per submission, each with its text and the credit."""
    origin = {"source": credit(source).strip(), "citation": CITATION}
    lines = (_facts(entry) | {"code": entry.found.text if entry.found else None} | origin for entry in entries)
    written = (json.dumps(line, ensure_ascii=False, default=str) for line in lines)
    return "".join(f"{line}\n" for line in written).encode("utf-8", "replace")


def _facts(entry: Entry) -> dict[str, object]:
    one, found = entry.submission, entry.found
    known = asdict(one) | {"submitted_at": one.submitted_at.isoformat() if one.submitted_at else None}
    told = {"language": found.language, "lines": found.lines, "bytes": found.size_bytes} if found else {}
    notes = " ".join(found.notes) if found else entry.reason
    return {"rank": entry.rank, **known, "language": None, "lines": None, "bytes": None, **told, "notes": notes}


def _file_name(entry: Entry) -> str:
    one = entry.submission
    place = f"{entry.rank:03d}_" if entry.rank is not None else ""
    stem = f"{place}{one.runner or 'none'}_{one.user_name or one.user_id}"
    return safe_name(stem, one.submission_id, entry.found.language if entry.found else "text")
