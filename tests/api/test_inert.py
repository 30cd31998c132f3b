"""Names, file names and texts of strangers are inert in every format, and numbers survive it."""

import io
import json
import xml.etree.ElementTree as ET
from html import escape
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from kbdash.api import tables
from kbdash.api.badge import _drawn
from kbdash.api.feed import _document
from kbdash.api.names import file_stem
from kbdash.api.responses import Body
from kbdash.database.questions.columns import columns
from kbdash.engine import KernelBot

HOSTILE = (
    "=HYPERLINK(\"http://x\")", "+1", "@SUM(A1)", "-2+3", "\t=1", "</script><script>alert(1)</script>", "a\r\nb,c\"d",
    "]]><x>&amp;", "\x1b[31mred\x07", "\u202eevil", "\x00\x08\ufffe", "ünï 𖤐", "", "\n=1", "\uff1dSUM(A1)",
)  # fmt: skip
COLUMNS = columns("user_name user_id submission_id score submitted_at runners trend waited day")


@pytest.fixture
def frame() -> pd.DataFrame:
    size = len(HOSTILE)
    return pd.DataFrame({
        "user_name": list(HOSTILE), "user_id": ["103906690925649842288"] * size,
        "submission_id": [2**53 + 1 + place for place in range(size)],
        "score": [np.nan, np.inf, -np.inf, 9.953781736809782e-06, *([5e-324] * (size - 4))],
        "submitted_at": pd.to_datetime(["2025-12-21T00:43:03.703001Z", *([None] * (size - 1))], utc=True),
        "runners": [list(HOSTILE)] * size, "trend": [[np.nan, 1e-05]] * size,
        "waited": pd.to_timedelta([1.5] * size, unit="s"), "day": [pd.Timestamp("2025-12-21").date()] * size,
    })  # fmt: skip


def test_json_holds_exact_numbers_and_no_markup(frame: pd.DataFrame) -> None:
    text = tables.json_bytes(tables.rows(tables.table(frame, COLUMNS, sample=False))).decode()
    rows = json.loads(text, parse_constant=pytest.fail)
    assert not set("<>&") & set(text)
    assert [row["score"] for row in rows[:5]] == [None, None, None, 9.953781736809782e-06, 5e-324]
    assert rows[0]["submission_id"] == str(2**53 + 1)
    assert rows[0]["user_id"] == "103906690925649842288"
    assert (rows[0]["submitted_at"], rows[1]["submitted_at"]) == ("2025-12-21T00:43:03.703001Z", None)
    assert (rows[0]["trend"], rows[0]["waited"], rows[0]["day"]) == ([None, 1e-05], 1.5, "2025-12-21")
    assert rows[5]["user_name"] == HOSTILE[5]
    small = tables.rows(tables.table(frame.assign(submission_id=2**53), COLUMNS, sample=False))
    assert small[0]["submission_id"] == 2**53


def test_csv_holds_no_formula(frame: pd.DataFrame) -> None:
    text = tables.csv(tables.table(frame, COLUMNS, sample=True))
    read = pd.read_csv(io.BytesIO(text), dtype=str, keep_default_na=False)
    for column in ("user_name", "runners", "sample"):
        assert not read[column].str.startswith(("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d")).any()
    assert len(read) == len(HOSTILE)
    assert read["user_name"][6] == HOSTILE[6]
    assert read["submission_id"][0] == str(2**53 + 1)
    assert json.loads(read["runners"][0])[0] == HOSTILE[0]


def test_an_empty_answer_has_the_same_types(frame: pd.DataFrame) -> None:
    full, empty = (tables.table(some, COLUMNS, sample=False) for some in (frame, frame.head(0)))
    assert full.schema == empty.schema
    assert tables.table(pd.DataFrame(), COLUMNS, sample=False).schema == full.schema


@pytest.mark.parametrize("name", HOSTILE)
def test_pictures_and_feeds_are_xml_that_says_the_name_and_does_nothing(kb: KernelBot, name: str) -> None:
    row = {"competition": "nvfp4", "problem": name, "runner": name, "user_name": name, "user_id": "1",
           "submission_id": 5, "score": 1e-05, "previous": 2e-05, "gain": 0.5, "flags": name, "rank": 1,
           "submitted_at": pd.Timestamp("2025-12-21", tz="UTC")}  # fmt: skip
    picture = ET.fromstring(_drawn(name, pd.Series(row), 3, "light", kb))
    kinds = {element.tag.partition("}")[2] for element in picture.iter()}
    assert kinds == {"svg", "title", "clipPath", "rect", "g", "text"}
    feed = ET.fromstring(
        _document(kb, pd.DataFrame([row]), {"user": name}, "http://h", f"http://h/?user={escape(name)}")
    )
    [entry] = feed.findall("{*}entry")
    assert {element.tag.partition("}")[2] for element in entry.iter()} == {
        "entry", "title", "id", "updated", "published", "author", "name", "link", "category", "summary",
    }  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_file_names_hold_harmless_characters_only(kb: KernelBot, name: str) -> None:
    stem = file_stem(kb.source, name, "../../etc/passwd")
    assert all(sign.isascii() and (sign.isalnum() or sign in "._-") for sign in stem)
    assert Body(b"", "text/csv", stem).file_name == stem


@pytest.mark.parametrize(
    ("kind", "parts", "stem"),
    [
        ("hub", ("nvfp4", None, "B200"), "kbdash_nvfp4_B200_0123456"),
        ("sample", ("a b/c",), "kbdash_a-b-c_sample"),
        ("hub", ("x" * 90, "..", ""), f"kbdash_{'x' * 80}_x_0123456"),
    ],
)
def test_file_names_say_what_is_in_them(kind: str, parts: tuple[str | None, ...], stem: str) -> None:
    assert file_stem(SimpleNamespace(kind=kind, version="0123456789"), *parts) == stem  # type: ignore[arg-type]
