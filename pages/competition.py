"""A competition: the page behind /nvfp4, /trimul and every other one, told apart by its path."""

from kbdash.ui import competition, state

competition.show(state.page())
