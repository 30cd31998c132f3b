"""Source texts on disk: one file with its credit, a diff as a patch, or a study set of a board's top kernels."""

import re
from collections.abc import Callable, Hashable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from kbdash.code.diff import Diff, unified
from kbdash.code.language import Language
from kbdash.code.reader import SourceText
from kbdash.csv import csv_text
from kbdash.dataset.catalog import runner_name
from kbdash.dataset.credit import CITATION, DATASET_PAGE
from kbdash.dataset.model import Submission
from kbdash.dataset.source import Source
from kbdash.errors import KbdashError
from kbdash.units import minute_text

_SUFFIXES: dict[Language, str] = {"python": ".py", "cpp": ".cu", "text": ".txt"}
_COMMENTS: dict[Language, str] = {"python": "#", "cpp": "//", "text": "#"}
# Characters that some tool takes for a line end or for a terminal control code.
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


ReadText = Callable[[int, str, str], SourceText]
"""Returns the source text of a submission, given by its id, runner and competition."""


def write_study_set(
    read_text: ReadText, board: pd.DataFrame, competition: str, problem: str, source: Source, folder: Path
) -> pd.DataFrame:
    """Write one file per row of a leaderboard, facts.csv and CITATION.txt; returns the facts with their file names."""
    folder.mkdir(parents=True, exist_ok=True)
    names, notes = [], []
    for row in board.to_dict("records"):
        name, note = _write_text(read_text, row, competition, folder)
        names.append(name)
        notes.append(note)
    facts = board.assign(problem=problem, file=names, notes=notes)
    (folder / "facts.csv").write_text(csv_text(facts), encoding="utf-8", newline="")
    (folder / "CITATION.txt").write_text(credit(source) + "\n" + CITATION, encoding="utf-8")
    return facts


def credited(found: SourceText, submission: Submission, source: Source) -> str:
    """The text under comments that say what it is, where it comes from, and on what terms."""
    end = "\r\n" if "\r\n" in found.text else "\n"
    sign = _COMMENTS[found.language]
    return "".join(f"{sign} {line}{end}" for line in (*_about(submission), *credit(source).splitlines())) + found.text


def patch(diff: Diff, before: Submission, after: Submission, source: Source) -> str:
    """The diff as a patch with its origin on top; tools that apply patches skip the lines before `---`."""
    origin = "".join(f"{line}\n" for line in (*_about(before), *_about(after), *credit(source).splitlines()))
    return f"{origin}--- a/{file_name(before)}\n+++ b/{file_name(after)}\n{unified(diff)}"


def credit(source: Source) -> str:
    """Where the texts come from, and what is known about their licence, in a few lines."""
    if source.kind == "sample":
        return "Synthetic sample data of kbdash; these are not real submissions.\n"
    return (
        f"Data: GPU Mode and the KernelBot dataset, {DATASET_PAGE}\n"
        f"Revision: {source.commit or source.label}. Licence of that revision: {source.licence or 'see the dataset'}.\n"
        "Each submission belongs to its author; its own licence is not known. Scores as published, not verified.\n"
    )


def file_name(submission: Submission, language: Language = "python") -> str:
    """A file name for a submission's text: only harmless characters, no way out of its folder."""
    stem = f"{submission.problem}_{submission.runner or ''}_{submission.user_name or submission.user_id}"
    return safe_name(stem, submission.submission_id, language)


def safe_name(stem: str, submission_id: int, language: Language = "python") -> str:
    """A file name of harmless characters only, ending in the id and the extension of the language."""
    harmless = re.sub(r"[^A-Za-z0-9-]+", "_", stem).strip("_-")[:60]
    return f"{harmless or 'submission'}_{submission_id}{_SUFFIXES[language]}"


def _write_text(read_text: ReadText, row: Mapping[Hashable, Any], competition: str, folder: Path) -> tuple[str, str]:
    """Write the file of a leaderboard row; returns its name and notes."""
    id_, runner = int(row["submission_id"]), str(row["runner"])
    try:
        found = read_text(id_, runner, competition)
    except KbdashError as error:
        return "", str(error)
    stem = f"{row['rank']:03d}_{runner}_{row['user_name'] or row['user_id']}"
    name = safe_name(stem, id_, found.language)
    (folder / name).write_text(found.text, encoding="utf-8", newline="")
    return name, " ".join(found.notes)


def _about(submission: Submission) -> tuple[str, ...]:
    """Who, where, when, how fast. No line ends with a name: one that ends in a backslash would continue the comment."""
    who = _CONTROLS.sub(" ", submission.user_name) or submission.user_id
    score = "no time" if submission.score is None else f"{submission.score!r} s"
    on = runner_name(submission.runner) if submission.runner else "no runner"
    where = _CONTROLS.sub(" ", f"{submission.problem} on {on}")
    return (
        f'Submission {submission.submission_id} by "{who}"',
        f"to {where}: {score}, {minute_text(submission.submitted_at)}.",
    )
