"""The submissions that KernelGuard's own list of rules names as examples."""

import tomllib
from functools import cache
from importlib.resources import files


@cache
def _named() -> dict[str, frozenset[int]]:
    table = tomllib.loads(files(__package__).joinpath("named.toml").read_text(encoding="utf-8"))
    return {competition: frozenset(ids) for competition, ids in table.items()}


def named_in_rules(competition: str, submission_id: int) -> bool:
    """Whether KernelGuard's own list of rules names this submission as an example."""
    return submission_id in _named().get(competition, ())
