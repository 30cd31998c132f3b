"""Imports what app.py imports, most of the processor time of a start: once for all dashboards of a test process.

None of it reads the environment, and the components of the pages are not in it: they register with a running server.
"""

import gc
from importlib import import_module

MODULES = (
    "streamlit.web.cli",
    "uvicorn",
    "plotly.graph_objects",
    "kbdash.api.agents_http",
    "kbdash.api.preview",
    "kbdash.api.routes",
    "kbdash.web.server.middleware",
    "kbdash.web.widgets",
)
for name in MODULES:
    import_module(name)
gc.freeze()  # a dashboard that collects its garbage need not look at these, nor copy them
