"""Untrusted text for a terminal: characters that move the cursor, colour or reorder text are made visible."""

import unicodedata

_HIDDEN = ("Cc", "Cs", "Zl", "Zp")
_REORDERING = frozenset((*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C))
REPLACEMENT = "\ufffd"


def inert(text: str, keep: str = "") -> str:
    """The text with every control and reordering character replaced, except those in `keep`."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(sign if sign in keep or not _acts(sign) else REPLACEMENT for sign in text)


def _acts(sign: str) -> bool:
    return unicodedata.category(sign) in _HIDDEN or ord(sign) in _REORDERING
