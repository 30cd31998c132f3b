"""The command line: every question, the formats of the data links, exit codes, and nothing a terminal would obey."""

import fcntl
import io
import json
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pandas as pd
import pytest

import kbdash
from kbdash.__main__ import program
from kbdash.api import command, terminal
from kbdash.api.command import SHORT_NAMES, run
from kbdash.content.building.progress import ContentBusy, ContentStopped
from kbdash.content.stores import ContentMissing
from kbdash.database.questions import EVERY_QUESTION
from kbdash.engine import KernelBot
from kbdash.errors import DataUnavailable, KbdashError, QueryTimeout
from tests.api.asked import BOARD
from tests.e2e.serving import ROOT, inherited

Run = Callable[..., tuple[int, bytes, str]]


@pytest.fixture(scope="module")
def sample(sample_cache: Path, store: None) -> Iterator[KernelBot]:
    kb = kbdash.connect(settings=kbdash.engine.Settings(source="sample", cache=sample_cache))
    yield kb
    kb.close()


@pytest.fixture
def typed(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch, sample_cache: Path) -> Run:
    """Exit code, standard output and standard error of a command."""
    monkeypatch.setenv("KBDASH_SOURCE", "sample")
    monkeypatch.setenv("KBDASH_CACHE", str(sample_cache))

    def type_(*words: str) -> tuple[int, bytes, str]:
        code = run(words)
        told = capfdbinary.readouterr()
        return code, told.out, told.err.decode()

    return type_


def test_there_is_a_command_for_every_question_and_those_that_do_more() -> None:
    questions = {SHORT_NAMES.get(name, name.replace("_", "-")) for name in EVERY_QUESTION}
    more = {"serve", "code", "diff", "sql", "dump", "content", "deploy", "mcp", "completion"}
    context = click.Context(program)
    assert set(program.list_commands(context)) == questions | more
    for name in questions | {"sql"}:
        command = program.get_command(context, name)
        assert command is not None
        options = {word for parameter in command.params for word in parameter.opts}
        assert {"--source", "--format", "-o"} <= options, name


def test_formats_are_those_of_the_library(typed: Run, sample: KernelBot, tmp_path: Path) -> None:
    board = sample.leaderboard(BOARD, until="2025-09-01")
    asked = ("top", BOARD, "--to", "2025-09-01")
    _, csv, error = typed(*asked, "--format", "csv")
    read = pd.read_csv(io.BytesIO(csv), dtype={"user_id": str})
    assert read["score"].tolist() == board["score"].tolist()
    assert read["user_id"].tolist() == board["user_id"].tolist()
    assert "Synthetic sample" in error
    _, body, _ = typed(*asked, "--format", "json")
    assert [row["score"] for row in json.loads(body)["rows"]] == board["score"].tolist()
    file = tmp_path / "board.parquet"
    code, out, _ = typed(*asked, "-o", str(file))
    assert (code, out) == (0, b"")
    assert pd.read_parquet(file)["score"].tolist() == board["score"].tolist()
    _, table, _ = typed(*asked)
    assert b"\x1b" not in table
    assert "µs" in table.decode() or "ms" in table.decode()


def test_names_are_taken_where_the_library_takes_them(typed: Run, sample: KernelBot) -> None:
    best = sample.leaderboard(BOARD).iloc[0]
    code, csv, _ = typed("ladder", BOARD, best["user_name"], "--runner", best["runner"], "--format", "csv")
    assert code == 0
    steps = sample.ladder(BOARD, best["user_name"], runner=best["runner"])
    assert pd.read_csv(io.BytesIO(csv))["score"].tolist() == steps["score"].tolist()
    code, lines, _ = typed("search", "import", "--problem", BOARD, "--limit", "2", "--format", "json")
    assert (code, len(json.loads(lines)["rows"])) == (0, 2)


def test_texts_and_patches(typed: Run, sample: KernelBot, tmp_path: Path) -> None:
    first, second = sample.leaderboard(BOARD, runner="A100").head(2)["submission_id"]
    code, text, _ = typed("code", str(first), "--runner", "A100")
    assert (code, text.decode()) == (0, sample.code(int(first), "A100"))
    code, patch, _ = typed("diff", f"{first}@A100", f"{second}@A100")
    assert (code, b"\n@@ " in patch) == (0, True)
    code, _, said = typed("dump", BOARD, "--runner", "A100", "--top", "2", "-o", str(tmp_path / "study"))
    assert (code, "2 kernels" in said) == (0, True)


def test_sql(typed: Run) -> None:
    code, answer, _ = typed("sql", "select 1 as one, 'a' as word, [1, 2] as list", "--format", "json")
    assert code == 0
    assert json.loads(answer)["rows"] == [{"one": 1, "word": "a", "list": [1.0, 2.0], "sample": "synthetic"}]


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("top", "trimull"), 1, "Did you mean trimul?"), (("user", "nobody-at-all"), 1, "Nobody has"),
        (("code", "1"), 1, "no submission 1"), (("top",), 2, "Missing argument 'PROBLEM'"),
        (("top", BOARD, "--to", "x"), 2, "a day such as"), (("top", BOARD, "--top", "-1"), 2, "whole number from 0"),
        (("nonsense",), 2, "No such command"), (("sql", "drop view submissions"), 2, ""),
        (("diff", "x", "y"), 2, "id@runner"), (("code", "x"), 2, "not a valid integer"),
        (("boards", "--source", "/no/such/folder"), 3, ""),
        (("top", BOARD, "-o", "/no/such/folder/file.csv"), 2, "cannot be written"),
        (("boards", "--competition", "nope"), 1, "There are nvfp4"),
        (("top", "qqqqqqq"), 1, "There are nvfp4_gemv, nvfp4_gemm"),
    ],
)  # fmt: skip
def test_exit_codes_mean_something(typed: Run, words: tuple[str, ...], code: int, told: str) -> None:
    ended, out, error = typed(*words)
    assert (ended, out) == (code, b""), error
    assert told in error
    assert "Traceback" not in error


def test_a_hub_that_refuses_ends_the_process_with_a_sentence(tmp_path: Path) -> None:
    """What was begun meanwhile must not abort it."""
    environ = inherited() | {"HF_ENDPOINT": "http://127.0.0.1:9", "KBDASH_CACHE": str(tmp_path)}
    words = [sys.executable, "-m", "kbdash", "boards", "--source", "someone/some-data"]
    ended = subprocess.run(words, cwd=ROOT, env=environ, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (3, "", 1), ended.stderr
    assert "cannot be reached" in ended.stderr


def test_errors_have_the_code_of_what_they_mean() -> None:
    kinds = (KbdashError, DataUnavailable, QueryTimeout, ContentMissing, ContentBusy, ContentStopped)
    assert [kind.exit_code for kind in kinds] == [2, 3, 3, 3, 3, command.INTERRUPTED]


@pytest.mark.parametrize(
    ("words", "code"),
    [(("content", "status", BOARD), 0), (("content", "status", "nope"), 1), (("content", "nonsense"), 2),
     (("content", "status", "--source", "/no/such/folder"), 3), (("deploy", "no-owner"), 2), (("deploy",), 2)],
)  # fmt: skip
def test_commands_with_a_parser_of_their_own_end_with_the_same_codes(
    typed: Run, words: tuple[str, ...], code: int
) -> None:
    assert typed(*words)[0] == code


def shell(sample_cache: Path, *words: str, **more: Any) -> subprocess.Popen[bytes]:
    environ = inherited() | {"KBDASH_SOURCE": "sample", "KBDASH_CACHE": str(sample_cache), "TERM": "xterm"}
    environ.pop("COLUMNS", None)  # it would be believed before the terminal
    return subprocess.Popen([sys.executable, "-m", "kbdash", *words], cwd=ROOT, env=environ, **more)


@pytest.mark.parametrize("format_", ["table", "csv"])
def test_a_closed_pipe_leaves_no_traceback(sample_cache: Path, format_: str) -> None:
    words = ("submissions", BOARD, "--page-size", "500", "--format", format_)
    listing = shell(sample_cache, *words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert listing.stdout is not None
    listing.stdout.close()
    _, error = listing.communicate(timeout=60)
    assert (listing.returncode, b"Traceback" in error, b"Exception" in error) == (0, False, False)


def test_an_interrupt_ends_it_with_a_word(typed: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(KernelBot, "sql", lambda *_: signal.raise_signal(signal.SIGINT))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever runs the tests may ignore it
    code, out, error = typed("sql", "select 1")
    signal.signal(signal.SIGINT, before)
    assert (code, out, error.strip()) == (130, b"", "Stopped.")


def test_a_terminal_gets_colour_a_table_that_fits_and_progress_elsewhere(sample_cache: Path) -> None:
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 70, 0, 0))
    process = shell(sample_cache, "top", BOARD, "--top", "3", stdout=follower, stderr=subprocess.PIPE)
    _, error = process.communicate(timeout=30)
    text = os.read(leader, 1 << 16).decode()
    os.close(follower)
    os.close(leader)
    assert "\x1b[1m" in text
    plain = text.replace("\x1b[1m", "").replace("\x1b[0m", "")
    assert max(len(line) for line in plain.splitlines()) <= 70
    assert "score" in plain
    assert b"No room for" in error
    assert b"\x1b[1m" not in error


HOSTILE = "evil\x1b]0;title\x07\x1b[2J\x9b31m\r\u202ename"


@pytest.mark.parametrize("format_", ["table", "csv", "json"])
def test_names_cannot_move_the_cursor(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], sample: KernelBot, format_: str
) -> None:
    question = EVERY_QUESTION["leaderboard"]
    frame = sample.leaderboard(BOARD).head(1).assign(user_name=HOSTILE, flags=HOSTILE)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    terminal.Output(format_).answer(frame, question, sample.source, 1)
    terminal.Output().text(HOSTILE)
    terminal.say(HOSTILE)
    told = capsys.readouterr()
    for text in (told.out.replace("\x1b[1m", "").replace("\x1b[0m", ""), told.err):
        assert not set(text) & set("\x1b\x07\x9b\r\u202e")


def test_parquet_is_not_for_a_terminal(monkeypatch: pytest.MonkeyPatch, sample: KernelBot) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    with pytest.raises(KbdashError, match="no text for a terminal"):
        terminal.Output("parquet").answer(sample.overview(), EVERY_QUESTION["overview"], sample.source, 1)


def test_shells_complete_commands_and_boards(typed: Run) -> None:
    for shell_ in command.SHELLS:
        assert b"_KBDASH_COMPLETE" in typed("completion", shell_)[1]
    found = command._problems(None, None, "nvfp4_ge")  # type: ignore[arg-type]
    assert "nvfp4_gemm" in [item.value for item in found]
