"""Measured things as Markdown, and the machine they were measured on."""

import os
import platform
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path

RESULTS = Path(__file__).parent / "RESULTS.md"
PACKAGES = ("duckdb", "pyarrow", "pandas", "streamlit", "huggingface_hub")


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = [" | ".join(str(cell) for cell in row) for row in (head, ["---"] * len(head), *rows)]
    return "\n".join(f"| {line} |" for line in lines)


def machine() -> str:
    """What this ran on, in one line."""
    cpu = next(
        (line.split(":", 1)[1].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")),
        platform.processor() or "unknown processor",
    )
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    packages = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    return (
        f"{os.cpu_count()} cores ({cpu}), {memory:.0f} GiB, {platform.system()} {platform.release()}, "
        f"Python {platform.python_version()}, {packages}"
    )


def replace_section(title: str, text: str, path: Path = RESULTS) -> None:
    """Put a section into the results file, in place of the one with the same title."""
    old = path.read_text(encoding="utf-8") if path.exists() else "# Measured\n"
    parts = old.split("\n## ")
    kept = [part for part in parts[1:] if part.split("\n", 1)[0] != title]
    position = next((i for i, part in enumerate(parts[1:]) if part.split("\n", 1)[0] == title), len(kept))
    kept.insert(position, f"{title}\n\n{text.strip()}\n")
    path.write_text("\n## ".join([parts[0].rstrip() + "\n", *kept]), encoding="utf-8")


def megabytes(size: float) -> str:
    return f"{size / 1e6:,.2f} MB"


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:,.0f} ms" if seconds >= 0.02 else f"{seconds * 1e3:,.1f} ms"


def verdict(measured: float, budget: float, text: str) -> tuple[str, str, str]:
    """A row of the budget table."""
    return (text, f"{measured:,.4g} of at most {budget:,.4g}", "kept" if measured <= budget else "**missed**")


def _lines(path: str) -> list[str]:
    return Path(path).read_text(encoding="utf-8").splitlines() if Path(path).exists() else []
