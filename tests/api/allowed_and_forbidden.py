"""Somebody else's tool asks everything that the description allows, and much that it forbids.

`test_openapi.py` runs this file in a pytest of its own: Schemathesis makes its cases while tests are collected, which
every process of a run would do.
"""

import os

import hypothesis
import pytest
import requests
import schemathesis
from schemathesis.checks import not_a_server_error
from schemathesis.generation import GenerationMode
from schemathesis.generation.meta import TestPhase

from kbdash.api.openapi import description

EXAMPLES = 3
DESCRIPTION = description()
# What a parameter refuses, it refuses wherever it is asked for, and what its lists may hold, they may hold everywhere:
# the same value of the same parameter is tried once. `--hypothesis-profile=search` tries it on every question.
tried: set[str] = set()
ITEM = "Enum value from available for items array"  # Schemathesis's words: another of many words that a list may hold


schema = schemathesis.openapi.from_dict(DESCRIPTION)
# One connection for all: a new one, and a look at the proxies of the environment, take longer than an answer.
session = requests.Session()
session.trust_env = False


def tried_before(case: schemathesis.Case) -> bool:
    """Whether such a value of a parameter described alike was sent already, by name, description and value."""
    data = case.meta.phase.data if case.meta and case.meta.phase.name == TestPhase.COVERAGE else None
    if data is None or case.meta is None:
        return False
    if case.meta.generation.mode != GenerationMode.NEGATIVE and data.description != ITEM:
        return False
    given = case.query.get(data.parameter) if case.query and data.parameter else None
    described = [
        each for each in DESCRIPTION["paths"][case.path]["get"]["parameters"] if each["name"] == data.parameter
    ]
    if given is None or not described:
        return False
    key = repr((described, given))
    known = key in tried
    tried.add(key)
    return known


@schema.parametrize()
@hypothesis.settings(
    max_examples=EXAMPLES, derandomize=True, database=None, deadline=None,
    suppress_health_check=list(hypothesis.HealthCheck),
)  # fmt: skip
def test_no_answer_is_outside_the_description(case: schemathesis.Case, request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--hypothesis-profile") != "search" and tried_before(case):
        return
    answer = case.call(base_url=os.environ["KBDASH_TEST_SERVER"], timeout=60, session=session)
    # Only one competition has a content store here. That another has none yet is described, and no fault of the server.
    described = answer.status_code == 503 and answer.json()["type"] == "/api#no-content"
    case.validate_response(answer, excluded_checks=[not_a_server_error] if described else [])
