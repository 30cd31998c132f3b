"""What a reader takes along is what is shown: links, files, SQL."""

import io
import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

import kbdash
from kbdash import view
from kbdash.api import address
from kbdash.database.duck import literal
from kbdash.database.questions import QUESTIONS
from kbdash.dataset.config import Settings
from kbdash.engine import KernelBot
from kbdash.web import share
from tests.app.conftest import Open, healthy, opened_engine
from tests.app.shown import numbers, table, tables


@pytest.mark.parametrize(
    ("shown", "page", "space", "expected"),
    [
        ("http://localhost:8501/nvfp4", "nvfp4", None, "http://localhost:8501/nvfp4"),
        ("http://localhost:8501/", "", None, "http://localhost:8501/"),
        ("http://localhost:8501", "", None, "http://localhost:8501/"),
        ("https://x.example/base/nvfp4", "nvfp4", None, "https://x.example/base/nvfp4"),
        ("https://x.example/base/", "", None, "https://x.example/base/"),
        ("http://10.0.0.1:8501/nvfp4", "nvfp4", "me-kbdash.hf.space", "https://me-kbdash.hf.space/nvfp4"),
        (None, "nvfp4", None, "/nvfp4"),
    ],
)
def test_links_carry_the_address_anybody_can_open(
    shown: str | None, page: str, space: str | None, expected: str
) -> None:
    assert share.base_url(shown, page, space) == expected


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (None, "null"), (True, "true"), (3, "3"), (1.5e-05, "1.5e-05"), (date(2026, 2, 1), "'2026-02-01'"),
        ("it's", "'it''s'"), (["a", "b'"], "['a', 'b''']"), ((), "[]"),
    ],
)  # fmt: skip
def test_literals(value: object, written: str) -> None:
    assert literal(value) == written


def test_files_hold_exactly_the_frame() -> None:
    frame = pd.DataFrame(
        {
            "user_name": ["<img src=x>", "lynn 𖤐", 'a,b\n"c"'],
            "user_id": ["103906690925649842288", "1", "2"],
            "score": [9.953781736809782e-06, 1e-05, float("nan")],
            "submitted_at": pd.to_datetime(["2025-12-21T00:43:03.703Z", None, None], format="ISO8601"),
        }
    )
    read = pd.read_csv(io.BytesIO(share.csv(frame)), dtype={"user_id": str, "user_name": str})
    assert read["user_id"].tolist() == frame["user_id"].tolist()
    assert read["user_name"].tolist() == frame["user_name"].tolist()
    assert read["score"].tolist()[:2] == frame["score"].tolist()[:2]
    assert read["submitted_at"][0] == "2025-12-21T00:43:03.703000Z"
    pd.testing.assert_frame_equal(pd.read_parquet(io.BytesIO(share.parquet(frame))), frame)


def opened(app: AppTest, key: str) -> AppTest:
    """The page with that popover open."""
    app.session_state[key] = True
    return app.run()


@pytest.fixture(scope="module")
def elsewhere(sample_cache: Path) -> Iterator[KernelBot]:
    """The engine of somebody who is sent a statement."""
    engine = kbdash.connect(settings=Settings(source="sample", cache=sample_cache))
    yield engine
    engine.close()


def test_the_sql_shown_gives_what_is_shown(sample: Open, elsewhere: KernelBot) -> None:
    app = sample("nvfp4", problem="nvfp4_group_gemm", runner="B200", to="2026-02-15", top="9")
    app = opened(app, "leaderboard-sql")
    statement = next(block.value for block in app.code if "rank_in(" in block.value)
    rows = elsewhere.sql(statement)
    shown = tables(app)[0]
    assert rows["rank"].tolist() == numbers(shown["rank"])
    assert (rows["score"] * 1e6).tolist() == pytest.approx(numbers(shown["score"]), rel=1e-3)


@pytest.mark.parametrize(
    ("tab", "question"),
    [
        ("distribution", "rank_in("),
        ("progression", "previous"),
        ("submissions", "number_key"),
        ("hardware", "rank_in("),
    ],
)
def test_every_tab_shows_sql_that_runs(sample: Open, elsewhere: KernelBot, tab: str, question: str) -> None:
    app = sample("nvfp4", problem="nvfp4_group_gemm", tab=tab)
    assert not app.code, "nothing is made while it is closed"
    app = opened(app, f"{tab}-sql")
    assert len(elsewhere.sql(app.code[0].value))
    assert question in app.code[0].value


@pytest.mark.parametrize(
    ("question", "parameters", "path"),
    [
        ("overview", {"competition": "nvfp4"}, "/api/overview.csv"),
        ("leaderboard",
         {"competition": "nvfp4", "problem": "nvfp4_gemm", "runner": "NVIDIA", "since": None,
          "until": date(2025, 12, 21), "flagged": False, "top": 100},
         "/api/leaderboard.csv?problem=nvfp4_gemm&top=100&runner=NVIDIA&to=2025-12-21&flags=hide&competition=nvfp4"),
        ("submissions",
         {"problem": "x", "passed": True, "sort": "submitted_at", "descending": True, "page": 1, "page_size": 100_000,
          "size": 100_000, "skip": 0, "text": None, "users": ()},
         "/api/submissions.csv?problem=x&p=1&page_size=100000"),
    ],
)  # fmt: skip
def test_data_links_ask_what_is_shown(question: str, parameters: dict[str, object], path: str) -> None:
    assert share.data_path(question, parameters) == path


PAGES = (
    ("", {}),
    ("user", {"user": "first"}),
    ("user", {"user": "first", "order": "-score"}),
    *(("nvfp4", {"problem": "nvfp4_gemm", "to": "2025-12-20", "tab": tab}) for tab in view.TABS if tab != "techniques"),
    ("nvfp4", {"problem": "nvfp4_gemm", "tab": "submissions", "passed": "all", "sort": "score", "p": "2"}),
    ("trimul", {"tab": "hardware"}),
    ("amd-mi300", {"runner": "all", "flags": "hide"}),
    ("trimul", {"runner": "all", "top": "5", "user": "Sample Wren", "mine": "9ms", "order": "-gap"}),
    ("trimul", {"find": "Sample Wren", "order": "user_name"}),
    ("", {"order": "-users"}),
)


def test_the_data_link_of_every_view_gives_its_rows(sample: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[str, dict[str, object], pd.DataFrame | None]] = []
    listed: list[list[str]] = []
    toolbar = share.toolbar

    def noted(shown: view.View, rows: share.Rows | None, stem: str, question: str, *args: Any, **kwargs: Any) -> None:
        seen.append((question, args[0], rows() if callable(rows) else rows))
        toolbar(shown, rows, stem, question, *args, **kwargs)

    monkeypatch.setattr(share, "toolbar", noted)
    sample()
    kb = opened_engine()
    first = str(kb.leaderboard("nvfp4_gemm")["user_id"].iloc[0])
    for page, params in PAGES:
        before = len(seen)
        app = sample(page, **{name: first if text == "first" else text for name, text in params.items()})
        assert healthy(app)
        if any(rows is None for *_, rows in seen[before:]):
            listed.append(table(app, "submissions-table")["id"].tolist())
    assert len(seen) >= len(PAGES)
    for question, parameters, frame in seen:
        link = urlsplit(share.data_path(question, parameters))
        values = address.read(QUESTIONS[question], parse_qs(link.query))
        answer = kb.ask(question, **values)
        if frame is None:  # the link itself is the download, and the table one page of it
            ids, page = answer["submission_id"].astype(str).tolist(), listed.pop(0)
            assert page in (ids[:50], ids[50:100])
            continue
        known = [name for name in answer.columns if name in frame.columns and name not in ("trend", "runners")]
        assert len(known) > 2
        pd.testing.assert_frame_equal(frame[known], answer[known], check_dtype=False, check_frame_type=False)


def test_records_have_a_data_link_of_their_own_in_the_order_of_the_table(sample: Open) -> None:
    app = sample("nvfp4", problem="nvfp4_gemm", tab="progression", order="-gain", to="2025-12-20")
    told = " ".join(str(element.proto.json) for element in app.get("bidi_component"))
    link = urlsplit(re.findall(r"/api/records\.csv\?[^\"\\]+", told)[0])
    answer = opened_engine().ask("records", **address.read(QUESTIONS["records"], parse_qs(link.query)))
    shown = table(app, "records-table")
    assert len(answer) == len(shown) > 3
    assert answer["user_name"].tolist() == shown["user"].tolist()
    assert answer["gain"].dropna().is_monotonic_decreasing
