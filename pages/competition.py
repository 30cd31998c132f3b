"""The page of every competition (/nvfp4, /trimul …); the path says which."""

from kbdash.web import competition, state

competition.show(state.page())
