"""How the tests are shared among processes: which go together, and which go first."""

from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

FOLDERS = ("e2e", "app", "api", "js", "content", "unit")
# Files whose tests share something dear (a container, a server over another dataset, a page with Plotly in it).
TOGETHER = (
    "test_container.py",
    "test_security.py",
    "test_charts_rendered.py",
    "test_hostile_readers.py",
    "test_workers.py",
)
# Files that ask the same servers go to one worker, or each worker would start them all.
SERVED = (
    ("api/test_openapi.py", "api/test_links.py", "api/test_previews.py"),
    ("api/test_every_question.py", "api/test_feed_and_badge.py", "api/test_agents.py"),
)
# The longest of a folder first, so that the workers end together; the others follow by name.
FIRST = {
    "e2e": (*TOGETHER, "test_accessibility.py", "test_faults.py", "test_dashboard.py", "test_code.py"),
    "app": ("test_fault_matrix.py", "test_hostile_links.py"),
    "api": ("test_openapi.py", "test_every_question.py", "test_command.py", "test_wheel.py"),
    "js": ("test_tokens.py",),
    "content": ("test_engine.py", "test_exact.py", "test_build.py", "test_techniques.py"),
    # Those that wait for silent servers among those that keep a processor busy.
    "unit": ("test_failures.py", "test_references.py", "test_engine.py", "test_odd_files.py", "test_deadlines.py",
             "test_code.py", "test_console.py", "test_transport.py", "test_kept.py", "test_sample.py",
             "test_tallies.py"),
}  # fmt: skip
# Left out of `make quick`: four fifths of the unit tests' time, and seldom what an edit breaks alone.
SLOW = (
    "test_benchmarks_readers.py",
    "test_console.py",
    "test_counts.py",
    "test_deadlines.py",
    "test_engine.py",
    "test_failures.py",
    "test_hub_loopback.py",
    "test_kept.py",
    "test_legacy.py",
    "test_mutants.py",
    "test_odd_files.py",
    "test_orders.py",
    "test_parquet_bounds.py",
    "test_parquet_cells.py",
    "test_parquet_damage.py",
    "test_plain_sql.py",
    "test_ranking.py",
    "test_references.py",
    "test_sample.py",
    "test_sample_full_scale.py",
    "test_sample_traps.py",
    "test_server_memory.py",
    "test_standings.py",
    "test_tallies.py",
    "test_threads.py",
    "test_transport.py",
    # Single tests of files that are quick otherwise.
    "test_a_client_told_to_stay_offline",
    "test_a_submission_gets_the_text_of_its_own_row",
    "test_allowed",
    "test_every_text_of_the_sample_is_what_pyarrow_reads",
    "test_five_thousand_users_stay_small",
    "test_the_command_itself",
    "test_the_traps_of_the_sample_keep_their_texts",
    "test_what_needs_too_much_memory_is_stopped",
    "test_what_takes_too_long_is_stopped_and_the_next_question_answered",
)


class Sharing(LoadScopeScheduling):  # type: ignore[misc]
    """A file goes to one worker as a whole, because of its fixtures; tests in the browser go one by one.

    Half of the workers begin with the browser, the others with all else: each that opens one pays for a dashboard too,
    and for scripts that it has to compile. Who has nothing else left helps.
    """

    def _split_scope(self, nodeid: str) -> str:
        return scope(nodeid)

    def _assign_work_unit(self, node: WorkerController) -> None:
        if node not in self.nodes[: (len(self.nodes) + 1) // 2]:
            without = next((group for group in self.workqueue if not in_browser(group)), None)
            if without is not None:
                self.workqueue.move_to_end(without, last=False)
        super()._assign_work_unit(node)


def scope(nodeid: str) -> str:
    """The group of a test: all tests of a group go to one worker."""
    path = nodeid.partition("::")[0]
    *_, folder, file = ("", *path.split("/"))
    if folder == "e2e" and file not in TOGETHER:
        return nodeid
    return next(("+".join(files) for files in SERVED if f"{folder}/{file}" in files), path)


def in_browser(group: str) -> bool:
    """Whether the tests of this group open pages of a dashboard."""
    return "/e2e/" in group.partition("::")[0]


def turn(folder: str, file: str) -> tuple[int, int]:
    """When a file is run. Those of the browser first: a worker keeps one open only while it is there."""
    folders, files = FOLDERS.index(folder) if folder in FOLDERS else len(FOLDERS), FIRST.get(folder, ())
    return folders, files.index(file) if file in files else len(files)
