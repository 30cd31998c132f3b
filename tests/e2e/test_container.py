"""The container, as far as it goes without a Docker engine: built by its own steps, run as its own user.

The source is read-only, the home is empty, the packages are those of the lock file and no others.
"""

import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from kbdash.dataset.catalog import COMPETITIONS
from tests.e2e.dockerfile import Image

PROJECT = Path(__file__).parents[2]
DOCKERFILE = (PROJECT / "Dockerfile").read_text()
PATIENCE = 120  # seconds; a busy machine starts slowly
pytestmark = pytest.mark.timeout(900)  # the packages are installed anew


class Container:
    """The command of an image, running; on a free port, for its own may be taken here."""

    def __init__(self, image: Image, log: Path, **variables: str) -> None:
        self.image = image
        self.log = log
        self._variables = variables
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]

    def start(self) -> None:
        """Start the command and wait until the health check says yes."""
        with self.log.open("wb") as output:
            self.process = subprocess.Popen(
                self._words(self.image.command), stdout=output, stderr=subprocess.STDOUT, **self._settings()
            )
        deadline = time.monotonic() + PATIENCE
        while not (self.listens() and self.healthy()):
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() < deadline, self.log.read_text()
            time.sleep(0.2)

    def stop(self) -> int:
        """Exit code after the signal that `docker stop` sends."""
        self.process.terminate()
        return self.process.wait(PATIENCE)

    def listens(self) -> bool:
        """Whether the port is open; a health check is a process of its own, too dear to ask again and again."""
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def healthy(self) -> bool:
        """What the health check of the image finds."""
        command = self._words(self.image.health)
        return subprocess.run(command, check=False, capture_output=True, **self._settings()).returncode == 0

    def get(self, path: str, body: object = None) -> tuple[int, bytes]:
        """Status and content of a page."""
        data = None if body is None else json.dumps(body).encode()
        request = Request(f"http://127.0.0.1:{self.port}{path}", data, {"Content-Type": "application/json"})
        with urlopen(request, timeout=PATIENCE) as answer:
            return answer.status, answer.read()

    def _words(self, command: list[str]) -> list[str]:
        return [word.replace(str(self.image.port), str(self.port)) for word in command]

    def _settings(self) -> dict[str, Any]:
        environment = self.image.environment(**self._variables)
        return {"cwd": self.image.source, "env": environment, **self.image.identity}


def seal(folder: Path, *, open_again: bool = False) -> None:
    """Take every right to write in the folder away, or give its owner's back."""
    for path in [folder, *folder.rglob("*")]:
        path.chmod((0o555 if path.is_dir() else 0o444) | (0o200 if open_again else 0))


def listing(folder: Path) -> dict[str, tuple[int, int]]:
    """Size and time of change (ns) of everything in the folder."""
    return {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in [folder, *folder.rglob("*")]}


@pytest.fixture(scope="module")
def image() -> Iterator[Image]:
    # Not in pytest's own folder, which is closed to other users.
    folder = Path(tempfile.mkdtemp(prefix="kbdash-image-"))
    folder.chmod(0o755)
    image = Image(folder, PROJECT)
    try:
        image.build(DOCKERFILE)
        seal(image.source)
        yield image
    finally:
        seal(image.source, open_again=True)
        shutil.rmtree(folder)


@pytest.fixture(scope="module")
def container(image: Image, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Container]:
    log = tmp_path_factory.mktemp("container") / "log.txt"
    container = Container(image, log, KBDASH_SOURCE="sample", KBDASH_CONTENT_BUILD="off")
    assert not container.healthy()
    before = listing(image.source)
    container.start()
    try:
        yield container
    finally:
        container.stop()
    assert not container.healthy()
    assert listing(image.source) == before


def test_it_runs_as_an_unprivileged_user(container: Container) -> None:
    uid = subprocess.check_output(["ps", "-o", "uid=", "-p", str(container.process.pid)])
    assert int(uid) == (1000 if os.geteuid() == 0 else os.geteuid())
    touch = ["touch", str(container.image.source / "kbdash" / "new.py")]
    assert subprocess.run(touch, check=False, capture_output=True, **container.image.identity).returncode != 0


def test_pages_are_served(container: Container) -> None:
    status, page = container.get("/")
    assert status == 200
    assert b"<title>" in page
    assert container.get("/_stcore/health") == (200, b"ok")


def test_every_competition_is_answered_about(container: Container) -> None:
    status, answer = container.get("/api/problems.json")
    assert status == 200
    assert {row["competition"] for row in json.loads(answer)["rows"]} >= {item.slug for item in COMPETITIONS}


def test_only_the_cache_grows(container: Container) -> None:
    home = container.image.path(container.image.env["HOME"])
    container.get("/api/problems.json")
    assert {path.name for path in home.iterdir()} == {"app", ".cache"}


def test_the_packages_are_those_of_the_lock_file(image: Image) -> None:
    command = [image.python, "-c", "import importlib.metadata as m; print(*(d.name for d in m.distributions()))"]
    installed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.lower().split()
    locked = (PROJECT / "requirements.txt").read_text()
    assert "streamlit" in installed
    assert [name for name in installed if f"\n{name.replace('_', '-')}==" not in f"\n{locked}"] == []


def test_every_port_is_the_one_in_the_readme(image: Image) -> None:
    assert f"\napp_port: {image.port}\n" in (PROJECT / "README.md").read_text()
    assert image.command[image.command.index("--port") + 1] == str(image.port)
    assert f":{image.port}/" in image.health[-1]


def test_caches_lie_in_the_home_of_user_1000(image: Image) -> None:
    assert image.users[image.user] == 1000
    for name in ("HF_HOME", "KBDASH_CACHE"):
        assert image.env[name].startswith(f"{image.env['HOME']}/.cache/")


def test_the_builder_gets_what_is_copied_and_nothing_else(image: Image) -> None:
    lines = (PROJECT / ".dockerignore").read_text().splitlines()
    everything, *rest = [line for line in lines if line and not line.startswith("#")]
    assert everything == "*"
    assert sorted(line[1:] for line in rest if line.startswith("!")) == sorted(image.copied)
    kept_out = ["**/__pycache__", "**/.env*", ".streamlit/secrets.toml"]
    assert [line for line in rest if not line.startswith("!")] == kept_out
