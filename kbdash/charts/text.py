"""Escape user text for Plotly, which interprets tags, entities, %{…} and $…$ in nearly every string it draws."""

import unicodedata

# Everything as numeric entities: Plotly decodes those last, after tags, templates and TeX.
_SPECIAL = {ord(sign): f"&#{ord(sign)};" for sign in "&<>$%{}\"'"}
# Bidirectional controls would let a name reorder the sentence around it.
_REORDERING = dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A)))
_CONTROLS = dict.fromkeys((*range(0x20), *range(0x7F, 0xA0)), "\ufffd")
_SAFE = _CONTROLS | _REORDERING | _SPECIAL
_RIGHT_TO_LEFT = {"R", "AL"}
_JOINERS = "\u200d\ufe0e\ufe0f"


def escaped(text: object, limit: int | None = None) -> str:
    """`text` escaped so that Plotly shows it literally, cut to `limit` characters."""
    plain = str(text)
    if limit is not None and len(plain) > limit:
        plain = plain[: limit - 1].rstrip(_JOINERS) + "…"
    safe = plain.translate(_SAFE)
    if any(unicodedata.bidirectional(sign) in _RIGHT_TO_LEFT for sign in plain):
        return f"\u2068{safe}\u2069"  # isolated, so that the surrounding words keep their order
    return safe
