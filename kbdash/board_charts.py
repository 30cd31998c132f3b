"""The charts of a board, for notebooks: asks what a chart shows, and hands the frames to kbdash.charts."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

from kbdash.database.queries import Questions
from kbdash.database.questions.parameters import Scope
from kbdash.dataset.model import Board
from kbdash.errors import QueryRefused
from kbdash.units import Unit, unit_for

if TYPE_CHECKING:
    from plotly.graph_objects import Figure


class BoardCharts(Questions):
    """The questions, and the charts of their answers."""

    def chart(
        self, name: str, problem: str, *, users: Sequence[str] = (), theme: str = "light", span: str = "field",
        **scope: Unpack[Scope],
    ) -> "Figure":  # fmt: skip
        """The figure that the page of a board shows: progression, distribution, ranks, hardware, submissions, ladder.

        `users` are drawn in colour; `theme` is light or dark; `span` is how far the axes reach: field, final or all.

        Example: kb.chart("progression", "nvfp4_gemm", users=["gau.nernst"])
        """
        from kbdash.charts.named import CHARTS, Shown  # noqa: PLC0415  (a slow import that only charts need)

        if name not in CHARTS:
            raise QueryRefused(f"There is no chart {name}.", advice=f"There are {', '.join(CHARTS)}.")
        competition, exact = self.find(problem, scope.get("competition"))
        board = self.board(exact, competition)
        runner = scope.get("runner") or self._first_runner(board, competition)
        ids = self.user_ids(list(users), competition) if users else ()
        asked = self._asked_for(name, board, ids, {**scope, "competition": competition, "runner": runner})
        return CHARTS[name](Shown(board, ids, scope.get("until"), theme, span), **asked)

    def _asked_for(self, name: str, board: Board, users: tuple[str, ...], scope: dict[str, Any]) -> dict[str, Any]:
        """What the chart of that name is drawn from: frames, and the unit of the board where it needs one."""
        everywhere = {**scope, "runner": None}
        unit: Callable[[], Unit] = partial(self._ask_unit, board, scope["competition"], scope["runner"])
        match name:
            case "progression":
                bests = self.personal_bests(board.name, **scope)
                there = [user for user in users if user in set(bests["user_id"])]
                attempts = self.progression(board.name, users=there, **scope) if len(there) == 1 else None
                return {"bests": bests, "attempts": attempts, "unit": unit()}
            case "distribution":
                return {"ranked": self.leaderboard(board.name, **scope), "unit": unit()}
            case "ranks":
                return {"bests": self.personal_bests(board.name, **scope)}
            case "hardware":
                return {"ranked": self.leaderboard(board.name, **everywhere), "unit": unit()}
            case "submissions":
                return {"counts": self.status_over_time(board.name, **everywhere)}
            case "ladder":
                if len(users) != 1:
                    raise QueryRefused("A ladder is that of one user.", advice='Name them: users=["gau.nernst"].')
                steps = self.ladder(board.name, users[0], **scope)
                return {"steps": steps, "records": self.records(board.name, **scope)}
        raise NotImplementedError(f"What the chart {name} is drawn from.")

    def _ask_unit(self, board: Board, competition: str, runner: str | None) -> Unit:
        """The unit of a board on a runner."""
        rows = self.problems(competition)
        here = (rows["problem"] == board.name) & (rows["runner"] == runner)
        return unit_for(rows.loc[here, "best"].min())

    def _first_runner(self, board: Board, competition: str) -> str | None:
        """The runner that the page of a board opens with: the catalog's first, else the one with most users."""
        rows = self.problems(competition)
        found = rows[(rows["problem"] == board.name) & rows["runner"].notna()].sort_values("users", ascending=False)
        there = found["runner"].astype(str).tolist()
        return next((runner for runner in board.runners if runner in there), next(iter(there), None))
