"""Escape user text where Streamlit always renders markdown (labels, captions, metrics)."""

import re
import unicodedata
from functools import lru_cache

from kbdash.scrub import for_readers

_JOINER = "\u2060"  # invisible, zero-width; breaks the patterns that are searched in plain text
_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
# These are replaced after markdown was parsed, so a backslash does not help: addresses (://, www., @),
# :emoji: and :material/…: names, and arrows or dashes that become symbols.
_PATTERNS = re.compile(r"(?<=[:@])|(?<=[!-/:-@\[-`{-~])(?=[!-/:-@\[-`{-~])|(?i:(?<=www)(?=\.))")
_TURNING = {"R", "AL", "AN", "RLE", "RLO", "RLI", "LRE", "LRO", "LRI", "FSI", "PDF", "PDI"}
_BREAKS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


@lru_cache(4096)
def markdown(text: str) -> str:
    """`text` so that markdown shows exactly its characters: no link, image, formula, emoji or new line."""
    line = _BREAKS.sub(" ", text)
    plain = _PUNCTUATION.sub(r"\\\1", _PATTERNS.sub(_JOINER, line))
    return _isolated(plain) if _changes_direction(line) else plain


def message(text: str) -> str:
    """The message of a library or server as markdown, without secrets and local paths."""
    return markdown(for_readers(text))


def _changes_direction(text: str) -> bool:
    return any(unicodedata.bidirectional(char) in _TURNING for char in text)


def _isolated(text: str) -> str:
    """Isolate right-to-left text so that it does not reorder its surroundings; open overrides end with it."""
    opened = sum(unicodedata.bidirectional(char) in ("RLE", "RLO", "LRE", "LRO") for char in text)
    isolates = sum(unicodedata.bidirectional(char) in ("RLI", "LRI", "FSI") for char in text)
    return f"\u2068{text}{chr(0x202C) * opened}{chr(0x2069) * isolates}\u2069"
