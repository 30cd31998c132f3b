"""A study set holds the texts of the list, their facts and where they come from; its cost is told before."""

import io
import json
import time
import zipfile
from pathlib import Path

import pandas as pd
import pytest

import kbdash
from kbdash.code import study as packing
from kbdash.code.study import Entry, packed, within
from kbdash.dataset.config import DATASET, Settings
from kbdash.engine import KernelBot
from kbdash.units import bytes_text
from kbdash.web import study
from kbdash.web.study import Work
from tests.hub import LoopbackHub

BOARD = {"competition": "nvfp4", "problem": "nvfp4_gemm", "runner": "NVIDIA", "since": None, "until": None,
         "flagged": True, "top": 100}  # fmt: skip


def test_the_first_of_a_list_as_zip(kb: KernelBot) -> None:
    rows = study.rows_of(kb, "leaderboard", BOARD, 7)
    archive = zipfile.ZipFile(io.BytesIO(study.study_set(kb, rows, "nvfp4", "zip", Work("", 7))))
    facts = pd.read_csv(archive.open("facts.csv"), dtype={"user_id": str})
    assert (
        facts["submission_id"].tolist() == kb.leaderboard("nvfp4_gemm", runner="NVIDIA")["submission_id"].tolist()[:7]
    )
    assert facts["rank"].tolist() == rows["rank"].tolist()
    for row in facts.to_dict("records"):
        assert archive.read(row["file"]).decode() == kb.code(row["submission_id"], row["runner"], "nvfp4")
    assert "KernelBot dataset" in archive.read("CITATION.txt").decode()
    assert len(archive.namelist()) == 9
    assert {each.date_time for each in archive.infolist()} == {zipfile.ZipInfo().date_time}, "the clock is in no set"


def test_filtered_submissions_as_lines_of_json(kb: KernelBot) -> None:
    user = str(kb.leaderboard("nvfp4_gemm")["user_id"].iloc[0])
    asked = {**BOARD, "users": (user,), "passed": None, "text": None, "sort": "score", "descending": False,
             "page": 3, "page_size": 5}  # fmt: skip
    rows = study.rows_of(kb, "submissions", asked, 12)
    lines = [
        json.loads(line) for line in study.study_set(kb, rows, "nvfp4", "jsonl", Work("", 12)).decode().splitlines()
    ]
    expected = kb.submissions(
        "nvfp4_gemm", users=(user,), runner="NVIDIA", sort="score", descending=False, page_size=12
    )
    assert [line["submission_id"] for line in lines] == expected.rows["submission_id"].tolist()
    assert {line["user_id"] for line in lines} == {user}
    assert lines[0]["code"] == kb.code(lines[0]["submission_id"], lines[0]["runner"], "nvfp4")
    assert "KernelBot dataset" in lines[0]["source"]


def test_what_it_costs_is_known_before(hub: LoopbackHub, tmp_path: Path) -> None:
    settings = Settings(source=DATASET, endpoint=hub.endpoint, cache=tmp_path, hub_seconds=30.0, content_build=False)
    fresh = kbdash.connect(settings=settings)
    rows = study.rows_of(fresh, "leaderboard", BOARD, 10)
    submissions = study.submissions_of(fresh, rows, "nvfp4")
    assert fresh.cost_of(submissions).unknown == 10
    while not fresh.index_code("nvfp4").complete:
        time.sleep(0.01)
    told = fresh.cost_of(submissions)
    assert told.unknown == 0
    assert study.cost_text(fresh, rows, "nvfp4") == f"{bytes_text(told.bytes)} to fetch."
    moved = sum(text.cost_bytes for _, text in fresh.texts_of(submissions))
    assert moved == told.bytes
    fresh.close()


def test_texts_beyond_the_bound_are_named_and_left_out(kb: KernelBot, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = study.rows_of(kb, "leaderboard", BOARD, 3)
    entries = [Entry(one, None, kb.text_of(one)) for one in study.submissions_of(kb, rows, "nvfp4")]
    assert entries[0].found
    monkeypatch.setattr(packing, "MOST_BYTES", entries[0].found.size_bytes)
    archive = zipfile.ZipFile(io.BytesIO(packed(list(within(entries)), kb.source, "zip")))
    facts = pd.read_csv(archive.open("facts.csv"))
    assert facts["file"].notna().tolist() == [True, False, False]
    assert facts["notes"].iloc[1].startswith("Left out")
