"""The bodies of data links, made from the engine's answers; no SQL here."""

from collections.abc import Callable, Hashable, Mapping
from difflib import get_close_matches
from functools import partial
from typing import Any, TypeVar

from kbdash.api import address, options, tables
from kbdash.api.address import FORMATS
from kbdash.api.failures import NoSuchThing
from kbdash.api.names import file_stem
from kbdash.api.options import Given, Values
from kbdash.api.responses import Body, Stream
from kbdash.cache import BYTES, SharedCache
from kbdash.code import diff, export
from kbdash.content.frames import as_frame
from kbdash.database.questions import EVERY_QUESTION
from kbdash.database.questions.kinds import Column, Question
from kbdash.dataset.model import Page, Submission
from kbdash.dataset.source import Source
from kbdash.engine import KernelBot
from kbdash.errors import UnknownProblem
from kbdash.scrub import for_readers
from kbdash.view import CompareView, Ref

MEDIA_TYPES = {
    "csv": "text/csv; charset=utf-8; header=present",
    "json": "application/json",
    "parquet": "application/vnd.apache.parquet",
}
TEXT = "text/plain; charset=utf-8"
MOST_BYTES = 32 * 2**20
MOST_AT_ONCE = 10_000
"""Rows of a CSV file that is made whole; a longer one is sent in parts."""
REF = r"^(0|[1-9][0-9]{0,17})(@[^@\x00-\x1f\x7f-\x9f]{0,60}(@[^@\x00-\x1f\x7f-\x9f]{0,100})?)?$"
B = TypeVar("B", bound=Body | Stream)


class Answers:
    """Makes bodies, memoised per dataset version. Thread-safe."""

    def __init__(self, engine: Callable[[], KernelBot], most_rows: int) -> None:
        self._engine = engine
        self._most_rows = most_rows
        self._kept: SharedCache[Hashable, Any] = SharedCache(MOST_BYTES, lambda body: body.size, BYTES)

    def data(self, name: str, format_: str, given: Given) -> Body | Stream:
        """The answer to a question in a format."""
        question = known_question(name, format_)
        values = address.read(question, given)
        return self.memoised((name, format_, hashable(values)), lambda kb: self._data(kb, question, format_, values))

    def code(self, id_: int, given: Given) -> Body:
        """The source text of a submission."""
        values = options.read_options(WHERE, given)
        runner, competition = values.get("runner"), values.get("competition")
        return self.memoised(("code", id_, runner, competition), lambda kb: _code(kb, Ref(id_, runner, competition)))  # type: ignore[arg-type]

    def patch(self, given: Given) -> Body:
        """What changed between two submissions."""
        values = options.read_options(SIDES, given)
        before, after = values["a"], values["b"]
        return self.memoised(("patch", before, after), lambda kb: _patch(kb, before, after))  # type: ignore[arg-type]

    def memoised(self, key: tuple[Hashable, ...], make: Callable[[KernelBot], B]) -> B:
        """The body of that key for the current dataset version and stores; an incomplete one is not cached."""
        kb = self._engine()
        whole_key = (kb.source.version, kb.source.notice, kb.readable(), kb.content_at_hand(), *key)
        body: B = self._kept.get(whole_key, lambda: make(kb))
        if not body.lasting:
            self._kept.drop(whole_key)
        return body

    def _data(self, kb: KernelBot, question: Question, format_: str, values: Values) -> Body | Stream:
        given = arguments(kb, values)
        answer = getattr(kb, question.name)(**given)
        frame = as_frame(answer)
        total = answer.total if isinstance(answer, Page) else len(frame)
        shown = frame.head(self._most_rows)
        table = tables.table(shown, question.columns, sample=kb.source.kind == "sample")
        headers = source_headers(kb.source) | {"Kbdash-Rows": str(len(shown)), "Kbdash-Total": str(total)}
        missing = {slug: for_readers(reason) for slug, reason in frame.attrs.get("unavailable", {}).items()}
        if len(shown) < len(frame):
            headers["Kbdash-Truncated"] = f"at {self._most_rows} rows"
        if missing:
            headers["Kbdash-Unavailable"] = ", ".join(missing)
        if isinstance(answer, Page) and answer.page < answer.pages:
            following = address.path(question, given | {"page": answer.page + 1}, format_)
            headers["Link"] = f'<{following}>; rel="next"'
        about = {"truncated": len(shown) < len(frame), "total": total, "unavailable": missing}
        stem = file_stem(kb.source, question.name, *(_text_or_none(given.get(key)) for key in ("problem", "runner")))
        name, media_type = f"{stem}.{format_}", MEDIA_TYPES[format_]
        if format_ == "csv" and len(shown) > MOST_AT_ONCE:
            return Stream(partial(tables.csv_parts, table), media_type, name, headers, tables.digest(table))
        content = encoded(table, format_, kb.source, about, question)
        lasting = not missing and kb.source.notice is None
        return Body(content, media_type, name, headers, lasting, format_ != "json")


def known_question(name: str, format_: str) -> Question:
    """The question of that name, if the format is known."""
    if name not in EVERY_QUESTION:
        close = get_close_matches(name, EVERY_QUESTION, 3, 0.4)
        advice = f"Did you mean {' or '.join(close)}?" if close else "/api lists them all."
        raise NoSuchThing(f"There is no question {name[:60]}.", advice=advice)
    if format_ not in FORMATS:
        raise NoSuchThing(f"{name} is not there as {format_[:20]}.", advice=f"It is as {', '.join(FORMATS)}.")
    return EVERY_QUESTION[name]


def source_headers(source: Source) -> dict[str, str]:
    """Headers of every response about the data behind it."""
    sample = {"Kbdash-Sample": "synthetic"} if source.kind == "sample" else {}
    return {"Kbdash-Commit": source.version, **sample}


def source_facts(source: Source) -> dict[str, Any]:
    """The same facts for bodies that have room for them."""
    return {
        "dataset": source.dataset, "commit": source.version, "licence": source.licence,
        "sample": source.kind == "sample",
    }  # fmt: skip


def column_facts(column: Column) -> dict[str, str]:
    """The description of a column in bodies and in OpenAPI; durations are sent as seconds."""
    if column.kind == "duration":
        return {"name": column.name, "kind": "number", "unit": "seconds", "meaning": column.meaning}
    return {"name": column.name, "kind": column.kind, "unit": column.unit, "meaning": column.meaning}


def hashable(values: Mapping[str, object]) -> Hashable:
    """Values as part of a cache key."""
    return tuple(sorted(values.items(), key=lambda item: item[0]))


def check_competition(kb: KernelBot, slug: object) -> None:
    """Raise UnknownProblem for a competition that does not exist; the engine would return no rows."""
    slugs = [item.slug for item in kb.competitions]
    if slug is not None and slug not in slugs:
        raise UnknownProblem(f"There is no competition {slug}.", advice=f"There are {', '.join(slugs)}.")


def arguments(kb: KernelBot, values: Values) -> Values:
    """The arguments of the question; a submission is looked up by its id, runner and competition."""
    parts = {name.removeprefix("of_"): value for name, value in values.items() if name.startswith("of_")}
    plain = {name: value for name, value in values.items() if not name.startswith("of_")}
    check_competition(kb, (plain | parts).get("competition"))
    return plain | {"of": kb.submission(**parts)} if parts else plain  # type: ignore[arg-type]


def encoded(table: Any, format_: str, source: Source, about: dict[str, Any], question: Question) -> bytes:
    """The table in a format, with its facts if the format has room for them."""
    facts = source_facts(source)
    if format_ == "csv":
        return tables.csv(table)
    if format_ == "parquet":
        return tables.parquet(table, {f"kbdash.{name}": str(value) for name, value in facts.items()})
    told = [column_facts(column) for column in (*question.columns, tables.SAMPLE)][: len(table.column_names)]
    rows = tables.rows(table)
    return tables.json_bytes({"question": question.name, "source": facts, **about, "columns": told, "rows": rows})


def _code(kb: KernelBot, ref: Ref) -> Body:
    one = asked_submission(kb, ref)
    found = kb.text_of(one)
    text = export.credited(found, one, kb.source) if kb.source.kind == "sample" else found.text
    name = f"{file_stem(kb.source)}_{export.file_name(one, found.language)}"
    return _text_body(kb.source, text, name)


def _patch(kb: KernelBot, before: Ref, after: Ref) -> Body:
    old, new = asked_submission(kb, before), asked_submission(kb, after)
    changes = diff.compare(kb.text_of(old).text, kb.text_of(new).text)
    text = export.patch(changes, old, new, kb.source)
    stem = file_stem(kb.source, new.competition, str(before.id), "to", str(after.id))
    return _text_body(kb.source, text, f"{stem}.patch")


def _text_body(source: Source, text: str, name: str) -> Body:
    return Body(text.encode("utf-8", "replace"), TEXT, name, source_headers(source), source.notice is None)


def asked_submission(kb: KernelBot, ref: Ref) -> Submission:
    """The submission that a link or a command names."""
    check_competition(kb, ref.competition)
    return kb.submission(ref.id, ref.runner, ref.competition)


def _text_or_none(value: object) -> str | None:
    return None if value is None else str(value)


def _ref(name: str) -> options.Option:
    """A submission as the address of /compare names it."""

    def taken(texts: Any) -> Values:
        view, _ = CompareView.parse({"a": texts})
        if not options.matches(REF, texts[0]) or view.a is None:
            raise ValueError
        return {name: view.a}

    return options.Option(
        name, "a submission: id, id@runner or id@runner@competition", {"type": "string", "pattern": REF}, taken,
        lambda values: [str(values[name])], "id, id@runner or id@runner@competition", required=True,
    )  # fmt: skip


WHERE = {
    "runner": options.text_option("runner", "the machine it ran on, where there were several"),
    "competition": options.text_option("competition", "slug of the competition, where two have the id"),
}
SIDES = {name: _ref(name) for name in ("a", "b")}
