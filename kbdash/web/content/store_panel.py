"""The panel about a content store: ready, on its way, or missing and how to get it."""

import time

import streamlit as st

from kbdash.content.stores import ContentState
from kbdash.units import bytes_text, count_text, plural
from kbdash.web.escape import markdown, message
from kbdash.web.session import engine

LOOK_SECONDS = 1.5
STARTING_SECONDS = 20.0
"""Seconds until a requested build must report its progress."""
ASSUMED_RATE = 30e6
"""Assumed speed of a build in bytes per second, until one has run here."""
_ASKED = "_content_asked"
COMMAND = "python -m kbdash.content build"


def is_at_hand(competition: str) -> bool:
    """Whether the store is ready."""
    return competition in engine().content_at_hand()


def missing(competition: str, what: str) -> bool:
    """Whether the store is missing. If so, draws a panel that says so and ends with `what`, a sentence of our own."""
    if is_at_hand(competition):
        return False
    engine().content(competition)  # raises if there is no such competition
    title = next((item.title for item in engine().competitions if item.slug == competition), competition)
    with st.container(border=True, key=f"store-{competition}"):
        st.markdown(f":material/inventory_2: **{markdown(title)} has no content store yet.** {what}")
        _panel(competition)
    return True


@st.fragment(run_every=LOOK_SECONDS)
def _panel(competition: str) -> None:
    """Progress and actions; refreshes itself, so that every reader sees the same."""
    state = engine().content(competition)
    if state.state == "built":
        st.rerun()
    if state.state in ("building", "fetching"):
        _progress(competition, state)
    elif state.state == "off":
        st.markdown("Content stores are switched off here (`KBDASH_CONTENT=off`). Ask whoever runs this site.")
    else:
        _offer(competition, state)


def _progress(competition: str, state: ContentState) -> None:
    asked().pop(competition, None)
    st.progress(min(max(state.share, 0.0), 1.0), text=progress_text(state))
    if state.state == "building":
        st.button("Stop", key=f"store-stop-{competition}", on_click=engine().stop_content, args=(competition,))


def _offer(competition: str, state: ContentState) -> None:
    """The cost of a build and a button; or whom to ask."""
    kb = engine()
    if time.monotonic() - asked().get(competition, float("-inf")) < STARTING_SECONDS:
        st.progress(0.0, text="Starting …")
        return
    if state.note:
        st.markdown(message(state.note))
    st.markdown(cost(state, remote=kb.source.kind == "hub"))
    if not kb.may_build_content:
        st.markdown(
            f"Building is switched off here (`KBDASH_CONTENT_BUILD=off`). Ask whoever runs this site, or build it on "
            f"a machine of yours: `{COMMAND} {markdown(competition)}`."
        )
        return
    word = "Go on building" if state.share else "Build it now"
    st.button(word, key=f"store-build-{competition}", type="primary", on_click=begin, args=(competition,))
    st.caption("The build runs once for all readers, beside the site, and goes on when you leave. It can be stopped.")


def begin(competition: str) -> None:
    """Start a build, from a callback."""
    engine().build_content(competition)
    asked()[competition] = time.monotonic()


def asked() -> dict[str, float]:
    """When this session requested builds that have not reported yet."""
    found: dict[str, float] = st.session_state.setdefault(_ASKED, {})
    return found


def progress_text(state: ContentState) -> str:
    """The progress of a build or a download, in words."""
    doing = "Building" if state.state == "building" else "Fetching"
    words = [f"{doing}: {bytes_text(state.bytes)} of {bytes_text(state.cost_bytes)}"]
    if state.texts:
        words.append(f"{count_text(state.texts)} texts")
    if state.share >= 1:
        words.append("numbering the lines")
    elif state.rate:
        words.append(f"{_minutes((1 - state.share) * state.cost_bytes / state.rate)} left")
    return ", ".join(words) + "."


def cost(state: ContentState, *, remote: bool) -> str:
    """What building would take, in words."""
    left = state.cost_bytes * (1 - state.share)
    read = f"{bytes_text(left)} {'from the Hub' if remote else 'from disk'}"
    done = f" {count_text(state.texts)} texts are read already and are not read again." if state.share else ""
    wait = _minutes(left / (state.rate or ASSUMED_RATE))
    speed = f"{bytes_text(state.rate or ASSUMED_RATE)} per second"
    how = f"at the {speed} of earlier builds here" if state.rate else f"assuming {speed}"
    return (
        f"Building it reads {read} once and takes {wait}, {how}. The store itself needs a few percent of that on "
        f"this server's disk.{done}"
    )


def _minutes(seconds: float) -> str:
    if seconds < 45:
        return "less than a minute"
    return "about a minute" if seconds < 90 else f"about {plural(round(seconds / 60), 'minute')}"
