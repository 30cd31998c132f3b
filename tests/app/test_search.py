"""The search page: results and where they lead, filters in the link, bad patterns, and the page without a store."""

import json
import shutil
from pathlib import Path
from typing import Any

import duckdb
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from kbdash.content.store.finished import find_store
from kbdash.dataset.config import DATASET
from kbdash.engine import KernelBot
from kbdash.view import SearchView
from kbdash.web.content import hits
from tests.app.code_pages import plain, rows_by_data_link
from tests.app.conftest import Open, healthy, link, open_app, opened_engine, words
from tests.hub import LoopbackHub

WORD = "tcgen05"


def by_caption(app: AppTest) -> dict[str, dict[str, Any]]:
    """The tables on the page by their caption, each as its columns by name."""
    found = {}
    for element in app.get("bidi_component"):
        if element.proto.component_name == "kbdash_table":
            sent = json.loads(element.proto.bytes.partition(b"\n")[2])
            found[sent["caption"]] = {column["name"]: column for column in sent["columns"]}
    return found


def lines(app: AppTest) -> dict[str, Any]:
    return next(table for caption, table in by_caption(app).items() if caption.startswith("Lines"))


def test_a_search_lists_lines_with_hits_marked_and_leads_to_the_line(sample: Open) -> None:
    app = sample("search", q=WORD, problem="nvfp4_gemm")
    assert healthy(app)
    found = opened_engine().search(WORD, problem="nvfp4_gemm", limit=50)
    shown = lines(app)
    assert shown["line"]["texts"] == found["line"].tolist()
    assert all([WORD, True] in pieces for pieces in shown["line"]["pieces"])
    first = found.iloc[0]
    assert shown["line"]["links"][0] == (
        f"/submission?id={first['best_submission_id']}&runner=NVIDIA&competition=nvfp4&line={first['line_no']}&find={WORD}"
    )
    assert shown["users"]["texts"] == [f"{users:,}" for users in found["users"]]
    assert f"**{len(found)} lines**" in words(app)
    assert rows_by_data_link(app, opened_engine()).equals(found)
    assert len(app.get("plotly_chart")) == 2


def test_a_result_opens_to_the_submissions_that_hold_it(sample: Open) -> None:
    app = sample("search", q=WORD, problem="nvfp4_gemm", open_="2")
    assert healthy(app)
    line = opened_engine().search(WORD, problem="nvfp4_gemm", limit=50)["line"].iloc[1]
    held = opened_engine().holding(line, line=True, problem="nvfp4_gemm", limit=25)
    shown = by_caption(app)["Submissions that contain the line, best first"]
    assert shown["rank"]["texts"][:5] == [str(rank) for rank in held.submissions["rank"][:5]]
    assert f"In {held.total} submissions of {held.users} users" in words(app)
    app.button(key="search-close").click().run()
    assert "open" not in link(app)


def test_every_choice_is_in_the_link_and_a_chip_takes_it_off(sample: Open) -> None:
    app = sample("search")
    assert "For example" in words(app)
    app.button(key="search-example-3").click().run()
    assert link(app) == {"q": [r"num_stages\s*=\s*[4-9]"], "mode": ["regex"]}
    assert healthy(app)
    app = sample("search", q=WORD, passed="yes", facet=["tma", "!triton"], to="2025-12-20", user="Sample Mink")
    assert healthy(app)
    labels = [plain(button.label) for button in app.button if str(button.key).startswith("chip-")]
    assert labels == ["user: Sample Mink", "passed only", "with tma", "without triton", "to 2025-12-20"]
    app.button(key="chip-2").click().run()
    assert link(app)["facet"] == ["!triton"]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"q": "tma(", "mode": "regex"}, "no regular expression"),
        ({"q": ".*", "mode": "regex"}, "matches a line without characters"),
        ({"q": "x"}, "at least two characters"),
        ({"q": "no text holds these words"}, "No line holds that"),
        ({"q": WORD, "problem": "no_such_board"}, "There is no problem"),
        ({"q": WORD, "competition": "no_such_slug"}, "There is no competition"),
        ({"q": WORD, "user": "nobody at all"}, "Nobody has the id or name"),
        ({"q": WORD, "facet": "magic"}, "Ignored facet=magic"),
    ],
)
def test_what_cannot_be_searched_is_said(sample: Open, query: dict[str, str], said: str) -> None:
    app = sample("search", **query)
    assert not app.exception
    assert said in plain(words(app))
    assert "Something went wrong" not in words(app)


@pytest.mark.parametrize("line", ["<script>alert(1)</script>", "a\u202eb\u200bc $x$ **b**", "\u0627\u0628 = 1"])
def test_hits_are_plain_text_whatever_they_hold(line: str) -> None:
    assert "".join(text for text, _ in hits.pieces(line, line[:2].replace("$", r"\$"))) == line


def test_a_long_line_is_cut_around_its_first_hit() -> None:
    parts = hits.pieces("x" * 5000 + "needle" + "y" * 5000, "needle")
    assert ("needle", True) in parts
    assert sum(len(text) for text, _ in parts) <= hits.LONGEST + 2
    assert parts[0] == ("…", False)
    assert parts[-1] == ("…", False)


def test_python_and_sql_ask_the_same(sample: Open, sample_cache: Path) -> None:
    sample("search", q=WORD)
    kb = opened_engine()
    view = SearchView(q=r"tcgen05\.\w+", regex=True, any_case=True, problem="nvfp4_gemm", facets=("tma",))
    asked: dict[str, Any] = {"kbdash": _Kbdash(kb)}
    exec(hits.python_text(view).replace("import kbdash", "").replace("kb.search", "answer = kb.search"), asked)
    assert asked["answer"].equals(kb.search(view.q, limit=view.top, **hits.options(view)))
    every = SearchView(q=WORD)
    name = kb.submission(int(kb.leaderboard("nvfp4_gemm")["submission_id"].iloc[0]), "NVIDIA", "nvfp4").file
    store = find_store(sample_cache / "content", kb.source.files[name])
    assert store is not None
    sql = hits.sql_text(every)
    for table in ("lines", "origins"):
        sql = sql.replace(f"'{table}.parquet'", f"'{store.folder / table}.parquet'")
    found = {line.strip() for line in duckdb.connect().sql(sql).to_arrow_table().column("line").to_pylist()}
    assert found == set(kb.search(WORD, competition="nvfp4", limit=1000)["line"])


class _Kbdash:
    """Stands for the module in the snippet: the engine that is open anyway."""

    def __init__(self, kb: KernelBot) -> None:
        self.connect = lambda: kb


def test_without_a_store_the_page_says_what_it_takes_and_whom_to_ask(
    environment: pytest.MonkeyPatch, hub: LoopbackHub, tmp_path: Path
) -> None:
    environment.setenv("HF_ENDPOINT", hub.endpoint)
    environment.setenv("KBDASH_SOURCE", DATASET)
    environment.setenv("KBDASH_CACHE", str(tmp_path))
    app = open_app("search", q=WORD)
    assert not app.exception
    assert "No competition has a content store yet" in words(app)
    app = open_app("search", q=WORD, competition="trimul")
    assert "has no content store yet" in words(app)
    assert "KBDASH_CONTENT_BUILD=off" in words(app)
    assert not [button for button in app.button if str(button.key).startswith("store-build")]
    environment.setenv("KBDASH_CONTENT_BUILD", "on")
    st.cache_resource.clear()
    app = open_app("trimul", tab="techniques")
    assert "from the Hub" in words(app)
    assert app.button(key="store-build-trimul").label == "Build it now"


def test_what_is_left_out_of_a_search_comes_back_once_it_can_be_read(
    environment: pytest.MonkeyPatch, sample_cache: Path, tmp_path: Path
) -> None:
    shutil.copytree(sample_cache, tmp_path / "cache")
    environment.setenv("KBDASH_SOURCE", "sample")
    environment.setenv("KBDASH_CACHE", str(tmp_path / "cache"))
    [runs] = (tmp_path / "cache" / "content").glob("helion*/runs.parquet")
    whole = runs.read_bytes()
    runs.write_bytes(whole[:300])
    for page, asked in (("search", {"q": "def"}), ("steps", {})):
        assert "Helion is left out" in plain(words(open_app(page, **asked)))
    runs.write_bytes(whole)
    for page, asked in (("search", {"q": "def"}), ("steps", {})):
        app = open_app(page, **asked)
        assert healthy(app)
        assert "left out" not in words(app)
