"""The wheel: built from the checkout, installed into an empty environment, used from another folder."""

import asyncio
import subprocess
import sys
import zipfile
from email.parser import Parser
from hashlib import sha256
from pathlib import Path

import httpx2
import pytest
from filelock import FileLock
from platformdirs import user_cache_path

from tests.e2e.serving import ROOT, await_health, free_port, inherited

UV = (sys.executable, "-m", "uv")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    words = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(words, cwd=ROOT, check=True, capture_output=True)
    [built] = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def elsewhere(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty environment into which the wheel is installed, with all that it names and nothing else."""
    home = tmp_path_factory.mktemp("elsewhere") / "venv"
    subprocess.run([*UV, "venv", "-q", str(home)], check=True)
    words = ["-q", "--python", str(home / "bin" / "python"), "--offline", "--no-deps", str(wheel)]
    subprocess.run([*UV, "pip", "install", *words], check=True)
    (packages(home) / "named.pth").write_text(f"{packages(named_packages(wheel))}\n")
    return home


def named_packages(wheel: Path) -> Path:
    """An environment with what the wheel names, and nothing else: installed, and compiled by its first user, once."""
    [metadata] = [name for name in zipfile.ZipFile(wheel).namelist() if name.endswith(".dist-info/METADATA")]
    names = Parser().parsestr(zipfile.ZipFile(wheel).read(metadata).decode()).get_all("Requires-Dist", [])
    pins = ROOT / "requirements.txt"
    key = sha256(repr((sys.version, names, pins.read_text())).encode()).hexdigest()[:16]
    home = user_cache_path("kbdash-tests", ensure_exists=True) / f"wheel-{key}"
    with FileLock(f"{home}.lock"):
        if not (home / "done").exists():
            subprocess.run([*UV, "venv", "-q", "--clear", str(home)], check=True)
            words = ["-q", "--python", str(home / "bin" / "python"), "-c", str(pins), *names]
            install = [*UV, "pip", "install"]
            if subprocess.run([*install, "--offline", *words], check=False, capture_output=True).returncode:
                subprocess.run([*install, *words], check=True)
            (home / "done").touch()
    return home


def packages(home: Path) -> Path:
    """The folder of the packages of an environment."""
    [found] = home.glob("lib/python*/site-packages")
    return found


@pytest.fixture
def environ(sample_cache: Path) -> dict[str, str]:
    kept = {name: value for name, value in inherited().items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    return kept | {"KBDASH_CACHE": str(sample_cache)}


def test_twine_finds_nothing_wrong(wheel: Path) -> None:
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", str(wheel)], check=True, capture_output=True)


def test_the_library_is_that_of_the_wheel_and_imports_no_streamlit(
    elsewhere: Path, environ: dict[str, str], tmp_path: Path
) -> None:
    asked = "import sys, kbdash; print(kbdash.__file__, 'streamlit' in sys.modules, 'mcp' in sys.modules)"
    python = elsewhere / "bin" / "python"
    told = subprocess.run([python, "-c", asked], cwd=tmp_path, env=environ, check=True, capture_output=True, text=True)
    place, *imported = told.stdout.split()
    assert Path(place).is_relative_to(elsewhere)
    assert imported == ["False", "False"]


def test_the_command_answers(elsewhere: Path, environ: dict[str, str], tmp_path: Path) -> None:
    words = [elsewhere / "bin" / "kbdash", "top", "nvfp4_gemm", "--source", "sample"]
    told = subprocess.run(words, cwd=tmp_path, env=environ, check=True, capture_output=True, text=True)
    assert told.stdout.splitlines()[1].split()[0] == "1"


def test_agents_are_served(elsewhere: Path, environ: dict[str, str], tmp_path: Path) -> None:
    from mcp import Client, StdioServerParameters  # a slow import, which every process of a run would pay for

    words = ["mcp", "--source", "sample"]
    server = StdioServerParameters(command=str(elsewhere / "bin" / "kbdash"), args=words, env=environ, cwd=tmp_path)

    async def tools() -> set[str]:
        async with Client(server) as client:
            return {tool.name for tool in (await client.list_tools()).tools}

    assert {"boards", "leaderboard", "submission"} <= asyncio.run(tools())


def test_the_dashboard_is_served_from_any_folder(
    elsewhere: Path, environ: dict[str, str], sample_folder: Path, tmp_path: Path
) -> None:
    port = free_port()
    (tmp_path / "data").symlink_to(sample_folder)
    log = tmp_path / "log"
    words = [elsewhere / "bin" / "kbdash", "serve", "--port", str(port), "--source", "data"]
    with log.open("w") as output:
        process = subprocess.Popen(words, cwd=tmp_path, env=environ, stdout=output, stderr=output)
    base = f"http://127.0.0.1:{port}"
    try:
        await_health(base, process, log)
        assert "<title>" in httpx2.get(base).text
        board = httpx2.get(f"{base}/api/leaderboard.json?problem=trimul", timeout=60).json()
        assert board["rows"][0]["rank"] == 1
        assert board["source"]["sample"] is False
        assert httpx2.get(f"{base}/_stcore/host-config").status_code == 200
    finally:
        process.terminate()
        process.wait(20)
    assert "Traceback" not in log.read_text()
