"""Pure functions from a query's frame to a Plotly figure: explicit colours, ids in `customdata`, one hover sentence.

A clickable point carries `customdata = [submission_id, runner, …]`. Show figures with Streamlit's own theme off:
they are drawn in the theme they are given.
"""

from kbdash.charts.canvas import POINT_LIMIT, config, message
from kbdash.charts.distribution import distribution, ecdf
from kbdash.charts.heat import ratio_heatmap, shapes
from kbdash.charts.marks import Mark
from kbdash.charts.paired import paired, rank_correlation
from kbdash.charts.progression import progression
from kbdash.charts.ranks import bump
from kbdash.charts.ridges import runner_distributions
from kbdash.charts.status import status

__all__ = [
    "POINT_LIMIT",
    "Mark",
    "bump",
    "config",
    "distribution",
    "ecdf",
    "message",
    "paired",
    "progression",
    "rank_correlation",
    "ratio_heatmap",
    "runner_distributions",
    "shapes",
    "status",
]
