"""One board over time: attempts, failures, each user's best so far, the field's record."""

from collections.abc import Mapping, Sequence
from datetime import datetime

import pandas as pd
import plotly.graph_objects as go

from kbdash.charts.canvas import message
from kbdash.charts.marks import Mark
from kbdash.units import Unit

__all__ = ["Mapping", "Mark", "Sequence", "Unit", "datetime"]


def progression(
    attempts: pd.DataFrame,
    records: pd.DataFrame,
    unit: Unit,
    theme: str = "light",
    deadline: datetime | None = None,
    users_order: Sequence[str] = (),
) -> go.Figure:
    """Every attempt of the users, best so far as steps held to the end, the field's record behind; user ids in pin order give the colours."""
    return message("Not drawn yet.", theme)
