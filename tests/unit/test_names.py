"""Names of boards, people and submissions: what they mean, who comes close, and what is told while a file is away."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import kbdash
from kbdash.dataset import catalog, page_paths
from kbdash.dataset.config import Settings
from kbdash.dataset.model import FlagCase
from kbdash.engine import KernelBot
from kbdash.errors import AmbiguousSubmission, DataUnavailable, UnknownProblem, UnknownUser
from kbdash.view import CompareView, Ref, read_ref
from tests.unit.tables import NVFP4, TRIMUL, write_flat
from tests.unit.test_ranking import row

AWAY = DataUnavailable("The Hub does not answer.", advice="Retry.")
ROWS = [
    row(submission_id=1, user_id="7", user_name="ada"),
    row(submission_id=2, user_id="8", user_name="Eve", score=2e-5),
    row(submission_id=3, user_id="9", user_name="steve", score=3e-5),
    row(submission_id=4, user_id="10", user_name="steve", score=4e-5),
    row(submission_id=5, user_id="11", user_name="7", score=5e-5),
    row(submission_id=6, user_id="7", user_name="ada", runner="B200"),
]
OTHER = {"leaderboard_id": 496, "problem_name": "trimul"}


def connect(folder: Path) -> KernelBot:
    return kbdash.connect(folder, settings=Settings(cache=folder / "cache", query_seconds=120.0))


@pytest.fixture
def kb(tmp_path: Path) -> Iterator[KernelBot]:
    """Two competitions; submission 6 on B200 is in both."""
    write_flat(ROWS, tmp_path / NVFP4)
    same_id = row(submission_id=6, user_id="8", user_name="Eve", runner="B200", **OTHER)
    write_flat([same_id, row(submission_id=50, **OTHER)], tmp_path / TRIMUL)
    engine = connect(tmp_path)
    yield engine
    engine.close()


# --- people --------------------------------------------------------------------------------------------------------


def test_hundreds_of_people_are_named_at_hardly_more_than_the_cost_of_one(tmp_path: Path) -> None:
    people = [(str(number), f"user {number}") for number in range(1000, 1300)]
    rows = [row(submission_id=i, user_id=id_, user_name=name) for i, (id_, name) in enumerate(people * 20, 1)]
    write_flat(rows, tmp_path / NVFP4)
    kb = connect(tmp_path)
    ids = tuple(id_ for id_, _ in people)
    assert kb.user_ids(ids, "nvfp4") == ids

    def cost(texts: tuple[str, ...]) -> float:
        begin = time.process_time()
        kb.user_ids(texts, "nvfp4")
        return time.process_time() - begin

    one, all_ = (min(cost(texts) for _ in range(5)) for texts in (ids[:1], ids))
    kb.close()
    assert all_ < 10 * one  # 50 times if every row is compared with every text


@pytest.mark.parametrize("text", ["ada", "ADA", " ada ", "7"])
def test_a_person_is_named_by_id_or_exact_name_in_every_call(kb: KernelBot, text: str) -> None:
    assert kb.user(text)["submission_id"].tolist() == [6, 1, 50]
    assert kb.ladder("nvfp4_gemm", text, runner="NVIDIA")["submission_id"].tolist() == [1]
    assert kb.progression("nvfp4_gemm", text)["submission_id"].tolist() == [1, 6]
    assert kb.progression("nvfp4_gemm", users=[text])["submission_id"].tolist() == [1, 6]
    assert set(kb.submissions("nvfp4_gemm", users=[text]).rows["submission_id"]) == {1, 6}
    assert set(kb.trends("nvfp4_gemm", [text])["user_id"]) == {"7"}


def test_a_name_that_is_somebodys_id_means_the_id(kb: KernelBot) -> None:
    assert kb.user_id("7") == "7"
    assert kb.user_ids(["7"], "nvfp4") == ("7",)


def test_a_shared_name_means_all_where_several_can_be_shown_and_is_asked_about_elsewhere(kb: KernelBot) -> None:
    assert set(kb.progression("nvfp4_gemm", "steve")["user_id"]) == {"9", "10"}
    for ask in (lambda: kb.user("steve"), lambda: kb.ladder("nvfp4_gemm", "steve")):
        with pytest.raises(UnknownUser, match="2 users are called steve") as failure:
            ask()
        assert "9" in failure.value.advice
        assert "10" in failure.value.advice


def test_an_unknown_person_is_told_with_who_comes_close(kb: KernelBot) -> None:
    asks = [
        lambda: kb.user("stevee"),
        lambda: kb.ladder("nvfp4_gemm", "stevee"),
        lambda: kb.progression("nvfp4_gemm", "stevee"),
        lambda: kb.submissions("nvfp4_gemm", users=["ada", "stevee"]),
    ]
    for ask in asks:
        with pytest.raises(UnknownUser, match="stevee") as failure:
            ask()
        assert "steve (10)" in failure.value.advice
    with pytest.raises(UnknownUser, match="404"):
        kb.user("404")


def test_an_exact_name_is_found_behind_many_that_contain_it(tmp_path: Path) -> None:
    crowd = [row(submission_id=10 + i, user_id=str(100 + i), user_name=f"max{i}") for i in range(1200)]
    crowd += [row(submission_id=5000 + i, user_id=str(100 + i), user_name=f"max{i}") for i in range(1200)]
    write_flat([*crowd, row(submission_id=1, user_id="5", user_name="max")], tmp_path / NVFP4)
    kb = connect(tmp_path)
    assert kb.progression("nvfp4_gemm", "max")["submission_id"].tolist() == [1]
    kb.close()


def test_who_comes_close_is_found_quickly_among_many_long_names(tmp_path: Path) -> None:
    people = [row(submission_id=i, user_id=str(i), user_name=f"{i}-" + "long name " * 60) for i in range(20_000)]
    write_flat([*people, row(submission_id=10**6, user_id="77777", user_name="gau.nernst")], tmp_path / NVFP4)
    kb = connect(tmp_path)
    begin = time.process_time()
    with pytest.raises(UnknownUser) as failure:
        kb.user("gau.nernts")
    assert time.process_time() - begin < 5
    assert "gau.nernst (77777)" in failure.value.advice
    assert len(failure.value.advice) < 400
    kb.close()


def test_only_the_beginning_of_a_name_is_compared(tmp_path: Path) -> None:
    tails = {"short": "", "long": "z" * 400}
    write_flat(
        [row(submission_id=i, user_id=user, user_name="a" * 60 + tail) for i, (user, tail) in enumerate(tails.items())],
        tmp_path / NVFP4,
    )
    kb = connect(tmp_path)
    found = kb._database.frame("close_users", competition="nvfp4", text="a" * 59 + "b" + "y" * 400, limit=5)
    likeness = dict(zip(found["user_id"], found["likeness"], strict=True))
    assert likeness["short"] == likeness["long"] > 0.9
    kb.close()


# --- boards --------------------------------------------------------------------------------------------------------


def test_a_file_that_fails_does_not_block_the_problems_of_others(tmp_path: Path, monkeypatch: Any) -> None:
    write_flat([row()], tmp_path / NVFP4)
    write_flat([row(problem_name="mine")], tmp_path / "zz_submissions.parquet")
    kb = connect(tmp_path)
    answer = kb._database.frame

    def frame(question: str, **parameters: object) -> Any:
        if parameters.get("competition") == "nvfp4":
            raise AWAY
        return answer(question, **parameters)

    monkeypatch.setattr(kb._database, "frame", frame)
    assert kb.find("mine") == ("zz", "mine")
    assert "nvfp4" in kb.unavailable
    with pytest.raises(DataUnavailable, match="no problem nonsense in what can be read now"):
        kb.find("nonsense")
    kb.close()


def test_an_unknown_board_is_told_with_those_that_come_close(kb: KernelBot) -> None:
    with pytest.raises(UnknownProblem, match="nvfp4_gem") as failure:
        kb.find("nvfp4_gem")
    assert "nvfp4_gemm" in failure.value.advice


# --- while a file is away --------------------------------------------------------------------------------------------


def test_what_cannot_be_read_is_not_told_as_what_does_not_exist(kb: KernelBot) -> None:
    kb.mark_unavailable("nvfp4", AWAY)
    with pytest.raises(DataUnavailable, match="Submission 1 cannot be looked up now") as failure:
        kb.submission(1)
    assert NVFP4 in failure.value.advice
    with pytest.raises(DataUnavailable, match=NVFP4):
        kb.submission(6, "B200", "nvfp4")
    with pytest.raises(DataUnavailable, match="Nobody in what can be read"):
        kb.user("steve")


def test_a_submission_of_another_competition_is_not_taken_for_the_one_asked_for(kb: KernelBot) -> None:
    kb.mark_unavailable("nvfp4", AWAY)
    for ask in (kb.submission, kb.code):
        with pytest.raises(DataUnavailable, match="may be another in nvfp4") as failure:
            ask(6)
        assert "competition='trimul'" in failure.value.advice
    assert kb.submission(6, competition="trimul").problem == "trimul"


def test_answers_over_all_competitions_say_which_were_left_out(kb: KernelBot) -> None:
    assert kb.overview().attrs["unavailable"] == {}
    kb.mark_unavailable("trimul", AWAY)
    for frame in (kb.overview(), kb.problems(), kb.find_users("ada"), kb.user("ada"), kb.flags()):
        assert list(frame.attrs["unavailable"]) == ["trimul"]
        assert TRIMUL in frame.attrs["unavailable"]["trimul"]


# --- references ----------------------------------------------------------------------------------------------------


def test_the_same_id_and_runner_in_two_files_can_be_chosen(kb: KernelBot) -> None:
    with pytest.raises(AmbiguousSubmission) as failure:
        kb.submission(6, "B200")
    assert "competition='nvfp4'" in failure.value.advice
    assert "competition='trimul'" in failure.value.advice
    assert kb.submission(6, "B200", "trimul").user_id == "8"


@pytest.mark.parametrize(
    ("text", "ref"),
    [
        ("6", Ref(6)),
        ("6@B200", Ref(6, "B200")),
        ("6@B200@trimul", Ref(6, "B200", "trimul")),
        ("6@@trimul", Ref(6, None, "trimul")),
    ],
)
def test_a_reference_carries_the_competition(text: str, ref: Ref) -> None:
    view, notes = CompareView.parse({"a": [text]})
    assert (view.a, notes) == (ref, ())
    assert str(ref) == text


def test_all_that_follows_the_runner_is_the_competition() -> None:
    assert read_ref("6@B200@a@b") == Ref(6, "B200", "a@b") == read_ref(str(Ref(6, "B200", "a@b")))


def test_two_rows_with_one_id_and_runner_in_a_file_can_be_opened(tmp_path: Path) -> None:
    write_flat([row(score=4.6e-25), row(score=3e-5), row(score=2e-5), row(score=None, passed=False)], tmp_path / NVFP4)
    kb = connect(tmp_path)
    found = kb.submission(1, "NVIDIA")
    assert (found.score, found.file_row, found.copies) == (2e-5, 2, 4)
    kb.close()


# --- flags ---------------------------------------------------------------------------------------------------------


def test_flags_are_a_table(tmp_path: Path, monkeypatch: Any) -> None:
    cases = (
        FlagCase(597, 3, "told", "news"),
        FlagCase(597, 3, "seen", "guard", kind="verdict"),
        FlagCase(597, 4, "on the other runner", "news", runner="B200"),
        FlagCase(595, 1, "of another board", "news"),
    )
    monkeypatch.setattr(catalog, "FLAG_CASES", cases)
    rows = [row(submission_id=i, user_id=str(i), score=s) for i, s in enumerate((1e-9, 4e-6, 1e-5, 4.2e-6, 2e-5))]
    write_flat([*rows, row(submission_id=9, score=1e-9, passed=False)], tmp_path / NVFP4)
    kb = connect(tmp_path)
    told = kb.flags("nvfp4_gemm")
    assert list(told[["submission_id", "runner", "kind", "source"]].itertuples(index=False, name=None)) == [
        (0, "NVIDIA", "impossible", "rule: no launch is that fast"),
        (1, "NVIDIA", "below floor", "roofline bounds of gpu-mode/kernelguard"),
        (3, "NVIDIA", "below floor", "roofline bounds of gpu-mode/kernelguard"),
        (3, "NVIDIA", "reported", "news"),
        (3, "NVIDIA", "verdict", "guard"),
    ]
    board = kb.leaderboard("nvfp4_gemm").set_index("submission_id")["flags"]
    assert board[3] == "below floor: under the heuristic bound of 4.27 µs; reported: told; verdict: seen"
    assert (board[2], board[4]) == ("", "")
    assert kb.leaderboard("nvfp4_gemm", flagged=False)["submission_id"].tolist() == [2, 4]
    kb.close()


def test_no_known_case_and_no_floor_is_no_reason_to_fail(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(catalog, "FLAG_CASES", ())
    monkeypatch.setattr(catalog, "OTHER_HARDWARE", ())
    monkeypatch.setattr(catalog, "COMPETITIONS", ())
    write_flat([row(score=1e-9), row(submission_id=2, user_id="8")], tmp_path / "mine.parquet")
    kb = connect(tmp_path)
    assert kb.flags()["kind"].tolist() == ["impossible"]
    assert kb.leaderboard("nvfp4_gemm")["rank"].tolist() == [1, 2]
    kb.close()


def test_a_name_copied_from_a_page_is_found(kb: KernelBot) -> None:
    row = kb.leaderboard("trimul").iloc[0]
    copied = f"\u2068{row['user_name'][:3]}\u2060{row['user_name'][3:]}\u2069"
    assert kb.user_id(copied) == row["user_id"]
    assert kb.user_ids([copied, "77777"], "trimul") == (row["user_id"], "77777")


def test_no_file_takes_the_path_of_a_page() -> None:
    scripts = {path.stem for path in (Path(__file__).resolve().parents[2] / "pages").glob("*.py")}
    assert scripts - {"competition"} <= set(page_paths.TAKEN)
