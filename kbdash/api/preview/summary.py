"""The title, the sentence and the lines of a page, from the questions that the page asks."""

import unicodedata
from dataclasses import dataclass

import pandas as pd

from kbdash.dataset.catalog import runner_name
from kbdash.dataset.model import Submission
from kbdash.engine import KernelBot
from kbdash.units import count_text, day_text, gain_text, minute_text, person, plural, rank_text, time_text, unit_for
from kbdash.view import (
    CompareView,
    CompetitionView,
    LadderView,
    OverviewView,
    Params,
    Ref,
    SubmissionView,
    UserView,
    View,
    view_at,
)
from kbdash.view.values import facet_words

MOST_LINES = 8
_LONGEST_NAME = 40
_LONGEST_TITLE = 160
_INVISIBLE = ("Cc", "Cf", "Cs", "Cn", "Co")


@dataclass(frozen=True)
class Line:
    """A line of the picture: who or what, how much, and how long its bar is (0 to 1; None: no bar)."""

    name: str
    value: str
    share: float | None = None


@dataclass(frozen=True)
class Preview:
    """The preview of an address; user names in it are cleaned of invisible characters."""

    title: str
    sentence: str
    lines: tuple[Line, ...] = ()


TITLE = "GPU kernel competitions"
SENTENCE = "Who is fastest, on which hardware, by how much, how they got there, and the code that did it."
PLAIN = {
    "about": "About the data",
    "sql": "SQL over all submissions",
    "search": "Search all source texts",
    "steps": "The largest improvements",
    "trust": "Which results can be trusted",
}
"""Titles of the pages whose preview says the same for all parameters."""


def fallback(path: str) -> Preview:
    """The preview of an address without any data."""
    return Preview(PLAIN.get(path, TITLE), SENTENCE)


def summarised(path: str, params: Params) -> View:
    """The view at an address as far as its preview depends on it: a plain page has one preview for all parameters."""
    return View() if path in PLAIN else view_at(path).parse(params)[0]


def preview_of(kb: KernelBot, path: str, view: View) -> Preview:
    """The preview of a page; KbdashError if its data cannot be read."""
    match view:
        case OverviewView():
            found = _overview(kb)
        case SubmissionView(id=int()):
            found = _submission(kb, kb.submission(view.id or 0, view.runner, view.competition))
        case CompareView(a=Ref(), b=Ref()):
            found = _compare(kb, view)
        case UserView(user=str()):
            found = _user(kb, view.user or "")
        case LadderView(problem=str(), user=str()):
            found = _ladder(kb, view)
        case CompetitionView() if path in kb.readable():
            found = _board(kb, path, view)
        case _:
            found = fallback(path)
    sample = " Synthetic sample, not real results." if kb.source.kind == "sample" else ""
    return Preview(found.title[:_LONGEST_TITLE], found.sentence + sample, found.lines)


def clean(text: str) -> str:
    """User text without characters that are invisible or change the reading direction, cut to a short length."""
    kept = "".join(sign for sign in text if unicodedata.category(sign) not in _INVISIBLE).strip()
    return kept if len(kept) <= _LONGEST_NAME else f"{kept[: _LONGEST_NAME - 1]}…"


def _overview(kb: KernelBot) -> Preview:
    boards = kb.overview()
    said = f"{plural(len(boards), 'board')}, {count_text(boards['rows'].sum())} submissions. {SENTENCE}"
    rows = boards.sort_values("rows", ascending=False).head(MOST_LINES).to_dict("records")
    most = max((row["rows"] for row in rows), default=1)
    lines = (Line(clean(str(row["problem"])), count_text(row["rows"]), row["rows"] / most) for row in rows)
    return Preview(TITLE, said, tuple(lines))


def _board(kb: KernelBot, slug: str, view: CompetitionView) -> Preview:
    names = kb.problem_names(slug)
    problem = kb.find(view.problem, slug)[1] if view.problem else next(iter(names), "")
    runner = _runner(kb, slug, problem, view.runner)
    board = kb.leaderboard(
        problem, competition=slug, runner=runner, since=view.since, until=view.until, flagged=not view.hide_flagged,
        facets=view.facets,
    )  # fmt: skip
    where = f"{clean(problem)} on {clean(runner_name(runner))}" if runner else clean(problem)
    if view.facets:
        where += " " + ", ".join(map(facet_words, view.facets))
    if board.empty:
        return Preview(where, "No ranked submission.")
    best = float(board["score"].iloc[0])
    unit = unit_for(best)
    rows = [
        Line(f"{rank_text(row['rank'])}. {clean(person(row['user_name'], row['user_id']))}",
             time_text(row["score"], unit), min(1.0, best / row["score"]))
        for row in board.head(MOST_LINES).to_dict("records")
    ]  # fmt: skip
    first = ", ".join(f"{row.name} {row.value}" for row in rows[:3])
    then = f" As of {day_text(view.until)}." if view.until else ""
    median = time_text(float(board["score"].median()), unit)
    said = f"{plural(len(board), 'user')} ranked, half of them within {median}.{then}"
    return Preview(f"{where}: {first}", said, tuple(rows))


def _runner(kb: KernelBot, slug: str, problem: str, asked: str | None) -> str | None:
    """The runner that the page shows: the one asked for, the board's own, or the busiest."""
    rows = kb.problems(slug)
    rows = rows[(rows["problem"] == problem) & rows["runner"].notna()].sort_values("users", ascending=False)
    found = rows["runner"].astype(str).tolist()
    own = [runner for runner in kb.board(problem, slug).runners if runner in found]
    return asked if asked in found else next(iter([*own, *found]), None)


def _submission(kb: KernelBot, one: Submission) -> Preview:
    place = kb.placement(one)
    score = time_text(one.score, unit_for(place.best or one.score))
    who, machine = clean(person(one.user_name, one.user_id)), runner_name(one.runner) if one.runner else "no runner"
    title = f"{who}: {score} on {clean(one.problem)}, {clean(machine)}"
    rank = f"Rank of the user: {rank_text(place.rank)} of {count_text(place.of)}. " if place.rank is not None else ""
    said = f"{rank}Submission {one.submission_id}, {minute_text(one.submitted_at)}, with its source text."
    lines = [Line("Time", score), Line("Best of the board", time_text(place.best, unit_for(place.best or one.score)))]
    return Preview(title, said, tuple(lines))


def _compare(kb: KernelBot, view: CompareView) -> Preview:
    sides = [kb.submission(ref.id, ref.runner, ref.competition) for ref in (view.a, view.b) if ref]
    before, after = sides
    unit = unit_for(min((one.score for one in sides if one.score), default=None))
    same = (before.competition, before.problem, before.runner) == (after.competition, after.problem, after.runner)
    gain = (before.score - after.score) / before.score if same and before.score and after.score else None
    names = [clean(person(one.user_name, one.user_id)) for one in sides]
    times = [time_text(one.score, unit) for one in sides]
    who = names[0] if names[0] == names[1] else f"{names[0]} and {names[1]}"
    ending = f" ({gain_text(gain)})" if gain is not None else ""
    title = f"{who} on {clean(after.problem)}: {times[0]} → {times[1]}{ending}"
    longest = max((one.score or 0.0 for one in sides), default=0.0)
    lines = tuple(
        Line(f"{name}, {one.submission_id}", time, (one.score or 0.0) / longest if longest else None)
        for name, one, time in zip(names, sides, times, strict=True)
    )
    return Preview(title, "Two submissions: what the time did, and what changed in the text.", lines)


def _user(kb: KernelBot, user: str) -> Preview:
    boards = kb.user(user)
    if boards.empty:
        return fallback("user")
    who = clean(person(str(boards["user_name"].iloc[-1]), kb.user_id(user)))
    ranked = boards.dropna(subset="rank").sort_values(["rank", "of"])
    if ranked.empty:
        return Preview(who, "No ranked time yet.")
    rows = ranked.head(MOST_LINES).to_dict("records")
    best = f"{who}: rank {rank_text(rows[0]['rank'])} on {clean(str(rows[0]['problem']))}"
    lines = (
        Line(f"{rank_text(row['rank'])}. {clean(str(row['problem']))}, {clean(runner_name(str(row['runner'])))}",
             time_text(row["score"], unit_for(row["best"])), _part(row["best"], row["score"]))
        for row in rows
    )  # fmt: skip
    firsts = int((ranked["rank"] == 1).sum())
    said = f"{plural(len(ranked), 'board')} with a time, {plural(firsts, 'first place')}."
    return Preview(best, said, tuple(lines))


def _ladder(kb: KernelBot, view: LadderView) -> Preview:
    steps = kb.ladder(view.problem or "", view.user or "", competition=view.competition, runner=view.runner)
    if steps.empty:
        return fallback("ladder")
    unit = unit_for(float(steps["score"].min()))
    who = clean(person(_name(kb, steps, view), view.user))
    first, last = (float(steps["score"].iloc[place]) for place in (0, -1))
    title = f"{who} on {clean(view.problem or '')}: {time_text(first, unit)} → {time_text(last, unit)}"
    rows = steps.tail(MOST_LINES).to_dict("records")
    lines = (Line(day_text(row["submitted_at"]), time_text(row["score"], unit), row["score"] / first) for row in rows)
    return Preview(title, f"{plural(len(steps), 'personal best')}, each with what changed.", tuple(lines))


def _name(kb: KernelBot, steps: pd.DataFrame, view: LadderView) -> str:
    if "user_name" in steps:
        return str(steps["user_name"].iloc[-1])
    competition, problem = kb.find(view.problem or "", view.competition)
    board = kb.leaderboard(problem, competition=competition)
    names = board.loc[board["user_id"] == kb.user_id(view.user or "", competition), "user_name"]
    return str(names.iloc[0]) if len(names) else ""


def _part(best: float, score: float) -> float | None:
    return min(1.0, best / score) if best and score and score > 0 else None
