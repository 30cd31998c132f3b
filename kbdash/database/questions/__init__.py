"""Every question about the data, each defined once. A new question needs an SQL file and an object here."""

from types import ModuleType

from kbdash.database.questions import boards, people, texts
from kbdash.database.questions.kinds import Question
from kbdash.errors import QueryRefused


def _questions(*modules: ModuleType) -> dict[str, Question]:
    return {value.name: value for module in modules for value in vars(module).values() if isinstance(value, Question)}


QUESTIONS = _questions(boards, people)
"""The questions that are answered in SQL, by name: each has a method of `KernelBot` and an SQL file."""
TEXT_QUESTIONS = _questions(texts)
"""The questions about all source texts, by name: each has a method of `KernelBot` and needs a content store."""
EVERY_QUESTION = QUESTIONS | TEXT_QUESTIONS
"""All questions that people and programs can ask."""
PARTS: dict[str, Question] = {part.name: part for part in people.PARTS}
"""SQL that other questions use."""


def known(name: str) -> Question:
    """The question of that name; else QueryRefused, which lists the names."""
    if name not in EVERY_QUESTION:
        raise QueryRefused(f"There is no question {name}.", advice=f"There are {', '.join(EVERY_QUESTION)}.")
    return EVERY_QUESTION[name]
