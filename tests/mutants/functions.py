"""One function of a loaded module in place of another: a change takes effect without importing anything again."""

import ast
import gc
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import CodeType, FunctionType


@dataclass(frozen=True)
class Swap:
    """The code of one function as it is loaded and as it becomes."""

    loaded: CodeType
    becomes: CodeType

    def make(self) -> None:
        """Give the changed code to every function that has the loaded one."""
        for function in gc.get_objects():
            if isinstance(function, FunctionType) and function.__code__ == self.loaded:
                function.__code__ = self.becomes


def swap_of(file: Path, changed: str) -> Swap | None:
    """The one function in which the changed text differs; None if it differs elsewhere: in a constant, in a class."""
    body, loaded, plain = _as_it_is(file)
    new_body, new = _parts(compile(changed, str(file), "exec"))
    if new_body != body or len(new) != len(plain):
        return None
    differing = [number for number, (was, becomes) in enumerate(zip(plain, new, strict=True)) if was != becomes]
    if len(differing) != 1 or len(loaded) != len(set(loaded)):
        return None
    swap = Swap(loaded[differing[0]], new[differing[0]])
    return swap if swap.loaded.co_freevars == swap.becomes.co_freevars else None


@cache
def _as_it_is(file: Path) -> tuple[list[object], list[CodeType], list[CodeType]]:
    """What a module does when it is imported, its functions, and its functions with the lines of a changed text."""
    text = file.read_text()
    _, loaded = _parts(compile(text, str(file), "exec"))
    body, plain = _parts(compile(ast.unparse(ast.parse(text)), str(file), "exec"))
    return body, loaded, plain


def _parts(code: CodeType) -> tuple[list[object], list[CodeType]]:
    """What is done outside of functions, and the functions; those inside another one belong to that."""
    bodies = list(_bodies(code))
    done = [(body.co_code, body.co_names, *map(_value, body.co_consts)) for body in bodies]
    return list(done), [part for body in bodies for part in body.co_consts if _is_function(part)]


def _bodies(code: CodeType) -> Iterator[CodeType]:
    """A module and its classes."""
    yield code
    for part in code.co_consts:
        if isinstance(part, CodeType) and not _is_function(part):
            yield from _bodies(part)


def _is_function(part: object) -> bool:
    return isinstance(part, CodeType) and bool(part.co_flags & CO_OPTIMIZED)


def _value(part: object) -> object:
    """A constant so that 1, 1.0 and True are three."""
    return part.co_qualname if isinstance(part, CodeType) else repr(part)
