"""Slow answers: each is shown when it arrives, and the page says which are still missing."""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any

from streamlit.delta_generator import DeltaGenerator

from kbdash.web.escape import markdown

LOOK_SECONDS = 0.25
COMING = ":material/hourglass_top:"


def as_completed(asked: Mapping[str, Future[Any]], titles: Mapping[str, str], status: DeltaGenerator) -> Iterator[str]:
    """Yield the name of each answer (or failure) as it arrives; `status` says which are still missing."""
    waiting = dict(asked)
    while waiting:
        for name in [name for name, answer in waiting.items() if answer.done()]:
            del waiting[name]
            yield name
        if waiting:
            # Repeated on purpose: Streamlit can stop this run after a click only when it writes something.
            status.caption(still_coming([titles[name] for name in waiting], len(asked)))
            wait(waiting.values(), LOOK_SECONDS, FIRST_COMPLETED)
    status.empty()


def still_coming(titles: Sequence[str], of: int) -> str:
    """Says which competitions are still loading."""
    here = of - len(titles)
    return f"{COMING} {here} of {of} competitions are here. Still coming: {', '.join(map(markdown, titles))}"
