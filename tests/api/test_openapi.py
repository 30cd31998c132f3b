"""The description holds: somebody else's tool asks everything it allows, and much that it forbids."""

import hypothesis
import pytest
import schemathesis
from openapi_spec_validator import validate
from schemathesis.checks import not_a_server_error
from schemathesis.generation import GenerationMode
from schemathesis.generation.meta import TestPhase

from kbdash.api.openapi import description
from kbdash.database.questions import EVERY_QUESTION
from tests.api.conftest import Ask

EXAMPLES = 3
DESCRIPTION = description()
# What a parameter refuses, it refuses wherever it is asked for: the same value of the same parameter is tried once.
# `--hypothesis-profile=search` tries it on every question.
refused: set[str] = set()


schema = schemathesis.openapi.from_dict(DESCRIPTION)


def tried_before(case: schemathesis.Case) -> bool:
    """Whether a wrong value of a parameter described alike was sent already, by name, description and value."""
    data = case.meta.phase.data if case.meta and case.meta.phase.name == TestPhase.COVERAGE else None
    if data is None or case.meta is None or case.meta.generation.mode != GenerationMode.NEGATIVE:
        return False
    given = case.query.get(data.parameter) if case.query and data.parameter else None
    described = [
        each for each in DESCRIPTION["paths"][case.path]["get"]["parameters"] if each["name"] == data.parameter
    ]
    if given is None or not described:
        return False
    key = repr((described, given))
    known = key in refused
    refused.add(key)
    return known


@schema.parametrize()
@hypothesis.settings(
    max_examples=EXAMPLES, derandomize=True, database=None, deadline=None,
    suppress_health_check=list(hypothesis.HealthCheck),
)  # fmt: skip
def test_no_answer_is_outside_the_description(
    case: schemathesis.Case, server: str, request: pytest.FixtureRequest
) -> None:
    if request.config.getoption("--hypothesis-profile") != "search" and tried_before(case):
        return
    answer = case.call(base_url=server, timeout=60)
    # Only one competition has a content store here. That another has none yet is described, and no fault of the server.
    described = answer.status_code == 503 and answer.json()["type"] == "/api#no-content"
    case.validate_response(answer, excluded_checks=[not_a_server_error] if described else [])


def test_the_description_is_openapi(ask: Ask) -> None:
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
