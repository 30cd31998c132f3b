"""Rank over time."""

from collections.abc import Mapping, Sequence
from datetime import datetime

import pandas as pd
import plotly.graph_objects as go

from kbdash.charts.canvas import message
from kbdash.charts.marks import Mark
from kbdash.units import Unit

__all__ = ["Mapping", "Mark", "Sequence", "Unit", "datetime"]


def bump(history: pd.DataFrame, theme: str = "light", users_order: Sequence[str] = ()) -> go.Figure:
    """Rank over time, the best on top, ten users at most, names at both ends."""
    return message("Not drawn yet.", theme)
