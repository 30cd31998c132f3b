"""How many examples a property is tried with, where one is dear."""

from hypothesis import HealthCheck, settings

USUAL = 100


def examples(number: int) -> settings:
    """That many, the same ones in every run; `--hypothesis-profile=search` tries twenty times as many new ones."""
    several = settings.default.max_examples / USUAL if settings.default else 1
    return settings(max_examples=round(number * several), deadline=None, suppress_health_check=[HealthCheck.too_slow])
