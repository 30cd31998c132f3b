"""The engine's questions, memoised per dataset version and shared by all readers: never modify an answer.

Every question of kbdash.database.questions has a name here, with the signature of its method. Those that a page asks
are written out below, for the type checker; the others follow from the list.
"""

from collections.abc import Callable, Hashable, Iterable
from concurrent.futures import Future
from contextlib import nullcontext, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar, cast

import pandas as pd
import streamlit as st

from kbdash.database.questions import QUESTIONS
from kbdash.database.questions.kinds import Question
from kbdash.database.workers import WORKERS
from kbdash.dataset.model import Placement, Submission
from kbdash.engine import KernelBot
from kbdash.web.memo import key_of, shared
from kbdash.web.session import engine

P = ParamSpec("P")
T = TypeVar("T")


class _MovedOnError(Exception):
    """A file appeared or disappeared while a question about all files was answered, so the answer is not cached."""


class _IncompleteError(Exception):
    """Competitions are missing from an answer: it is shown but not cached, because what is wrong may pass."""

    def __init__(self, answer: object) -> None:
        super().__init__()
        self.answer = answer


def _version(kb: KernelBot) -> tuple[str, ...]:
    """The version of an answer: it changes when a file becomes readable, so that answers without the file expire."""
    return (kb.source.version, *kb.readable())


def _stores(kb: KernelBot) -> tuple[str, ...]:
    """The same for answers from content stores, which become ready one by one."""
    return (*_version(kb), "stores", *kb.content_at_hand())


def _verdicts(kb: KernelBot) -> tuple[str, ...]:
    """The same for verdicts, which become more with time."""
    return (*_stores(kb), str(kb.verdicts_known()))


def memoised(
    method: Callable[Concatenate[KernelBot, P], T], holds_for: Callable[[KernelBot], tuple[str, ...]] = _version
) -> Callable[P, T]:
    """The memoised question of a method, for this session's dataset version; shared by all readers."""

    def ask(*args: P.args, **kwargs: P.kwargs) -> T:
        kb = engine()
        said = said_in(method, *args, **kwargs)
        while True:
            version = holds_for(kb)
            key = key_of(version, method.__name__, *said)
            waiting = nullcontext() if key in shared else st.spinner("Reading the dataset")
            asked = partial(method, kb, *args, **kwargs)
            try:
                with suppress(_MovedOnError), waiting:
                    return cast(T, shared.get(key, partial(_answer, kb, version, holds_for, asked)))
            except _IncompleteError as incomplete:
                return cast(T, incomplete.answer)

    return ask


def said_in(method: Callable[..., object], *args: object, **kwargs: object) -> tuple[Hashable, ...]:
    """The arguments of a question without defaults, so that equal questions have one cache key."""
    question: Question | None = getattr(method, "question", None)
    if question is None:
        return (*args, *sorted((name, _hashable(value)) for name, value in kwargs.items()))
    given = dict(zip((parameter.name for parameter in question.asks), args, strict=False)) | kwargs
    return tuple(
        (parameter.name, value)
        for parameter in question.parameters
        if parameter.name in given and (value := _hashable(given[parameter.name])) != parameter.default
    )


def _hashable(value: Any) -> Hashable:
    return tuple(value) if isinstance(value, list) else value


def _answer(
    kb: KernelBot, version: tuple[str, ...], holds_for: Callable[[KernelBot], tuple[str, ...]], ask: Callable[[], T]
) -> T:
    answer = ask()
    if version != holds_for(kb):
        raise _MovedOnError
    if getattr(answer, "attrs", {}).get("unavailable") or getattr(answer, "unavailable", None):
        raise _IncompleteError(answer)
    return answer


def overview(competitions: Iterable[str], order: str | None) -> dict[str, Future[pd.DataFrame]]:
    """The overview of each competition, all asked in parallel; memoised ones are there at once."""
    kb = engine()
    return {slug: _started(kb, slug, order) for slug in competitions}


def _started(kb: KernelBot, slug: str, order: str | None) -> Future[pd.DataFrame]:
    key = key_of(kb.source.version, "overview", slug, order)
    ask = partial(shared.get, key, partial(kb.frame, "overview", competition=slug, order=order))
    if key not in shared:
        return WORKERS.submit(ask)
    known: Future[pd.DataFrame] = Future()
    known.set_result(ask())
    return known


contested = memoised(KernelBot.contested)
weekly = memoised(KernelBot.weekly)
problems = memoised(KernelBot.problems)
flags = memoised(KernelBot.flags)
summary = memoised(KernelBot.summary)
leaderboard = memoised(KernelBot.leaderboard)
trends = memoised(KernelBot.trends)
standing = memoised(KernelBot.standing)
progression = memoised(KernelBot.progression)
records = memoised(KernelBot.records)
personal_bests = memoised(KernelBot.personal_bests)
runner_ratios = memoised(KernelBot.runner_ratios)
paired = memoised(KernelBot.paired)
shapes = memoised(KernelBot.shapes)
submissions = memoised(KernelBot.submissions)
status_over_time = memoised(KernelBot.status_over_time)
user = memoised(KernelBot.user)
user_field = memoised(KernelBot.user_field)
find_users = memoised(KernelBot.find_users)
ladder = memoised(KernelBot.ladder)
submission_rows = memoised(KernelBot.submission_rows)
same_code_elsewhere = memoised(KernelBot.same_code_elsewhere)
user_ids = memoised(KernelBot.user_ids)
sql = memoised(KernelBot.sql)
user_id = memoised(KernelBot.user_id)
_placement_among = memoised(KernelBot.placement_among)


search = memoised(KernelBot.search, _stores)
holding = memoised(KernelBot.holding, _stores)
techniques = memoised(KernelBot.techniques, _stores)
adoption = memoised(KernelBot.adoption, _stores)
facets_of_many = memoised(KernelBot.facets_of_many, _stores)
noise = memoised(KernelBot.board_noise, _stores)
steps = memoised(KernelBot.steps, _stores)
origins = memoised(KernelBot.origins, _stores)
relatives = memoised(KernelBot.relatives, _stores)
verdicts = memoised(KernelBot.verdicts, _verdicts)


if not TYPE_CHECKING:  # with this, a type checker would accept any name

    def __getattr__(name: str) -> Callable[..., Any]:
        """The memoised question of that name."""
        if name not in QUESTIONS:
            raise AttributeError(f"There is no question {name}.")
        return globals().setdefault(name, memoised(getattr(KernelBot, name)))


def placement(of: Submission) -> Placement:
    """Placement of a submission on its board and runner, computed from the leaderboard, which is memoised anyway."""
    return _placement_among(of, leaderboard(of.problem, competition=of.competition, runner=of.runner))
