"""How a person goes through the dashboard: looks around, filters, opens code, goes back. Seeded, so repeatable."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import date, timedelta
from random import Random

from benchmarks.readers import Reader, Run
from benchmarks.screen import TABLE
from kbdash.view import TABS

FIRST_DAY, DAYS = date(2025, 11, 1), 120
FIRST_ROWS = 10
CODE = "submission"

Act = Callable[[], Awaitable[Run]]


@dataclass(frozen=True)
class Deed:
    """Something a person did, and the script run it took."""

    kind: str
    run: Run


class Person:
    """Somebody at one tab. What they can do is what the page offers at the moment."""

    def __init__(self, reader: Reader, random: Random) -> None:
        self._reader = reader
        self._random = random
        self._board = ("", "")

    async def arrive(self, path: str, query: str) -> Deed:
        """Open a link that somebody sent."""
        return Deed("arrive by a link", await self._reader.open(path, query))

    async def act(self) -> Deed:
        """Do one thing."""
        choices = self._choices()
        (kind, act, _), *_ = self._random.choices(choices, [weight for *_, weight in choices])
        return Deed(kind, await act())

    def _choices(self) -> list[tuple[str, Act, float]]:
        """(kind, what to do, how likely) of everything that can be done here."""
        here, widgets = self._reader.path, self._reader.widgets
        choices: list[tuple[str, Act, float]] = [("another page", self._wander, 2)]
        if here == CODE and self._board[0]:
            choices.append(("back to the board", self._back, 8))
        if tabs := next((key for key in widgets if key.startswith(f"{here}-tab")), ""):
            choices.append(("tab", lambda: self._tab(tabs), 6))
        if self._offers("problem"):
            choices.append(("problem", lambda: self._pick("problem"), 4))
        if self._offers("runner"):
            choices.append(("runner", lambda: self._pick("runner"), 1))
        if fields := [field for field in self._filters() if f"{here}-{field}" in widgets]:
            choices.append(("filter", lambda: self._filter(fields), 5))
        if buttons := [key for key, widget in widgets.items() if widget.kind == TABLE]:
            choices.append(("source code", lambda: self._code(buttons), 4))
        return choices

    def _offers(self, field: str) -> bool:
        """Whether the page shows that field as buttons; on some pages it is a list or a box."""
        widget = self._reader.widgets.get(f"{self._reader.path}-{field}")
        return widget is not None and widget.kind == "button_group"

    async def _wander(self) -> Run:
        pages = [path for path in self._reader.pages if path not in (CODE, "compare", "ladder")]
        return await self._reader.open(self._random.choice(pages))

    async def _back(self) -> Run:
        return await self._reader.back(*self._board)

    async def _tab(self, key: str) -> Run:
        return await self._reader.use(key, self._random.choice(TABS).capitalize())

    async def _pick(self, field: str) -> Run:
        key = f"{self._reader.path}-{field}"
        return await self._reader.use(key, [self._random.choice(self._reader.widgets[key].options)])

    async def _code(self, buttons: list[str]) -> Run:
        if self._reader.path != CODE:
            self._board = self._reader.path, self._reader.query
        return await self._reader.click_row(self._random.choice(buttons), self._random.randrange(FIRST_ROWS))

    async def _filter(self, fields: list[str]) -> Run:
        field = self._random.choice(fields)
        key = f"{self._reader.path}-{field}"
        return await self._reader.use(key, self._filters()[field](self._reader.widgets[key].options))

    def _filters(self) -> dict[str, Callable[[tuple[str, ...]], object]]:
        """What a person would enter, by field of the view."""
        random = self._random
        day = FIRST_DAY + timedelta(random.randrange(DAYS))
        return {
            "since": lambda _: [day.isoformat()],
            "until": lambda _: [day.isoformat()],
            "hide_flagged": lambda _: random.random() < 0.5,
            "failures": lambda _: random.random() < 0.5,
            "span": lambda options: [random.choice(options)],
            "my_time": lambda _: f"{random.randrange(1, 200)}",
            "top": lambda _: float(random.choice((10, 50, 100, 200))),
            "users": lambda options: random.sample(options, min(2, len(options))),
            "find": lambda options: random.choice(options) if options else random.choice("aeiou"),
            "sort": random.choice,
            "page": lambda _: random.randrange(1, 4),
            "walk": lambda options: [random.choice(options)],
        }
