"""The few errors a reader can meet: what happened, and what to do about it."""

from collections.abc import Sequence


class KbdashError(Exception):
    """Base of all errors meant for a reader; `str()` says what happened, `advice` what to do."""

    def __init__(self, what: str, *, advice: str = "") -> None:
        super().__init__(what)
        self.advice = advice


class DataUnavailable(KbdashError):
    """The dataset, or one file of it, cannot be read now."""


class CorruptData(DataUnavailable):
    """Bytes arrived, but they are not what the file promised."""


class UnknownProblem(KbdashError):
    """No competition has a problem of that name."""


class UnknownSubmission(KbdashError):
    """No submission has that id (on that runner)."""


class AmbiguousSubmission(KbdashError):
    """The id names several submissions; `runners` tells which ones there are."""

    def __init__(self, what: str, *, runners: Sequence[str], advice: str = "") -> None:
        super().__init__(what, advice=advice)
        self.runners = tuple(runners)


class QueryRefused(KbdashError):
    """The statement is not a question this read-only database answers."""


class QueryTimeout(KbdashError):
    """The statement took longer than allowed and was stopped."""
