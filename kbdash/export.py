"""A study set on disk: the top kernels of a board as files, their facts as CSV, and how to cite them."""

import re
from pathlib import Path
from typing import Protocol

import pandas as pd

from kbdash.code import SourceText
from kbdash.errors import KbdashError
from kbdash.source import Source

DATASET_PAGE = "https://huggingface.co/datasets/GPUMODE/kernelbot-data"
CITATION = """@inproceedings{kernelbot2025,
  title={KernelBot: A Competition Platform for Writing Heterogeneous {GPU} Code},
  author={Alex L Zhang and Matej Sirovatka and Erik Schultheis and Benjamin Horowitz and Mark Saroufim},
  booktitle={Championing Open-source DEvelopment in ML Workshop @ ICML25},
  year={2025},
  url={https://openreview.net/forum?id=bq9U4dmuyJ}
}
"""


class Texts(Protocol):
    """Who can give the source text of a submission."""

    def source_text(self, submission_id: int, runner: str | None, competition: str | None) -> SourceText: ...


def write_study_set(
    texts: Texts, board: pd.DataFrame, competition: str, problem: str, source: Source, folder: Path
) -> pd.DataFrame:
    """Write one file per row of a leaderboard, facts.csv and CITATION.txt; the facts with their file names."""
    folder.mkdir(parents=True, exist_ok=True)
    names, notes = [], []
    for row in board.to_dict("records"):
        name = safe_name(
            f"{row['rank']:03d}_{row['runner']}_{row['user_name'] or row['user_id']}", row["submission_id"]
        )
        try:
            found = texts.source_text(row["submission_id"], row["runner"], competition)
        except KbdashError as error:
            names.append("")
            notes.append(str(error))
            continue
        (folder / name).write_text(found.text, encoding="utf-8", newline="")
        names.append(name)
        notes.append(" ".join(found.notes))
    facts = board.assign(problem=problem, file=names, notes=notes)
    facts.to_csv(folder / "facts.csv", index=False)
    (folder / "CITATION.txt").write_text(credit(source) + "\n" + CITATION, encoding="utf-8")
    return facts


def credit(source: Source) -> str:
    """Where the texts come from, and what is known of their licence, in a few lines."""
    if source.kind == "sample":
        return "Synthetic sample data of kbdash; these are not real submissions.\n"
    return (
        f"Data: GPU Mode and the KernelBot dataset, {DATASET_PAGE}\n"
        f"Revision: {source.commit or source.label}. Licence of that revision: {source.licence or 'see the dataset'}.\n"
        "Each submission belongs to its author; its own licence is not known. Scores are upstream's, unverified.\n"
    )


def safe_name(stem: str, submission_id: int) -> str:
    """A file name for a source text that holds nothing but harmless characters and cannot leave its folder."""
    harmless = re.sub(r"[^A-Za-z0-9-]+", "_", stem).strip("_")[:60]
    return f"{harmless or 'submission'}_{submission_id}.py"
