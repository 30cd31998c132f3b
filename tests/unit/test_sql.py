"""The SQL files and the list of questions: each says what it asks, binds what it says, and answers what it promises."""

import inspect
import re
from datetime import timedelta
from importlib import resources
from typing import Any, get_type_hints

import pandas as pd
import pytest

from kbdash.content.insight import TechniqueOptions
from kbdash.content.questions import SearchOptions, StepOptions
from kbdash.database.answer import as_frame
from kbdash.database.competition_views import sql_text
from kbdash.database.queries import Questions, method_of
from kbdash.database.questions import PARTS, QUESTIONS, TEXT_QUESTIONS, columns
from kbdash.database.questions.kinds import REQUIRED, ColumnKind, Parameter, Question
from kbdash.database.questions.parameters import SCOPE, SORTS, Scope
from kbdash.engine import KernelBot
from kbdash.errors import QueryRefused
from kbdash.web import answers

FILES = sorted(
    entry.name.removesuffix(".sql")
    for entry in resources.files("kbdash.database.sql").iterdir()
    if ".sql" in entry.name
)
TEMPLATES = [name for name in FILES if name.startswith("view_") or name == "ranking"]
STATEMENTS = [name for name in FILES if name not in TEMPLATES]
# What SQL is given beside the parameters of its question: names resolved, pages counted, a submission taken apart.
RESOLVED = {
    "board": {"competition", "problem", "user", "users", "facets"}, "each": {"competition"},
    "linkable": {"competition"},
    "submission": {"competition", "problem", "runner", "user", "id", "at", "code_id", "submission_id", "home"},
}  # fmt: skip
# A value for every parameter that there is.
PARAMETERS: dict[str, Any] = {
    "competition": "trimul", "problem": "trimul", "problem_a": "trimul", "problem_b": "trimul", "runner": "A100",
    "since": None, "until": None, "flagged": True, "top": 10, "steps": 5, "points": 10, "bins": 10, "score": 1e-3,
    "users": ["7"], "user": "7", "limit": 10, "text": "a", "id": 1, "at": "2025-12-01", "code_id": 1, "home": "trimul",
    "passed": None, "sort": "score", "descending": True, "size": 10, "skip": 0, "submission_id": 1, "texts": ["a"],
    "file": "trimul_submissions.parquet", "file_row": 0, "names": ["a"], "facets": None, "order": None, "find": None,
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


@pytest.mark.parametrize("name", STATEMENTS)
def test_the_header_names_the_parameters_that_are_bound(name: str) -> None:
    assert parameters(header(name)) == parameters(body(name))


@pytest.mark.parametrize("name", STATEMENTS)
def test_every_statement_can_be_planned(kb: KernelBot, name: str) -> None:
    bound = {parameter: PARAMETERS[parameter] for parameter in parameters(body(name))}
    kb.problem_names(str(PARAMETERS["competition"]))  # opens its file
    plan = kb._database._asker.run(f"explain {sql_text(name)}", bound)
    assert len(plan) > 0


@pytest.mark.parametrize("name", [name for name in STATEMENTS if name != "close_names"])
def test_every_statement_answers_about_nothing_too(kb: KernelBot, name: str) -> None:
    assert len(kb.frame(name, **PARAMETERS | {"competition": "nothing", "problem": "nothing"})) <= 1


@pytest.mark.parametrize("name", FILES)
def test_no_file_names_the_source_texts(name: str) -> None:
    assert not re.search(r"\bcode\b", body(name))


@pytest.mark.parametrize("name", FILES)
def test_only_views_select_everything_and_nothing_is_filled_in_but_there(name: str) -> None:
    holes = set(re.findall(r"\{(\w+)\}", body(name)))
    if name.startswith("view_"):
        assert holes <= {"view", "competition", "file", "location", "runs", "shapes", "shape_list"}
    else:
        assert not holes


@pytest.mark.parametrize("sort", SORTS)
def test_every_way_to_sort_is_known_to_the_sql(sort: str) -> None:
    assert f"when '{sort}' then" in sql_text("submissions")


def test_the_rule_stands_in_one_file_only() -> None:
    ranking = [name for name in FILES if re.search(r"mode = 'leaderboard'", re.sub(r"--.*", "", sql_text(name)))]
    assert set(ranking) <= {"ranking", "view_legacy"}
    copies = [name for name in FILES if re.search(r"isfinite|counts and not|is_impossible|floor_of", body(name))]
    assert copies == ["ranking"]


# --- the list ------------------------------------------------------------------------------------------------------


def test_every_file_has_an_object_and_every_object_a_file() -> None:
    assert set(STATEMENTS) == {*QUESTIONS, *PARTS}


def test_every_question_has_one_method_and_one_memo() -> None:
    methods = {name: value.question for name, value in vars(Questions).items() if hasattr(value, "question")}
    assert methods == QUESTIONS
    about_texts = {name: value.question for name, value in vars(KernelBot).items() if hasattr(value, "question")}
    assert about_texts == TEXT_QUESTIONS
    assert [name for name in QUESTIONS if not callable(getattr(answers, name, None))] == []


@pytest.mark.parametrize("name", ["weekly", "problems", "leaderboard", "trends", "progression"])
def test_a_question_needs_its_object_and_its_sql_and_nothing_else(kb: KernelBot, name: str) -> None:
    question = QUESTIONS[name]
    asked = method_of(question)
    assert (asked.__name__, asked.__doc__) == (name, question.help)
    assert asked(kb, **dict(question.example)).equals(getattr(kb, name)(**dict(question.example)))


def test_a_question_that_no_page_asks_has_a_memo_too() -> None:
    written = answers.weekly
    del answers.weekly
    assert callable(answers.weekly)
    assert answers.weekly is not written
    with pytest.raises(AttributeError, match="no question nonsense"):
        _ = answers.nonsense


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_the_method_has_the_parameters_of_the_question(question: Question) -> None:
    method = inspect.unwrap(getattr(KernelBot, question.name))
    if method.__code__.co_flags & inspect.CO_VARARGS:  # not written out, but derived
        return
    written = method.__code__.co_varnames[: method.__code__.co_argcount + method.__code__.co_kwonlyargcount]
    scope = method.__code__.co_flags & inspect.CO_VARKEYWORDS
    assert [*written[1:], *(p.name for p in SCOPE if scope)] == [p.name for p in question.parameters]
    assert method.__code__.co_argcount == 1 + len(question.asks)
    positional = method.__defaults__ or ()
    defaults = dict(zip(written[method.__code__.co_argcount - len(positional) :], positional, strict=False))
    defaults |= method.__kwdefaults__ or {}
    hints = get_type_hints(method) | (get_type_hints(Scope) if scope else {})
    for parameter in question.parameters:
        known = parameter in SCOPE and scope
        assert known or defaults.get(parameter.name, REQUIRED) == parameter.default, parameter.name
        assert hints[parameter.name] == parameter.type, parameter.name


@pytest.mark.parametrize("question", TEXT_QUESTIONS.values(), ids=TEXT_QUESTIONS)
def test_a_question_about_texts_has_the_parameters_of_its_method(question: Question) -> None:
    method = inspect.unwrap(getattr(KernelBot, question.name))
    hints = get_type_hints(method)
    written = [name for name in hints if name not in ("return", "options")]
    more = {"search": SearchOptions, "techniques": TechniqueOptions, "steps": StepOptions}.get(question.name)
    written += list(get_type_hints(more)) if more else []
    assert sorted(written) == sorted(parameter.name for parameter in question.parameters)


def test_the_shared_keywords_are_those_of_the_scope() -> None:
    assert list(get_type_hints(Scope)) == [parameter.name for parameter in SCOPE]


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_every_parameter_is_bound(question: Question) -> None:
    """Whatever can be said changes the statement: nothing is taken and then ignored."""
    said = {parameter.name for parameter in question.parameters}
    used = parameters(body(question.name))
    by_hand = {"submissions": {"page", "page_size"}, "progression": {"user"}}.get(question.name, set())
    if question.of == "submission":
        by_hand = {"of"}
    assert said - used - by_hand <= ({"competition"} if question.of != "part" else set())
    paging = {"size", "skip"} if question.name == "submissions" else set()
    assert used - said - paging <= RESOLVED[question.of]


KINDS: dict[ColumnKind, Any] = {
    "text": lambda c: pd.api.types.is_string_dtype(c.dropna()) or c.isna().all(),
    "whole": pd.api.types.is_integer_dtype,
    "number": pd.api.types.is_float_dtype,
    "switch": lambda c: pd.api.types.is_bool_dtype(c.dropna().infer_objects()),
    "time": lambda c: (
        isinstance(c.dtype, pd.DatetimeTZDtype) and all(at.utcoffset() == timedelta(0) for at in c.dropna())
    ),
    "day": lambda c: pd.api.types.is_datetime64_dtype(c) or {type(v).__name__ for v in c} == {"date"},
    "duration": pd.api.types.is_timedelta64_dtype,
    "texts": lambda c: all(isinstance(item, str) for items in c for item in items),
    "numbers": lambda c: all(isinstance(item, float) for items in c for item in items),
}


@pytest.fixture(scope="module")
def arguments(kb: KernelBot) -> dict[str, dict[str, Any]]:
    """Arguments of questions with an answer in the sample, where the example has none."""
    leader = kb.leaderboard("nvfp4_gemm", runner="NVIDIA").iloc[0]
    return {
        "trends": {"problem": "nvfp4_gemm", "users": [leader["user_id"]]},
        "progression": {"problem": "nvfp4_gemm", "user": leader["user_id"]},
        "user": {"user": leader["user_id"]},
        "user_field": {"user": leader["user_id"]},
        "ladder": {"problem": "nvfp4_gemm", "user": leader["user_id"], "runner": "NVIDIA"},
        "submission_rows": {"submission_id": int(leader["submission_id"])},
        "placement": {"of": kb.submission(int(leader["submission_id"]), "NVIDIA")},
        "same_code_elsewhere": {"of": _with_twin(kb)},
    }


def _with_twin(kb: KernelBot) -> Any:
    pair = kb.sql(
        "select min(submission_id) as id, arg_min(runner, submission_id) as runner from submissions "
        "where competition = 'nvfp4' and runner is not null group by code_id having count(*) > 1 limit 1"
    )
    return kb.submission(int(pair["id"][0]), pair["runner"][0], "nvfp4")


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_the_columns_are_those_that_the_question_promises(
    kb: KernelBot, question: Question, arguments: dict[str, dict[str, Any]]
) -> None:
    frame = kb.ask(question.name, **arguments.get(question.name, dict(question.example)))
    assert len(frame) > 0
    assert list(frame.columns) == [column.name for column in question.columns]
    wrong = [c.name for c in question.columns if question.of != "submission" and not KINDS[c.kind](frame[c.name])]
    # Objects of a row each leave pandas to guess the type of a missing number.
    assert wrong == [] or question.name == "submission_rows"


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
def test_the_parts_have_their_columns(kb: KernelBot, part: Question) -> None:
    assert list(kb.frame(part.name, **PARAMETERS).columns) == [column.name for column in part.columns]


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_help_tells_parameters_columns_and_an_example(question: Question) -> None:
    text = inspect.getdoc(getattr(KernelBot, question.name))
    assert text is not None
    assert text.startswith(question.sentence)
    for named in (*question.parameters, *question.columns):
        assert f"{named.name}: {named.meaning}" in text
    shown = str(inspect.signature(getattr(KernelBot, question.name)))
    assert all(parameter.name in shown for parameter in question.parameters)


def test_a_name_means_one_thing_in_all_answers() -> None:
    told: dict[str, set[Any]] = {}
    for question in (*QUESTIONS.values(), *TEXT_QUESTIONS.values(), *PARTS.values()):
        for column in question.columns:
            told.setdefault(column.name, set()).add(column)
    # `at`: as a number for the questions about all texts, which never show it.
    # Of a line or a technique, users, submissions and firsts are those that hold it.
    of_texts = {"users", "submissions", "first_at", "share", "status", "pairs", "line_no"}
    assert {name for name, meanings in told.items() if len(meanings) > 1} == {"passed", "kind", "at"} | of_texts
    assert set(columns.GLOSSARY) <= set(told)


# --- values --------------------------------------------------------------------------------------------------------


ALL_PARAMETERS = {p.name + p.kind: p for question in QUESTIONS.values() for p in question.parameters}


@pytest.mark.parametrize("parameter", ALL_PARAMETERS.values(), ids=ALL_PARAMETERS)
def test_a_value_that_does_not_fit_is_told_with_what_would(parameter: Parameter) -> None:
    with pytest.raises(QueryRefused) as failure:
        parameter.check(object())
    assert str(failure.value).startswith(f"{parameter.name}=")
    assert str(failure.value).endswith(f"is not {parameter.noun}.")
    assert failure.value.advice


@pytest.mark.parametrize(
    ("question", "name", "text", "value"),
    [
        ("distribution", "bins", "30", 30),
        ("leaderboard", "until", "2025-12-21", pd.Timestamp("2025-12-21").date()),
        ("leaderboard", "flagged", "false", False),
        ("standing", "score", "3e-5", 3e-5),
        ("submissions", "sort", "score", "score"),
        ("submissions", "users", "ada", ("ada",)),
    ],
)
def test_values_are_read_from_text(question: str, name: str, text: str, value: object) -> None:
    parameter = next(p for p in QUESTIONS[question].parameters if p.name == name)
    assert parameter.read([text]) == value


@pytest.mark.parametrize(
    ("question", "name", "text", "noun"),
    [
        ("distribution", "bins", "0", "a whole number from 1 to 400"),
        ("distribution", "bins", "401", "a whole number from 1 to 400"),
        ("distribution", "bins", "3.5", "a whole number from 1 to 400"),
        ("standing", "score", "nan", "a number from 0"),
        ("leaderboard", "until", "yesterday", "a day"),
        ("leaderboard", "flagged", "maybe", "true or false"),
        ("submissions", "sort", "code", "one of submitted_at, score"),
    ],
)
def test_a_text_outside_the_bounds_is_refused(question: str, name: str, text: str, noun: str) -> None:
    parameter = next(p for p in QUESTIONS[question].parameters if p.name == name)
    with pytest.raises(QueryRefused, match=re.escape(f"{name}='{text}' is not {noun}")):
        parameter.read([text])


def test_a_number_outside_the_bounds_is_drawn_inside(kb: KernelBot) -> None:
    one = kb.distribution("nvfp4_gemm", runner="NVIDIA", bins=1)
    assert kb.distribution("nvfp4_gemm", runner="NVIDIA", bins=-3).equals(one)
    assert len(kb.submissions("nvfp4_gemm", page_size=-5).rows) == 1
    everything = kb.submissions("nvfp4_gemm", page_size=10**9)
    assert (len(everything.rows), everything.pages) == (everything.total, 1)


def test_an_unknown_question_is_told_with_those_there_are(kb: KernelBot) -> None:
    with pytest.raises(QueryRefused, match="no question nonsense") as failure:
        kb.ask("nonsense")
    assert "leaderboard" in failure.value.advice


def test_any_answer_becomes_a_frame(kb: KernelBot) -> None:
    assert as_frame(kb.standing("nvfp4_gemm", 1e-4, runner="NVIDIA")).shape == (1, 4)


@pytest.mark.parametrize(
    ("args", "kwargs", "said"),
    [
        (("trimul",), {}, (("problem", "trimul"),)),
        ((), {"problem": "trimul", "flagged": True, "runner": None}, (("problem", "trimul"),)),
        (("trimul",), {"flagged": False}, (("problem", "trimul"), ("flagged", False))),
        (("trimul",), {"runner": "A100", "top": 3}, (("problem", "trimul"), ("top", 3), ("runner", "A100"))),
    ],
)
def test_a_question_has_one_key_however_it_is_put(args: Any, kwargs: Any, said: Any) -> None:
    assert answers.said_in(KernelBot.leaderboard, *args, **kwargs) == said
