"""Which file a competition is read from, and the SQL of the views over it."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cache
from hashlib import blake2b
from importlib import resources
from itertools import chain, count

from kbdash.database.duck import quoted
from kbdash.database.schema import SCHEMAS
from kbdash.dataset import catalog, page_paths
from kbdash.dataset.http import address_of
from kbdash.dataset.model import Competition, DataFile
from kbdash.dataset.source import Source
from kbdash.errors import KbdashError

EMPTY = "nothing"
"""A competition without rows: every question about it has an empty answer with all columns."""
ALL_LINKABLE = "linkable"
"""All competitions that share user and code ids, as one: DuckDB plans a question to it only once."""
# Reserved slugs: paths of other pages and names of our own, which a file outside the catalog must not take.
_TAKEN = (*page_paths.TAKEN, EMPTY, ALL_LINKABLE)
_LONGEST_SLUG = 80
_NO_SHAPE = (
    "{shape: null::integer, spec: null::varchar, mean_ns: null::double, best_ns: null::double, "
    "worst_ns: null::double, std_ns: null::double, runs: null::bigint}"
)


@dataclass(frozen=True)
class Attached:
    """A competition and the file it is read from.

    `opened` is False until the file was opened; `reason` says why it cannot be read. `version` changes with its rows.
    """

    competition: Competition
    file: DataFile
    opened: bool = False
    reason: str | None = None
    version: str = ""


def reason_of(item: Attached, error: KbdashError) -> str:
    """The reason why a file cannot be read, as a sentence that names the file."""
    name, what = item.file.name, f"{error} {error.advice}".strip()
    return what if what.startswith(name) else f"{name} cannot be read: {what}"


@cache
def sql_text(question: str) -> str:
    """The SQL of one question, from kbdash/database/sql."""
    return resources.files("kbdash.database.sql").joinpath(f"{question}.sql").read_text(encoding="utf-8")


def planned(source: Source) -> list[Attached]:
    """Catalog competitions with the file each would use, then one per file that the catalog does not name."""
    known = [item for competition in catalog.COMPETITIONS if (item := _known(competition, source))]
    named = {name for competition in catalog.COMPETITIONS for name in competition.files}
    named.update(catalog.SUBSETS, {catalog.DEFINITIONS})
    taken = {*_TAKEN, *(competition.slug for competition in catalog.COMPETITIONS)}
    found = []
    for name in sorted(set(source.files) - named):
        competition = _discovered(source.files[name], taken)
        taken.add(competition.slug)
        found.append(Attached(competition, source.files[name]))
    return known + found


def _known(competition: Competition, source: Source) -> Attached | None:
    name = next((name for name in competition.files if name in source.files), None)
    if name is None:
        return None
    if name != competition.files[0]:
        competition = replace(competition, caveats=(catalog.FAILURES_UNKNOWN, *competition.caveats))
    return Attached(competition, source.files[name])


def _discovered(file: DataFile, taken: Set[str]) -> Competition:
    stem = file.name.removesuffix(".parquet").removesuffix("_submissions")
    return Competition(
        slug=_free_slug(re.sub(r"[^a-z0-9]+", "-", stem.lower()).strip("-")[:_LONGEST_SLUG] or "data", taken),
        title=stem.replace("_", " "),
        vendor="Other",
        summary=f"Found in {file.name}; this file is not in the catalog.",
        family="flat",
        files=(file.name,),
        boards=(),
    )


def _free_slug(slug: str, taken: Set[str]) -> str:
    """The slug, made longer if another file or page has it."""
    choices = chain((slug, f"{slug}-file"), (f"{slug}-file-{number}" for number in count(2)))
    return next(choice for choice in choices if choice not in taken)


def view_name(competition: Competition) -> str:
    """The view with the canonical rows of a competition."""
    return view_of("submissions", competition.slug)


def view_of(what: str, slug: str) -> str:
    """Name of the view with this part of a competition: "submissions", "judged", "tallies", "runs", "shapes"…"""
    return f'"{what} of {slug}"'


def part_and_slug(view: str) -> tuple[str, str]:
    """Which part of which competition a view holds."""
    part, _, slug = view.strip('"').partition(" of ")
    return part, slug


def rule_views(slug: str) -> Iterator[str]:
    """The SQL of the views over a competition that the ranking rule reads."""
    yield f"{_judged(slug)} judging({quoted(slug)})"
    yield from _tally_views(slug)


def empty_rule_views() -> Iterator[str]:
    """The SQL of these views over no rows. "judged" is a table here: DuckDB binds it ten times faster than the view."""
    yield f"create or replace table {view_of('judged', EMPTY)} as from judging({quoted(EMPTY)})"
    yield from _tally_views(EMPTY)


def views_ahead(slug: str) -> Iterator[str]:
    """The SQL of the views of a competition before its file is there: the same columns, no rows.

    DuckDB binds a view, and everything the view reads, when the view is made. That takes longer over a file. Once these
    views are made, only the view over the file itself is missing. The rule comes last for the same reason: the tallies
    are then bound over an empty table.
    """
    yield f"create view {view_of('submissions', slug)} as from {view_of('submissions', EMPTY)}"
    yield f"{_judged(slug)} {view_of('judged', EMPTY)}"
    yield from _tally_views(slug)
    yield f"{_judged(slug)} judging({quoted(slug)})"


def _judged(slug: str) -> str:
    return f"create or replace view {view_of('judged', slug)} as from"


def _tally_views(slug: str) -> Iterator[str]:
    for what in ("tallies", "tries"):
        yield f"create or replace view {view_of(what, slug)} as from tally({quoted(slug)})"


def branches(competitions: Sequence[Competition]) -> str:
    """The SQL that adds these competitions to a view (union all)."""
    return _united(view_name(competition) for competition in competitions)


def submissions_view(views: Iterable[str]) -> str:
    """The SQL of the view over the submissions of several competitions."""
    return sql_text("view_submissions") + _united(views)


def shapes_view(views: Iterable[str]) -> str:
    """The SQL of the view over the shapes of several competitions."""
    return f"create or replace view shapes as from {view_of('shapes', EMPTY)}{_united(views)}"


def _united(views: Iterable[str]) -> str:
    return "".join(f"\nunion all by name from {view}" for view in views)


def location(file: DataFile) -> str:
    """The table function call by which DuckDB reads the file."""
    return quoted(address_of(file))


@cache
def parameters_of(question: str) -> frozenset[str]:
    """Names of the parameters that a question binds."""
    return frozenset(re.findall(r"\$([a-z_]+)", without_comments(sql_text(question))))


def statements(
    competition: Competition, file: DataFile, columns: Mapping[str, str], *, address: str | None = None
) -> Iterator[str]:
    """The SQL that makes all views of a competition over a file, as `file_views`."""
    yield from file_views(competition, file, columns, address=address)
    yield from rule_views(competition.slug)


def file_views(
    competition: Competition, file: DataFile, columns: Mapping[str, str], *, address: str | None = None
) -> Iterator[str]:
    """The SQL that makes the views over a file with these columns (name -> DuckDB type).

    `address` is the location of the file for other programs, as SQL.
    """
    names = {
        "view": view_name(competition),
        "competition": quoted(competition.slug),
        "file": quoted(file.name),
        "location": address or location(file),
        "runs": view_of("runs", competition.slug),
        "shapes": view_of("shapes", competition.slug),
        "shape_list": _shape_list(columns.get("run_result", "")),
    }
    schema = SCHEMAS[competition.family]
    for template in schema.views:
        yield _filled(sql_text(template), names)
    if schema.one_row_each:
        for part in ("runs", "shapes"):
            yield f"create or replace view {names[part]} as from {view_of(part, EMPTY)}"


def rows_version(competition: Competition, file: DataFile, columns: Mapping[str, str]) -> str:
    """A version of the rows of a competition, which depend on its file and on the SQL of the views over it."""
    views = file_views(competition, file, columns, address="''")  # a new address does not change the rows
    return blake2b("\n".join((file.version, *views)).encode(), digest_size=12).hexdigest()


def empty_runs() -> Iterator[str]:
    """The SQL of the runs, and of their shapes, of a competition that has none."""
    yield (
        f"create or replace table {view_of('runs', EMPTY)} as select *, false as ranked "
        f"from {view_of('submissions', EMPTY)}"
    )
    yield (
        f"create or replace table {view_of('shapes', EMPTY)} as select null::varchar as competition, "
        f"null::bigint as file_row, unnest({_NO_SHAPE}) where false"
    )


def _filled(template: str, names: Mapping[str, str]) -> str:
    """A view's SQL with its {names} filled in."""
    return re.sub(r"\{(\w+)\}", lambda found: names[found[1]], without_comments(template))


def without_comments(text: str) -> str:
    """SQL without its comment lines."""
    return re.sub(r"(?m)^--.*\n", "", text)


def _shape_list(run_result: str) -> str:
    """A SQL list with a struct per benchmark shape that the type of run_result names; times are text in the file."""
    fields = set(re.findall(r'"benchmark\.(\d+)\.(\w+)"', run_result))

    def value(shape: int, field: str, kind: str) -> str:
        known = (str(shape), field) in fields
        return f"try_cast(run_result['benchmark.{shape}.{field}'] as {kind})" if known else f"null::{kind}"

    def time(shape: int, field: str) -> str:
        return f"{field}_ns: possible_ns({value(shape, field, 'double')})"

    structs = [
        f"{{shape: {shape}, spec: {value(shape, 'spec', 'varchar')}, {time(shape, 'mean')}, {time(shape, 'best')}, "
        f"{time(shape, 'worst')}, {time(shape, 'std')}, runs: {value(shape, 'runs', 'bigint')}}}"
        for shape in sorted({int(number) for number, _ in fields})
    ]
    return f"[{', '.join(structs)}]" if structs else f"[{_NO_SHAPE}]"
