"""Records broken, newest first, as an Atom feed (RFC 4287)."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Hashable, Iterator
from uuid import NAMESPACE_URL, uuid5

import pandas as pd

from kbdash.api.answers import check_competition, source_headers
from kbdash.api.names import file_stem
from kbdash.api.options import Values, text_option
from kbdash.api.responses import Body
from kbdash.api.tables import time_text as iso
from kbdash.cache import BYTES, SharedCache
from kbdash.dataset.catalog import runner_name
from kbdash.dataset.credit import DATASET_PAGE
from kbdash.engine import KernelBot
from kbdash.errors import DataUnavailable
from kbdash.units import gain_text, person, time_text, unit_for
from kbdash.view import SubmissionView, href

MEDIA_TYPE = "application/atom+xml"
MOST_ENTRIES = 200
ATOM = "http://www.w3.org/2005/Atom"
FEED_OPTIONS = {
    option.name: option
    for option in (
        text_option("problem", "only this board; none means all"),
        text_option("runner", "only this machine"),
        text_option("user", "only records of this user, by id or exact name"),
        text_option("competition", "slug of a competition, where two have the board"),
    )
}
# Characters that XML 1.0 cannot hold, even escaped.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_KEPT: SharedCache[Hashable, tuple[pd.DataFrame, bool]] = SharedCache(
    16 * 2**20, lambda value: int(value[0].memory_usage(deep=True).sum()), BYTES
)
ET.register_namespace("", ATOM)


def feed(kb: KernelBot, values: Values, origin: str, address: str) -> Body:
    """The feed; `origin` is the base of its links, `address` that of the feed itself."""
    check_competition(kb, values.get("competition"))
    board = None if values.get("problem") is None else _board(kb, values)
    users = None
    if values.get("user") is not None:
        users = kb.user_ids([str(values["user"])], board[0] if board else None)
    found, whole = _records(kb, board, values.get("competition"))
    if users is not None:
        found = found[found["user_id"].isin(users)]
    if values.get("runner") is not None:
        found = found[found["runner"] == values["runner"]]
    newest = found.dropna(subset="submitted_at").sort_values("submitted_at", ascending=False, kind="stable")
    content = _document(kb, newest.head(MOST_ENTRIES), values, origin, address)
    headers = source_headers(kb.source) | {"Kbdash-Rows": str(min(len(newest), MOST_ENTRIES))}
    if len(newest) > MOST_ENTRIES:
        headers |= {"Kbdash-Total": str(len(newest)), "Kbdash-Truncated": f"at {MOST_ENTRIES} rows"}
    lasting = whole and kb.source.notice is None
    return Body(content, MEDIA_TYPE, f"{file_stem(kb.source, 'records')}.atom", headers, lasting)


def _board(kb: KernelBot, values: Values) -> tuple[str, str]:
    return kb.find(str(values["problem"]), values.get("competition"))  # type: ignore[arg-type]


def _records(kb: KernelBot, board: tuple[str, str] | None, competition: object) -> tuple[pd.DataFrame, bool]:
    """The records of a board, or of all, and whether every board could be read.

    They are read once and cached: asking every board takes seconds, and feeds of users and runners are subsets of it.
    """
    key = (kb.source.version, kb.readable(), board, competition)
    found, whole = _KEPT.get(key, lambda: _read(kb, board, competition))
    if not whole:
        _KEPT.drop(key)
    return found, whole


def _read(kb: KernelBot, board: tuple[str, str] | None, competition: object) -> tuple[pd.DataFrame, bool]:
    if board is not None:
        return _of(kb, *board), True
    boards = kb.problems(competition)  # type: ignore[arg-type]
    frames, whole = [], not kb.unavailable
    for slug, problem in dict.fromkeys(zip(boards["competition"], boards["problem"], strict=True)):
        try:
            frames.append(_of(kb, slug, problem))
        except DataUnavailable:
            whole = False
    filled = [frame for frame in frames if len(frame)] or frames[:1]
    if not filled:
        raise DataUnavailable("No board can be read now.", advice="Try again in a moment.")
    return pd.concat(filled, ignore_index=True), whole


def _of(kb: KernelBot, competition: str, problem: str) -> pd.DataFrame:
    return kb.records(problem, competition=competition).assign(competition=competition, problem=problem)


def _document(kb: KernelBot, rows: pd.DataFrame, values: Values, origin: str, address: str) -> bytes:
    sample = " (synthetic sample)" if kb.source.kind == "sample" else ""
    said = [str(values[name]) for name in FEED_OPTIONS if values.get(name) is not None]
    root = ET.Element(f"{{{ATOM}}}feed")
    _add(root, "title", f"Records of {', '.join(said) or 'all boards'}{sample}")
    _add(root, "subtitle", "KernelBot competitions: each time a board's best was beaten" + sample)
    _add(root, "id", _urn(kb, "feed", *(f"{name}={values.get(name)}" for name in FEED_OPTIONS)))
    latest = rows["submitted_at"].max() if len(rows) else pd.Timestamp(0, tz="UTC")
    _add(root, "updated", iso(latest.to_pydatetime()))
    _add(_add(root, "author"), "name", "kbdash")
    _add(root, "link", rel="self", type=MEDIA_TYPE, href=address)
    _add(root, "link", rel="alternate", type="text/html", href=f"{origin}/")
    for row in rows.to_dict("records"):
        _entry(kb, root, {str(name): value for name, value in row.items()}, origin, sample)
    text: bytes = ET.tostring(root, "utf-8", xml_declaration=True)
    return text


def _entry(kb: KernelBot, root: ET.Element, row: dict[str, object], origin: str, sample: str) -> None:
    problem, runner, id_ = str(row["problem"]), str(row["runner"]), int(str(row["submission_id"]))
    who = person(row["user_name"], row["user_id"])
    entry = _add(root, "entry")
    _add(entry, "title", f"{who}: {_time(row['score'])} on {problem} ({runner_name(runner)}){sample}")
    _add(entry, "id", _urn(kb, "record", str(row["competition"]), problem, runner, str(id_)))
    moment = iso(pd.Timestamp(str(row["submitted_at"])).to_pydatetime())
    _add(entry, "updated", moment)
    _add(entry, "published", moment)
    _add(_add(entry, "author"), "name", who)
    view = SubmissionView(id=id_, runner=runner, competition=str(row["competition"]))
    _add(entry, "link", rel="alternate", type="text/html", href=origin + href("submission", view))
    _add(entry, "category", term=problem)
    _add(entry, "summary", " ".join(_sentences(row)) + sample)


def _sentences(row: dict[str, object]) -> Iterator[str]:
    if pd.notna(row["previous"]):  # type: ignore[call-overload]
        saved = gain_text(float(str(row["gain"])))
        yield f"{_time(row['score'])} after {_time(row['previous'])}: {saved}."
    else:
        yield f"{_time(row['score'])}, the first time on this board."
    if row["flags"]:
        yield f"Flagged: {row['flags']}."


def _time(seconds: object) -> str:
    value = float(str(seconds))
    return time_text(value, unit_for(value))


def _urn(kb: KernelBot, *parts: str) -> str:
    """A permanent id: derived from what it names, not from where the feed is served."""
    place = "sample" if kb.source.kind == "sample" else DATASET_PAGE
    return uuid5(NAMESPACE_URL, "/".join((place, *parts))).urn


def _add(parent: ET.Element, name: str, text: str = "", /, **attributes: str) -> ET.Element:
    clean = {key: _NOT_XML.sub("\ufffd", value) for key, value in attributes.items()}
    element = ET.SubElement(parent, f"{{{ATOM}}}{name}", clean)
    element.text = _NOT_XML.sub("\ufffd", text) or None
    return element
