"""The leaderboard as a table: one row per user and runner, with its links, and the reader's own time among them."""

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from kbdash.charts import sparkline
from kbdash.units import Unit, rank_text
from kbdash.view import MAX_PINS, CompetitionView, LadderView, href
from kbdash.web import answers, table, tables
from kbdash.web.board import Scene
from kbdash.web.cells import Column
from kbdash.web.content import store_panel
from kbdash.web.content.trust_frames import close_ranks
from kbdash.web.memo import memoise
from kbdash.web.tabs import own_row

CLOSE = "~"
NEAR = "Closer to the rank above than the noise of this board: one more measurement could swap the two."
PIN, UNPIN, LADDER = "Pin", "Unpin", "Ladder"


def show(scene: Scene, frame: pd.DataFrame, trends: pd.DataFrame) -> None:
    """The table; `trends` holds each user's best-so-far series."""
    shown = memoise(
        shown_rows, frame, trends, scene.view, scene.board.name, scene.competition.slug, scene.competition.anonymous,
        scene.board.speed_of_light, noise_of(scene),
    )  # fmt: skip
    order = table.Order(
        scene.view.order or "rank",
        lambda asked: href(scene.competition.slug, replace(scene.view, order="" if asked == "rank" else asked)),
    )
    columns = columns_of(scene.unit, frame["score"].min(), several=scene.runner is None)
    table.show(
        shown, columns, key="leaderboard-table", caption=f"Leaderboard of {scene.board.name}", order=order,
        refs="ref", emphasis="look",
    )  # fmt: skip


def shown_rows(
    frame: pd.DataFrame,
    trends: pd.DataFrame,
    view: CompetitionView,
    problem: str,
    slug: str,
    anonymous: bool,
    light: float | None,
    noise: tuple[tuple[str, float], ...] = (),
) -> pd.DataFrame:
    """Table rows of the ranking; `light` is the task's speed of light in seconds, `noise` that of the runners."""
    period = {"since": view.since, "until": view.until, "hide_flagged": view.hide_flagged}
    codes = tables.code_addresses(frame, slug, **period)
    near = [CLOSE if close else "" for close in close_ranks(frame, dict(noise))]
    return pd.DataFrame(
        {
            "rank": ranks(frame),
            "user": names(frame),
            "page": tables.user_addresses(frame["user_id"], anonymous=anonymous),
            "score": frame["score"],
            "flags": frame["flags"],
            "near": near,
            "why": [NEAR if sign else "" for sign in near],
            "ratio": frame["ratio"],
            "word": tables.code_words(codes),
            "code": codes,
            "gap": frame["gap"],
            "light": frame["score"] / light if light else None,
            "tries": frame["submissions"],
            "day": frame["submitted_at"],
            "trend": sparklines(frame, trends),
            "runner": tables.runners(frame["runner"]),
            "more": [actions(user, LadderView(slug, problem, runner), view) for user, runner in
                     zip(frame["user_id"], frame["runner"], strict=True)],
            "ref": tables.refs(frame, slug),
            "look": looks(frame["user_id"], view.users),
        }
    )  # fmt: skip


def names(frame: pd.DataFrame) -> list[str]:
    """Display names of users; the row without a user is the reader's own time."""
    mine = frame["user_id"].isna()
    return [own_row.YOURS if own else name for own, name in zip(mine, tables.names(frame), strict=True)]


def sparklines(frame: pd.DataFrame, trends: pd.DataFrame) -> list[list[float]]:
    """Each user's best so far on their runner, as a line relative to the best of that runner."""
    series = dict(zip(zip(trends["user_id"], trends["runner"], strict=True), trends["trend"], strict=True))
    bests = (frame["score"] / frame["ratio"]).groupby(frame["runner"]).min().to_dict()
    places = zip(frame["user_id"], frame["runner"], strict=True)
    return [sparkline(series.get((user, runner)), bests.get(runner, 0.0)) for user, runner in places]


def looks(users: pd.Series, pinned: Sequence[str]) -> list[str]:
    """How each row is emphasised: "mine" without a user, "pinned", or "" like the others."""
    return ["mine" if pd.isna(user) else "pinned" if user in pinned else "" for user in users]


def noise_of(scene: Scene) -> tuple[tuple[str, float], ...]:
    """Measurement noise of each runner, if a content store is ready."""
    if not store_panel.is_at_hand(scene.competition.slug):
        return ()
    runners = scene.runners if scene.runner is None else (scene.runner,)
    found = ((runner, answers.noise(scene.board.name, runner, scene.competition.slug)["sigma"]) for runner in runners)
    return tuple((runner, sigma) for runner, sigma in found if sigma)


def ranks(frame: pd.DataFrame) -> list[str]:
    """Ranks as texts: "=3" for a shared one."""
    others = frame[frame["user_id"].notna()]
    shared = set(others.index[others.duplicated(["runner", "rank"], keep=False)])
    own = frame["user_id"].isna() & frame.duplicated(["runner", "score"], keep=False)
    shared |= set(frame.index[own])
    return [rank_text(rank, tied=at in shared) for at, rank in frame["rank"].items()]


def actions(user: object, on: LadderView, view: CompetitionView) -> list[tuple[str, str]]:
    """Actions for a user on a board, as texts and addresses."""
    if not isinstance(user, str):
        return []
    ladder = replace(on, user=user, since=view.since, until=view.until)
    turned = replace(view, users=with_pin(user, view.users))
    return [
        (LADDER, href("ladder", ladder)),
        (UNPIN if user in view.users else PIN, href(str(on.competition), turned)),
    ]


def with_pin(user: str, pinned: tuple[str, ...]) -> tuple[str, ...]:
    """The pinned users with this one added, or removed if pinned."""
    kept = tuple(other for other in pinned if other != user)
    return kept if user in pinned else (*kept, user)[:MAX_PINS]


def columns_of(unit: Unit, best: float, *, several: bool) -> tuple[Column, ...]:
    """Columns in reading order; with several runners in one table, the runner comes right after the user."""
    runner = (Column("runner", "Runner", sort="runner" if several else ""),) if several else ()
    return (
        Column("rank", "#", "rank", help="Equal times share a rank.", sort="rank"),
        Column("user", "User", "name", link="page", sort="user_name"),
        *runner,
        tables.time_column(
            "score", "Time", unit, best, mark="flags", sort="score",
            help="Each user's best ranked run that passed.",
        ),
        Column("near", "~", note="why", help=f"~ {NEAR[0].lower()}{NEAR[1:]}"),
        Column("ratio", "× best", "ratio", help="Time divided by the best time. The bar is the speed.", sort="ratio"),
        tables.code_column(),
        tables.time_column("gap", "Gap", unit, best, plus=True, help="Gap to the next-better rank.", sort="gap"),
        Column("light", "× light", "number", places=2, aside=True, help="Time divided by the task's speed of light."),
        Column(
            "tries", "Tries", "whole", help="Submissions of this user on this board.", sort="submissions",
            first="descending",
        ),
        Column("day", "Day of best", "day", "UTC", sort="submitted_at", first="descending", aside=True),
        replace(tables.trend_column("Best so far", "The user's best time over the life of the board"), aside=True),
        Column("more", "More", "links", help="How this user got fast; keep a user in sight"),
    )  # fmt: skip
