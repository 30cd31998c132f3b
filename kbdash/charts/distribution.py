"""How times are spread: histogram, cumulative share, and one ridge per runner."""

from collections.abc import Mapping, Sequence
from datetime import datetime

import pandas as pd
import plotly.graph_objects as go

from kbdash.charts.canvas import message
from kbdash.charts.marks import Mark
from kbdash.units import Unit

__all__ = ["Mapping", "Mark", "Sequence", "Unit", "datetime"]


def distribution(
    bins: pd.DataFrame, unit: Unit, theme: str = "light", marks: Sequence[Mark] = ()
) -> go.Figure:
    """Histogram over log time: all passing rows as a pale area, each user's best as the front, per runner."""
    return message("Not drawn yet.", theme)


def ecdf(points: pd.DataFrame, unit: Unit, theme: str = "light", marks: Sequence[Mark] = ()) -> go.Figure:
    """The share of users whose best is at or below a time, as steps per runner."""
    return message("Not drawn yet.", theme)


def runner_distributions(bins: pd.DataFrame, unit: Unit, theme: str = "light") -> go.Figure:
    """One ridge of users' bests per runner on a shared log time axis, the fastest runner on top."""
    return message("Not drawn yet.", theme)
