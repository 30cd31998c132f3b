"""What became of the submissions, day by day."""

from collections.abc import Mapping, Sequence
from datetime import datetime

import pandas as pd
import plotly.graph_objects as go

from kbdash.charts.canvas import message
from kbdash.charts.marks import Mark
from kbdash.units import Unit

__all__ = ["Mapping", "Mark", "Sequence", "Unit", "datetime"]


def status(frame: pd.DataFrame, theme: str = "light") -> go.Figure:
    """Submissions per UTC day stacked by status, with the pass rate as a line."""
    return message("Not drawn yet.", theme)
