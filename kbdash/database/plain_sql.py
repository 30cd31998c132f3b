"""SQL for other programs: values inlined as literals, and every view and macro that a statement needs spelled out."""

import re
from collections.abc import Iterator, Mapping, Sequence

from kbdash.database.competition_views import (
    Attached,
    shapes_view,
    sql_text,
    statements,
    submissions_view,
    view_name,
    view_of,
    without_comments,
)
from kbdash.database.duck import literal, quoted
from kbdash.database.questions import EVERY_QUESTION
from kbdash.database.rules import rule_statements
from kbdash.dataset import catalog
from kbdash.scrub import without_user_info

Columns = Mapping[str, str]
"""The columns of a file: name -> DuckDB type."""
IN_ONE_ORDER = ("user",)
"""Questions whose answers about several competitions are sorted as one table. Other answers follow one another."""


def statement(question: str, parameters: Mapping[str, object], competitions: Sequence[str] = ()) -> str:
    """A question's SQL with its values inlined; for several competitions, a union of their answers."""
    if not competitions:
        return _written(sql_text(question), parameters)
    parts = [_written(sql_text(question), {**parameters, "competition": slug}) for slug in competitions]
    if len(parts) == 1:
        return parts[0]
    head = "".join(re.findall(r"(?m)^--.*\n", parts[0]))
    bodies = [f"(\n{without_comments(part).strip()}\n)" for part in parts]
    order = parameters.get("order") if question in IN_ONE_ORDER else None
    return head + (_merged(question, bodies, str(order)) if order else "\nunion all\n".join(bodies)) + "\n"


def _merged(question: str, bodies: Sequence[str], order: str) -> str:
    """The answers of several competitions in one order; equal values stay in the order of their own answer."""
    name = order.removeprefix("-")
    is_text = next(column.kind for column in EVERY_QUESTION[question].columns if column.name == name) == "text"
    key = f'lower("{name}")' if is_text else f'"{name}"'
    numbered = (f"select *, {at} as part, row_number() over () as place from {body}" for at, body in enumerate(bodies))
    joined = "\nunion all\n".join(numbered)
    turn = " desc" if order.startswith("-") else ""
    return f"select * exclude (part, place) from (\n{joined}\n)\norder by {key}{turn} nulls last, part, place"


def script(text: str, items: Sequence[tuple[Attached, Columns]]) -> str:
    """The statement for plain DuckDB, after the views and macros of these competitions over their files."""
    remote = any(_is_remote(item) for item, _ in items)
    where = "over the files of one revision" if remote else "in the folder with the files that it names"
    parts = [_ended(part) for part in _preamble(items)]
    body = text.strip().removesuffix(";")
    return f"-- For DuckDB alone, {where}.\n{''.join(parts)}\n{body};\n"


def _preamble(items: Sequence[tuple[Attached, Columns]]) -> Iterator[str]:
    """The SQL that creates the views and macros; it can be run repeatedly."""
    known = {board.id for item, _ in items for board in item.competition.boards}
    boards = [board for competition in catalog.COMPETITIONS for board in competition.boards if board.id in known]
    yield "set TimeZone = 'UTC'"
    reported = [case for case in catalog.FLAG_CASES if case.leaderboard_id in known]
    yield from map(without_comments, rule_statements(boards, reported))
    for item, columns in items:
        yield from statements(item.competition, item.file, columns, address=_address(item))
    competitions = [item.competition for item, _ in items]
    yield shapes_view(view_of("shapes", each.slug) for each in competitions if each.has_shapes)
    yield without_comments(submissions_view(view_name(each) for each in competitions))


def _address(item: Attached) -> str:
    """The public location of the file: its address at the Hub, or its bare name; local paths are not revealed."""
    return quoted(without_user_info(item.file.location) if _is_remote(item) else item.file.name)


def _is_remote(item: Attached) -> bool:
    return item.file.location.startswith(("https://", "http://"))


def _written(text: str, parameters: Mapping[str, object]) -> str:
    return re.sub(
        r"^(?!--).*$",
        lambda line: re.sub(r"\$([a-z_]+)", lambda name: literal(parameters.get(name[1])), line[0]),
        text,
        flags=re.MULTILINE,
    )


def _ended(part: str) -> str:
    return part.strip().removesuffix(";") + ";\n"
