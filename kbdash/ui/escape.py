"""Text written by users, made harmless where Streamlit insists on markdown (labels, captions, metrics)."""

import re
import unicodedata
from functools import lru_cache

_JOINER = "\u2060"  # invisible and without width; breaks the patterns that are looked for in plain text
_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
# Looked for in text after markdown was read, so that a backslash does not help: addresses (://, www., @),
# :emoji: and :material/…: names, and arrows or dashes that would be replaced by symbols.
_PATTERNS = re.compile(r"(?<=[:@])|(?<=[!-/:-@\[-`{-~])(?=[!-/:-@\[-`{-~])|(?i:(?<=www)(?=\.))")
_TURNING = {"R", "AL", "AN", "RLE", "RLO", "RLI", "LRE", "LRO", "LRI", "FSI", "PDF", "PDI"}
_BREAKS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


@lru_cache(4096)
def markdown(text: str) -> str:
    """`text` so that markdown shows exactly its characters: no link, image, formula, emoji or new line."""
    line = _BREAKS.sub(" ", text)
    plain = _PUNCTUATION.sub(r"\\\1", _PATTERNS.sub(_JOINER, line))
    return _isolated(plain) if _turns(line) else plain


def _turns(text: str) -> bool:
    return any(unicodedata.bidirectional(char) in _TURNING for char in text)


def _isolated(text: str) -> str:
    """Right-to-left text kept from reordering what stands around it; open overrides end with it."""
    opened = sum(unicodedata.bidirectional(char) in ("RLE", "RLO", "LRE", "LRO") for char in text)
    isolates = sum(unicodedata.bidirectional(char) in ("RLI", "LRI", "FSI") for char in text)
    return f"\u2068{text}{chr(0x202C) * opened}{chr(0x2069) * isolates}\u2069"
