"""The command line: `python -m kbdash.content build | status | check | push`."""

import argparse
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType

from kbdash.content.building.build import Build, Job
from kbdash.content.building.jobs import Opened, content_root
from kbdash.content.building.progress import ContentBusy, Progress
from kbdash.content.building.verify import check_store
from kbdash.content.publishing.publish import check_name, parcel_of, push
from kbdash.content.store.finished import Store, find_store
from kbdash.content.store.layout import Manifest, stores_of, why_unused
from kbdash.content.store.location import keep_directories
from kbdash.content.verdicts.batch import WHICH, Which, judge
from kbdash.content.verdicts.examiner import Examiner, kernelguard_version
from kbdash.content.verdicts.table import inherit_verdicts
from kbdash.dataset.config import Settings
from kbdash.dataset.source import open_source
from kbdash.errors import KbdashError
from kbdash.terminal import until_pipe_closes


def main(arguments: Sequence[str] | None = None, *, environ: Mapping[str, str] = os.environ) -> int:
    """Exit code: 0 = done, else that of the error; the reason and what to do about it go to standard error."""
    given = _given(arguments)
    with until_pipe_closes():
        return _run(given, environ)
    return 0  # the pipe was closed


def _run(given: argparse.Namespace, environ: Mapping[str, str]) -> int:
    if getattr(given, "attended", False):
        threading.Thread(target=_end_with_input, name="kbdash-content-attended", daemon=True).start()
    settings = Settings.from_env(environ)
    if given.source:
        settings = settings.with_source(given.source)
    # A build is not a reader's question: reading all facts of a large file may take longer than a query may.
    settings = replace(settings, query_seconds=600.0)
    root = Path(given.out) if given.out else content_root(settings)
    try:
        opened = Opened(open_source(settings), settings)
        try:
            given.run(given, opened.jobs(given.slug, root), settings)
        finally:
            opened.close()
    except KbdashError as error:
        sys.stderr.write(f"{error} {error.advice}\n")
        return error.exit_code
    return 0


def _given(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The arguments; competitions may also stand behind options, which argparse by itself refuses."""
    parser = _parser()
    given, rest = parser.parse_known_args(arguments)
    if unknown := [each for each in rest if each.startswith("-")]:
        parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    given.slug = [*given.slug, *rest]
    return given


def _parser() -> argparse.ArgumentParser:
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--source", help="as KBDASH_SOURCE: org/name[@revision], a folder, or sample")
    shared.add_argument("--out", metavar="FOLDER", help="where the stores are; the cache unless given")
    parser = argparse.ArgumentParser(
        prog="python -m kbdash.content",
        description="All source texts of a dataset in one small, searchable store per data file.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, run, words in (
        ("build", _build, "make the stores; goes on where an earlier build stopped"),
        ("status", _status, "what is there, and how far builds are"),
        ("check", _check, "every text against its sha256, and some against the data file"),
    ):
        command = commands.add_parser(name, parents=[shared], help=words, description=words)
        command.add_argument("slug", nargs="*", help="competitions; all unless given")
        command.add_argument("--gently", action="store_true", help="give way to every other process")
        if name == "build":
            command.add_argument("--attended", action="store_true", help="stop when standard input ends")
            command.add_argument(
                "--verdicts", choices=WHICH, default="best", help="texts that KernelGuard is asked about"
            )
        command.set_defaults(run=run)
    words = "publish the stores as a dataset repository"
    command = commands.add_parser("push", parents=[shared], help=words, description=words)
    command.add_argument("repository", metavar="OWNER/NAME")
    command.add_argument("slug", nargs="*", help="competitions; all that are built unless given")
    command.add_argument("--public", action="store_true", help="for everyone to read; private unless given")
    command.add_argument("--dry-run", action="store_true", help="list what would go up; nothing is sent or asked")
    command.set_defaults(run=_push)
    return parser


def _end_with_input() -> None:
    """Stop this process as SIGTERM does once its standard input ends: whoever started it is gone."""
    while os.read(sys.stdin.fileno(), 1 << 10):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def _build(given: argparse.Namespace, jobs: Sequence[Job], settings: Settings) -> None:
    """All stores first: they can be used while KernelGuard, which takes far longer, checks their texts."""
    if given.gently:
        os.nice(15)
    builds = [(job, Build(job, _Teller(job.competition, sys.stderr.isatty()))) for job in jobs]
    with _stoppable(*(build for _, build in builds)):
        built = []
        for job, build in builds:
            began = time.monotonic()
            try:
                store = Store(build.work.finished, build.run())
            except ContentBusy as busy:
                if len(jobs) == 1:
                    raise
                sys.stderr.write(f"{job.competition}: {busy}\n")
                continue
            keep_directories(store.folder, settings.cache)
            inherit_verdicts(store, stores_of(job.root, job.file))
            sys.stdout.write(f"{_summary(store)} ({time.monotonic() - began:.1f} s)\n")
            sys.stdout.flush()
            built.append((job, build, store))
        for job, build, store in built:
            _judge(given.verdicts, job, build, store)


@contextmanager
def _stoppable(*builds: Build) -> Iterator[None]:
    """Ctrl-C and SIGTERM end these builds, whichever of them runs, at its next check."""

    def stop(number: int, frame: FrameType | None) -> None:
        for build in builds:
            build.stop.set()

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _judge(which: Which, job: Job, build: Build, store: Store) -> None:
    """Let KernelGuard check the texts of a finished store, which can be used meanwhile."""
    if which == "none":
        return
    if kernelguard_version() is None:
        sys.stderr.write(f"{job.competition}: no verdicts, because KernelGuard is not installed.\n")
        return
    examiner = Examiner()
    try:
        asked = judge(store, job.ask(job.competition), which, examiner, build.check)
    finally:
        examiner.close()
    sys.stderr.write(f"{job.competition}: KernelGuard looked at {asked:,} texts\n")


class _Teller:
    """Reports the progress of a build: one line that is rewritten on a terminal, else a line from time to time."""

    def __init__(self, name: str, terminal: bool) -> None:
        self._name = name
        self._terminal = terminal
        self._said_at = 0.0

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        if now - self._said_at < (0.2 if self._terminal else 10.0) and progress.phase in ("reading", "numbering"):
            return
        self._said_at = now
        text = f"{self._name}: {progress_text(progress, time.time())}"
        passing = self._terminal and progress.phase in ("reading", "numbering")
        sys.stderr.write(f"\x1b[2K{text}\r" if passing else f"{text}\n")
        sys.stderr.flush()


def progress_text(progress: Progress, now: float) -> str:
    """The progress of a build, in words."""
    if progress.phase != "reading":
        return {"numbering": "numbering lines", "failed": progress.error}.get(progress.phase, progress.phase)
    left = progress.seconds_left(now)
    wait = "" if left is None else f", {left:.0f} s left"
    return (
        f"{progress.share:.0%} of {progress.bytes / 1e6:,.1f} MB, {progress.texts:,} texts, "
        f"{progress.rate(now) / 1e6:.1f} MB/s{wait}"
    )


def _status(given: argparse.Namespace, jobs: Sequence[Job], settings: Settings) -> None:
    for job in jobs:
        build = Build(job)
        store = find_store(job.root, job.file)
        progress = build.work.progress()
        if store:
            line = _summary(store)
        elif progress and progress.phase != "done":  # a store that was finished and is gone since is none
            idle = "" if build.work.busy() else "not running; "
            line = f"{job.competition}: {idle}{progress_text(progress, time.time())}"
        else:
            why = why_unused(job.root, job.file)
            line = f"{job.competition}: no store; building reads {job.file.size / 1e6:,.1f} MB{why and f'. {why}'}"
        sys.stdout.write(line + "\n")


def _check(given: argparse.Namespace, jobs: Sequence[Job], settings: Settings) -> None:
    for job in jobs:
        store = find_store(job.root, job.file)
        if store is None:
            sys.stdout.write(f"{job.competition}: no store\n")
            continue
        texts = check_store(store, job.bytes)
        sys.stdout.write(f"{job.competition}: {texts:,} texts are exact\n")


def _push(given: argparse.Namespace, jobs: Sequence[Job], settings: Settings) -> None:
    name = check_name(given.repository)
    stores = [store for job in jobs if (store := find_store(job.root, job.file))]
    parcel = parcel_of(stores)
    if given.dry_run:
        sys.stdout.write(f"Would put {len(parcel.files)} files, {parcel.size_bytes:,} bytes, into {name}:\n")
        sys.stdout.write("".join(f"{path.stat().st_size:>14,}  {there}\n" for there, path in parcel.files.items()))
        sys.stdout.write(f"\n{parcel.card}")
        return
    sys.stdout.write(f"{push(name, stores, settings, public=given.public)}\n")


def _summary(store: Store) -> str:
    facts: Manifest = store.manifest
    share = store.size_bytes / max(1, facts.file_bytes)
    return (
        f"{facts.competition}: {facts.rows:,} rows, {facts.texts:,} texts, {facts.text_bytes / 1e6:,.1f} MB as "
        f"{facts.lines:,} lines in {store.size_bytes / 1e6:,.2f} MB, {share:.1%} of the file"
    )
