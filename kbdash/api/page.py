"""The description of the data links for people: plain HTML, generated from the list of questions."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from html import escape
from pathlib import Path
from string import Template

from kbdash.api import address
from kbdash.api.address import FORMATS
from kbdash.api.answers import column_facts
from kbdash.api.failures import KINDS
from kbdash.api.gate import Bounds
from kbdash.api.options import Option
from kbdash.api.responses import Body
from kbdash.charts.palette import DARK, LIGHT
from kbdash.database.questions import EVERY_QUESTION
from kbdash.database.questions.boards import LEADERBOARD
from kbdash.database.questions.kinds import Question

MEDIA_TYPE = "text/html; charset=utf-8"
PAGE = Template((Path(__file__).parent / "page.html").read_text("utf-8"))
COLOURS = {f"{theme.name}_{use}": colour for theme in (LIGHT, DARK) for use, colour in asdict(theme).items()}
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def page(origin: str, bounds: Bounds) -> Body:
    """The page; `origin` is the base address of its examples."""
    text = PAGE.substitute(
        COLOURS, snippets=escape(snippets(origin)),
        names=" · ".join(f'<a href="#{name}">{name}</a>' for name in EVERY_QUESTION),
        questions="\n".join(_question(question) for question in EVERY_QUESTION.values()),
        errors=_table(
            ("status", "type", "title"), ((str(kind.status), f"/api#{kind.name}", kind.title) for kind in KINDS),
            ids=[kind.name for kind in KINDS],
        ),
        rows=f"{bounds.rows:,}", seconds=f"{bounds.seconds:g}", per_client=bounds.per_client, in_all=bounds.in_all,
    )  # fmt: skip
    return Body(text.encode(), MEDIA_TYPE, headers={"Content-Security-Policy": POLICY})


def snippets(origin: str) -> str:
    """How to read an answer with common tools."""
    csv, json, parquet = (origin + address.path(LEADERBOARD, dict(LEADERBOARD.example), form) for form in FORMATS)
    return "\n".join(
        (
            f'pd.read_csv("{csv}", dtype={{"user_id": str}})',
            f"duckdb -c \"from '{parquet}'\"",
            f"curl -sS --compressed '{json}'",
        )
    )


def _question(question: Question) -> str:
    links = "".join(
        f' <a href="{escape(address.path(question, dict(question.example), form))}">{form}</a>' for form in FORMATS
    )
    shown = escape(address.path(question, dict(question.example)))
    can_click = question.example or not any(option.required for option in address.options(question))
    example = f"<p>Example: <code>{shown}</code> as{links}</p>" if can_click else ""
    told = [(f["name"], f["kind"], f["unit"], f["meaning"]) for f in map(column_facts, question.columns)]
    said = [(option.name, _accepted(option), option.meaning) for option in address.options(question)]
    parameters = _table(("parameter", "accepted", "meaning"), said) if said else "<p>No parameters.</p>"
    return (
        f'<h2 id="{question.name}">{question.name}</h2><p>{escape(question.sentence)}</p>{example}{parameters}'
        + _table(("column", "kind", "unit", "meaning"), told)
    )


def _accepted(option: Option) -> str:
    said = option.accepted.partition(":")[0]
    default = f"; {option.schema['default']} when left out" if "default" in option.schema else ""
    return said + ("; needed" if option.required else default) + ("; can be repeated" if option.repeats else "")


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]], ids: Sequence[str] = ()) -> str:
    top = "".join(f'<th scope="col">{escape(head)}</th>' for head in heads)
    marks = [f' id="{name}"' for name in ids]
    lines = [
        f"<tr{marks[place] if marks else ''}>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>"
        for place, row in enumerate(rows)
    ]
    return f"<table><thead><tr>{top}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
