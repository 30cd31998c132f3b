"""The card of a board: what the problem is, its shapes and formats, what the ranking averages, further links."""

import streamlit as st

from kbdash.dataset.cards import AVERAGES, card_of, glossary, official_board
from kbdash.dataset.catalog import runner_name
from kbdash.units import minute_text, plural
from kbdash.web.board import Scene
from kbdash.web.escape import markdown


def show(scene: Scene) -> None:
    """A button that opens the card."""
    with st.popover("About this board", icon=":material/info:", type="tertiary", key="card"):
        st.markdown("  \n".join(lines(scene)))
        known = card_of(scene.board.name)
        if known:
            shapes = "\n".join(f"- `{shape}`" for shape in known.shapes)
            st.markdown(f"**{plural(len(known.shapes), 'benchmark shape')}**\n{shapes}")
        with st.expander("Glossary", key="card-glossary"):
            st.markdown(glossary_text())


def lines(scene: Scene) -> list[str]:
    """What is known about the board, line by line."""
    board, card = scene.board, card_of(scene.board.name)
    on = ", ".join(runner_name(runner) for runner in scene.runners)
    found = [f"**{markdown(board.name)}** on {markdown(on or 'no runner')}"]
    if board.deadline and board.deadline.year < 2100:
        found[0] += f", deadline {minute_text(board.deadline)}"
    if card:
        found += [markdown(card.about), f"**Inputs.** {markdown(card.inputs)}"]
        found.append(f"**Ranking.** {AVERAGES[card.ranking]} Lower is better; each user's best counts.")
    where = [f"[Official board]({address})"] if (address := official_board(board)) else []
    where += [f"[Reference kernel]({card.reference})"] if card else []
    return [*found, " · ".join(where)] if where else found


def glossary_text() -> str:
    """The glossary as a list."""
    return "\n".join(f"- **{markdown(word)}**: {markdown(meaning)}" for word, meaning in glossary().items())
