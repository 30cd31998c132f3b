"""Compare the times of two submissions, or say why they cannot be compared."""

from dataclasses import dataclass

from kbdash.units import gain_text, gap_text, ratio_text
from kbdash.web.code.facts import Facts


@dataclass(frozen=True)
class Verdict:
    """The change in time from one submission to another; `refused` says why there is none (may hold user text)."""

    label: str = ""
    change: str = ""
    times: str = ""
    refused: str = ""


def verdict(old: Facts, new: Facts) -> Verdict:
    """The change from `old` to `new`; refused if the two were not measured on the same problem and runner."""
    if reasons := _reasons(old, new):
        return Verdict(refused=" ".join(reasons))
    before, after = old.submission.score, new.submission.score
    if not before or not after:
        return Verdict(refused="At least one of them has no time.")
    gain = (before - after) / before
    label = "Equally fast" if gain == 0 else "Less time" if gain > 0 else "More time"
    parts = [f"{old.time} → {new.time}", f"{gap_text(after - before, old.unit)} {old.unit.name}"]
    if gain:
        faster, word = (before / after, "faster") if gain > 0 else (after / before, "slower")
        parts.append(f"{ratio_text(faster)} {word}")
    return Verdict(label, gain_text(gain), ", ".join(parts))


def differences(old: Facts, new: Facts) -> frozenset[str]:
    """Which of problem, runner and user differ."""
    one, two = old.submission, new.submission
    found = {
        "problem": (one.competition, one.problem) != (two.competition, two.problem),
        "runner": one.runner != two.runner,
        "user": one.user_id != two.user_id,
    }
    return frozenset(name for name, differs in found.items() if differs)


def _reasons(old: Facts, new: Facts) -> list[str]:
    differ = differences(old, new)
    reasons = []
    if "problem" in differ:
        reasons.append(f"They solve different problems: {old.submission.problem} and {new.submission.problem}.")
    if "runner" in differ:
        reasons.append(f"They ran on different machines: {old.machine} and {new.machine}.")
    return reasons
