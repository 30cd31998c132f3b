"""Pure functions from a query's frame to a Plotly figure: explicit colours, ids in `customdata`, one hover sentence.

The first item of a point's `customdata` is what a click opens, as a link names it ("32750@H100"); in charts of several
competitions, the second is the competition. Show figures with Streamlit's own theme off: they have their own theme.
"""

from kbdash.charts.adoption import adoption
from kbdash.charts.canvas import POINT_LIMIT, Sent, config, message
from kbdash.charts.contested import contested
from kbdash.charts.drift import drift
from kbdash.charts.field import field
from kbdash.charts.forest import forest
from kbdash.charts.hardware import runner_strips
from kbdash.charts.ladder import ladder
from kbdash.charts.lanes import lanes
from kbdash.charts.paired import MOST_ROWS, dumbbell, rank_correlation
from kbdash.charts.passed import passed_by
from kbdash.charts.person import person_strips
from kbdash.charts.progression import progression
from kbdash.charts.ranks import bump
from kbdash.charts.shapes import shapes
from kbdash.charts.sparkline import sparkline
from kbdash.charts.spread import spread
from kbdash.charts.status import status
from kbdash.charts.technique_field import MOST_RANKS as FIELD_RANKS
from kbdash.charts.technique_field import technique_field
from kbdash.charts.timeline import timeline
from kbdash.charts.with_without import compared, with_without

__all__ = [
    "FIELD_RANKS",
    "MOST_ROWS",
    "POINT_LIMIT",
    "Sent",
    "adoption",
    "bump",
    "compared",
    "config",
    "contested",
    "drift",
    "dumbbell",
    "field",
    "forest",
    "ladder",
    "lanes",
    "message",
    "passed_by",
    "person_strips",
    "progression",
    "rank_correlation",
    "runner_strips",
    "shapes",
    "sparkline",
    "spread",
    "status",
    "technique_field",
    "timeline",
    "with_without",
]
