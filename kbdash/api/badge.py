"""The rank and time of a user on a board as a small picture."""

import unicodedata
from html import escape
from string import Template
from typing import Any

import pandas as pd

from kbdash.api.answers import check_competition, source_headers
from kbdash.api.names import file_stem
from kbdash.api.options import Values, choice_option, text_option
from kbdash.api.responses import Body
from kbdash.charts.palette import DARK, LIGHT
from kbdash.dataset.catalog import runner_name
from kbdash.engine import KernelBot
from kbdash.errors import UnknownUser
from kbdash.units import person, time_text, unit_for

MEDIA_TYPE = "image/svg+xml"
BADGE_OPTIONS = {
    option.name: option
    for option in (
        text_option("runner", "the machine; none means the one with the user's best rank"),
        choice_option("theme", "colours for a light or a dark page", "light", "dark"),
        text_option("competition", "slug of a competition, where two have the board"),
    )
}
# Text on ground, left and right; each pair has a contrast above 7 to 1.
THEMES: dict[str, dict[str, str]] = {
    theme.name: {
        "name_ink": theme.text, "name": theme.border, "told_ink": theme.background, "told": theme.text,
        "edge": theme.muted,
    }
    for theme in (LIGHT, DARK)
}  # fmt: skip
MOST_CHARACTERS = 48
SVG = Template(
    '<svg xmlns="http://www.w3.org/2000/svg" width="$width" height="20" viewBox="0 0 $width 20" role="img"'
    ' aria-labelledby="t"><title id="t">$title</title>'
    '<clipPath id="c"><rect width="$width" height="20" rx="4"/></clipPath><g clip-path="url(#c)">'
    '<rect width="$left" height="20" fill="$name"/><rect x="$left" width="$right" height="20" fill="$told"/></g>'
    '<rect x=".5" y=".5" width="$inner" height="19" rx="3.5" fill="none" stroke="$edge"/>'
    '<g font-family="Verdana,DejaVu Sans,Geneva,sans-serif" font-size="11" lengthAdjust="spacingAndGlyphs">'
    '<text x="7" y="14" fill="$name_ink" textLength="$left_text">$board</text>'
    '<text x="$at" y="14" fill="$told_ink" textLength="$right_text">$rank</text></g></svg>'
)


def badge(kb: KernelBot, problem: str, user: str, values: Values) -> Body:
    """The picture; UnknownUser for a user without a rank there."""
    check_competition(kb, values.get("competition"))
    competition, name = kb.find(problem, values.get("competition"))  # type: ignore[arg-type]
    board = kb.leaderboard(name, runner=values.get("runner"), competition=competition)  # type: ignore[arg-type]
    mine = board[board["user_id"] == kb.user_id(user, competition)]
    if mine.empty:
        raise UnknownUser(f"{user[:60]} has no rank on {name}.", advice="Only ranked runs that passed have one.")
    row = mine.sort_values(["rank", "score"]).iloc[0]
    content = _drawn(name, row, int((board["runner"] == row["runner"]).sum()), str(values["theme"]), kb)
    headers = source_headers(kb.source) | {"Content-Security-Policy": "default-src 'none'"}
    return Body(content, MEDIA_TYPE, f"{file_stem(kb.source, 'badge', name)}.svg", headers, kb.source.notice is None)


def _drawn(problem: str, row: "pd.Series[Any]", of: int, theme: str, kb: KernelBot) -> bytes:
    score = float(str(row["score"]))
    board = _clean(f"{problem} {runner_name(str(row['runner']))}")
    told = f"#{row['rank']} of {of}, {time_text(score, unit_for(score))}"
    who = _clean(person(row["user_name"], row["user_id"]))
    if kb.source.kind == "sample":
        told = f"{told} (sample)"
    left, right = _width(board), _width(told)
    return SVG.substitute(
        THEMES[theme],
        width=left + right + 28, inner=left + right + 27, left=left + 14, right=right + 14, at=left + 21,
        left_text=left, right_text=right, board=escape(board), rank=escape(told),
        title=escape(f"{who} on {board}: {told}"),
    ).encode()  # fmt: skip


def _clean(text: str) -> str:
    """A name without characters that XML cannot hold or that change the reading direction, cut to fit a badge."""
    kept = "".join(sign for sign in text if unicodedata.category(sign) not in ("Cc", "Cf", "Cs", "Cn", "Co"))
    return kept if len(kept) <= MOST_CHARACTERS else f"{kept[: MOST_CHARACTERS - 1]}…"


def _width(text: str) -> int:
    """Width of the text in pixels, whatever the font."""
    return sum(12 if unicodedata.east_asian_width(sign) in "WF" else 7 for sign in text)
