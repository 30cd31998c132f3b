"""What the README says is tried: every command, link and parameter, the notebook lines, the way to the code."""

import ast
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from playwright.sync_api import expect

from kbdash import view
from kbdash.dataset import catalog
from kbdash.engine import KernelBot
from kbdash.view import params_of
from kbdash.web import registry
from tests.e2e.conftest import Open, moved
from tests.e2e.grid import press
from tests.e2e.serving import ROOT, await_health, free_port
from tests.hub import LoopbackHub

README = (ROOT / "README.md").read_text(encoding="utf-8")
NVFP4 = "nvidia_nvfp4_submissions.parquet"
TOKEN = "hf_token_of_the_test"
BIN = Path(sys.executable).parent
# The environment the tests run in stands in for the one that make would install.
INSTALLED = [f"BIN={BIN}", "--old-file=.venv/.run", "--old-file=.venv/.dev", "--old-file=.venv/bin/python"]


def blocks(language: str) -> list[str]:
    """The fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


def commands() -> set[str]:
    """Every command in a block or in a sentence, without its comment."""
    lines = [line.partition("  #")[0].strip() for block in blocks("sh") for line in block.splitlines()]
    inline = re.findall(r"`(make \w+|[^`\n]*python -m [^`\n]+)`", README)
    return {line for line in (*lines, *inline) if line}


def rows(header: str) -> list[list[str]]:
    """The cells of the table whose first column has this header."""
    table = re.search(rf"^\| {re.escape(header)} \|.*\n\|[-| :]+\|\n((?:\|.*\n)+)", README, re.MULTILINE)
    assert table is not None, header
    return [[cell.strip() for cell in line.strip("|\n").split("|")] for line in table[1].splitlines()]


def named(cells: list[str]) -> list[str]:
    """What stands in code type in these cells."""
    return [name for cell in cells for name in re.findall(r"`([^`]+)`", cell)]


def run(*command: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """The outcome of a command in the project's folder."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "KBDASH_"))}
    return subprocess.run(
        command, cwd=ROOT, env=inherited | environ, capture_output=True, text=True, timeout=280, check=False
    )


def test_every_command_is_one_of_those_tried_here() -> None:
    assert commands() == {
        "make run",
        "make test",
        "make check",
        "make bench",
        "make serve",
        "python -m kbdash.web.server --print-config a:8501 b:8501",
        "python -m kbdash.content build nvfp4",
        "python -m kbdash.content status",
        "HF_TOKEN=… python -m kbdash.deploy OWNER/NAME",
        # Tried in tests/api, from a wheel and over HTTP.
        "pip install .",
        "kbdash top nvfp4_gemm --runner NVIDIA",
        """python -c 'import kbdash; print(kbdash.connect().leaderboard("nvfp4_gemm"))'""",
        "curl -sS 'http://localhost:8501/api/leaderboard.csv?problem=nvfp4_gemm&runner=NVIDIA&to=2025-12-21'",
        "duckdb -c \"from 'http://localhost:8501/api/records.parquet?problem=nvfp4_gemm'\"",
    }


def test_make_run_serves_the_dashboard(tmp_path: Path) -> None:
    port = free_port()
    with _running("make", "run", f"PORT={port}", *INSTALLED, log=tmp_path / "make.log") as process:
        await_health(f"http://127.0.0.1:{port}", process, tmp_path / "make.log")


@pytest.mark.parametrize(
    ("target", "does"),
    [
        ("test", "python -m pytest"),
        ("check", "ruff check"),
        ("check", "mypy"),
        ("bench", "python -m benchmarks.run"),
        ("serve", "python -m kbdash.web.server"),
    ],
)
def test_make_targets_lead_to_what_they_say(target: str, does: str) -> None:
    planned = run("make", "--dry-run", target, *INSTALLED)
    assert planned.returncode == 0, planned.stderr
    assert does in planned.stdout
    module = re.search(r"python -m (benchmarks\.\w+)", planned.stdout)
    assert module is None or (ROOT / f"{module[1].replace('.', '/')}.py").is_file()


def test_more_machines_get_a_configuration_of_the_proxy() -> None:
    printed = run(sys.executable, "-m", "kbdash.web.server", "--print-config", "a:8501", "b:8501")
    assert printed.returncode == 0, printed.stderr
    assert all(f" {server}" in printed.stdout for server in ("a:8501", "b:8501"))


def test_deploy_lists_what_would_go_up() -> None:
    listed = run(sys.executable, "-m", "kbdash.deploy", "OWNER/NAME", "--dry-run")
    assert listed.returncode == 0, listed.stderr
    for name in ("app.py", "Dockerfile", "README.md", "requirements.txt", "kbdash/main.py"):
        assert name in listed.stdout


def test_deploy_makes_the_space(tmp_path: Path) -> None:
    with LoopbackHub(tmp_path, token=TOKEN) as hub:
        done = run(sys.executable, "-m", "kbdash.deploy", "tester/kbdash", HF_TOKEN=TOKEN, HF_ENDPOINT=hub.endpoint)
        assert done.returncode == 0, done.stderr
        assert list(hub.spaces) == ["tester/kbdash"]


@pytest.fixture
def published(sample_folder: Path, tmp_path: Path) -> Iterator[LoopbackHub]:
    """A Hub whose NVFP4 file holds the user and the submission that the notebook lines name; all else is invented.

    It holds the one problem that they name, a quarter of the rows.
    """
    table = pq.read_table(sample_folder / NVFP4, filters=[("problem_name", "==", "nvfp4_gemm")])
    best = table.to_pandas().query("runner == 'NVIDIA' and passed").iloc[0]
    ids = [187476 if id_ == best["submission_id"] else id_ for id_ in table["submission_id"].to_pylist()]
    names = [
        "gau.nernst" if user == best["user_id"] else name
        for user, name in zip(table["user_id"].to_pylist(), table["user_name"].to_pylist(), strict=True)
    ]
    for column, values in (("submission_id", pa.array(ids)), ("user_name", pa.array(names, pa.large_string()))):
        table = table.set_column(table.column_names.index(column), column, values)
    folder = tmp_path / "dataset"
    folder.mkdir()
    pq.write_table(table, folder / NVFP4)
    with LoopbackHub(folder) as hub:
        yield hub


def answered(block: str, names: dict[str, Any]) -> dict[str, int]:
    """How long the answer of each line is that asks for something; a chart is as long as its traces are many."""
    lengths = {}
    for line in ast.parse(block).body:
        if isinstance(line, ast.Expr):
            answer = eval(ast.unparse(line), names)
            lengths[ast.unparse(line)] = len(getattr(answer, "data", answer))
        else:
            exec(ast.unparse(line), names)
    return lengths


def test_the_notebook_lines_answer(published: LoopbackHub, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("KBDASH_SOURCE", "HF_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_ENDPOINT", published.endpoint)
    monkeypatch.setenv("KBDASH_CACHE", str(tmp_path / "cache"))
    asks, inside = blocks("python")
    names: dict[str, Any] = {}
    answers = answered(asks, names)
    assert names["kb"].source.kind == "hub"
    assert len(answers) == 8
    assert [line for line, answer in answers.items() if not answer] == []
    assert len(list((tmp_path / "study").glob("*.py"))) > 5

    where = {name: os.environ[name] for name in ("HF_ENDPOINT", "KBDASH_CACHE")}
    built = run(sys.executable, "-m", "kbdash.content", "build", "nvfp4", "--verdicts", "none", **where)
    assert built.returncode == 0, built.stderr
    told = run(sys.executable, "-m", "kbdash.content", "status", **where)
    assert "nvfp4" in told.stdout, told.stderr
    assert len(answered(inside, names)) == 6
    names["kb"].close()


def test_the_paths_are_those_of_the_dashboard() -> None:
    listed = {path.partition("?")[0].removeprefix("/") for row in rows("path") for path in named(row[:1])}
    scripts = {path.stem for path in registry.PAGES.glob("*.py")} - {"overview", "competition"}
    assert listed == {"", *scripts, *(item.slug for item in catalog.COMPETITIONS)}


@pytest.mark.parametrize(
    ("page", "kind"),
    [
        ("submission", view.SubmissionView),
        ("compare", view.CompareView),
        ("ladder", view.LadderView),
        ("user", view.UserView),
    ],
)
def test_parameters_in_the_paths_are_known(page: str, kind: type[view.View]) -> None:
    known = {param.name for _, _, param in params_of(kind)}
    (path,) = [path for row in rows("path") for path in named(row[:1]) if path.startswith(f"/{page}?")]
    assert set(re.findall(r"(\w+)=", path)) <= known
    sentence = re.search(rf"`/{page}` takes ([^;.]+)", README)
    values = {"id", "id@runner", "id@runner@competition", "origins", "relatives", "rules"}
    assert sentence is None or {name.partition("=")[0] for name in named([sentence[1]])} - values <= known


def test_the_parameters_are_those_of_the_dashboard() -> None:
    listed = {name.partition("=")[0] for row in rows("parameter") for name in named(row[:1])}
    assert listed == {param.name for _, _, param in params_of(view.CompetitionView)}
    for name in [name for row in rows("parameter") for name in named(row[:1]) if "=" in name]:
        parameter, _, value = name.partition("=")
        assert view.CompetitionView.parse({parameter: [value]})[0].query() == {parameter: [value]}
    assert tuple(named([next(row[1] for row in rows("parameter") if row[0] == "`tab`")])) == view.TABS


def test_links_open_without_a_complaint() -> None:
    links = re.findall(r"http://localhost:8501/(\w+)\?([\w=&]+)", README)
    assert links
    for page, query in links:
        assert page in {item.slug for item in catalog.COMPETITIONS}
        params = {name: [value] for name, _, value in (part.partition("=") for part in query.split("&"))}
        assert view.CompetitionView.parse(params)[1] == ()
        assert params["problem"][0] in {board.name for item in catalog.COMPETITIONS for board in item.boards}


def test_files_that_are_linked_exist() -> None:
    linked = re.findall(r"\]\((?!https?:|#)([^)]+)\)", README)
    assert linked
    assert [name for name in linked if not (ROOT / name).exists()] == []


def test_from_the_front_page_to_the_fastest_gemm(app: str, open_page: Open, kb: KernelBot) -> None:
    best = kb.leaderboard("nvfp4_gemm", runner="NVIDIA").iloc[0]["submission_id"]
    page = open_page(f"{app}/")
    press(page, "problems-nvfp4", 1)
    expect(page.get_by_role("heading", name=f"Submission {best}")).to_be_visible()
    expect(page.locator(".st-key-code .line").first).to_be_visible()
    moved(page, f"{app}/nvfp4?problem=nvfp4_gemm")
    press(page, "leaderboard-table", 0)
    expect(page.get_by_role("heading", name=f"Submission {best}")).to_be_visible()


@contextmanager
def _running(*command: str, log: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """A command with everything it starts, ended at the end."""
    environ = {**os.environ, "KBDASH_SOURCE": "sample", "KBDASH_CACHE": str(log.parent)}
    with log.open("w") as output:
        process = subprocess.Popen(command, cwd=ROOT, env=environ, stdout=output, stderr=output, start_new_session=True)
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        process.wait(timeout=20)
