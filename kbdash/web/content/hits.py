"""Search results for display: the hits in a line, links, and the search as Python and SQL."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
import re2

from kbdash.content.search.patterns import parse_pattern
from kbdash.database.duck import literal
from kbdash.dataset.catalog import runner_name
from kbdash.units import person, time_text, unit_for
from kbdash.view import SearchView, SubmissionView, href
from kbdash.web.table import Column
from kbdash.web.tables import rows, text

LONGEST = 300
"""Characters of a line that a result shows; the rest is a click away."""
BEFORE = 60
MOST_HITS = 50
Pieces = list[tuple[str, bool]]


def options(view: SearchView) -> dict[str, Any]:
    """A view as the engine's keyword arguments, without defaults."""
    asked: dict[str, Any] = {
        "regex": view.regex,
        "case": not view.any_case,
        "competition": view.competition,
        "problem": view.problem,
        "runner": view.runner,
        "user": view.user,
        "passed": view.passed or None,
        "since": view.since,
        "until": view.until,
        "facets": view.facets,
    }
    usual = {"regex": False, "case": True, "facets": ()}
    return {name: value for name, value in asked.items() if value != usual.get(name)}


def expression(view: SearchView) -> str:
    """The regular expression that finds the hits of a view."""
    return parse_pattern(view.q, regex=view.regex, case=not view.any_case).expression


def pieces(line: str, wanted: str) -> Pieces:
    """A line in pieces, hits marked; a long one is cut around its first hit."""
    found = list(_hits(line, wanted))
    start = max(0, found[0][0] - BEFORE) if found and found[0][0] > LONGEST - BEFORE else 0
    end = min(len(line), start + LONGEST)
    parts: Pieces = [("…", False)] if start else []
    at = start
    for first, last in found:
        if first >= end:
            break
        parts += [(line[at:first], False), (line[first : min(last, end)], True)]
        at = min(last, end)
    parts.append((line[at:end], False))
    if end < len(line):
        parts.append(("…", False))
    return [part for part in parts if part[0]]


def _hits(line: str, wanted: str) -> Iterator[tuple[int, int]]:
    quiet = re2.Options()
    quiet.log_errors = False
    for number, match in enumerate(re2.compile(wanted, quiet).finditer(line)):
        if number == MOST_HITS:
            return
        if match.end() > match.start():
            yield match.start(), match.end()


def first_hit(line: str, wanted: str) -> str:
    """What the viewer should mark: the first hit of a line."""
    found = next(_hits(line, wanted), None)
    return "" if found is None else line[found[0] : found[1]][:200]


def shown_rows(found: pd.DataFrame, places: Sequence[tuple[str, str | None]], view: SearchView) -> pd.DataFrame:
    """Table rows of the lines; `places` are competition and runner of each best submission."""
    wanted = expression(view)
    every = list(zip(rows(found), places, strict=True))
    return pd.DataFrame(
        {
            "line": [pieces(row["line"], wanted) for row, _ in every],
            "at": [_at(row, place, first_hit(row["line"], wanted)) for row, place in every],
            "users": found["users"],
            "submissions": found["submissions"],
            "held": [
                [("who holds it", href("search", replace(view, opened=number)))] for number in range(1, len(every) + 1)
            ],
            "rank": found["best_rank"],
            "best": [time_text(row["best_score"], unit_for(row["best_score"])) for row, _ in every],
            "by": [person(row["first_user_name"], None) for row, _ in every],
            "first": [href("submission", SubmissionView(id=int(row["first_submission_id"]))) for row, _ in every],
            "day": found["first_at"],
        }
    )


COLUMNS = (
    Column("line", "Line", "code", link="at", help="Opens the best-ranked submission that contains it, at that line."),
    Column("users", "Users", "whole", help="Users with a submission that contains the line."),
    Column("submissions", "Submissions", "whole", help="Submissions that contain the line."),
    Column("held", "Used by", "links"),
    Column("rank", "Best rank", "whole", help="The best rank that a submission with this line reaches."),
    Column("best", "Its time", width=14),
    Column("by", "First by", width=18, link="first"),
    Column("day", "First (UTC)", "day"),
)


def _at(row: dict[str, Any], place: tuple[str, str | None], hit: str) -> str:
    if pd.isna(row["best_submission_id"]):
        return ""
    line = int(row["line_no"])
    view = SubmissionView(int(row["best_submission_id"]), place[1], place[0], line=(line, line), find=hit)
    return href("submission", view)


def holder_rows(found: pd.DataFrame, hit: str) -> pd.DataFrame:
    """Table rows of the submissions that contain a line."""
    every = rows(found)
    return pd.DataFrame(
        {
            "rank": found["rank"],
            "user": [person(row["user_name"], row["user_id"]) for row in every],
            "time": [time_text(row["score"], unit_for(row["score"])) for row in every],
            "problem": found["problem"],
            "runner": [runner_name(text(row["runner"])) for row in every],
            "day": found["submitted_at"],
            "open": "Code",
            "code": [_place(row, hit) for row in every],
        }
    )


HOLDERS = (
    Column("rank", "Rank", "rank", help="The rank that its user would have with it."),
    Column("user", "User", "name", width=24),
    Column("time", "Time", width=14),
    Column("problem", "Problem"),
    Column("runner", "Runner"),
    Column("day", "Submitted (UTC)", "minute"),
    Column("open", "Code", link="code"),
)


def _place(row: dict[str, Any], hit: str) -> str:
    line = int(row["line_no"])
    id_, runner = int(row["submission_id"]), text(row["runner"])
    return href("submission", SubmissionView(id_, runner, row["competition"], line=(line, line), find=hit[:200]))


def python_text(view: SearchView) -> str:
    """The search as Python for a notebook."""
    said = "".join(f", {name}={_python(value)}" for name, value in options(view).items())
    return f"import kbdash\n\nkb = kbdash.connect()\nkb.search({view.q!r}{said}, limit={view.top})"


def _python(value: object) -> str:
    return repr(value if isinstance(value, str | bool | tuple) else str(value))


def sql_text(view: SearchView) -> str:
    """The search as SQL for DuckDB over the tables of a content store."""
    word = literal(view.q)
    case = ", 'i'" if view.any_case else ""
    test = f"regexp_matches(try(decode(line)), {word}{case})" if view.regex else f"contains(try(decode(line)), {word})"
    if view.any_case and not view.regex:
        test = f"contains(lower(try(decode(line))), lower({word}))"
    return (
        "select try(decode(line)) as line, users, submissions, first_submission_id, first_user_id, first_at\n"
        "from 'lines.parquet' join 'origins.parquet' using (line_id)\n"
        f"where {test}\norder by users desc, submissions desc, line"
    )
