"""The description holds: somebody else's tool asks everything it allows, and much that it forbids."""

import subprocess
import sys
from pathlib import Path

import pytest

from kbdash.api.openapi import description
from kbdash.database.questions import EVERY_QUESTION
from tests.api.conftest import Ask
from tests.e2e.serving import ROOT, inherited

FILE = Path(__file__).with_name("allowed_and_forbidden.py")


def test_no_answer_is_outside_the_description(server: str, request: pytest.FixtureRequest) -> None:
    profile = request.config.getoption("--hypothesis-profile") or "steady"
    words = ["-p", "schemathesis", "-p", "no:cacheprovider", f"--hypothesis-profile={profile}", "-q", str(FILE)]
    environ = inherited() | {"KBDASH_TEST_SERVER": server}  # the variable that the file reads
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *words], cwd=ROOT, env=environ, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert f"{len(description()['paths'])} passed" in run.stdout, run.stdout


def test_the_description_is_openapi(ask: Ask) -> None:
    from openapi_spec_validator import validate  # a slow import, which every process of a run would pay for

    answer = ask("/api/openapi.json")
    assert answer.json() == description()
    validate(answer.json())


def test_every_question_is_described_with_its_columns() -> None:
    paths = description()["paths"]
    for name, question in EVERY_QUESTION.items():
        content = paths[f"/api/{name}.{{format}}"]["get"]["responses"]["200"]["content"]
        row = content["application/json"]["schema"]["properties"]["rows"]["items"]
        assert row["required"] == [column.name for column in question.columns]
        for column in question.columns:
            assert column.meaning in row["properties"][column.name]["description"]


def test_the_page_shows_every_question_parameter_and_column(ask: Ask) -> None:
    for address in ("/api", "/api/"):
        answer = ask(address)
        assert answer.headers["content-type"].startswith("text/html")
        for name, question in EVERY_QUESTION.items():
            section = answer.text.partition(f'<h2 id="{name}">')[2].partition("<h2")[0]
            assert all(f"<td>{column.name}</td>" in section for column in question.columns)
    assert "pd.read_csv(" in answer.text
    assert "duckdb -c" in answer.text
    assert "curl" in answer.text
    assert "<script" not in answer.text
