"""Addresses worth visiting: every page, every problem and tab, and source texts from all over the largest file."""

from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlencode

import kbdash
from kbdash.engine import KernelBot
from kbdash.view import (
    PANELS,
    SHOWS,
    SPANS,
    TABS,
    AboutView,
    CompareView,
    CompetitionView,
    LadderView,
    OverviewView,
    Ref,
    SearchView,
    StepsView,
    SubmissionView,
    TrustView,
    UserView,
    View,
)

TEXT_COMPETITION = "nvfp4"
TEXTS = 20


@dataclass(frozen=True)
class Place:
    """An address, under the name it has in a table; places of one name are summed up in one row."""

    name: str
    path: str
    query: str

    @property
    def address(self) -> str:
        """Path and parameters as a browser shows them."""
        return f"/{self.path}?{self.query}" if self.query else f"/{self.path}"


@dataclass(frozen=True)
class Atlas:
    """Where there is to go. `texts` are pages with source texts, spread over the file so that few share a page."""

    pages: tuple[Place, ...]
    texts: tuple[Place, ...]


def atlas(source: str | Path) -> Atlas:
    """The addresses of a dataset, found by asking it."""
    kb = kbdash.connect(source)
    try:
        return Atlas((*_plain(), *_inside(), *_boards(kb), *_people(kb)), _texts(kb))
    finally:
        kb.close()


def _plain() -> tuple[Place, ...]:
    pictures = (_place(f"overview, {show}", "", OverviewView(show=show)) for show in SHOWS[1:])
    return _place("overview", "", OverviewView()), *pictures, _place("about", "about", AboutView())


def _inside() -> tuple[Place, ...]:
    """The pages over content stores; without one they say so."""
    return (
        _place("search, empty", "search", SearchView()),
        _place("search", "search", SearchView(q="tcgen05.mma", competition=TEXT_COMPETITION)),
        _place("search, opened", "search", SearchView(q="tcgen05.mma", competition=TEXT_COMPETITION, opened=1)),
        _place("steps", "steps", StepsView(competition=TEXT_COMPETITION)),
        _place("trust", "trust", TrustView(competition=TEXT_COMPETITION)),
        _place("trust, everything", "trust", TrustView()),
    )


def _boards(kb: KernelBot) -> tuple[Place, ...]:
    return tuple(
        _place(f"{slug}, {tab}", slug, CompetitionView(problem=problem, tab=tab))
        for slug in kb.readable()
        for tab in TABS
        for problem in kb.problem_names(slug)
    )


def _people(kb: KernelBot) -> tuple[Place, ...]:
    """The pages about one person and their code: those of whoever leads a board."""
    problem = kb.problem_names(TEXT_COMPETITION)[0]
    board = kb.leaderboard(problem, competition=TEXT_COMPETITION)
    first, second = (row for _, row in board[board["runner"] == board["runner"].iloc[0]].head(2).iterrows())
    runner, user = str(first["runner"]), str(first["user_id"])
    refs = (Ref(int(row["submission_id"]), runner) for row in (second, first))
    best = SubmissionView(int(first["submission_id"]), runner, TEXT_COMPETITION)
    return (
        *(_place(f"submission, {show}", "submission", replace(best, show=show)) for show in PANELS if show),
        *_charts(problem, runner, user),
        _place("user", "user", UserView(user=user)),
        _place("ladder", "ladder", LadderView(TEXT_COMPETITION, problem, runner, user)),
        _place("compare", "compare", CompareView(*refs)),
    )


def _charts(problem: str, runner: str, user: str) -> tuple[Place, ...]:
    """The charts over time of one board as readers turn them: other spans, the timetable, one user pinned."""
    board = CompetitionView(problem=problem, runner=runner, tab="progression")
    views = {f"span {span}": replace(board, span=span) for span in SPANS[1:]}
    views |= {"timetable": replace(board, ranks="lanes"), "one pinned": replace(board, users=(user,))}
    return tuple(_place(f"progression, {name}", TEXT_COMPETITION, view) for name, view in views.items())


def _texts(kb: KernelBot) -> tuple[Place, ...]:
    rows = kb.sql(
        f"""select submission_id, any_value(runner) as runner from submissions
        where competition = '{TEXT_COMPETITION}' and runner is not null
        group by submission_id order by hash(submission_id) limit {TEXTS}"""
    )
    pairs = zip(rows["submission_id"], rows["runner"], strict=True)
    return tuple(
        _place("submission", "submission", SubmissionView(int(id_), str(runner), TEXT_COMPETITION))
        for id_, runner in pairs
    )


def _place(name: str, path: str, view: View) -> Place:
    return Place(name, path, urlencode(view.query(), doseq=True))
