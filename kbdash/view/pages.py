"""The views: one frozen state per page, and what each of its parameters may be."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Annotated, ClassVar, Self

from kbdash.database.questions.parameters import BOARD_ORDER, RANK_ORDER, RECORD_ORDER, SORTS, USER_ORDER
from kbdash.dataset.model import LARGEST_ID
from kbdash.view.link import Param, View, params_of
from kbdash.view.values import (
    Ref,
    choice,
    column_order,
    day,
    facet,
    facet_words,
    gained_facet,
    line_range,
    read_ref,
    read_time,
    statement,
    switch,
    text_up_to,
    whole,
    write_lines,
    write_time,
)

# The tab "hardware" is last because some boards do not have it: the others then keep their positions. When the list of
# tabs changes, Streamlit opens the tab at the old position, and reports that one as chosen.
TABS = ("leaderboard", "distribution", "progression", "techniques", "submissions", "hardware")
SPANS = ("field", "final", "all")  # how far the time axes of charts reach
RANKS = ("bump", "lanes")
SHOWS = ("boards", "contested", "timeline")
ORDERS = tuple(  # columns that tables of whole answers can be sorted by: all that a question can be ordered by
    dict.fromkeys(
        order.removeprefix("-")
        for parameter in (RANK_ORDER, BOARD_ORDER, USER_ORDER, RECORD_ORDER)
        for order in parameter.choices
    )
)
PANELS = ("", "origins", "relatives", "rules")  # what the viewer shows next to a source text
MAX_PINS = 12
MAX_FACETS = 12
MAX_TOP = 1000


@dataclass(frozen=True)
class OverviewView(View):
    """The front page: every board as a table, or all of them in one picture."""

    show: Annotated[str, Param("show", choice(*SHOWS))] = SHOWS[0]
    span: Annotated[str, Param("span", choice("field", "all"))] = "field"
    order: Annotated[str, Param("order", column_order(*ORDERS))] = ""


@dataclass(frozen=True)
class CompetitionView(View):
    """One board as the reader asked for it. Days are UTC and inclusive, `my_time` is seconds."""

    # Fields without effect on the list of submissions; a change of any other goes back to its first page.
    KEEP_PAGE: ClassVar[tuple[str, ...]] = ("page", "top", "order", "my_time", "span", "ranks", "skip_shapes")

    problem: Annotated[str | None, Param("problem", text_up_to(100))] = None
    runner: Annotated[str | None, Param("runner", text_up_to(60))] = None
    users: Annotated[tuple[str, ...], Param("user", text_up_to(60), most=MAX_PINS, said="pinned: {}".format)] = ()
    since: Annotated[date | None, Param("from", day, date.isoformat, said="from {}".format)] = None
    until: Annotated[date | None, Param("to", day, date.isoformat, said="as of {}".format)] = None
    failures: Annotated[bool, Param("passed", switch("all"), lambda _: "all", said=lambda _: "with failures")] = False
    hide_flagged: Annotated[
        bool, Param("flags", switch("hide"), lambda _: "hide", said=lambda _: "without flagged rows")
    ] = False
    facets: Annotated[tuple[str, ...], Param("facet", facet, most=MAX_FACETS, said=facet_words)] = ()
    tab: Annotated[str, Param("tab", choice(*TABS))] = TABS[0]
    top: Annotated[int, Param("top", whole(5, MAX_TOP), said="first {} ranks".format)] = 100
    find: Annotated[str, Param("find", text_up_to(100), said="find: {}".format)] = ""
    sort: Annotated[str, Param("sort", column_order(*SORTS))] = "-submitted_at"
    page: Annotated[int, Param("p", whole(1, 1_000_000))] = 1
    order: Annotated[str, Param("order", column_order(*ORDERS))] = ""
    my_time: Annotated[
        float | None,
        Param("mine", read_time, write_time, said=lambda s: f"my time: {write_time(s)}", many_spellings=True),
    ] = None
    span: Annotated[str, Param("span", choice(*SPANS))] = SPANS[0]
    ranks: Annotated[str, Param("ranks", choice(*RANKS))] = RANKS[0]
    skip_shapes: Annotated[tuple[int, ...], Param("skip", whole(0, 999), most=100, said="without shape {}".format)] = ()

    @property
    def scope(self) -> tuple[object, ...]:
        """The fields that the whole page depends on; the rest belong to single tabs."""
        shared = (getattr(self, name) for name, _, param in params_of(type(self)) if param.said)
        return self.problem, self.runner, self.tab, *shared

    def after(self, before: Self) -> Self:
        """This view after a change from `before`: another problem or filter resets the lists."""
        if self.problem != before.problem:
            return replace(self, runner=None, page=1, find="", order="", skip_shapes=(), my_time=None, span=SPANS[0])
        if self.tab != before.tab:
            return replace(self, find="", page=1, order="", span=SPANS[0] if self.span == before.span else self.span)
        same_list = replace(self, **{name: getattr(before, name) for name in self.KEEP_PAGE}) == before
        return self if same_list else replace(self, page=1)


@dataclass(frozen=True)
class SubmissionView(View):
    """One submission; `walk` and the filters define the list that previous and next go through."""

    id: Annotated[int | None, Param("id", whole(0, LARGEST_ID))] = None
    runner: Annotated[str | None, Param("runner", text_up_to(60))] = None
    competition: Annotated[str | None, Param("competition", text_up_to(100))] = None
    line: Annotated[tuple[int, int] | None, Param("line", line_range, write_lines)] = None
    find: Annotated[str, Param("find", text_up_to(200))] = ""
    show: Annotated[str, Param("show", choice(*PANELS))] = PANELS[0]
    walk: Annotated[str, Param("list", choice("board", "user", "bests"))] = "board"
    since: Annotated[date | None, Param("from", day, date.isoformat)] = None
    until: Annotated[date | None, Param("to", day, date.isoformat)] = None
    hide_flagged: Annotated[bool, Param("flags", switch("hide"), lambda _: "hide")] = False


@dataclass(frozen=True)
class CompareView(View):
    """Two submissions side by side."""

    a: Annotated[Ref | None, Param("a", read_ref)] = None
    b: Annotated[Ref | None, Param("b", read_ref)] = None
    mode: Annotated[str, Param("mode", choice("unified", "split"))] = "unified"


@dataclass(frozen=True)
class LadderView(View):
    """The personal bests of one user on one board and runner; days are UTC and inclusive."""

    competition: Annotated[str | None, Param("competition", text_up_to(100))] = None
    problem: Annotated[str | None, Param("problem", text_up_to(100))] = None
    runner: Annotated[str | None, Param("runner", text_up_to(60))] = None
    user: Annotated[str | None, Param("user", text_up_to(60))] = None
    since: Annotated[date | None, Param("from", day, date.isoformat)] = None
    until: Annotated[date | None, Param("to", day, date.isoformat)] = None
    top: Annotated[int, Param("top", whole(5, 500))] = 15
    span: Annotated[str, Param("span", choice("field", "all"))] = "field"


@dataclass(frozen=True)
class UserView(View):
    """One person, or all whose name contains a text."""

    user: Annotated[str | None, Param("user", text_up_to(60))] = None
    find: Annotated[str, Param("find", text_up_to(100))] = ""
    span: Annotated[str, Param("span", choice("field", "all"))] = "field"
    order: Annotated[str, Param("order", column_order(*ORDERS))] = ""


@dataclass(frozen=True)
class SearchView(View):
    """A search through all source texts; `opened` is the result whose submissions are listed, from 1."""

    q: Annotated[str, Param("q", text_up_to(500))] = ""
    regex: Annotated[bool, Param("mode", switch("regex"), lambda _: "regex")] = False
    any_case: Annotated[bool, Param("case", switch("any"), lambda _: "any")] = False
    competition: Annotated[str | None, Param("competition", text_up_to(100), said="competition: {}".format)] = None
    problem: Annotated[str | None, Param("problem", text_up_to(100), said="problem: {}".format)] = None
    runner: Annotated[str | None, Param("runner", text_up_to(60), said="runner: {}".format)] = None
    user: Annotated[str | None, Param("user", text_up_to(60), said="user: {}".format)] = None
    passed: Annotated[bool, Param("passed", switch("yes"), lambda _: "yes", said=lambda _: "passed only")] = False
    facets: Annotated[tuple[str, ...], Param("facet", facet, most=MAX_FACETS, said=facet_words)] = ()
    since: Annotated[date | None, Param("from", day, date.isoformat, said="from {}".format)] = None
    until: Annotated[date | None, Param("to", day, date.isoformat, said="to {}".format)] = None
    top: Annotated[int, Param("top", whole(10, MAX_TOP))] = 50
    opened: Annotated[int | None, Param("open", whole(1, MAX_TOP))] = None

    def after(self, before: Self) -> Self:
        """Another search resets the results; a board belongs to its competition, a runner to its board."""
        changed = replace(before, opened=self.opened) != self
        board = self.competition == before.competition
        return replace(
            self,
            problem=self.problem if board else None,
            runner=self.runner if board and self.problem == before.problem else None,
            opened=None if changed else self.opened,
        )


@dataclass(frozen=True)
class TrustView(View):
    """Reasons to doubt results: on all boards, or on one."""

    competition: Annotated[str | None, Param("competition", text_up_to(100), said="competition: {}".format)] = None
    problem: Annotated[str | None, Param("problem", text_up_to(100), said="problem: {}".format)] = None
    runner: Annotated[str | None, Param("runner", text_up_to(60), said="runner: {}".format)] = None
    top: Annotated[int, Param("top", whole(5, MAX_TOP))] = 20


@dataclass(frozen=True)
class StepsView(View):
    """The largest improvements; `gained` is a technique that the step added, `percent` the smallest gain listed."""

    competition: Annotated[str | None, Param("competition", text_up_to(100), said="competition: {}".format)] = None
    problem: Annotated[str | None, Param("problem", text_up_to(100), said="problem: {}".format)] = None
    runner: Annotated[str | None, Param("runner", text_up_to(60), said="runner: {}".format)] = None
    user: Annotated[str | None, Param("user", text_up_to(60), said="user: {}".format)] = None
    gained: Annotated[str | None, Param("facet", gained_facet, said="brought {}".format)] = None
    percent: Annotated[int, Param("gain", whole(1, 99))] = 10
    top: Annotated[int, Param("top", whole(10, MAX_TOP))] = 50

    def after(self, before: Self) -> Self:
        """A board belongs to its competition, a runner to its board."""
        board = self.competition == before.competition
        runner = self.runner if board and self.problem == before.problem else None
        return replace(self, problem=self.problem if board else None, runner=runner)


@dataclass(frozen=True)
class SqlView(View):
    """A statement of the reader, and which of its columns are drawn."""

    text: Annotated[str, Param("q", statement)] = ""
    x: Annotated[str, Param("x", text_up_to(100))] = ""
    y: Annotated[str, Param("y", text_up_to(100))] = ""
    colour: Annotated[str, Param("colour", text_up_to(100))] = ""

    def after(self, before: Self) -> Self:
        """Another statement has other columns."""
        return replace(self, x="", y="", colour="") if self.text != before.text else self


@dataclass(frozen=True)
class AboutView(View):
    """The About page has no state."""


PAGES: Mapping[str, type[View]] = {
    "": OverviewView, "search": SearchView, "steps": StepsView, "trust": TrustView, "user": UserView, "sql": SqlView,
    "about": AboutView, "submission": SubmissionView, "compare": CompareView, "ladder": LadderView,
}  # fmt: skip
"""The view of each page by its path; every other path is that of a competition."""


def view_at(path: str) -> type[View]:
    """The view that the page at a path reads from its parameters."""
    return PAGES.get(path, CompetitionView)
