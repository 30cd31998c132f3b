"""Which file a competition is read from, and the SQL of the views over it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources

from kbdash import catalog
from kbdash.duck import quoted
from kbdash.model import Competition, DataFile
from kbdash.source import Source

NOTHING = "nothing"
"""A competition without a row, which gives every question an empty answer with all its columns."""
LINKABLE = "linkable"
"""All competitions whose user and code ids mean the same, as one: a question to it is planned once."""
# Paths of other pages and names of our own, which a file nobody has met must not take.
_TAKEN = ("submission", "compare", "ladder", "user", "about", NOTHING, LINKABLE)
_NO_SHAPE = (
    "{shape: null::integer, spec: null::varchar, mean_ns: null::double, best_ns: null::double, "
    "worst_ns: null::double, std_ns: null::double, runs: null::bigint}"
)


@dataclass(frozen=True)
class Attached:
    """A competition, the file it is read from, and, where it cannot be read, the reason."""

    competition: Competition
    file: DataFile | None
    problem: str | None = None


@cache
def sql_text(question: str) -> str:
    """The SQL of one question, as it stands in kbdash/sql."""
    return resources.files("kbdash.sql").joinpath(f"{question}.sql").read_text(encoding="utf-8")


def planned(source: Source) -> list[Attached]:
    """Catalog competitions with the file each would use, then one per file that the catalog does not name."""
    known = [_known(competition, source) for competition in catalog.COMPETITIONS]
    named = {name for competition in catalog.COMPETITIONS for name in competition.files}
    named.update(catalog.SUBSETS, {catalog.DEFINITIONS})
    unknown = [Attached(_discovered(file), file) for name, file in source.files.items() if name not in named]
    return [item for item in known if item.file] + unknown


def _known(competition: Competition, source: Source) -> Attached:
    name = next((name for name in competition.files if name in source.files), None)
    if name is None:
        return Attached(competition, None)
    if name != competition.files[0]:
        competition = replace(competition, caveats=(catalog.FAILURES_UNKNOWN, *competition.caveats))
    return Attached(competition, source.files[name])


def _discovered(file: DataFile) -> Competition:
    stem = file.name.removesuffix(".parquet").removesuffix("_submissions")
    slug = re.sub(r"[^a-z0-9]+", "-", stem.lower()).strip("-") or "data"
    taken = {*_TAKEN, *(competition.slug for competition in catalog.COMPETITIONS)}
    return Competition(
        slug=f"{slug}-file" if slug in taken else slug,
        title=stem.replace("_", " "),
        vendor="Other",
        summary=f"Found in {file.name}; this file is not in the catalog.",
        family="flat",
        files=(file.name,),
        boards=(),
    )


def view_name(competition: Competition) -> str:
    """The view with the canonical rows of a competition."""
    return '"submissions of ' + competition.slug + '"'


def branches(competitions: Sequence[Competition]) -> str:
    """What adds these competitions to a view."""
    return "".join(f"\nunion all by name from {view_name(competition)}" for competition in competitions)


def statements(competition: Competition, file: DataFile, columns: Mapping[str, str]) -> Iterator[str]:
    """The SQL that makes the views of a competition over a file with these columns (name -> DuckDB type)."""
    names = {
        "view": view_name(competition),
        "competition": quoted(competition.slug),
        "file": quoted(file.name),
        "location": quoted(file.location),
        "shapes": _shape_list(columns.get("run_result", "")),
    }
    for template in ("view_flat",) if competition.family == "flat" else ("view_legacy", "view_shapes"):
        yield _filled(sql_text(template), names)


def no_shapes() -> str:
    """The SQL of the view that stands for the shapes of a competition that has none."""
    return (
        "create view shapes as select null::varchar as competition, null::bigint as file_row, "
        f"unnest({_NO_SHAPE}) where false"
    )


def _filled(template: str, names: Mapping[str, str]) -> str:
    """A view's SQL with its {names} filled in."""
    return re.sub(r"\{(\w+)\}", lambda found: names[found[1]], without_comments(template))


def without_comments(text: str) -> str:
    """SQL without the lines that only explain it."""
    return re.sub(r"(?m)^--.*\n", "", text)


def _shape_list(run_result: str) -> str:
    """A SQL list with a struct per benchmark shape that the type of run_result names; times are text in the file."""
    fields = set(re.findall(r'"benchmark\.(\d+)\.(\w+)"', run_result))

    def value(shape: int, field: str, kind: str) -> str:
        known = (str(shape), field) in fields
        return f"try_cast(run_result['benchmark.{shape}.{field}'] as {kind})" if known else f"null::{kind}"

    structs = [
        f"{{shape: {shape}, spec: {value(shape, 'spec', 'varchar')}, mean_ns: {value(shape, 'mean', 'double')}, "
        f"best_ns: {value(shape, 'best', 'double')}, worst_ns: {value(shape, 'worst', 'double')}, "
        f"std_ns: {value(shape, 'std', 'double')}, runs: {value(shape, 'runs', 'bigint')}}}"
        for shape in sorted({int(number) for number, _ in fields})
    ]
    return f"[{', '.join(structs)}]" if structs else f"[{_NO_SHAPE}]"
