"""Convert answers about source texts to frames."""

from typing import Any, cast

import pandas as pd

from kbdash.content.findings.noise import Noise
from kbdash.content.verdicts.examiner import Verdict
from kbdash.database import answer as plain
from kbdash.database.questions.texts import VERDICT


def as_frame(answer: object) -> pd.DataFrame:
    """Any answer of a question as a frame with the columns of that question."""
    match answer:
        case tuple():
            return pd.DataFrame({"facet": pd.Series(answer, dtype="str")})
        case {"rules": _}:
            return _of_verdict(cast(Verdict, answer))
        case {"sigma": _}:
            return _of_noise(cast(Noise, answer))
    return plain.as_frame(answer)


def _of_verdict(verdict: Verdict) -> pd.DataFrame:
    """A row for each rule that matches, or one without a rule."""
    rules: list[Any] = list(verdict["rules"]) or [{"rule": None, "severity": None, "evidence": None, "lines": []}]
    rows = [{"status": verdict["status"], **rule, "lines": [float(line) for line in rule["lines"]]} for rule in rules]
    return pd.DataFrame(rows).assign(version=verdict["version"])[[*VERDICT.column_names]]


def _of_noise(noise: Noise) -> pd.DataFrame:
    again = noise["rerolls"]
    row = {
        "sigma": noise["sigma"], "programs": noise["programs"], "pairs": noise["pairs"],
        "reroll_users": again["user"].tolist(), "rerolls": again["count"].astype(float).tolist(),
    }  # fmt: skip
    return pd.DataFrame([row]).astype({"sigma": float})
