"""Colours: legible on both backgrounds, fixed per runner, and never the only sign."""

import colorsys
import re
import tomllib
from itertools import combinations
from pathlib import Path

import pytest

from kbdash.charts.palette import (
    CSS_VARIABLES,
    DARK,
    LIGHT,
    Theme,
    contrast,
    css_variables,
    faded,
    legible,
    quiet_color,
    runner_style,
    sequential_scale,
    status_color,
    theme_of,
    user_style,
)
from kbdash.dataset.catalog import RUNNERS

THEMES = pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
KNOWN = list(RUNNERS)
PROJECT = Path(__file__).parents[2]


def worst_contrast(color: str, theme: Theme) -> float:
    return min(contrast(color, theme.background), contrast(color, theme.surface))


def hue(color: str) -> float:
    return colorsys.rgb_to_hls(*(int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)))[0]


def test_contrast_is_that_of_wcag():
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert contrast("#777777", "#FFFFFF") == pytest.approx(4.48, abs=0.005)
    assert contrast("#123456", "#123456") == 1
    assert contrast("#0A0A0A", "#000000") == pytest.approx(1 + 10 / 255 / 12.92 / 0.05)


@THEMES
def test_text_stands_out(theme):
    for color in (theme.text, theme.muted, theme.accent):
        assert worst_contrast(color, theme) >= 4.5


@THEMES
def test_every_series_stands_out_as_mark_and_as_text(theme):
    styles = [runner_style(runner, theme) for runner in [*RUNNERS, None, "never seen"]]
    styles += [user_style(place, theme) for place in range(10)]
    for style in styles:
        assert worst_contrast(style.color, theme) >= 3
        assert worst_contrast(style.ink, theme) >= 4.5
    for color in (
        quiet_color(theme),
        *(status_color(name, theme) for name in ("succeeded", "failed", "timed_out", "odd")),
    ):
        assert worst_contrast(color, theme) >= 3


@THEMES
def test_cells_of_heat_maps_carry_legible_text(theme):
    for scale in (sequential_scale(theme),):
        assert [stop[0] for stop in (scale[0], scale[-1])] == [0, 1]
        assert all(contrast(str(color), theme.text) >= 4.5 for _, color in scale)


@THEMES
def test_no_two_series_differ_in_colour_only(theme):
    runners = [runner_style(runner, theme) for runner in KNOWN]
    users = [user_style(place, theme) for place in range(6)]
    for styles in (runners, users):
        for one, other in combinations(styles, 2):
            assert (one.dash, one.marker) != (other.dash, other.marker)
            assert one.marker != other.marker


def test_a_runner_keeps_its_hue_in_both_themes():
    for runner in KNOWN:
        light, dark = hue(runner_style(runner, LIGHT).color), hue(runner_style(runner, DARK).color)
        assert light == pytest.approx(dark, abs=0.02)


@THEMES
def test_every_runner_of_the_catalog_has_a_colour_of_its_own(theme):
    for runner in RUNNERS:
        assert runner_style(runner, theme).color != runner_style("never seen", theme).color


def test_the_fixed_looks():
    assert runner_style("H100", LIGHT).color == "#0072B2"
    assert runner_style("B200", LIGHT).color == runner_style("NVIDIA", LIGHT).color == "#009E73"
    assert (runner_style("NVIDIA", LIGHT).dash, runner_style("NVIDIA", LIGHT).marker) == ("dash", "diamond-open")
    assert runner_style("B200_Nebius", LIGHT).dash == "dot"
    assert runner_style(None, DARK) == runner_style("never seen", DARK)


def test_users_beyond_six_are_grey():
    grey = {user_style(place, LIGHT).color for place in range(6, 12)}
    assert grey == {quiet_color(LIGHT)}
    assert len({user_style(place, LIGHT).color for place in range(6)}) == 6


def test_a_colour_is_only_changed_when_it_must_be():
    assert legible("#0072B2", LIGHT, 3) == "#0072B2"
    assert legible("#FFFFFF", LIGHT, 4.5) != "#FFFFFF"
    assert worst_contrast(legible("#FFFFFF", LIGHT, 4.5), LIGHT) >= 4.5
    assert worst_contrast(legible("#000000", DARK, 4.5), DARK) >= 4.5


def test_faded_colours_keep_their_channels():
    assert faded("#0072B2", 0.3) == "rgba(0,114,178,0.3)"


def test_any_theme_name_gives_a_theme():
    assert [theme_of(name) for name in ("dark", "light", "", "sepia")] == [DARK, LIGHT, LIGHT, LIGHT]


def configured(theme: Theme) -> dict[str, str]:
    """The section [theme.light] or [theme.dark] of .streamlit/config.toml."""
    return {
        "primaryColor": theme.accent,
        "backgroundColor": theme.background,
        "secondaryBackgroundColor": theme.surface,
        "textColor": theme.text,
        "linkColor": theme.link,
        "borderColor": theme.border,
        "codeBackgroundColor": theme.surface,
        "dataframeHeaderBackgroundColor": theme.surface,
        "dataframeBorderColor": theme.grid,
    }


def test_the_theme_of_the_pages_is_that_of_the_charts() -> None:
    themes = tomllib.loads((PROJECT / ".streamlit" / "config.toml").read_text("utf-8"))["theme"]
    for theme in (LIGHT, DARK):
        assert themes[theme.name] == configured(theme)


def test_style_sheets_take_their_colours_from_the_palette() -> None:
    sheets = {path: path.read_text("utf-8") for path in (PROJECT / "kbdash" / "web").rglob("*.css")}
    used = {name for sheet in sheets.values() for name in re.findall(r"var\(--kb-([a-z-]+)", sheet)}
    assert used == set(CSS_VARIABLES)
    # Streamlit's own colours of code, made legible.
    written = [line for sheet in sheets.values() for line in sheet.splitlines() if re.search(r"#[0-9A-Fa-f]{6}", line)]
    assert [line for line in written if "stCode" not in line] == []
    declared = dict(re.findall(r"--kb-([a-z-]+): (#[0-9A-F]{6});", css_variables()))
    assert declared == CSS_VARIABLES
