"""What the Dockerfile does, done without a Docker engine: its steps, in a folder that stands for the image."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from string import Template
from typing import Any

INTERPRETERS = (sys.executable, "/usr/local/bin/python3.11", "/usr/bin/python3.11", "/usr/bin/python3")


def instructions(text: str) -> Iterator[tuple[str, str]]:
    """Each instruction and its argument, in order."""
    code = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    for line in re.sub(r"\\\n\s*", "", code).splitlines():
        if line.strip():
            word, _, argument = line.strip().partition(" ")
            yield word, argument


@dataclass
class Image:
    """An image under construction. `folder` is its root; paths in `env` are those inside of it."""

    folder: Path
    context: Path
    env: dict[str, str] = field(default_factory=dict)
    workdir: str = "/"
    user: str = "root"
    users: dict[str, int] = field(default_factory=dict)
    copied: list[str] = field(default_factory=list)
    port: int = 0
    health: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)

    def build(self, dockerfile: str) -> None:
        """Do every step; one that is not known here is an error, so that none goes untested."""
        for word, argument in instructions(dockerfile):
            getattr(self, f"_{word.lower()}")(argument)

    def path(self, inside: str) -> Path:
        """Where a path of the image is on this machine."""
        return self.folder / inside.lstrip("/")

    @property
    def source(self) -> Path:
        """The folder that the app is started in."""
        return self.path(self.workdir)

    @property
    def python(self) -> Path:
        """The interpreter of the image."""
        return self.folder / "venv" / "bin" / "python"

    @property
    def identity(self) -> dict[str, Any]:
        """Arguments of subprocess that make a process run as the image's user, where this one may."""
        if os.geteuid() != 0:
            return {}
        uid = self.users[self.user]
        return {"user": uid, "group": uid, "extra_groups": []}

    def environment(self, **more: str) -> dict[str, str]:
        """The variables of a process in the container, and no other."""
        here = {key: str(self.path(value)) if value.startswith("/") else value for key, value in self.env.items()}
        return {"PATH": f"{self.python.parent}:/usr/bin:/bin", "LANG": "C.UTF-8", **here, **more}

    def _from(self, argument: str) -> None:
        assert re.fullmatch(r"python:3\.11\.\d+-slim-bookworm", argument), argument

    def _run(self, argument: str) -> None:
        program, *arguments = shlex.split(argument)
        {"useradd": self._useradd, "pip": self._pip}[program](arguments)

    def _useradd(self, arguments: list[str]) -> None:
        assert arguments[:2] == ["--create-home", "--uid"], arguments
        uid, name = int(arguments[2]), arguments[3]
        self.users[name] = uid
        home = self.path(f"/home/{name}")
        home.mkdir(parents=True)
        if os.geteuid() == 0:
            os.chown(home, uid, uid)

    def _pip(self, arguments: list[str]) -> None:
        """The same command, into a new environment that holds nothing else; uv takes pip's words and less time."""
        base = interpreter(next(iter(self.users.values())))
        subprocess.run([base, "-m", "venv", "--without-pip", self.folder / "venv"], check=True)
        command = [argument for argument in arguments if argument != "--no-cache-dir"]
        uv = [sys.executable, "-m", "uv", "--quiet", "pip", *command, "--python", str(self.python)]
        subprocess.run(uv, cwd=self.source, check=True)

    def _env(self, argument: str) -> None:
        pairs = [pair.partition("=")[::2] for pair in shlex.split(argument)]
        # As in Docker, a value may use the variables of the lines above, not those of its own.
        self.env |= {key: Template(value).substitute(self.env) for key, value in pairs}

    def _workdir(self, argument: str) -> None:
        self.workdir = Template(argument).substitute(self.env)
        self.source.mkdir(parents=True)

    def _copy(self, argument: str) -> None:
        *sources, target = [word for word in argument.split() if not word.startswith("--")]
        self.copied += sources
        for source in sources:
            if (self.context / source).is_dir():
                ignored = shutil.ignore_patterns("__pycache__")
                shutil.copytree(self.context / source, self.source / target, ignore=ignored)
            else:
                shutil.copy(self.context / source, self.source / target)

    def _user(self, argument: str) -> None:
        self.user = argument

    def _expose(self, argument: str) -> None:
        self.port = int(argument)

    def _healthcheck(self, argument: str) -> None:
        self.health = json.loads(argument.partition("CMD ")[2])

    def _cmd(self, argument: str) -> None:
        self.command = json.loads(argument)


def interpreter(uid: int) -> str:
    """A Python that the user may run: the one of this process, unless it lies in a folder of root's."""
    if os.geteuid() != 0:
        return sys.executable
    for candidate in INTERPRETERS:
        command = [candidate, "-c", "import sys, venv; sys.exit(sys.version_info < (3, 11))"]
        try:
            subprocess.run(command, check=True, capture_output=True, user=uid, group=uid, extra_groups=[])
        except (OSError, subprocess.CalledProcessError):
            continue
        return candidate
    raise FileNotFoundError(f"user {uid} may run none of {', '.join(INTERPRETERS)}")
