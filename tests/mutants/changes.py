"""Single changes to a source text, each of which some test should notice."""

import ast
import re
from collections.abc import Iterable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from itertools import islice

# SQL: what is looked for and what is put in its place. Comments and strings are never touched.
SWAPS: tuple[tuple[str, str, str], ...] = (
    ("extreme", r"\bmin\(", "max("),
    ("extreme", r"\bmax\(", "min("),
    ("extreme", r"\barg_min\(", "arg_max("),
    ("extreme", r"\barg_max\(", "arg_min("),
    ("extreme", r"\bgreatest\(", "least("),
    ("extreme", r"\bleast\(", "greatest("),
    ("mean", r"\bmedian\(", "avg("),
    ("text", r"\bcontains\(", "starts_with("),
    ("text", r"\bstarts_with\(", "contains("),
    ("text", r"\blower\(", "("),
    ("limit", r"\blimit [\w$]+", ""),
    ("bound", r"(?<![<>=!-])<(?![=>])", "<="),
    ("bound", r"<=", "<"),
    ("bound", r"(?<![<>=-])>(?!=)", ">="),
    ("bound", r">=", ">"),
    ("equality", r"(?<![<>=!:])=(?![=>])", "<>"),
    ("equality", r"<>", "="),
    ("logic", r"\band\b(?! current| \d+ preceding| unbounded)", "or"),
    ("logic", r"\bor\b(?! replace)", "and"),
    ("logic", r"\bnot (?!null\b)", ""),
    ("null", r"\bis null\b", "is not null"),
    ("null", r"\bis not null\b", "is null"),
    ("arithmetic", r"(?<=[\w)] )(?<!select )\*(?= )", "/"),
    ("arithmetic", r"(?<= )/(?= )", "*"),
    ("arithmetic", r"(?<= )\+(?= )", "-"),
    ("arithmetic", r"(?<= )-(?= )", "+"),
    ("join", r"\bleft join\b", "join"),
    ("join", r"(?<!left )(?<!anti )(?<!semi )\bjoin\b", "left join"),
    ("union", r"\bunion all\b", "union"),
    ("distinct", r"\bdistinct ", ""),
    ("order", r" desc\b", ""),
    ("order", r"\bnulls last\b", "nulls first"),
    ("order", r"\bnulls first\b", "nulls last"),
    ("rank", r"\brank\(\)", "row_number()"),
    ("rank", r"\bdense_rank\(\)", "rank()"),
    ("rank", r"\brow_number\(\)", "rank()"),
    ("number", r"(?<![\w.$])\d+(?![\w.])", "{n+1}"),
)
_SILENT = re.compile(r"--[^\n]*|'(?:[^']|'')*'|\"[^\"]*\"")
_END = re.compile(
    r"(?<![\w$.])(?:as|where|and|or|group by|order by|qualify|window|rows|range|union|select|from|limit|then)\b|[,;]"
)


@dataclass(frozen=True)
class Change:
    """One changed text: where, of what kind, the line as it was and as it became."""

    line: int
    kind: str
    was: str
    became: str
    text: str


def of_sql(text: str) -> list[Change]:
    """Every single change that the rules make of an SQL text."""
    code = _SILENT.sub(lambda found: "\0" * len(found[0]), text)
    spans = [*_swapped(code), *_dropped_conditions(code), *_dropped_keys(code), *_dropped_coalesce(code, text)]
    changes = [_change(text, *span) for span in sorted(spans)]
    return list({change.text: change for change in changes if change.text != text}.values())


def _change(text: str, start: int, end: int, kind: str, new: str) -> Change:
    changed = text[:start] + new + text[end:]
    first = text.rfind("\n", 0, start) + 1
    was, became = (whole[first:].partition("\n")[0].strip() for whole in (text, changed))
    return Change(text.count("\n", 0, start) + 1, kind, was, became, changed)


def _swapped(code: str) -> Iterator[tuple[int, int, str, str]]:
    for kind, pattern, new in SWAPS:
        for found in re.finditer(pattern, code):
            value = str(int(found[0]) + 1) if new == "{n+1}" else new
            yield found.start(), found.end(), kind, value


def _dropped_conditions(code: str) -> Iterator[tuple[int, int, str, str]]:
    """Each condition after where, and, or, qualify, filter becomes true (after or: false)."""
    begins = r"\b(?:(where|and|or|qualify|when)\s+|filter \((?!where))(?!replace|current|unbounded|\d)"
    for found in re.finditer(begins, code):
        end = _reach(code, found.end())
        end -= len(code[found.end() : end]) - len(code[found.end() : end].rstrip())
        if end > found.end():
            yield found.end(), end, "condition", "false" if found[1] == "or" else "true"


def _dropped_keys(code: str) -> Iterator[tuple[int, int, str, str]]:
    """Each key of a partition or an order, with its comma."""
    for found in re.finditer(r"\b(partition|order) by\s+", code):
        keys, at = [], found.end()
        while True:
            end = _reach(code, at)
            keys.append((at, end))
            if code[end : end + 1] != ",":
                break
            at = end + 1
        for number, (start, end) in enumerate(keys):
            if len(keys) == 1:
                yield found.start(), end, f"{found[1]} key", " "
            elif number:
                yield start - 1, end, f"{found[1]} key", " "
            else:
                yield start, keys[1][0], f"{found[1]} key", ""


def _dropped_coalesce(code: str, text: str) -> Iterator[tuple[int, int, str, str]]:
    """Its first argument alone."""
    for found in re.finditer(r"\bcoalesce\(", code):
        first, end = found.end(), _closing(code, found.end(), ",)")
        yield found.start(), _closing(code, first, ")") + 1, "coalesce", f"({text[first:end]})"


def _closing(code: str, at: int, ends: str) -> int:
    """Where the next of these characters is, outside of brackets."""
    depth = 0
    while depth or code[at] not in ends:
        depth += (code[at] in "([{") - (code[at] in ")]}")
        at += 1
    return at


def _reach(code: str, at: int) -> int:
    """Where the expression that begins there ends: at a comma, a closing bracket or a word that begins another."""
    depth = cases = 0
    while at < len(code):
        here = code[at]
        if here in "([{":
            depth += 1
        elif here in ")]}":
            if not depth:
                return at
            depth -= 1
        elif not depth:
            word = re.match(r"case\b|end\b", code[at:])
            if word and not code[at - 1].isalnum():
                if word[0] == "end" and not cases:
                    return at
                cases += 1 if word[0] == "case" else -1
            if not cases and _END.match(code, at) and not _is_between(code, at):
                return at
        at += 1
    return at


def _is_between(code: str, at: int) -> bool:
    """Whether this is the `and` of a between."""
    return code.startswith("and", at) and bool(re.search(r"\bbetween\s+\S+\s+$", code[:at]))


OPPOSITES: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
}  # fmt: skip
CALLS = {"min": "max", "max": "min", "ceil": "floor", "floor": "ceil", "any": "all", "all": "any", "first": "last"}


@dataclass(frozen=True)
class Place:
    """One change that can be made to a Python module: how it reads, and at which node of the tree it is."""

    line: int
    kind: str
    was: str
    became: str
    node: int
    variant: int


def places_of(text: str) -> list[Place]:
    """Every single change that the rules can make of a Python module; the changed texts cost far more."""
    lines, tree = text.splitlines(), ast.parse(text)
    declared = {id(node) for one in ast.walk(tree) if isinstance(one, ast.ClassDef) for node in _declared(one)}
    return [
        _place(lines, node, number, variant)
        for number, node in enumerate(ast.walk(tree))
        if id(node) not in declared
        for variant in range(_variants(node))
    ]


def _declared(one: ast.ClassDef) -> Iterator[ast.AST]:
    """What a decorator of a class declares (frozen, slots): the type checker looks after that."""
    for decorator in one.decorator_list:
        yield from ast.walk(decorator)


def of_python(text: str, places: Iterable[Place] | None = None) -> list[Change]:
    """The changes at these places of a Python module; all of them if none are named."""
    chosen = places_of(text) if places is None else places
    return [Change(one.line, one.kind, one.was, one.became, _changed(text, one)) for one in chosen]


def _variants(node: ast.AST) -> int:
    """How many changes can be made at a node."""
    if isinstance(node, ast.BoolOp):
        return 1 + len(node.values)
    if isinstance(node, ast.Compare):
        return len(node.ops)
    if isinstance(node, ast.If | ast.IfExp):
        return 2
    if isinstance(node, ast.Constant):
        return int(type(node.value) in (int, float, bool))
    if isinstance(node, ast.Call):
        return int(_called(node) in CALLS)
    return int((isinstance(node, ast.BinOp) and type(node.op) in OPPOSITES) or _is_not(node))


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _is_not(node: ast.AST) -> bool:
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)


def _place(lines: list[str], node: ast.AST, number: int, variant: int) -> Place:
    changed = deepcopy(node)
    kind = _apply(changed, variant)
    before, after = (ast.unparse(one).partition("\n")[0] for one in (node, changed))
    line: int = node.lineno  # type: ignore[attr-defined]
    return Place(line, kind, f"{before} in: {lines[line - 1].strip()}", after, number, variant)


def _changed(text: str, place: Place) -> str:
    tree = ast.parse(text)
    _apply(next(islice(ast.walk(tree), place.node, None)), place.variant)
    return ast.unparse(ast.fix_missing_locations(tree))


def _apply(node: ast.AST, variant: int) -> str:
    """Change a node in place; the kind of change."""
    if isinstance(node, ast.BoolOp):
        if variant:
            del node.values[variant - 1]
            return "condition"
        node.op = OPPOSITES[type(node.op)]()  # type: ignore[assignment]
        return "logic"
    if isinstance(node, ast.Compare):
        node.ops[variant] = OPPOSITES[type(node.ops[variant])]()  # type: ignore[call-overload]
        return "comparison"
    if isinstance(node, ast.If | ast.IfExp):
        node.test = ast.Constant(bool(variant))
        return "condition"
    if isinstance(node, ast.Constant):
        value = node.value
        node.value = not value if isinstance(value, bool) else value + 1  # type: ignore[operator]
        return "constant"
    if isinstance(node, ast.Call):
        new = CALLS[_called(node)]
        if isinstance(node.func, ast.Attribute):
            node.func.attr = new
        elif isinstance(node.func, ast.Name):
            node.func.id = new
        return "call"
    if isinstance(node, ast.BinOp):
        node.op = OPPOSITES[type(node.op)]()  # type: ignore[assignment]
        return "arithmetic"
    assert isinstance(node, ast.UnaryOp)
    node.operand = ast.UnaryOp(ast.Not(), node.operand)
    return "logic"
