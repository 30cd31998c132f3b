"""Records as a feed that feed readers understand, ranks as a picture."""

import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path

import feedparser
import pytest
from lxml import etree
from starlette.applications import Starlette
from starlette.testclient import TestClient

from kbdash.api.badge import THEMES
from kbdash.api.routes import routes
from kbdash.engine import KernelBot
from kbdash.units import time_text, unit_for
from tests.api.conftest import Ask

SCHEMA = etree.RelaxNG(file=str(Path(__file__).parent / "atom.rng"))
ATOM = "{http://www.w3.org/2005/Atom}"


def read(ask: Ask, link: str) -> feedparser.FeedParserDict:
    """The feed, checked against what RFC 4287 asks of one."""
    answer = ask(link)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("application/atom+xml")
    SCHEMA.assertValid(etree.fromstring(answer.content))
    root = ET.fromstring(answer.content)
    for element in (root, *root.findall(f"{ATOM}entry")):
        for name in ("id", "title", "updated", "author"):
            assert len(element.findall(f"{ATOM}{name}")) == 1
    assert len(root.findall(f"{ATOM}link[@rel='self']")) == 1
    parsed = feedparser.parse(answer.content)
    assert not parsed.bozo
    assert parsed.version == "atom10"
    ids = [entry.id for entry in parsed.entries]
    assert len(set(ids)) == len(ids)
    assert all(later.updated_parsed >= earlier.updated_parsed for later, earlier in pairwise(parsed.entries))
    return parsed


def test_the_schema_refuses_what_is_no_feed(ask: Ask) -> None:
    whole = ask("/api/records.atom?problem=trimul").text
    for wrong in (
        whole.replace("<id>", "<ident>").replace("</id>", "</ident>"),
        whole.replace("Z</updated>", "</updated>"),
    ):
        assert not SCHEMA.validate(etree.fromstring(wrong.encode()))


def test_a_board_has_an_entry_for_each_record(ask: Ask, kb: KernelBot) -> None:
    records = kb.records("trimul")
    feed = read(ask, "/api/records.atom?problem=trimul")
    assert len(feed.entries) == len(records)
    newest = records.sort_values("submitted_at").iloc[-1]
    assert f"id={newest['submission_id']}" in feed.entries[0].link
    assert time_text(newest["score"], unit_for(newest["score"])) in feed.entries[0].title


def test_all_boards_hold_the_newest_records_of_each(ask: Ask) -> None:
    everything = read(ask, "/api/records.atom")
    assert len(everything.entries) == 200
    one = read(ask, "/api/records.atom?problem=cholesky")
    assert {entry.id for entry in one.entries} & {entry.id for entry in everything.entries}
    assert everything.feed.id != one.feed.id


def test_one_users_records_are_those_of_the_user(ask: Ask, kb: KernelBot) -> None:
    records = kb.records("trimul")
    name = records["user_name"].iloc[-1]
    feed = read(ask, f"/api/records.atom?problem=trimul&user={name}")
    assert len(feed.entries) == (records["user_name"] == name).sum()
    assert {entry.author for entry in feed.entries} == {name}


def test_a_machine_has_the_records_set_on_it(ask: Ask, kb: KernelBot) -> None:
    records = kb.records("trimul", runner="A100")
    feed = read(ask, "/api/records.atom?problem=trimul&runner=A100")
    assert sorted(entry.link.partition("id=")[2].partition("&")[0] for entry in feed.entries) == sorted(
        str(id_) for id_ in records["submission_id"]
    )


def test_boards_are_read_once_for_all_feeds(kb: KernelBot, monkeypatch: pytest.MonkeyPatch) -> None:
    links = TestClient(Starlette(routes=routes(lambda: kb, lambda _: None)))
    assert links.get("/api/records.atom").status_code == 200
    monkeypatch.setattr(type(kb), "records", None)
    assert links.get("/api/records.atom?user=0").status_code == 200
    assert links.get("/api/records.atom?runner=A100").status_code == 200


def test_ids_stay_wherever_the_feed_is_served(ask: Ask) -> None:
    link = "/api/records.atom?problem=trimul"
    there = feedparser.parse(ask(link, headers={"Host": "elsewhere.example"}).content)
    here = feedparser.parse(ask(link).content)
    assert [entry.id for entry in here.entries] == [entry.id for entry in there.entries]
    assert there.entries[0].link.startswith("http://elsewhere.example/submission?")
    assert here.entries[0].id == feedparser.parse(ask(link).content).entries[0].id


def test_synthetic_records_and_ranks_say_so(ask_sample: Ask, kb: KernelBot) -> None:
    feed = read(ask_sample, "/api/records.atom?problem=trimul")
    assert "synthetic sample" in feed.feed.title
    assert all("synthetic sample" in entry.title for entry in feed.entries)
    user = kb.leaderboard("trimul")["user_id"].iloc[0]
    assert "(sample)" in ask_sample(f"/badge/trimul/{user}.svg").text


def contrast(one: str, other: str) -> float:
    def light(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    dark, bright = sorted((light(one), light(other)))
    return (bright + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", THEMES)
def test_a_badge_tells_rank_and_time(ask: Ask, kb: KernelBot, theme: str) -> None:
    board = kb.leaderboard("nvfp4_gemm", runner="NVIDIA")
    row = board.iloc[2]
    answer = ask(f"/badge/nvfp4_gemm/{row['user_id']}.svg?runner=NVIDIA&theme={theme}")
    assert answer.headers["content-type"] == "image/svg+xml"
    assert answer.headers["cache-control"].startswith("public")
    picture = ET.fromstring(answer.content)
    [title] = picture.findall("{*}title")
    told = f"#{row['rank']} of {len(board)}, {time_text(row['score'], unit_for(row['score']))}"
    assert title.text is not None
    assert title.text.endswith(told)
    assert row["user_name"] in title.text
    assert (picture.get("role"), picture.get("aria-labelledby")) == ("img", title.get("id"))
    colours = THEMES[theme]
    assert colours["told"] in answer.text
    assert contrast(colours["name"], colours["name_ink"]) > 7
    assert contrast(colours["told"], colours["told_ink"]) > 7


def test_without_a_machine_a_badge_shows_the_best_rank(ask: Ask, kb: KernelBot) -> None:
    board = kb.leaderboard("trimul")
    user = board["user_id"].value_counts().index[0]
    best = board[board["user_id"] == user]["rank"].min()
    assert f"#{best} of" in ask(f"/badge/trimul/{user}.svg").text
