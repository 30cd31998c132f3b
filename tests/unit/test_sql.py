"""The SQL files: each says what it asks, binds what it says, runs on the sample and keeps away from source texts."""

import re
from importlib import resources
from typing import Any

import pytest

from kbdash import queries
from kbdash.engine import KernelBot
from kbdash.views import sql_text

FILES = sorted(
    entry.name.removesuffix(".sql") for entry in resources.files("kbdash.sql").iterdir() if ".sql" in entry.name
)
TEMPLATES = [name for name in FILES if name.startswith("view_") or name == "ranking"]
QUESTIONS = [name for name in FILES if name not in TEMPLATES]
# A value for every parameter that there is.
PARAMETERS: dict[str, Any] = {
    "competition": "trimul", "problem": "trimul", "problem_a": "trimul", "problem_b": "trimul", "runner": "A100",
    "since": None, "until": None, "flagged": True, "top": 10, "steps": 5, "points": 10, "bins": 10, "score": 1e-3,
    "users": ["7"], "user": "7", "limit": 10, "text": "a", "id": 1, "at": "2025-12-01", "code_id": 1, "home": "trimul",
    "passed": None, "sort": "score", "descending": True, "size": 10, "skip": 0,
    "file": "trimul_submissions.parquet", "file_row": 0,
}  # fmt: skip


def header(name: str) -> str:
    """The comment at the top of a file."""
    lines = sql_text(name).splitlines()
    length = next(number for number, line in enumerate(lines) if not line.startswith("--"))
    return "\n".join(lines[:length])


def body(name: str) -> str:
    """The statements of a file without comments and texts."""
    return re.sub(r"'[^']*'", "''", re.sub(r"--.*", "", sql_text(name)))


def parameters(text: str) -> set[str]:
    return set(re.findall(r"\$([a-z_]+)", text))


@pytest.mark.parametrize("name", FILES)
def test_every_file_begins_with_what_it_is_about(name: str) -> None:
    first = header(name).partition("\n")[0]
    assert re.fullmatch(r"-- [A-Z].{15,}", first), first


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_header_names_the_parameters_that_are_bound(name: str) -> None:
    assert parameters(header(name)) == parameters(body(name))


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_question_can_be_planned(kb: KernelBot, name: str) -> None:
    bound = {parameter: PARAMETERS[parameter] for parameter in parameters(body(name))}
    plan = kb._database._run(f"explain {sql_text(name)}", bound)
    assert len(plan) > 0


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_question_answers_about_nothing_too(kb: KernelBot, name: str) -> None:
    assert len(kb.frame(name, **PARAMETERS | {"competition": "nothing", "problem": "nothing"})) <= 1


@pytest.mark.parametrize("name", FILES)
def test_no_file_names_the_source_texts(name: str) -> None:
    assert not re.search(r"\bcode\b", body(name))


@pytest.mark.parametrize("name", FILES)
def test_only_views_select_everything_and_nothing_is_filled_in_but_there(name: str) -> None:
    holes = set(re.findall(r"\{(\w+)\}", body(name)))
    if name.startswith("view_"):
        assert holes <= {"view", "competition", "file", "location", "shapes"}
    else:
        assert not holes


def test_every_question_is_asked_by_somebody() -> None:
    modules = [entry for entry in resources.files("kbdash").iterdir() if entry.name.endswith(".py")]
    source = "".join(module.read_text(encoding="utf-8") for module in modules)
    assert {name for name in QUESTIONS if f'"{name}"' not in source} == set()


@pytest.mark.parametrize("sort", queries.SORTS)
def test_every_way_to_sort_is_known_to_the_sql(sort: str) -> None:
    assert f"when '{sort}' then" in sql_text("submissions")


def test_the_rule_stands_in_one_file_only() -> None:
    ranking = [name for name in FILES if re.search(r"mode = 'leaderboard'", re.sub(r"--.*", "", sql_text(name)))]
    assert set(ranking) <= {"ranking", "view_legacy"}
