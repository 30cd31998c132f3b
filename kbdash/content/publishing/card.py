"""The card of a published content repository: what it holds, where that comes from, and on what terms."""

from collections.abc import Sequence

from kbdash.content.store.layout import Manifest
from kbdash.dataset.credit import CITATION, DATASET_PAGE

REMOVAL = "mark@gpumode.com"
_OPEN = ("mit", "cc-by-4.0")
_TABLES = """| table | one row per | columns |
|---|---|---|
| `lines` | distinct line | `line_id`, `line` (bytes, no newline), `same` (first line equal but for outer space) |
| `texts` | distinct text | `text_id`, `sha256`, `bytes`, `lines`, `first`, `count` (its runs), `program`, `weight` … |
| `runs` | stretch of consecutive lines | `line_id`, `length` |
| `rows` | row of the data file | `file_row`, `submission_id`, `runner`, `text_id` |
| `line_use` | stretch of texts that hold a line | `line_id`, `text_id`, `length` |
| `origins` | distinct line | `first_submission_id`, `first_user_id`, `first_at`, `users`, `submissions` |
| `families` | distinct text | `text_id`, `family`, `similarity` |

Of a text, `code_lines` do something, `kernels` begin one; `num_warps` and `num_stages` are the largest given in Triton.
A text is the lines of its runs, joined by newlines; its `sha256` tells whether it came out right. `manifest.json` names
the data file and its version; `pages/` says where each row's text lies in that file.
"""


def card(manifests: Sequence[Manifest]) -> str:
    """README.md of the repository, with its front matter."""
    origin = manifests[0].origin
    licence = origin.get("licence") or "unknown"
    dataset = origin.get("dataset", "")
    front = _front_matter(licence, dataset)
    return f"""---
{front}---

# Source texts of {dataset}, line by line

This is a **modified copy** of the source texts in the KernelBot dataset: the same texts, taken apart into distinct
lines so that all of them can be searched. Nothing was added to them. Made by kbdash; not endorsed by GPU Mode.

## Where it comes from

Data: GPU Mode and the KernelBot dataset, {DATASET_PAGE}
Read from `{dataset}` at revision `{origin.get("commit") or "unknown"}`:

{_files(manifests)}

## Terms

{_terms(licence)}
Each submission belongs to its author; its own licence is not known and not inferred. Scores and times
are as published, not verified. There is no warranty.

Authors who want a text removed write to {REMOVAL}, who removes it from the dataset, and open a discussion here; this
copy is then made anew from the revision without it.

## Tables

{_TABLES}
## Citation

```bibtex
{CITATION}```
"""


def _front_matter(licence: str, dataset: str) -> str:
    lines = ["pretty_name: KernelBot source texts by line", "tags:", "- code", "- gpu"]
    if licence in _OPEN:
        lines.insert(0, f"license: {licence}")
    else:
        lines[:0] = ["license: other", f"license_name: {licence}", f"license_link: {DATASET_PAGE}/blob/main/LICENSE"]
    if dataset.count("/") == 1:
        lines += ["source_datasets:", f"- {dataset}"]
    return "\n".join(lines) + "\n"


def _files(manifests: Sequence[Manifest]) -> str:
    return "\n".join(
        f"- `{each.file}`, version `{each.version}`: {each.rows:,} rows, {each.texts:,} texts, {each.lines:,} lines"
        for each in manifests
    )


def _terms(licence: str) -> str:
    """The terms of the licence of the revision that was read."""
    if licence == "synthetic":
        return "These texts are synthetic sample data of kbdash, no real submissions.\n"
    text = (
        f"The licence of the revision that was read is `{licence}`; it applies to this copy as well. Keep its text "
        f"(LICENSE, or {DATASET_PAGE}/blob/main/LICENSE), these notices and the attribution when you pass it on.\n"
    )
    if licence not in _OPEN:
        text += (
            "**Training use is restricted**: the licence has conditions for training models on these texts. Read it "
            "before you do.\n"
        )
    return text
