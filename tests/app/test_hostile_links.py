"""Every parameter of every page against values that want to be SQL, markup, enormous or many."""

from collections.abc import Iterator
from itertools import cycle, islice
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from kbdash import view
from kbdash.engine import KernelBot
from kbdash.view import View, params_of
from tests.app.conftest import Open, healthy, link, open_app, opened_engine, words
from tests.app.shown import tables

MOST = 1000  # parameters; Streamlit drops a longer query altogether
PROBES = {
    "always true": "' or 1=1 --",
    "drop": '"; drop view submissions; --',
    "union": "x' union select user_id, user_name from submissions --",
    "unicode quotes": "ʼ or 1=1 -- ＇；drop",
    "file": "read_text('/etc/passwd')",
    "nul": "a\x00b",
    "wildcards": "%_%' escape '",
}
TOO_LONG = "9" * 500_000
AT_ONCE = 3
"""Probes that one parameter gets; the next one of the page gets the next three, `--hypothesis-profile=search` all."""


@pytest.fixture(scope="module")
def pages(kb: KernelBot) -> dict[str, tuple[type[View], dict[str, str]]]:
    """Each page with its view and a link that shows rows."""
    best = kb.leaderboard("nvfp4_gemm").iloc[0]
    first = kb.ladder("nvfp4_gemm", best["user_id"], runner="NVIDIA")["submission_id"].iloc[0]
    return {
        "nvfp4": (view.CompetitionView, {"tab": "submissions"}),
        "submission": (view.SubmissionView, {"id": str(best["submission_id"])}),
        "compare": (view.CompareView, {"a": str(first), "b": str(best["submission_id"])}),
        "ladder": (view.LadderView, {"problem": "nvfp4_gemm", "user": best["user_id"]}),
        "user": (view.UserView, {"user": best["user_id"]}),
        "search": (view.SearchView, {"q": "tcgen05", "problem": "nvfp4_gemm"}),
        "steps": (view.StepsView, {"problem": "nvfp4_gemm"}),
        "trust": (view.TrustView, {"problem": "nvfp4_gemm"}),
        "sql": (view.SqlView, {"q": "select count(*) from submissions"}),
        "about": (view.AboutView, {}),
    }


def rows() -> int:
    """Submissions there are, asked of the engine behind the pages."""
    return int(opened_engine().sql("select count(*) as rows from submissions")["rows"][0])


@pytest.fixture(scope="module")
def before(shared_sample: None) -> int:
    """Submissions there are before anybody follows such a link."""
    open_app("about")
    return rows()


@pytest.fixture(scope="module")
def probes() -> Iterator[str]:
    """The names of the probes in turn, over all pages."""
    return cycle(PROBES)


@pytest.mark.parametrize(
    "page", ["nvfp4", "submission", "compare", "ladder", "user", "search", "steps", "trust", "sql", "about"]
)
def test_no_parameter_is_more_than_a_value(
    sample: Open,
    page: str,
    pages: dict[str, tuple[type[View], dict[str, str]]],
    before: int,
    probes: Iterator[str],
    request: pytest.FixtureRequest,
) -> None:
    kind, given = pages[page]
    app = sample(page, **given)
    assert healthy(app)
    count = len(PROBES) if request.config.getoption("--hypothesis-profile") == "search" else AT_ONCE
    for name in [param.name for _, _, param in params_of(kind)] or ["nothing"]:
        for probe, text in {"long": TOO_LONG, **{one: PROBES[one] for one in islice(probes, count)}}.items():
            answer = _visit(app, {**given, name: text})
            said = words(answer)
            assert not answer.exception, (name, probe)
            assert "Something went wrong" not in said, (name, probe)
            assert "root:" not in said, (name, probe)
            assert len(str(link(answer))) < 2000, (name, probe)
            assert len(said) < 50_000, (name, probe)
            assert probe != "long" or "not understood" in said, name
    assert rows() == before > 0


@pytest.mark.parametrize("text", ["' or 1=1 --", "%", "_", "x' or '1'='1", "\\"])
def test_what_is_looked_for_is_only_looked_for(sample: Open, text: str) -> None:
    app = sample("nvfp4", tab="submissions", find=text, passed="all")
    assert healthy(app)
    total = int(words(app).partition(" submissions.")[0].rpartition("\n")[2].replace(",", ""))
    for found in tables(app)[:1] if total else []:
        assert all(text in f"{row['user']}{row['file']}" for _, row in found.iterrows())
    people = sample("user", find=text)
    assert healthy(people)
    for found in tables(people):
        assert all(text in name for name in found["user"])


@pytest.mark.parametrize("page", ["nvfp4", "submission", "compare", "ladder", "user", "sql", "about"])
def test_parameters_given_many_times(
    sample: Open, page: str, pages: dict[str, tuple[type[View], dict[str, str]]]
) -> None:
    app = sample(page)
    for name in [param.name for _, _, param in params_of(pages[page][0])] or ["nothing"]:
        answer = _visit(app, {name: [str(number) for number in range(MOST)]})
        assert not answer.exception, name
        assert "Something went wrong" not in words(answer), name
        assert "not understood" in words(answer), name
        assert sum(len(values) for values in link(answer).values()) <= 100, name


@pytest.mark.parametrize("count", [MOST, MOST + 100])
def test_many_parameters_that_nobody_knows(sample: Open, count: int) -> None:
    app = sample("", **{f"x{number}": "1" for number in range(count)})
    assert healthy(app)
    assert ("This page does not know" in words(app)) == (count == MOST)
    assert len(words(app)) < 10_000
    assert link(app) == {} or count > MOST


def _visit(app: AppTest, params: dict[str, Any]) -> AppTest:
    """The same reader follows another link to the page."""
    app.query_params.clear()
    for name, value in params.items():
        app.query_params[name] = value
    return app.run()
