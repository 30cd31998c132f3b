"""One function or constant of a loaded module in place of another: a change takes effect without a new import."""

import ast
import gc
import sys
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
        for function in list(self._functions()):
            function.__code__ = self.becomes

    def is_there(self) -> bool:
        """Whether there is such a function: a module that a test runs as a program is gone by now."""
        return any(True for _ in self._functions())

    def _functions(self) -> Iterator[FunctionType]:
        gc.unfreeze()  # the tests are frozen once they are collected, and what is frozen is not listed
        for each in gc.get_objects():
            if isinstance(each, FunctionType) and each.__code__ == self.loaded:
                yield each


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
    return swap if swap.loaded.co_freevars == swap.becomes.co_freevars and swap.is_there() else None


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


@dataclass(frozen=True)
class Rebound:
    """A constant of a loaded module with its changed value."""

    module: str
    constant: str
    statement: str

    def make(self) -> None:
        """Give the changed value to the module, and to every module that imported the constant from there."""
        place = vars(sys.modules[self.module])
        was = place[self.constant]
        changed = dict(place)
        exec(compile(self.statement, self.module, "exec"), changed)
        for module in [one for name, one in sys.modules.items() if name.partition(".")[0] in ("kbdash", "tests")]:
            if vars(module).get(self.constant) is was:
                setattr(module, self.constant, changed[self.constant])


def rebound_of(file: Path, changed: str) -> Rebound | None:
    """The one constant of a loaded module that the changed text gives another value; None if it changes else."""
    was, becomes = (ast.parse(text).body for text in (file.read_text(), changed))
    differing = [new for old, new in zip(was, becomes, strict=True) if ast.dump(old) != ast.dump(new)]
    module = next((name for name, one in sys.modules.items() if getattr(one, "__file__", None) == str(file)), None)
    if len(differing) != 1 or module is None:
        return None
    match differing[0]:
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return Rebound(module, name, ast.unparse(differing[0]))
    return None
