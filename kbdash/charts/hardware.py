"""Runners, boards and shapes against each other."""

from collections.abc import Mapping, Sequence
from datetime import datetime

import pandas as pd
import plotly.graph_objects as go

from kbdash.charts.canvas import message
from kbdash.charts.marks import Mark
from kbdash.units import Unit

__all__ = ["Mapping", "Mark", "Sequence", "Unit", "datetime"]


def ratio_heatmap(ratios: pd.DataFrame, theme: str = "light", kind: str = "same code") -> go.Figure:
    """How many times as long runner b takes as runner a, printed in the cells with the number of pairs."""
    return message("Not drawn yet.", theme)


def paired(frame: pd.DataFrame, unit: Unit, labels: tuple[str, str], theme: str = "light") -> go.Figure:
    """Two boards, one point per user, log-log, with y = x and the rank correlation; customdata holds submission_a, None, submission_b."""
    return message("Not drawn yet.", theme)


def shapes(frame: pd.DataFrame, theme: str = "light", names: Mapping[str, str] | None = None) -> go.Figure:
    """Users by shapes: each mean time as a multiple of the best of that shape; user ids in frame order, `names` gives their names."""
    return message("Not drawn yet.", theme)


def rank_correlation(one: pd.Series, other: pd.Series) -> float | None:
    """Spearman's rank correlation, -1 to 1; None under three pairs or when one side is constant."""
    return None
