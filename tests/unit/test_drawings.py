"""Every chart is drawn as it was when somebody last looked at it: a digest of each trace and each part of the layout.

After a change of their looks, look at the charts that this names, and then: python -m tests.unit.test_drawings
"""

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from kbdash import charts
from kbdash.units import MICROSECONDS as US
from tests.unit import chart_frames as frames
from tests.unit.test_charts import BESTS, CROWDED, FEW, FULL, Draw

KEPT = Path(__file__).with_suffix(".json")
LONG = ("a machine with a name as long as it can be", "H100", "A100")
MORE: dict[str, Draw] = {
    "progression with yours": lambda theme: charts.progression(BESTS, US, theme, mine=float(BESTS["score"].median())),
    "ladder without ranks": lambda theme: charts.ladder(
        frames.ladder().drop(columns="rank", errors="ignore"), frames.records(), US, theme
    ),
    "forest with one long name": lambda theme: charts.forest(frames.ratios(*LONG), LONG, theme),
    "person on one board": lambda theme: charts.person_strips(
        frames.user_field(1).assign(ratios=[list(np.linspace(1, 3, 5_000))]), theme
    ),
    "two runs on one day": lambda theme: charts.status(frames.status_days(1).head(1).assign(rows=2, passed=1), theme),
    "shapes on a phone": lambda theme: charts.shapes(frames.shapes(), US, theme, narrow=True),
}
CHARTS = FULL | MORE | {
    f"{kind}: {name}": draw
    for kind, one in (("few", FEW), ("crowded", {name: CROWDED[name] for name in ("runner strips", "person", "field")}))
    for name, draw in one.items()
}  # fmt: skip


def parts(figure: go.Figure) -> dict[str, str]:
    """A digest of each part; numbers to five digits, because the last ones differ between machines."""
    drawn = figure.to_plotly_json()
    layout = {name: part for name, part in drawn["layout"].items() if name != "template"}
    traces = {f"trace {at}": trace for at, trace in enumerate(drawn["data"])}
    texts = {name: json.dumps(plain(part), sort_keys=True) for name, part in (traces | layout).items()}
    return {name: hashlib.md5(text.encode()).hexdigest()[:8] for name, text in sorted(texts.items())}


def plain(value: Any) -> Any:
    if isinstance(value, dict) and "bdata" in value:  # an array as Plotly sends it
        return plain(np.frombuffer(base64.b64decode(value["bdata"]), value["dtype"]))
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(part) for part in value]
    if isinstance(value, bool | np.bool_ | int | np.integer):
        return str(value)
    return f"{value:.5g}" if isinstance(value, float) else str(value)


@pytest.mark.parametrize("name", CHARTS)
def test_a_drawing_is_the_one_that_was_looked_at(name: str) -> None:
    told, kept = parts(CHARTS[name]("light")), json.loads(KEPT.read_text())[name]
    assert {part for part in told | kept if told.get(part) != kept.get(part)} == set(), "look at it, see above"


def test_every_drawing_that_is_kept_is_drawn() -> None:
    assert set(json.loads(KEPT.read_text())) == set(CHARTS)


if __name__ == "__main__":
    found = {name: parts(draw("light")) for name, draw in CHARTS.items()}
    KEPT.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
