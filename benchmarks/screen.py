"""What a browser tab holds of a page: widgets by key, charts by key, failures; filled by the server's messages."""

import base64
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from streamlit.proto.Block_pb2 import Block
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime.state.common import is_element_id, user_key_from_element_id

# Which field of a message carries the value of each kind of widget.
VALUE_FIELDS: Mapping[str, str] = {
    "button": "trigger_value",
    "button_group": "string_array_value",
    "checkbox": "bool_value",
    "date_input": "string_array_value",
    "multiselect": "string_array_value",
    "number_input": "double_value",
    "pagination": "int_value",
    "plotly_chart": "string_value",
    "selectbox": "string_value",
    "tab_container": "string_value",
    "text_input": "string_value",
}
TABLE = "table"  # a table of ours; it offers the queries of its links to source codes
_CODE = re.compile(rb'submission\?(id=[^"\\]+)')
# Boxes in which the app says that something failed (kbdash/web/widgets.py); an empty result is none.
FAILURE_BOXES = ("problem-box", "unexpected-box")


@dataclass(frozen=True)
class Widget:
    """Something that can be used: its id, kind, the fragment that runs for it ("" = the page), what it offers."""

    id: str
    kind: str
    fragment: str
    options: tuple[str, ...] = ()

    def state(self, value: Any) -> WidgetState:
        """The message that says the widget has this value now."""
        found = WidgetState(id=self.id)
        name = VALUE_FIELDS[self.kind]
        if name == "string_array_value":
            found.string_array_value.data.extend(value)
        else:
            setattr(found, name, value)
        return found


@dataclass
class Screen:
    """The page as it stands. Charts are kept as the text that was sent, so that looking costs nothing while timing."""

    widgets: dict[str, Widget] = field(default_factory=dict)
    charts: dict[str, str] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    _boxes: dict[tuple[int, ...], str] = field(default_factory=dict)

    def take(self, message: ForwardMsg) -> None:
        """Put one delta into its place."""
        place = tuple(message.metadata.delta_path)
        delta = message.delta
        if delta.HasField("add_block"):
            self._block(place, delta.add_block, delta.fragment_id)
        elif delta.HasField("new_element"):
            self._element(place, delta.new_element, delta.fragment_id)

    def _block(self, place: tuple[int, ...], block: Block, fragment: str) -> None:
        key = _key(block.id) or ""
        self._boxes[place] = key
        if key.endswith(FAILURE_BOXES):
            self.failures.append(key)
        if block.HasField("tab_container") and (name := _key(block.tab_container.id)):
            self.widgets[name] = Widget(block.tab_container.id, "tab_container", fragment)

    def _element(self, place: tuple[int, ...], element: Element, fragment: str) -> None:
        kind = element.WhichOneof("type")
        if kind == "exception":
            self.failures.append(f"{element.exception.type}: {element.exception.message}")
        elif kind == "plotly_chart":
            self.charts[_key(element.plotly_chart.id) or self._inside(place)] = element.plotly_chart.spec
        elif kind == "bidi_component" and (queries := _CODE.findall(element.bidi_component.bytes)):
            id_ = element.bidi_component.id
            self.widgets[_key(id_) or id_] = Widget(id_, TABLE, fragment, tuple(query.decode() for query in queries))
        if kind in VALUE_FIELDS:
            proto = getattr(element, kind)
            if name := _key(proto.id):
                self.widgets[name] = Widget(proto.id, kind, fragment, tuple(_options(kind, proto)))

    def _inside(self, place: tuple[int, ...]) -> str:
        """The key of the nearest box around a place, without the word box."""
        around = (self._boxes.get(place[:end], "") for end in range(len(place) - 1, 0, -1))
        return next((key.removesuffix("-box") for key in around if key), "unnamed")


def points(spec: str) -> int:
    """How many points a chart has: the longer of x and y of each trace, the cells of a matrix."""
    return sum(
        max(_length(trace.get("x")), _length(trace.get("y")), _length(trace.get("z")))
        for trace in json.loads(spec)["data"]
    )


def _length(values: Any) -> int:
    """The number of values, in a list (of lists) or packed as Plotly packs arrays."""
    if isinstance(values, dict) and "bdata" in values:
        return len(base64.b64decode(values["bdata"])) // np.dtype(values["dtype"]).itemsize
    if not isinstance(values, list):
        return 0
    return sum(_length(row) for row in values) if values and isinstance(values[0], list) else len(values)


def _options(kind: str, proto: Any) -> Iterator[str]:
    if kind == "button_group":
        yield from (option.content for option in proto.options)
    elif kind in ("selectbox", "multiselect"):
        yield from proto.options


def _key(id_: str) -> str | None:
    """The key the app gave; containers carry it bare, widgets inside their id."""
    return user_key_from_element_id(id_) if is_element_id(id_) else id_ or None
