"""The view of a session is stored in the URL; only this module reads and writes it.

A run reads the view from the URL, applies what widgets changed since, and writes it back. Widgets are drawn from
the view, never the other way round, so a link, a reload and Back all show the same thing.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any, TypeVar
from urllib.parse import parse_qs, urlsplit

import streamlit as st

from kbdash.view import Notes, View, params_of

V = TypeVar("V", bound=View)
M = TypeVar("M")
T = TypeVar("T")
Query = dict[str, list[str]]

_PAGE = "_page"
_PAGES = "_pages"
_URL = "_url"
_NOTES = "_notes"
_IN_FLIGHT = 8  # addresses that may be on their way to the browser at once
LONGEST_ADDRESS = 8000  # characters of a link that is followed; no view has a longer one


@dataclass
class _Url:
    """What this session last wrote to the URL of a page, and pending changes of widgets.

    A click interrupts the current run at its next call of Streamlit, and the next run may begin before it has ended. So
    a run stores its result in one step, before it updates the URL; if it is interrupted then, the next run does that.
    """

    page: str
    written: Query = field(default_factory=dict)
    earlier: list[Query] = field(
        default_factory=list
    )  # earlier values of `written`, from which a click may still arrive
    told: bool = True  # whether `written` was sent to the browser
    changes: dict[str, Any] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    def resolve(self, kind: type[V], seen: Query) -> tuple[V, Notes]:
        """The view of a run that sees this address, with all changes so far."""
        with self.lock:
            changes, self.changes = self.changes, {}
            # A click can be sent before the new address arrives. It then refers to what was written last.
            late = seen in self.earlier and (bool(changes) or not self.told)
            parsed, notes = kind.parse(self.written if late else seen)
            current = _changed(parsed, changes) if changes else parsed
            query = current.query()
            if not late and (changes or seen != self.written):
                self.earlier = []
            if query != self.written:
                self.earlier.append(self.written if late else seen)
                self.earlier, self.written = self.earlier[-_IN_FLIGHT:], query
            self.told = query == seen and not late
            return current, notes

    def change(self, changes: Mapping[str, Any]) -> None:
        """Add a change for the next run."""
        with self.lock:
            self.changes.update(changes)


def register(pages: Mapping[str, st.Page], current: str) -> None:
    """Remember the pages of this run by path, and which one is open."""
    st.session_state[_PAGES] = dict(pages)
    st.session_state[_PAGE] = current


def remember(name: str, made_of: M, make: Callable[[M], T]) -> T:
    """A value cached in this session, recomputed only when its input changes."""
    found = st.session_state.get(f"_{name}")
    if found is None or found[0] != made_of:
        found = st.session_state[f"_{name}"] = (made_of, make(made_of))
    made: T = found[1]
    return made


def page() -> str:
    """Path of the open page; "" is the overview."""
    return str(st.session_state.get(_PAGE, ""))


def params() -> Query:
    """URL parameters as they are now."""
    return {name: st.query_params.get_all(name) for name in st.query_params}


def view(kind: type[V]) -> V:
    """The view to show now; also updates the URL. Call it before any widget of the view is drawn."""
    url, seen = _url(), params()
    current, notes = url.resolve(kind, seen)
    if notes:
        st.session_state[_NOTES] = notes
    if not url.told:
        st.query_params.from_dict(current.query())
        url.told = True
    return current


def control(
    field: str, value: Any, *, default: Any = None, read: Callable[[Any], Any] | None = None, kind: str = ""
) -> dict[str, Any]:
    """Keyword arguments that bind a widget to a field: it shows `value`, and a change goes into the view.

    Choosing `default` clears the field; `read` converts the widget's value to the field's. If a widget's options vary,
    pass a `kind` per set of options: Streamlit treats each as a separate widget, and a click on the previous one still
    counts.
    """
    key = "-".join(filter(None, (page() or "overview", field, kind)))
    # Always, even when nothing changed: a widget in a closed popover missed the updates of earlier runs.
    st.session_state[key] = value
    return {"key": key, "on_change": _take, "args": (key, field, default, read)}


def change(**changes: Any) -> None:
    """Set fields of the view from a callback."""
    _url().change(changes)


def reset() -> None:
    """Drop every parameter, from a callback: the page starts over with its defaults."""
    st.query_params.clear()


def notes() -> Notes:
    """Notes about what was ignored in the link; returned only once."""
    noted: Notes = st.session_state.pop(_NOTES, ())
    return noted


def go(path: str, target: View) -> None:
    """Open another page with that view."""
    st.switch_page(st.session_state[_PAGES][path], query_params=target.query())


def follow(address: str) -> None:
    """Follow a link inside the app, from a callback; ignores an address without a page."""
    if not address.startswith("/") or address.startswith("//") or len(address) > LONGEST_ADDRESS:
        return
    parts = urlsplit(address)
    path, query = parts.path.removeprefix("/"), parse_qs(parts.query)
    if path == page():
        st.query_params.from_dict(query)
    elif has(path):
        st.switch_page(target(path), query_params=query)


def has(path: str) -> bool:
    """Whether there is such a page."""
    return path in st.session_state.get(_PAGES, {})


def paths() -> tuple[str, ...]:
    """Paths of the pages of this run."""
    return tuple(st.session_state.get(_PAGES, {}))


def target(path: str) -> st.Page:
    """The page behind a path, for `st.page_link`."""
    found: st.Page = st.session_state[_PAGES][path]
    return found


def _url() -> _Url:
    url = st.session_state.get(_URL)
    if not isinstance(url, _Url) or url.page != page():
        url = st.session_state[_URL] = _Url(page())
    return url


def _take(key: str, field: str, default: Any, read: Callable[[Any], Any] | None) -> None:
    value = st.session_state[key]
    cleared = value is None or value == default
    change(**{field: None if cleared else read(value) if read else value})


def _changed(parsed: V, changes: Mapping[str, Any]) -> V:
    """The view with these changes and their consequences; None resets a field to its default."""
    values = {}
    for name, default, _ in params_of(type(parsed)):
        if name in changes:
            value = changes[name]
            values[name] = default if value is None else tuple(value) if isinstance(default, tuple) else value
    # Only the browser enforces the limits of widgets, so their values are validated like a link.
    edited, _ = type(parsed).parse(replace(parsed, **values).query())
    return edited.after(parsed)
