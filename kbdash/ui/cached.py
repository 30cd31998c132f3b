"""The engine's questions, each answered once per dataset version and shared: leave what you get as it is."""

from collections.abc import Sequence
from contextlib import nullcontext, suppress
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from kbdash.engine import KernelBot
from kbdash.model import Page, Placement, Standing, Submission
from kbdash.ui.engines import engine
from kbdash.ui.memo import key_of, shared

Filters = dict[str, Any]
"""Keyword arguments that all questions share: competition, runner, since, until, flagged."""


FLAGGED = ("flagged", True)


class _MovedOnError(Exception):
    """A file came or went while a question about all of them was answered, so that the answer is not to be kept."""


def _ask(question: str, *args: Any, **filters: Any) -> Any:
    """The answer for this session's dataset version, shared by all readers; arguments must be hashable."""
    kb = engine()
    # Without what is the default anyway, so that a question has one answer however it is put.
    filters = {name: value for name, value in filters.items() if value is not None and (name, value) != FLAGGED}
    while True:
        version = _version(kb)
        key = key_of(version, question, *args, *sorted(filters.items()))
        waiting = nullcontext() if key in shared else st.spinner("Reading the dataset")
        with suppress(_MovedOnError), waiting:
            return shared.get(key, partial(_answer, kb, version, question, args, filters))


def _answer(kb: KernelBot, version: tuple[str, ...], question: str, args: tuple[Any, ...], filters: Filters) -> Any:
    answer = getattr(kb, question)(*args, **filters)
    if version != _version(kb):
        raise _MovedOnError
    return answer


def _version(kb: KernelBot) -> tuple[str, ...]:
    """What an answer holds for: what was said while a file could not be read is not true once it can."""
    return (kb.source.version, *kb.readable())


def overview() -> pd.DataFrame:
    """One row per problem."""
    return _frame("overview")


def problems(competition: str) -> pd.DataFrame:
    """One row per problem and runner of a competition."""
    return _frame("problems", competition)


def summary(problem: str, **filters: Any) -> pd.DataFrame:
    """The numbers above a board, one row per runner."""
    return _frame("summary", problem, **filters)


def leaderboard(problem: str, **filters: Any) -> pd.DataFrame:
    """The ranking."""
    return _frame("leaderboard", problem, **filters)


def trends(problem: str, users: Sequence[str], **filters: Any) -> pd.DataFrame:
    """A short best-so-far series per user, for sparklines."""
    return _frame("trends", problem, tuple(users), **filters)


def distribution(problem: str, **filters: Any) -> pd.DataFrame:
    """Bins over log time."""
    return _frame("distribution", problem, **filters)


def ecdf(problem: str, **filters: Any) -> pd.DataFrame:
    """Share of users at or below a time."""
    return _frame("ecdf", problem, **filters)


def standing(problem: str, score: float, **filters: Any) -> Standing:
    """Where a time of `score` seconds would rank."""
    found: Standing = _ask("standing", problem, score, **filters)
    return found


def progression(problem: str, users: Sequence[str], **filters: Any) -> pd.DataFrame:
    """Every attempt of some users."""
    return _frame("progression", problem, users=tuple(users), **filters)


def records(problem: str, **filters: Any) -> pd.DataFrame:
    """Who held the best time, and how long."""
    return _frame("records", problem, **filters)


def rank_history(problem: str, **filters: Any) -> pd.DataFrame:
    """Rank over time of the top users."""
    return _frame("rank_history", problem, **filters)


def runner_ratios(problem: str, **filters: Any) -> pd.DataFrame:
    """How runners compare, median ratios."""
    return _frame("runner_ratios", problem, **filters)


def paired(problem_a: str, problem_b: str, **filters: Any) -> pd.DataFrame:
    """Users with a best on both boards."""
    return _frame("paired", problem_a, problem_b, **filters)


def shapes(problem: str, users: Sequence[str], **filters: Any) -> pd.DataFrame:
    """Per-shape timings of some users' best runs (AMD legacy)."""
    return _frame("shapes", problem, users=tuple(users), **filters)


def submissions(problem: str, **filters: Any) -> Page:
    """One page of all rows."""
    found: Page = _ask("submissions", problem, **filters)
    return found


def status_over_time(problem: str, **filters: Any) -> pd.DataFrame:
    """Rows per day and status."""
    return _frame("status_over_time", problem, **filters)


def user(user_id: str) -> pd.DataFrame:
    """One person on every board."""
    return _frame("user", user_id)


def find_users(text: str) -> pd.DataFrame:
    """People whose name holds `text`."""
    return _frame("find_users", text)


def ladder(problem: str, user_id: str, **filters: Any) -> pd.DataFrame:
    """Each new personal best of a user."""
    return _frame("ladder", problem, user_id, **filters)


def submission_rows(submission_id: int, runner: str | None, competition: str | None) -> list[Submission]:
    """Every row with this id, over runners and competitions."""
    found: list[Submission] = _ask("submission_rows", submission_id, runner, competition)
    return found


def placement(submission: Submission) -> Placement:
    """Where a submission stands on its board and runner."""
    ranked = leaderboard(submission.problem, competition=submission.competition, runner=submission.runner)
    found: Placement = _ask("placement", submission, ranked)
    return found


def same_code_elsewhere(submission: Submission) -> pd.DataFrame:
    """Other submissions with the same source text."""
    return _frame("same_code_elsewhere", submission)


def _frame(question: str, *args: Any, **filters: Any) -> pd.DataFrame:
    found: pd.DataFrame = _ask(question, *args, **filters)
    return found
