"""The readers of the benchmarks see what a browser would see: pages, widgets, charts, failures."""

import asyncio
import base64
import json
import random
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import TypeVar

import numpy as np
import pytest

from benchmarks.coldstart import deep_links, overlap
from benchmarks.crowd import Plan, crowd
from benchmarks.pages import budgets, rows, visits
from benchmarks.people import Person
from benchmarks.places import Atlas, Place, atlas
from benchmarks.readers import Reader, ReadFailed, tab
from benchmarks.screen import Widget, points
from benchmarks.serving import Server, serving
from kbdash.view import TABS
from tests.conftest import part_of
from tests.unit.tables import LEGACY, NVFP4, TRIMUL

T = TypeVar("T")


@pytest.fixture(scope="module")
def folder(sample_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The three competitions of the sample that are visited here."""
    return part_of(sample_folder, tmp_path_factory.mktemp("dataset"), NVFP4, TRIMUL, LEGACY)


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Server]:
    """The real server over them; nobody looks at content stores here."""
    with serving(folder, KBDASH_CONTENT_BUILD="off") as found:
        yield found
        assert found.tracebacks() == 0


@pytest.fixture(scope="module")
def places(folder: Path) -> Atlas:
    """Where there is to go there."""
    return atlas(folder)


def read(server: Server, story: Callable[[Reader], Awaitable[T]]) -> T:
    """What comes of a story told with a new tab."""

    async def told() -> T:
        async with tab(server.port) as reader:
            return await story(reader)

    return asyncio.run(told())


def test_a_link_opens_its_page_with_charts_and_widgets(server: Server) -> None:
    async def story(reader: Reader) -> None:
        run = await reader.open("nvfp4", "tab=progression")
        assert run.failures == ()
        assert (reader.path, reader.query) == ("nvfp4", "tab=progression")
        assert {"", "nvfp4", "trimul", "user", "about"} <= set(reader.pages)
        assert reader.widgets["nvfp4-tab"].kind == "tab_container"
        assert len(reader.widgets["nvfp4-problem"].options) == 5
        assert run.points["progression-chart"] > 10
        assert run.points["bump-chart"] > 10

    read(server, story)


def test_what_the_tab_already_has_is_not_sent_again(server: Server) -> None:
    async def story(reader: Reader) -> None:
        first = await reader.open("nvfp4", "tab=progression")
        again = await reader.rerun()
        assert again.bytes < first.bytes / 2
        assert again.points == first.points
        assert again.seconds > 0

    read(server, story)


def test_a_used_widget_changes_the_page_and_the_address(server: Server) -> None:
    async def story(reader: Reader) -> None:
        await reader.open("nvfp4")
        run = await reader.use("nvfp4-tab", "Distribution")
        assert reader.query == "tab=distribution"
        assert "distribution-chart" in run.charts
        # This one lies in a fragment, and only the fragment runs: the rest of the page stays usable.
        assert reader.widgets["nvfp4-span"].fragment
        await reader.use("nvfp4-span", ["Everybody"])
        assert "span=all" in reader.query
        await reader.use("nvfp4-problem", [reader.widgets["nvfp4-problem"].options[1]])
        assert "problem=" in reader.query

    read(server, story)


def test_a_row_opens_its_source_code_and_back_returns(server: Server) -> None:
    async def story(reader: Reader) -> None:
        await reader.open("nvfp4")
        run = await reader.click_row("leaderboard-table", 0)
        assert (reader.path, run.failures) == ("submission", ())
        assert "id=" in reader.query
        await reader.back("nvfp4", "")
        assert (reader.path, reader.query) == ("nvfp4", "")
        assert "leaderboard-table" in reader.widgets

    read(server, story)


def test_a_failure_shown_on_the_page_is_a_failure(server: Server) -> None:
    async def story(reader: Reader) -> None:
        run = await reader.open("submission", "id=1&competition=nvfp4")
        assert len(run.failures) == 1
        assert "problem-box" in run.failures[0]

    read(server, story)


def test_no_server_is_a_failed_read() -> None:
    async def story() -> None:
        async with tab(1):
            pytest.fail("there is no server")

    with pytest.raises(ReadFailed, match="no connection"):
        asyncio.run(story())


def test_a_run_that_does_not_end_in_time_is_a_failed_read(server: Server) -> None:
    async def story() -> None:
        async with tab(server.port) as reader:
            reader.patience = 0.0
            await reader.open("nvfp4")

    with pytest.raises(ReadFailed, match="no end of the run"):
        asyncio.run(story())


def test_a_person_finds_things_to_do_and_breaks_nothing(server: Server) -> None:
    async def story(reader: Reader) -> set[str]:
        person = Person(reader, random.Random(3))
        deeds = [await person.arrive("nvfp4", "")] + [await person.act() for _ in range(25)]
        assert [failure for deed in deeds for failure in deed.run.failures] == []
        return {deed.kind for deed in deeds}

    assert {"arrive by a link", "tab", "filter", "source code"} <= read(server, story)


def test_a_crowd_in_its_own_process_tells_of_every_run(server: Server, places: Atlas) -> None:
    links = (places.pages[0], places.texts[0])
    with crowd(server.port, Plan(links, readers=2, seconds=0.0)) as readers:
        report = readers.report()
    assert report.errors == []
    assert [each.kind for each in report.happenings] == ["arrive by a link"] * 2
    assert all(each.bytes > 1000 for each in report.happenings)


def test_every_page_and_tab_is_in_the_atlas(places: Atlas) -> None:
    assert {place.path for place in places.pages} >= {"", "about", "user", "nvfp4", "amd-mi300", "compare", "ladder"}
    assert {place.name for place in places.pages} >= {f"nvfp4, {name}" for name in TABS}
    assert {"overview, contested", "overview, timeline", "progression, span final", "progression, one pinned"} <= {
        place.name for place in places.pages
    }
    assert len({place.query for place in places.texts}) == 20
    assert len(set(deep_links(places))) == 20


def test_the_table_shows_the_worst_address_of_a_name(server: Server, places: Atlas) -> None:
    wanted = [place for place in places.pages if place.name in ("about", "trimul, distribution")]
    seen = asyncio.run(visits(server, wanted, reruns=2))
    about, board = rows(seen)
    assert about[:2] == ("about", 1)
    assert board[0] == "trimul, distribution"
    assert all("distribution-chart" in str(cell) for cell in board[-2:])
    texts = [text for text, _, _ in budgets(seen, peak=1.0, tracebacks=0)]
    assert texts[1:4] == [
        "slowest page with a chart, warm, median ms (trimul, distribution)",
        "points of any chart (trimul, distribution)",
        "kB of any chart (trimul, distribution)",
    ]


def test_the_server_tells_its_memory_and_processor_time(server: Server) -> None:
    assert 50 < server.memory_mb() <= server.peak_mb()
    assert server.cpu_seconds() > 0


def test_points_of_plain_packed_and_matrix_traces() -> None:
    packed = {"dtype": "f8", "bdata": base64.b64encode(np.arange(7.0).tobytes()).decode()}
    traces = [
        {"x": [1, 2, 3], "y": [1, 2]},
        {"x": packed},
        {"z": [[1, 2, 3], [4, 5, 6]], "x": ["a", "b", "c"]},
        {"type": "indicator"},
    ]
    assert points(json.dumps({"data": traces})) == 3 + 7 + 6


def test_a_widget_says_its_value_in_the_field_of_its_kind() -> None:
    assert Widget("a", "checkbox", "").state(True).bool_value is True
    assert list(Widget("a", "button_group", "").state(["x"]).string_array_value.data) == ["x"]


@pytest.mark.parametrize(
    ("ranges", "again"),
    [([], 0), ([(0, 9), (10, 19)], 0), ([(0, 9), (0, 9)], 10), ([(5, 14), (0, 9)], 5), ([(0, 99), (10, 19)], 10)],
)
def test_bytes_fetched_again(ranges: list[tuple[int, int]], again: int) -> None:
    assert overlap(ranges) == again


def test_an_address_reads_as_a_browser_shows_it() -> None:
    assert [Place("x", "", "").address, Place("x", "a", "b=1").address] == ["/", "/a?b=1"]
