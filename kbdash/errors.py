"""The few errors a reader can meet: what happened, and what to do about it."""

from collections.abc import Sequence

from kbdash.scrub import without_secrets


class KbdashError(Exception):
    """Base of all errors meant for a reader; `str()` says what happened, `advice` what to do.

    `exit_code` is that of every command: 1 not found, 2 bad input, 3 data unavailable now.
    """

    exit_code = 2

    def __init__(self, what: str, *, advice: str = "") -> None:
        super().__init__(without_secrets(what))
        self.advice = without_secrets(advice)


class DataUnavailable(KbdashError):
    """The dataset, or one file of it, cannot be read now."""

    exit_code = 3


class CorruptData(DataUnavailable):
    """Bytes arrived, but they are damaged."""


class ContentChanged(CorruptData):
    """The file at this address is no longer the version that was opened."""


class UnsafeFile(CorruptData):
    """A file that is not opened, because reading it could harm the process."""


class UnsupportedFormat(DataUnavailable):
    """Sound bytes in a format that is not decoded here."""


class UnknownProblem(KbdashError):
    """No competition has a problem of that name."""

    exit_code = 1


class UnknownSubmission(KbdashError):
    """No submission has that id (on that runner)."""

    exit_code = 1


class UnknownUser(KbdashError):
    """Nobody has that id or name, or several have the name."""

    exit_code = 1


class AmbiguousSubmission(KbdashError):
    """The id names several submissions; `runners` lists their runners."""

    def __init__(self, what: str, *, runners: Sequence[str], advice: str = "") -> None:
        super().__init__(what, advice=advice)
        self.runners = tuple(runners)


class QueryRefused(KbdashError):
    """The statement is not one that this read-only database runs."""


class QueryTimeout(KbdashError):
    """The statement took longer than allowed and was stopped."""

    exit_code = 3
