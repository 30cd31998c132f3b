"""File names with the revision in them: safe on every disk and in every header."""

import re

from kbdash.dataset.source import Source


def file_stem(source: Source, *parts: str | None) -> str:
    """A file name that says what is in it: competition, problem, runner, what, and the revision or `sample`."""
    ending = "sample" if source.kind == "sample" else source.version[:7]
    words = ["kbdash", *(part for part in parts if part), ending]
    return "_".join(re.sub(r"[^A-Za-z0-9.-]+", "-", word).strip("-.")[:80] or "x" for word in words)
