"""Source texts that leave the dashboard: named harmlessly, credited, and still valid in their language."""

import ast
import csv
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbdash.code import diff, export
from kbdash.code.language import Language
from kbdash.code.reader import decoded
from kbdash.dataset import credit
from kbdash.dataset.model import Submission
from kbdash.dataset.source import Source
from kbdash.engine import KernelBot

SOURCE = Source("hub", "org/name", {}, "", commit="c0ffee", licence="cc-by-4.0")
ONE = Submission(
    competition="nvfp4", file="f.parquet", file_row=0, submission_id=187476, leaderboard_id=1, problem="nvfp4_gemm",
    user_id="42", user_name="somebody", code_id=1, file_name="a.py", submitted_at=None, status="succeeded",
    mode="leaderboard", passed=True, score=1.25e-05, runner="NVIDIA", flags="", counts=True, impossible=False,
    eligible=True,
)  # fmt: skip
HOSTILE = ("a\nimport os\r", "x\\", '"""', "'''\u2028y", "*/ int main() {", "\x1b[31m", "??/", "")


def test_the_header_names_source_revision_and_licence() -> None:
    text = export.credited(decoded(b"import torch\n"), ONE, SOURCE)
    header = text.removesuffix("import torch\n")
    assert all(line.startswith("# ") for line in header.splitlines())
    for word in (
        "187476",
        '"somebody"',
        "nvfp4_gemm",
        "B200 (on-prem)",
        "1.25e-05 s",
        credit.DATASET_PAGE,
        "c0ffee",
        "cc-by-4.0",
    ):
        assert word in header


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_breaks_out_of_a_python_header(name: str) -> None:
    one = replace(ONE, user_name=name, problem=f"p{name}", runner=f"r{name}")
    text = export.credited(decoded(b"import torch\n"), one, SOURCE)
    assert ast.dump(ast.parse(text)) == ast.dump(ast.parse("import torch\n"))


@given(st.text(max_size=60), st.text(max_size=60))
def test_no_name_breaks_out_of_a_cpp_header(name: str, problem: str) -> None:
    one = replace(ONE, user_name=name, problem=problem)
    body = '#include "a.h"\n__global__ void k() {}\n'
    lines = export.credited(decoded(body.encode()), one, SOURCE).removesuffix(body).split("\n")
    assert lines.pop() == ""
    assert all(line.startswith("// ") and line[-1] not in "\\/" and len(line.splitlines()) == 1 for line in lines)


def test_the_header_ends_its_lines_as_the_text_does() -> None:
    assert "\n" not in export.credited(decoded(b"import a\r\n"), ONE, SOURCE).replace("\r\n", "")


def test_sample_data_say_so() -> None:
    source = Source("sample", "sample", {}, "")
    assert "Synthetic sample data" in export.credited(decoded(b"import a\n"), ONE, source)


@pytest.mark.parametrize(("language", "ending"), [("python", ".py"), ("cpp", ".cu"), ("text", ".txt")])
@given(st.text(max_size=200))
def test_file_names_are_harmless(language: Language, ending: str, name: str) -> None:
    made = export.file_name(replace(ONE, user_name=name, problem=name, runner=name), language)
    assert made.endswith(f"_187476{ending}")
    assert made.isascii()
    assert len(made) < 90
    assert not set(made) & set('/\\:*?"<>| \n')
    assert not made.startswith((".", "-"))


def test_a_file_is_named_after_the_user_or_the_id_of_one_without_a_name() -> None:
    assert "_somebody_" in export.file_name(ONE)
    assert "_42_" in export.file_name(replace(ONE, user_name=""))


def test_a_patch_names_both_sides_and_holds_the_diff() -> None:
    changes = diff.compare("a\nb\n", "a\nc\n")
    text = export.patch(changes, ONE, replace(ONE, submission_id=2, user_name="other\n+++ b/evil"), SOURCE)
    head, _, body = text.partition("--- a/")
    assert "c0ffee" in head
    assert not any(line.startswith(("+", "-", "@")) for line in head.splitlines())
    assert body.splitlines()[1].startswith("+++ b/")
    assert body.endswith("@@ -1,2 +1,2 @@\n a\n-b\n+c\n")


def test_a_study_set(kb: KernelBot, tmp_path: Path) -> None:
    facts = kb.dump("nvfp4_dual_gemm", "NVIDIA", folder=tmp_path / "set", top=25)
    assert len(facts) == 25
    with (tmp_path / "set" / "facts.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["rank"] for row in rows] == [str(rank) for rank in facts["rank"]]
    for row in rows:
        text = (tmp_path / "set" / row["file"]).read_bytes().decode()
        assert text == kb.code(int(row["submission_id"]), row["runner"])
    assert any("no source text" in row["notes"] for row in rows)
    cited = (tmp_path / "set" / "CITATION.txt").read_text()
    assert "kernelbot2025" in cited
    assert kb.source.commit is not None
    assert kb.source.commit in cited
    assert {path.name for path in (tmp_path / "set").iterdir()} == {
        "facts.csv",
        "CITATION.txt",
        *(r["file"] for r in rows),
    }


def test_a_study_set_of_every_runner_has_the_top_of_each(kb: KernelBot, tmp_path: Path) -> None:
    facts = kb.dump("trimul", folder=tmp_path, top=3)
    assert facts.groupby("runner")["rank"].count().max() <= 3
    assert facts["runner"].nunique() > 1
    assert facts["file"].is_unique


def test_a_text_that_cannot_be_read_is_noted_and_the_rest_written(kb: KernelBot, tmp_path: Path) -> None:
    board = kb.leaderboard("nvfp4_gemm", runner="NVIDIA", top=2)
    gone = board.assign(submission_id=[1, int(board["submission_id"].iloc[1])])
    facts = export.write_study_set(kb.source_text, gone, "nvfp4", "nvfp4_gemm", kb.source, tmp_path)
    assert facts["file"].iloc[0] == ""
    assert "no submission 1" in facts["notes"].iloc[0]
    assert (tmp_path / facts["file"].iloc[1]).is_file()


def test_names_are_no_formulas_in_the_facts(kb: KernelBot, tmp_path: Path) -> None:
    board = kb.leaderboard("nvfp4_gemm", runner="NVIDIA").head(3)
    names = ["=HYPERLINK(1)", "@x", "plain\r=1"]
    export.write_study_set(kb.source_text, board.assign(user_name=names), "nvfp4", "nvfp4_gemm", SOURCE, tmp_path)
    with (tmp_path / "facts.csv").open(newline="") as file:
        assert [row["user_name"] for row in csv.DictReader(file)] == ["'=HYPERLINK(1)", "'@x", "plain\r=1"]
