"""Verdicts about many texts of a store: each user's best per board, or all that passed. Resumes where it stopped."""

from collections.abc import Callable
from typing import Literal

import pandas as pd

from kbdash.content.store.decoded import as_text
from kbdash.content.store.finished import Store
from kbdash.content.store.layout import NO_TEXT
from kbdash.content.verdicts.examiner import Examiner
from kbdash.content.verdicts.kept import KeptVerdicts
from kbdash.content.verdicts.table import write_verdicts
from kbdash.errors import DataUnavailable

Which = Literal["best", "all", "none"]
WHICH: tuple[Which, ...] = ("best", "all", "none")


def texts_to_judge(store: Store, rows: pd.DataFrame, which: Which) -> list[int]:
    """The texts to check, the fastest first."""
    if which == "none":
        return []
    ordered = bests(rows) if which == "best" else _fastest_first(rows, "passed")
    texts = store.text_of_row[ordered["file_row"].to_numpy("int64")]
    return [int(text) for text in pd.unique(texts) if text != NO_TEXT]


def judge(
    store: Store, rows: pd.DataFrame, which: Which, examiner: Examiner, check: Callable[[], None] = lambda: None
) -> int:
    """Check the texts that have no verdict yet; returns how many. `check` may raise to stop."""
    kept = KeptVerdicts(store.folder)
    digests = store.texts.column("sha256")
    asked = 0
    try:
        for text in texts_to_judge(store, rows, which):
            digest = digests[text].as_py()
            if kept.get(digest, examiner.version) is None:
                check()
                try:
                    kept.keep(digest, examiner.examine(as_text(store.text(text))))
                except DataUnavailable:
                    continue  # the package failed on this text: its page will say so
                asked += 1
    finally:  # also when it was stopped
        write_verdicts(store)
    return asked


def bests(rows: pd.DataFrame) -> pd.DataFrame:
    """Each user's best per board and runner, the fastest first."""
    return _fastest_first(rows, "ranked").drop_duplicates(["problem", "runner", "user_id"])


def _fastest_first(rows: pd.DataFrame, which: str) -> pd.DataFrame:
    chosen = rows[rows[which].fillna(False).to_numpy(bool)]
    return chosen.sort_values(["score", "at", "submission_id"], kind="stable")


MATCHES = (
    "problem", "runner", "user_id", "user_name", "submission_id", "submitted_at", "score", "rule", "severity",
    "evidence", "lines",
)  # fmt: skip


def kept_about_bests(store: Store, rows: pd.DataFrame, kept: KeptVerdicts, version: str) -> pd.DataFrame:
    """The rules that match users' bests, of those checked so far; `attrs`: bests, asked, timed_out."""
    best = bests(rows)
    texts = store.text_of_row[best["file_row"].to_numpy("int64")].tolist()
    digests = store.texts.column("sha256")
    counts = {"bests": len(best), "asked": 0, "timed_out": 0}
    found = []
    for row, text in zip(best.to_dict("records"), texts, strict=True):
        verdict = None if text == NO_TEXT else kept.get(digests[text].as_py(), version)
        if verdict is not None:
            counts["asked"] += 1
            counts["timed_out"] += verdict["status"] == "timed out"
            found += [{**row, **rule} for rule in verdict["rules"]]
    answer = pd.DataFrame(found, columns=list(MATCHES))
    answer.attrs.update(counts)
    return answer
