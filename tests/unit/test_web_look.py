"""Controls and boxes in scripts of a few lines: what can be chosen, and what stands in a frame or in a row."""

from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pandas as pd
import pytest

from kbdash.dataset import catalog
from kbdash.view import CompetitionView
from kbdash.web import about, filters, layout, study, unknown
from tests.app.conftest import scanned_once  # noqa: F401  (each script would start with that)
from tests.unit.test_web_shown import said


def _controls(scene) -> None:  # (these are scripts of their own, without the names of this file)
    from kbdash.web import filters

    filters._runner(scene)
    filters._more(scene)


@pytest.mark.parametrize(("runners", "options"), [(1, []), (2, ["T4", "A100", "All runners"])])
def test_the_shortest_list_and_one_of_two_runners_can_be_chosen(
    monkeypatch: pytest.MonkeyPatch, runners: int, options: list[str]
) -> None:
    monkeypatch.setattr(filters, "_pins", lambda _: None)
    scene: Any = SimpleNamespace(view=CompetitionView(top=5), runners=("T4", "A100")[:runners], runner="T4")
    app = said(_controls, scene)
    assert [option for control in app.segmented_control for option in control.options] == options
    assert app.number_input[0].value == 5


def _banner(kb) -> None:
    from kbdash.web import layout

    layout.banner(kb)


def test_a_newer_revision_is_offered_in_a_box(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout.session, "newer", lambda: "0123456789")
    source = SimpleNamespace(kind="hub", endpoint="https://hub.example", dataset="o/n")
    app = said(_banner, SimpleNamespace(source=source))
    assert "newer-banner" in [block.key for block in app.get("flex_container")]
    assert [button.label for button in app.button] == ["Load the newer revision"]


def _offer() -> None:
    from kbdash.web import study

    study._offer("leaderboard", {"competition": "trimul"}, "stem", "key")


def test_a_study_set_has_a_format(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = pd.DataFrame({"submission_id": [5, 6], "runner": ["A100", "T4"]})
    monkeypatch.setattr(study, "engine", lambda: SimpleNamespace(source=SimpleNamespace(version="v")))
    monkeypatch.setattr(study, "rows_of", lambda *_: rows)
    monkeypatch.setattr(study, "cost_text", lambda *_: "nothing to fetch")
    app = said(_offer)
    assert [control.value for control in app.segmented_control] == ["zip"]
    assert [button.label for button in app.button] == ["Prepare 2 texts"]


def _span(span) -> None:
    from kbdash.web import chart

    chart.span_picker(span, {"field": "The field", "all": "Everybody"})


@pytest.mark.parametrize(("span", "chosen"), [("all", "all"), ("final", "field")])
def test_an_axis_reaches_as_far_as_the_link_says_if_the_chart_can(span: str, chosen: str) -> None:
    assert [control.value for control in said(_span, span).segmented_control] == [chosen]


def _about() -> None:
    from kbdash.web import about

    about.show()


def test_the_page_about_the_data_names_their_licence_and_files(monkeypatch: pytest.MonkeyPatch) -> None:
    file = SimpleNamespace(name="a.parquet", size=1000)
    source = SimpleNamespace(kind="hub", licence="mit", files={"a": file})
    competitions = [SimpleNamespace(title="One", unfiltered=True), SimpleNamespace(title="Two", unfiltered=False)]
    kb = SimpleNamespace(source=source, competitions=competitions)
    monkeypatch.setattr(about.session, "engine", lambda: kb)
    monkeypatch.setattr(catalog, "IMPOSSIBLE_SECONDS", 2.5e-7)
    app = said(_about)
    words = "\n".join(part.value for part in app.markdown)
    assert "**mit**" in words
    assert "Exported before secret-run filtering: One." in words
    assert "under 250 ns is impossible" in words
    assert any("score >= 2.5e-07" in block.value for block in app.code)
    assert app.dataframe[0].value["File"].tolist() == ["a.parquet"]


@pytest.mark.parametrize(
    ("path", "title"),
    [("", "GPU kernel competitions"), ("sql", "SQL"), ("compare", "Compare"), ("trimul", "TriMul"), ("odd", "odd")],
)
def test_the_tab_of_the_browser_has_the_one_title_of_a_page(
    monkeypatch: pytest.MonkeyPatch, path: str, title: str
) -> None:
    shown = MagicMock()
    monkeypatch.setattr(layout, "st", shown)
    layout.configure(path, catalog.COMPETITIONS)
    assert shown.set_page_config.call_args.args == (f"{title} · kbdash",)


@pytest.mark.parametrize(
    ("here", "asks", "offered"),
    [
        ("searhc", "Did you mean", ["search", ""]),
        ("sqll", "Did you mean", ["sql", ""]),
        ("nonsense", "Open", ["trimul", "linalg", ""]),
    ],
)
def test_an_unknown_address_offers_similar_ones_or_all(
    monkeypatch: pytest.MonkeyPatch, here: str, asks: str, offered: list[str]
) -> None:
    shown = MagicMock()
    monkeypatch.setattr(unknown, "st", shown)
    monkeypatch.setattr(unknown.layout, "name_tab", lambda _: None)
    competitions = [SimpleNamespace(slug="trimul", title="Trimul"), SimpleNamespace(slug="linalg", title="Linalg")]
    monkeypatch.setattr(unknown, "engine", lambda: SimpleNamespace(competitions=competitions))
    monkeypatch.setattr(unknown.state, "page", lambda: here)
    monkeypatch.setattr(unknown.state, "paths", lambda: ("", "trimul", "linalg", "search", "sql", here))
    monkeypatch.setattr(unknown.state, "target", lambda path: path)
    unknown.show()
    shown.title.assert_called_once_with("No such page", anchor=False)
    titles = {"search": "Search", "sql": "SQL", "trimul": "Trimul", "linalg": "Linalg", "": "Overview"}
    assert [call.kwargs["label"] for call in shown.page_link.call_args_list] == [titles[path] for path in offered]
    assert shown.markdown.call_args.args == (f"Nothing is at `/{here}`. {asks} one of these?",)
    assert [call.args[0] for call in shown.page_link.call_args_list] == offered
