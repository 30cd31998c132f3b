"""One typed function per question. Scores are seconds, times are UTC, frames are pandas."""

from collections.abc import Iterable, Sequence
from datetime import date
from typing import Literal, Protocol, TypedDict, Unpack

import numpy as np
import pandas as pd

from kbdash.errors import (
    DataUnavailable,
    KbdashError,
    QueryRefused,
    UnknownProblem,
)
from kbdash.model import Page, Standing
from kbdash.views import NOTHING

Day = date | str | None
Sort = Literal["submitted_at", "score", "submission_id", "user_name", "status", "file_name", "runner"]
SORTS: tuple[Sort, ...] = (
    "submitted_at", "score", "submission_id", "user_name", "status", "file_name", "runner",
)  # fmt: skip
LARGEST_PAGE = 500


class Scope(TypedDict, total=False):
    """Which rows a question is about, beside the problem; every key may be left out.

    `runner` None: every runner by itself. `since`, `until`: UTC days, both inclusive. `flagged` False: rank again
    without the rows that carry a flag. `competition`: needed only when two have a problem of the same name.
    """

    runner: str | None
    since: Day
    until: Day
    flagged: bool
    competition: str | None


class Engine(Protocol):
    """What a question needs: bound SQL, and which competition a problem belongs to."""

    def frame(self, question: str, /, **parameters: object) -> pd.DataFrame: ...
    def find(self, problem: str, competition: str | None = None) -> tuple[str, str]: ...
    def readable(self) -> tuple[str, ...]: ...
    def linkable(self) -> tuple[str, ...]: ...
    def set_aside(self, competition: str, error: KbdashError) -> None: ...


def overview(engine: Engine) -> pd.DataFrame:
    """One row per problem of every readable competition."""
    return each(engine, engine.readable(), "overview")


def problems(engine: Engine, competition: str | None = None) -> pd.DataFrame:
    """One row per problem and runner: rows, passed, users, best, first and last time."""
    return each(engine, [slug for slug in engine.readable() if competition in (None, slug)], "problems")


def leaderboard(engine: Engine, problem: str, *, top: int | None = None, **scope: Unpack[Scope]) -> pd.DataFrame:
    """The ranking: one row per user and runner."""
    return engine.frame("leaderboard", **_bound(engine, problem, scope), top=top)


def trends(
    engine: Engine, problem: str, users: Sequence[str], *, points: int = 24, **scope: Unpack[Scope]
) -> pd.DataFrame:
    """Best-so-far series of at most `points` values per user and runner."""
    return engine.frame("trends", **_bound(engine, problem, scope), users=list(users), points=points)


def summary(engine: Engine, problem: str, **scope: Unpack[Scope]) -> pd.DataFrame:
    """One row per runner: rows, passed, users, best, median of the users' bests, first and last time."""
    return engine.frame("summary", **_bound(engine, problem, scope))


def distribution(engine: Engine, problem: str, *, bins: int = 60, **scope: Unpack[Scope]) -> pd.DataFrame:
    """Counts of passing rows and of users' bests in bins of equal width on a log scale."""
    return engine.frame("distribution", **_bound(engine, problem, scope), bins=min(max(bins, 1), 400))


def ecdf(engine: Engine, problem: str, *, points: int = 400, **scope: Unpack[Scope]) -> pd.DataFrame:
    """Share of users at least as fast as a score, per runner."""
    return engine.frame("ecdf", **_bound(engine, problem, scope), points=min(max(points, 2), 1000))


def standing(engine: Engine, problem: str, score: float, **scope: Unpack[Scope]) -> Standing:
    """Where a time of `score` seconds would stand among the users' bests of one runner."""
    answer = engine.frame("standing", **_bound(engine, problem, scope), score=score)
    row: dict[str, int] = answer.to_dict("records")[0]  # type: ignore[assignment]
    share = row["slower"] / row["of"] if row["of"] else 0.0
    return Standing(row["rank"], row["of"], share, row["ties"])


def progression(
    engine: Engine,
    problem: str,
    user: str | None = None,
    *,
    users: Sequence[str] = (),
    limit: int = 4000,
    **scope: Unpack[Scope],
) -> pd.DataFrame:
    """Every attempt in time order with the best so far; `user` is an id or a name, `users` are ids."""
    bound = _bound(engine, problem, scope)
    named = _ids_of(engine, str(bound["competition"]), user) if user is not None else []
    return engine.frame("progression", **bound, users=[*users, *named], limit=min(limit, 5000))


def records(engine: Engine, problem: str, **scope: Unpack[Scope]) -> pd.DataFrame:
    """Every record of the board: holder, time, gain over the last, days held."""
    return engine.frame("records", **_bound(engine, problem, scope))


def rank_history(
    engine: Engine, problem: str, *, top: int = 10, steps: int = 60, **scope: Unpack[Scope]
) -> pd.DataFrame:
    """Rank of the present top users of one runner at equal steps of the board's life."""
    bound = _bound(engine, problem, scope)
    return engine.frame("rank_history", **bound, top=min(top, 20), steps=min(max(steps, 2), 200))


def same_code(engine: Engine, problem: str, **scope: Unpack[Scope]) -> pd.DataFrame:
    """The same code of the same user on two runners, as a ratio of times."""
    return engine.frame("same_code", **_bound(engine, problem, scope))


def runner_ratios(engine: Engine, problem: str, **scope: Unpack[Scope]) -> pd.DataFrame:
    """Median ratio of times between runners, for the same code and for the same users' bests."""
    return engine.frame("runner_ratios", **_bound(engine, problem, scope))


def paired(engine: Engine, problem_a: str, problem_b: str, **scope: Unpack[Scope]) -> pd.DataFrame:
    """Users with a best on both boards of one competition, side by side."""
    first = _bound(engine, problem_a, scope)
    second = _bound(engine, problem_b, scope)
    if first["competition"] != second["competition"]:
        raise UnknownProblem(
            f"{problem_a} and {problem_b} belong to different competitions.", advice="Pair boards of one."
        )
    return engine.frame("paired", **first, problem_a=first["problem"], problem_b=second["problem"])


def submissions(
    engine: Engine,
    problem: str,
    *,
    users: Sequence[str] = (),
    passed: bool | None = None,
    text: str | None = None,
    sort: Sort = "submitted_at",
    descending: bool = True,
    page: int = 1,
    page_size: int = 50,
    **scope: Unpack[Scope],
) -> Page:
    """One page of all submissions; a page past the end gives the last one."""
    size = min(max(page_size, 1), LARGEST_PAGE)
    asked = _bound(engine, problem, scope) | {
        "users": list(users),
        "passed": passed,
        "text": text or None,
        "sort": sort if sort in SORTS else SORTS[0],
        "descending": descending,
        "size": size,
    }
    total: int = engine.frame("submissions_total", **asked)["total"].tolist()[0]
    pages = max(1, -(-total // size))
    wanted = min(max(page, 1), pages)
    rows = engine.frame("submissions", **asked, skip=(wanted - 1) * size)
    return Page(rows, total, wanted, pages)


def status_over_time(engine: Engine, problem: str, **scope: Unpack[Scope]) -> pd.DataFrame:
    """Submissions a day by how they ended, and how many passed."""
    return engine.frame("status_over_time", **_bound(engine, problem, scope))


def user(engine: Engine, user_id: str) -> pd.DataFrame:
    """One person on every board of the competitions whose users can be linked."""
    return each(engine, engine.linkable(), "user", user=user_id)


def find_users(engine: Engine, text: str, limit: int = 20) -> pd.DataFrame:
    """People whose name contains `text`, or whose id it is, with the competitions they took part in."""
    found = each(engine, engine.linkable(), "find_users", text=text.strip(), limit=200)
    people = (
        found.groupby("user_id", sort=False)
        .agg(
            user_name=("user_name", "first"),
            competitions=("competition", list),
            submissions=("submissions", "sum"),
        )
        .reset_index()
    )
    busiest = people.sort_values(["submissions", "user_id"], ascending=[False, True])
    return busiest.head(limit).reset_index(drop=True)


def ladder(engine: Engine, problem: str, user_id: str, **scope: Unpack[Scope]) -> pd.DataFrame:
    """Each new personal best of one user on one runner: gain, time waited and attempts since the last."""
    steps = engine.frame("ladder", **_bound(engine, problem, scope), user=user_id)
    return steps.assign(waited=pd.to_timedelta(steps.pop("waited_us"), unit="us"))


def shapes(
    engine: Engine, problem: str, *, users: Sequence[str] = (), top: int = 30, **scope: Unpack[Scope]
) -> pd.DataFrame:
    """Per-shape timings (ns) of the best runs of `users`, or of the first `top` ranks; empty where none exist."""
    return engine.frame("shapes", **_bound(engine, problem, scope), users=list(users), top=top)


def shape_board(timings: pd.DataFrame, chosen: Iterable[int] | None = None) -> pd.DataFrame:
    """Ranking by the geometric mean over the chosen shapes, from the frame of `shapes`; score in seconds."""
    kept = timings if chosen is None else timings[timings["shape"].isin(list(chosen))]
    keys = ["user_id", "user_name", "runner", "submission_id"]
    logs = kept.assign(log=np.log(kept["mean_ns"] / 1e9)).groupby(keys, sort=False)["log"].mean()
    board: pd.DataFrame = np.exp(logs).rename("score").reset_index()
    board.insert(0, "rank", board.groupby("runner")["score"].rank(method="min").astype("int64"))
    return board.sort_values(["runner", "rank", "user_id"]).reset_index(drop=True)


def _bound(engine: Engine, problem: str, scope: Scope) -> dict[str, object]:
    """The parameters that every question about a problem binds."""
    competition, name = engine.find(problem, scope.get("competition"))
    return {
        "competition": competition,
        "problem": name,
        "runner": scope.get("runner"),
        "since": _day(scope.get("since")),
        "until": _day(scope.get("until")),
        "flagged": scope.get("flagged", True),
    }


def _day(day: Day) -> date | None:
    try:
        return date.fromisoformat(day) if isinstance(day, str) else day
    except ValueError as error:
        raise QueryRefused(f"{day!r} is not a day.", advice="Write it as 2025-12-21.") from error


def _ids_of(engine: Engine, competition: str, user: str) -> list[str]:
    """Ids behind an id or an exact name; several people can share a name."""
    found = engine.frame("find_users", competition=competition, text=user, limit=1000)
    return [str(i) for i in found.loc[(found["user_id"] == user) | (found["user_name"] == user), "user_id"]]


def each(engine: Engine, places: Iterable[str], question: str, **parameters: object) -> pd.DataFrame:
    """The same question asked of several competitions, answers one below the other; what fails is set aside."""
    asked = tuple(places) or (NOTHING,)
    answers = []
    for place in asked:
        try:
            answers.append(engine.frame(question, competition=place, **parameters))
        except DataUnavailable as error:
            if place == asked[-1] and not answers:
                raise
            engine.set_aside(place, error)
    filled = [answer for answer in answers if len(answer)] or answers[:1]
    return pd.concat(filled, ignore_index=True)
