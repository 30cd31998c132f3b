"""kbdash: the KernelBot competition data, read in place. `kbdash.connect()` is the way in."""

from kbdash.engine import KernelBot, connect

__all__ = ["KernelBot", "__version__", "connect"]
__version__ = "0.1.0"
