"""Tables of ours as a page sends them to the browser, read back as frames of texts."""

import json
from typing import Any

import pandas as pd
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Block

COMPONENT = "kbdash_table"


def sent(app: AppTest) -> dict[str, dict[str, Any]]:
    """What each table on the page was given, by its key, in the order of the page."""
    found = {}
    for element in app.get("bidi_component"):
        if element.proto.component_name == COMPONENT:
            settings, _, table = element.proto.bytes.partition(b"\n")
            key = element.proto.id.split("-", 2)[2]
            found[key] = json.loads(settings) | json.loads(table)
    return found


def tables(app: AppTest) -> list[pd.DataFrame]:
    """The tables on the page as their cells say it; `links` of a column stand beside it as "<name> link"."""
    return [_frame(table) for table in sent(app).values()]


def table(app: AppTest, key: str = "") -> pd.DataFrame:
    """The table with that key, or the first one."""
    found = sent(app)
    return _frame(found[key or next(iter(found))])


def numbers(texts: "pd.Series[str]") -> list[float]:
    """Cells as numbers."""
    return [float(text.replace(",", "").replace("−", "-").lstrip("+=")) for text in texts]


def _frame(table: dict[str, Any]) -> pd.DataFrame:
    columns = {}
    for column in table["columns"]:
        name = column["name"]
        columns[name] = column["texts"]
        for kind in ("links", "marks", "choices"):
            if column.get(kind):
                columns[f"{name} {kind}"] = column[kind]
    return pd.DataFrame(columns)


IN_A_ROW = ("-bar", "-tools", "-toolbar", "-axes", "-banner", "-head", "-panels", "-links", "-controls", "-choices")
MAY_BE_NONE = ("Inside this text",)  # its panels can all be closed
IN_A_FRAME = ("newer-banner", "-nothing", "problem-box", "unexpected-box", "-which", "-refused", "-opened", "-flags")


def odd_looks(app: AppTest) -> list[str]:
    """What stands on the page in another way than its name says: these containers lie in a row, those have a frame.

    Headings have no link to themselves (the address is the reader's own), and a choice of one cannot be taken back,
    but for panels that may all be closed.
    """
    blocks = [node for node in app.main if isinstance(node, Block) and node.key and node.type == "flex_container"]
    looks = {node.key: node.proto.flex_container for node in blocks}
    rows = [key for key, look in looks.items() if key.endswith(IN_A_ROW) and look.direction != look.HORIZONTAL]
    frames = [key for key, look in looks.items() if key.endswith(IN_A_FRAME) and not look.border]
    headings = [head.value for head in (*app.title, *app.header, *app.subheader) if not head.proto.hide_anchor]
    groups = [group.proto for group in app.segmented_control if group.proto.label not in MAY_BE_NONE]
    choices = [group.label for group in groups if not group.required]
    return [*rows, *frames, *headings, *choices]
