"""Colours, dashes and markers: fixed per runner, in pin order per user, legible on light and on dark."""

import colorsys
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

ThemeName = Literal["light", "dark"]

MARKS = 3.0  # contrast of a mark against its background (WCAG 2, non-text)
TEXT = 4.5  # contrast of text (WCAG 2, AA)


@dataclass(frozen=True)
class Theme:
    """The page's own colours, which every chart is drawn in."""

    name: ThemeName
    background: str
    surface: str
    text: str
    muted: str
    grid: str
    accent: str
    link: str
    border: str
    flag: str


# Okabe and Ito's colours, which the colour-blind can tell apart.
ORANGE, SKY, GREEN = "#E69F00", "#56B4E9", "#009E73"
BLUE, VERMILION, PURPLE = "#0072B2", "#D55E00", "#CC79A7"

LIGHT = Theme(
    "light", background="#FFFFFF", surface="#F6F7F9", text="#1B1F24", muted="#57606A", grid="#E4E7EB", accent=BLUE,
    link="#0067A0", border="#DDE1E6", flag="#B35900",
)  # fmt: skip
DARK = Theme(
    "dark", background="#0F1318", surface="#171C23", text="#E6E9EE", muted="#9BA5B1", grid="#2A313A", accent=SKY,
    link="#79C4F0", border="#2A313A", flag="#F0A35E",
)  # fmt: skip
CSS_VARIABLES = {
    "found": ORANGE, "on-found": LIGHT.text, "warning": ORANGE, "news": SKY, "own": BLUE, "other": VERMILION,
    "new": GREEN, "chosen": BLUE, "flag-light": LIGHT.flag, "flag-dark": DARK.flag,
}  # fmt: skip
"""The colours that style sheets use, as `var(--kb-…)`; all others are those of the page's theme."""


@dataclass(frozen=True)
class Style:
    """How one series looks: `color` for its marks, `ink` for its name, and a dash and marker for the colour-blind."""

    color: str
    ink: str
    dash: str
    marker: str

    @property
    def filled(self) -> "Style":
        """The same look for a chart that holds no other series: solid, with filled markers."""
        return replace(self, dash="solid", marker=self.marker.removesuffix("-open"))


_GREY = "#7F8790"
_UNKNOWN = (_GREY, "solid", "circle")

# base colour (Okabe-Ito and two of Tol's), dash, marker
_RUNNERS = {
    "A100": (SKY, "dash", "square"),
    "H100": (BLUE, "solid", "circle"),
    "B200": (GREEN, "solid", "diamond"),
    "NVIDIA": (GREEN, "dash", "diamond-open"),
    "B200_Nebius": ("#117733", "dot", "diamond-tall"),
    "L4": (ORANGE, "dashdot", "triangle-up"),
    "MI300": (VERMILION, "solid", "cross"),
    "MI300x8": (PURPLE, "longdash", "x"),
    "MI325": ("#A6761D", "dashdot", "star"),
    "MI325x8": ("#7570B3", "longdashdot", "hexagram"),
    "MI355X": ("#882255", "dash", "triangle-down"),
}

_USERS = (
    (BLUE, "solid", "circle"),
    (VERMILION, "dash", "square"),
    (GREEN, "dot", "diamond"),
    (PURPLE, "dashdot", "triangle-up"),
    (ORANGE, "longdash", "triangle-down"),
    (SKY, "longdashdot", "x"),
)

# Status of a submission: passed is calm, failed stands out, the rest is grey.
_STATUSES = {
    "succeeded": BLUE,
    "failed": VERMILION,
    "timed_out": ORANGE,
    "hacked": PURPLE,
}


# Cell colours are so pale that the theme's text stays legible on every shade.
_SEQUENTIAL = {"light": ("#D6EAF6", "#F6F7F9", "#F0A868"), "dark": ("#0B4A70", "#1D232B", "#8A4509")}


def css_variables() -> str:
    """Our colours for the style sheets of a page; they reach into the shadow trees of its components too."""
    return ":root { " + " ".join(f"--kb-{name}: {color};" for name, color in CSS_VARIABLES.items()) + " }\n"


def theme_of(name: str) -> Theme:
    """The theme of that name; anything but "dark" is light."""
    return DARK if name == "dark" else LIGHT


def runner_style(runner: str | None, theme: Theme) -> Style:
    """The look of a runner, the same in every chart; grey for an unknown one."""
    return _style(*_RUNNERS.get(runner or "", _UNKNOWN), theme)


def user_style(place: int, theme: Theme) -> Style:
    """The look of the user pinned at `place` (0 is the first); grey beyond six."""
    color, dash, marker = _USERS[place % len(_USERS)]
    return _style(color if place < len(_USERS) else _GREY, dash, marker, theme)


def status_color(status: str, theme: Theme) -> str:
    """The colour of a submission status; grey for all that are neither good nor bad."""
    return legible(_STATUSES.get(status, _GREY), theme, MARKS)


def warning_ink(theme: Theme) -> str:
    """An orange for changes for the worse, legible as text."""
    return legible(VERMILION, theme, TEXT)


def quiet_color(theme: Theme) -> str:
    """A grey for the background of the series, still visible."""
    return legible(_GREY, theme, MARKS)


def sequential_scale(theme: Theme) -> list[list[float | str]]:
    """Blue for the best, then from pale to orange."""
    best, near, far = _SEQUENTIAL[theme.name]
    return [[0.0, best], [0.08, near], [1.0, far]]


def contrast(one: str, other: str) -> float:
    """The WCAG contrast of two colours, 1 (the same) to 21 (black on white)."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@lru_cache(maxsize=256)
def legible(color: str, theme: Theme, ratio: float) -> str:
    """`color`, darkened (on light) or lightened (on dark) in its own hue until the contrast reaches `ratio`."""
    hue, lightness, saturation = colorsys.rgb_to_hls(*_channels(color))
    step = -0.01 if theme.name == "light" else 0.01
    while not _stands_out(color, theme, ratio) and 0 <= lightness + step <= 1:
        lightness += step
        color = _hex(colorsys.hls_to_rgb(hue, lightness, saturation))
    return color


def faded(color: str, opacity: float) -> str:
    """`color` as a translucent rgba() value."""
    red, green, blue = (round(channel * 255) for channel in _channels(color))
    return f"rgba({red},{green},{blue},{opacity:g})"


def _style(base: str, dash: str, marker: str, theme: Theme) -> Style:
    return Style(legible(base, theme, MARKS), legible(base, theme, TEXT), dash, marker)


def _stands_out(color: str, theme: Theme, ratio: float) -> bool:
    return min(contrast(color, theme.background), contrast(color, theme.surface)) >= ratio


def _luminance(color: str) -> float:
    red, green, blue = (
        channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4 for channel in _channels(color)
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _channels(color: str) -> tuple[float, float, float]:
    return int(color[1:3], 16) / 255, int(color[3:5], 16) / 255, int(color[5:7], 16) / 255


def _hex(channels: tuple[float, float, float]) -> str:
    return "#" + "".join(f"{round(channel * 255):02X}" for channel in channels)
