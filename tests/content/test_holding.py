"""Who holds what was searched for, over time, against those who do not; techniques of many; matches of bests."""

import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

import kbdash
from kbdash.content.store.finished import find_store
from kbdash.content.verdicts.examiner import Rule, Verdict, kernelguard_version
from kbdash.content.verdicts.kept import KeptVerdicts
from kbdash.dataset.config import Settings
from kbdash.engine import KernelBot
from tests.content.files import codes_of

PROBLEM, RUNNER = "trimul", "B200"
WORD = "tl.dot"


@pytest.fixture(scope="module")
def kb(sample_folder: Path, sample_content: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KernelBot]:
    """The engine over the sample, with a copy of the store of one competition."""
    settings = Settings(source=str(sample_folder), cache=tmp_path_factory.mktemp("cache"), query_seconds=120.0)
    engine = kbdash.connect(settings=settings)
    store = find_store(sample_content, engine.source.files["trimul_submissions.parquet"])
    assert store is not None
    shutil.copytree(store.folder, settings.cache / "content" / store.folder.name)
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def texts(kb: KernelBot, sample_folder: Path) -> pd.DataFrame:
    """Every row of the competition with its source text, as pyarrow reads it."""
    rows = kb.sql("from submissions where competition = 'trimul' order by file_row")
    return rows.assign(code=[(text or b"").decode() for text in codes_of(sample_folder / "trimul_submissions.parquet")])


def test_submissions_and_weeks_are_those_of_the_texts(kb: KernelBot, texts: pd.DataFrame) -> None:
    found = kb.holding(WORD, problem=PROBLEM, limit=100_000)
    holds = texts[texts["code"].str.contains(WORD, regex=False)]
    assert len(holds)
    assert set(found.submissions["submission_id"]) == set(holds["submission_id"])
    assert found.total == holds["submission_id"].nunique()
    assert found.users == holds["user_id"].nunique()
    once = holds.drop_duplicates("submission_id")
    mondays = Counter(
        (day.tz_localize(None).normalize() - pd.Timedelta(days=day.weekday())).date() for day in once["submitted_at"]
    )
    assert dict(zip(found.weeks["week"], found.weeks["submissions"], strict=True)) == dict(sorted(mondays.items()))
    assert found.weeks["new_users"].sum() == found.users
    first = found.submissions.iloc[0]
    line = kb.code(int(first["submission_id"]), first["runner"], "trimul").split("\n")[int(first["line_no"]) - 1]
    assert WORD in line


def test_bests_with_and_without(kb: KernelBot, texts: pd.DataFrame) -> None:
    found = kb.holding(WORD, problem=PROBLEM, runner=RUNNER).bests
    board = kb.leaderboard(PROBLEM, runner=RUNNER)
    board = board[board["ratio"].notna()]
    code = dict(zip(texts["submission_id"], texts["code"], strict=True))
    expected = {
        user: (score, WORD in code[id_])
        for user, score, id_ in zip(board["user_id"], board["score"], board["submission_id"], strict=True)
    }
    told = {row.user_id: (row.score, row.holds) for row in found.itertuples()}
    assert told == expected
    assert 0 < found["holds"].sum() < len(found)


def test_a_whole_line_is_that_line_and_no_longer_one(kb: KernelBot, texts: pd.DataFrame) -> None:
    for row in kb.search(WORD, problem=PROBLEM).head(3).itertuples():
        found = kb.holding(row.line, line=True, problem=PROBLEM)
        assert (found.total, found.users) == (row.submissions, row.users)
        held = texts["code"].map(lambda code, line=row.line: line in [each.strip() for each in code.split("\n")])
        assert found.total == texts.loc[held, "submission_id"].nunique()


def test_nothing_found_is_empty(kb: KernelBot) -> None:
    found = kb.holding("no text holds these words", problem=PROBLEM)
    assert (len(found.submissions), len(found.weeks), len(found.bests), found.total, found.users) == (0, 0, 0, 0, 0)


def test_techniques_of_many_are_those_of_each(kb: KernelBot) -> None:
    board = kb.leaderboard(PROBLEM, runner=RUNNER).head(8)
    pairs = [(int(id_), RUNNER) for id_ in board["submission_id"]]
    assert kb.facets_of_many("trimul", [*pairs, (1, None)]) == [
        *(kb.facets(id_, runner, "trimul") for id_, runner in pairs),
        None,
    ]


def test_adoption_starts_with_who_was_first_and_counts_every_user_once(kb: KernelBot) -> None:
    table = kb.techniques(PROBLEM, RUNNER).set_index("facet")
    adopted = kb.adoption(PROBLEM, RUNNER)
    assert not adopted.duplicated(["facet", "user_id"]).any()
    counts = adopted["facet"].value_counts()
    assert counts.to_dict() == table["users"].to_dict()
    first = adopted.drop_duplicates("facet").set_index("facet")["submission_id"]
    assert first.to_dict() == table["first_submission_id"].to_dict()


def test_steps_know_their_place_and_what_they_gained(kb: KernelBot) -> None:
    every = kb.steps(PROBLEM, least_gain=0.01, limit=100_000)
    gained = kb.steps(PROBLEM, least_gain=0.01, limit=100_000, gained="autotune")
    assert {slug for slug, _ in every.attrs["places"]} == {"trimul"}
    held = {
        side: kb.facets_of_many("trimul", list(zip(every[f"{side}_id"], every["runner"], strict=True)))
        for side in ("before", "after")
    }
    expected = [
        (row.before_id, row.after_id, row.runner)
        for row, before, after in zip(every.itertuples(), held["before"], held["after"], strict=True)
        if "autotune" in (after or ()) and "autotune" not in (before or ())
    ]
    assert list(zip(gained["before_id"], gained["after_id"], gained["runner"], strict=True)) == expected
    user = every.attrs["places"][0][1]
    own = kb.steps(PROBLEM, least_gain=0.01, user=user)
    assert set(own.attrs["places"]) == {("trimul", user)}


def test_matches_of_bests_are_listed_as_far_as_they_are_known(kb: KernelBot) -> None:
    name = kb.submission(int(kb.leaderboard(PROBLEM)["submission_id"].iloc[0]), None, "trimul").file
    store = find_store(kb._settings.cache / "content", kb.source.files[name])
    assert store is not None
    board = kb.leaderboard(PROBLEM, runner=RUNNER)
    best = kb.submission(int(board["submission_id"].iloc[0]), RUNNER)
    digest = store.texts.column("sha256")[int(store.text_of_row[best.file_row])].as_py()
    rule = Rule(rule="A_RULE", severity="hard", evidence="words", lines=[3])
    version = kernelguard_version() or ""
    KeptVerdicts(store.folder).keep(digest, Verdict(status="matched", rules=[rule], version=version))
    found = kb.verdicts("trimul")
    assert best.submission_id in set(found["submission_id"])
    assert set(found["rule"]) == {"A_RULE"}
    assert found.attrs["asked"] >= 1
    assert found.attrs["bests"] == len(kb.leaderboard(PROBLEM).query("ratio.notna()"))
