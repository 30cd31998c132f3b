"""The memory of a real server that answers questions about all texts of every competition."""

import asyncio
from urllib.parse import urlencode

from benchmarks.readers import tab
from benchmarks.serving import serving
from kbdash.dataset.config import DATASET
from kbdash.view import CompetitionView, SearchView, StepsView, SubmissionView, TrustView, View

SLUG = "nvfp4"
SEARCHES = ("cp.async.bulk", "swizzle_tile", "const int barrier_")


def memory_mb(endpoint: str, cache: str, submission: int) -> float:
    """The most resident memory of the server, MB."""
    with serving(DATASET, HF_ENDPOINT=endpoint, KBDASH_CACHE=cache) as server:
        failures = asyncio.run(_visits(server.port, submission))
        if failures or server.tracebacks():
            raise SystemExit(f"The server failed: {failures} {server.log.read_text(encoding='utf-8')[-2000:]}")
        return server.peak_mb()


async def _visits(port: int, submission: int) -> list[str]:
    """Search everywhere, then open each page that needs a store."""
    places: list[tuple[str, View]] = [
        *(("search", SearchView(q=each)) for each in SEARCHES),
        ("submission", SubmissionView(submission, None, SLUG, show="origins")),
        (SLUG, CompetitionView(tab="techniques")),
        ("trust", TrustView()),
        ("steps", StepsView()),
    ]
    failures: list[str] = []
    for path, view in places:
        async with tab(port, patience=120.0) as reader:
            run = await reader.open(path, urlencode(view.query(), doseq=True))
            failures += run.failures
            if reader.path != path:
                failures.append(f"There is no page /{path}.")
    return failures
