"""The checks the Hub makes on the front matter of a README before it takes it."""

from __future__ import annotations

import re
from typing import Any

import yaml  # type: ignore[import-untyped]

_FRONT_MATTER = re.compile(r"---\s*\n(.*?)\n---", re.DOTALL)
_COLOURS = ("red", "yellow", "green", "blue", "indigo", "purple", "pink", "gray")
_CHOICES = {"sdk": ("gradio", "docker", "static"), "colorFrom": _COLOURS, "colorTo": _COLOURS}
_SHORT_DESCRIPTION = 60


def front_matter_problems(readme: str) -> tuple[list[str], list[str]]:
    """Errors and warnings about the front matter of a Space's README."""
    match = _FRONT_MATTER.match(readme)
    if match is None:
        return [], ["empty or missing yaml metadata in repo card"]
    try:
        fields = yaml.safe_load(match[1])
    except yaml.YAMLError as problem:
        return [f"YAML metadata is not valid: {problem}"], []
    if not isinstance(fields, dict):
        return ["YAML metadata is not an object"], []
    return _field_problems(fields), []


def _field_problems(fields: dict[str, Any]) -> list[str]:
    problems = [] if "sdk" in fields else ['"sdk" is required']
    for name, choices in _CHOICES.items():
        if name in fields and fields[name] not in choices:
            problems.append(f'"{name}" must be one of [{", ".join(choices)}]')
    if len(str(fields.get("short_description", ""))) > _SHORT_DESCRIPTION:
        problems.append(f'"short_description" is longer than {_SHORT_DESCRIPTION} characters')
    if not isinstance(fields.get("app_port", 0), int):
        problems.append('"app_port" must be a number')
    return problems
