"""`make mutants`: single changes to SQL and to Python, and how many of them the tests notice.

python -m tests.mutants [--write] [--resume | --again | --report] [part of a file name …] [--tests …]
"""

import argparse
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.report import RESULTS, replace_section
from tests.mutants.changes import Change, Place, of_python, of_sql, places_of
from tests.mutants.kept import Kept, Mutants
from tests.mutants.python import try_python
from tests.mutants.runs import ROOT, is_noticed, preload
from tests.mutants.sql import try_sql
from tests.stock import stock

HERE = Path(__file__).parent
TITLE = "Mutants"
KINDS = {"SQL files below": ".sql", "Python modules below": ".py"}
MOST_OF_A_MODULE = 3
"""Changes tried in one Python module, drawn by chance and always the same ones."""


@dataclass(frozen=True)
class Target:
    """Files to change, and the tests that ought to notice; `elsewhere` says that they run in a process of their own."""

    files: tuple[Path, ...]
    tests: tuple[str, ...]
    elsewhere: bool = False
    is_first_look: bool = False


def targets(wanted: list[str], tests: Sequence[str] | None = None) -> Iterator[Target]:
    """The files whose names have one of the wanted parts, all without parts; shown to other tests if some are named."""
    taken: set[Path] = set()
    for target in tomllib.loads((HERE / "targets.toml").read_text())["target"]:
        files = [file for pattern in target["files"] for file in sorted(ROOT.glob(pattern)) if file not in taken]
        taken.update(files)
        chosen = tuple(file for file in files if not wanted or any(part in file.as_posix() for part in wanted))
        if chosen:
            elsewhere = target.get("elsewhere", False)
            yield Target(chosen, tuple(tests or named_tests(target)), elsewhere, is_first_look=bool(tests))


def named_tests(target: dict[str, Any]) -> Iterator[str]:
    """The tests that a target names: single ones, files, patterns of files."""
    for pattern in target["tests"]:
        files = sorted(ROOT.glob(pattern)) if "*" in pattern else ()
        found = [file.relative_to(ROOT).as_posix() for file in files] or [pattern]
        yield from (name for name in found if name not in target.get("without", ()))


@cache
def known_equal() -> frozenset[tuple[str, str, str]]:
    """Changes that no test can notice; the reason of each stands beside it."""
    listed = tomllib.loads((HERE / "equal.toml").read_text())["equal"]
    return frozenset((one["file"], one["was"], one["became"]) for one in listed)


@cache
def changes_of(file: Path) -> list[Change] | list[Place]:
    """Every change of a file that is not known to be equal in effect."""
    make = of_sql if file.suffix == ".sql" else places_of
    return [change for change in make(file.read_text()) if not is_equal(file, change)]


def is_equal(file: Path, change: Change | Place) -> bool:
    """Whether a change is known to be equal in effect."""
    return (file.relative_to(ROOT).as_posix(), change.was, change.became) in known_equal()


def tried(chosen: Sequence[Target], kept: Kept) -> Iterator[tuple[Path, Change, bool]]:
    """Every change of these targets with whether it was noticed."""
    for target in chosen:
        before, mutants = kept.split([(file, change) for file in target.files for change in drawn(file)])
        yield from before
        for file, change, noticed in try_all(mutants, target, kept.notes) if mutants else ():
            kept.keep(file, change, noticed=noticed)
            yield file, change, noticed


def known(chosen: Sequence[Target], kept: Kept) -> Iterator[tuple[Path, Change, bool]]:
    """Those of them that were tried before."""
    for target in chosen:
        yield from kept.split([(file, change) for file in target.files for change in drawn(file)])[0]


def try_all(mutants: Mutants, target: Target, notes: Path) -> Iterator[tuple[Path, Change, bool]]:
    """Every one of these changes with whether a test of the target noticed it."""
    if target.files[0].suffix == ".sql":
        return try_sql(mutants, target.tests)
    if target.elsewhere:
        return ((file, change, is_noticed(file, change.text, target.tests)) for file, change in mutants)
    return try_python(mutants, target.tests, notes, is_first_look=target.is_first_look)


def most_of(file: Path) -> int:
    """How many changes of a file are tried."""
    possible = len(changes_of(file))
    return possible if file.suffix == ".sql" else min(possible, MOST_OF_A_MODULE)


def drawn(file: Path) -> list[Change]:
    """Every change of an SQL file; some of a module, and an edit elsewhere in the module draws no other ones."""
    text = file.read_text()
    if file.suffix == ".sql":
        return [change for change in of_sql(text) if not is_equal(file, change)]
    places = [place for place in places_of(text) if not is_equal(file, place)]
    lots = {place: hashlib.md5(f"{place.was} {place.became}".encode()).digest() for place in places}
    return of_python(text, sorted(places, key=lots.__getitem__)[: most_of(file)])


@dataclass(frozen=True)
class Count:
    """Of one file or of several: changes that can be made and are not equal in effect, those tried, those noticed."""

    possible: int = 0
    tried: int = 0
    noticed: int = 0

    def __add__(self, other: "Count") -> "Count":
        return Count(self.possible + other.possible, self.tried + other.tried, self.noticed + other.noticed)


Counts = dict[str, Count]


def written_before() -> Counts:
    """The counts in the results, of the files that are still there."""
    section = RESULTS.read_text(encoding="utf-8").partition(f"\n## {TITLE}\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (kbdash/\S+) \| (\d+) \| (\d+) \| (\d+) \|", section, re.MULTILINE)
    return {name: Count(*map(int, numbers)) for name, *numbers in rows if (ROOT / name).is_file()}


def table(counts: Counts) -> str:
    """How many of the changes to each file were noticed, as Markdown."""
    sums = {
        kind: sum((count for name, count in counts.items() if name.endswith(ending)), Count())
        for kind, ending in KINDS.items()
    }
    rows = [(name, count) for name, count in {**sums, **dict(sorted(counts.items()))}.items() if count.tried]
    lines = [
        f"| {name} | {count.possible} | {count.tried} | {count.noticed} | {count.noticed / count.tried:.1%} |"
        for name, count in rows
    ]
    head = ["| file | changes | tried | noticed | share of those tried |", "| --- | ---: | ---: | ---: | ---: |"]
    return "\n".join([*head, *lines])


def told(counts: Counts) -> str:
    """What was tried, in words."""
    every = Counter(file.suffix for target in targets([]) for file in target.files if changes_of(file))
    found = Counter(Path(name).suffix for name in counts)
    equal = Counter(Path(name).suffix for name, *_ in known_equal())
    return (
        "Single changes to the source, and how many of them a test noticed (`make mutants`; `--resume` goes on where a "
        f"run stopped): every change of an SQL file, at most {MOST_OF_A_MODULE} of a Python module, always the same "
        f"ones. Left out as equal in effect: {equal['.sql']} of SQL and {equal['.py']} of Python, each with its reason "
        f"in tests/mutants/equal.toml. Tried: {found['.sql']} of {every['.sql']} SQL files and {found['.py']} of "
        f"{every['.py']} Python modules that have something to change. A file without a row has not been tried; a "
        "row that the last run did not reach is that of an earlier one."
    )


def write(counts: Counts, unnoticed: Sequence[str]) -> None:
    """Put the files that were tried so far into the results; a run that is stopped loses only the last one."""
    whole = {name: count for name, count in counts.items() if count.tried == most_of(ROOT / name)}
    rows = written_before() | whole
    listed = "\n".join(f"- `{one}`" for one in unnoticed if one.partition(":")[0] in whole) or "- none"
    replace_section(TITLE, f"{told(rows)}\n\n{table(rows)}\n\nUnnoticed in the last run:\n\n{listed}\n")


def in_one_line(name: str, change: Change) -> str:
    """A change as it is listed."""
    return f"{name}:{change.line} {change.kind}: {change.was}  ->  {change.became}".replace("`", "'")[:240]


def write_sample(cache_folder: str) -> None:
    """Write the sample and its content once for all processes; this one stays without kbdash."""
    os.environ["PYTEST_XDIST_TESTRUNUID"] = "mutants"  # the tests of every process belong to one run
    script = "import pathlib, sys; from kbdash.dataset.sample import ensure_sample as e; e(pathlib.Path(sys.argv[1]))"
    subprocess.run([sys.executable, "-c", script, cache_folder], cwd=ROOT, check=True)
    stock(Path(cache_folder))


def asked() -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", help="parts of file names; all files without")
    parser.add_argument("--write", action="store_true", help="write what was found to benchmarks/RESULTS.md")
    parser.add_argument("--resume", action="store_true", help="go on where the last run stopped")
    parser.add_argument("--again", action="store_true", help="the same, and try again what was found unnoticed")
    parser.add_argument("--report", action="store_true", help="tell what was tried so far and try nothing")
    parser.add_argument("--tests", nargs="+", help="a first look with these tests alone; --again shows the rest to all")
    return parser.parse_args()


def main() -> None:
    """Try every change and print what went unnoticed."""
    arguments = asked()
    os.chdir(ROOT)
    preload()
    counts: Counts = {}
    unnoticed: list[str] = []
    kept = Kept(
        ROOT / ".mutants", is_resumed=arguments.resume or arguments.again or arguments.report, is_again=arguments.again
    )
    with tempfile.TemporaryDirectory() as spare:
        cache_folder = os.environ.setdefault("KBDASH_TEST_CACHE", spare)
        write_sample(f"{cache_folder}/cache")
        print("The sample is written.", flush=True)
        chosen = list(targets(arguments.files, arguments.tests))
        for file, change, found in known(chosen, kept) if arguments.report else tried(chosen, kept):
            name = file.relative_to(ROOT).as_posix()
            counts[name] = counts.get(name, Count(len(changes_of(file)))) + Count(0, 1, int(found))
            if not found:
                unnoticed.append(in_one_line(name, change))
                print(unnoticed[-1], flush=True)
            if arguments.write and counts[name].tried == most_of(file):
                write(counts, unnoticed)
    print(table(counts))


if __name__ == "__main__":
    main()
