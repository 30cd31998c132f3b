"""Shipping the Space: the real huggingface_hub against the Hub on loopback, out of real git checkouts."""

import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from huggingface_hub import CommitOperationAdd, HfApi, SpaceCard, SpaceInfo

from kbdash.dataset.config import DATASET
from kbdash.deploy import command as deploy
from kbdash.deploy.checkout import read_head
from kbdash.deploy.space import front_matter
from tests.hub import LoopbackHub
from tests.pipes import closed_output

PROJECT = Path(__file__).parents[2]
README = "---\nsdk: docker\napp_port: 8501\nthumbnail: assets/thumbnail.png\n---\n# A title\n"
FILES = {
    "README.md": README,
    "Dockerfile": "FROM scratch\n",
    "app.py": "print()\n",
    "kbdash/deploy/command.py": "",
    "assets/thumbnail.png": "a picture",
    "pages/über uns.py": "# µ\r\n",
}
IDENTITY = ["-c", "user.name=Tester", "-c", "user.email=tester@localhost", "-c", "commit.gpgsign=false"]
WRITER, READER, GUEST = "hf_writes00000000", "hf_reads0000000", "hf_stranger0000000"
SPACE = "tester/Kernel_board.1"


def git(root: Path, *arguments: str) -> str:
    command = ["git", "-C", str(root), *IDENTITY, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def commit(root: Path, files: dict[str, str]) -> str:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(text.encode())
    git(root, "add", "--force", *files)
    git(root, "commit", "--quiet", "--message", "A step")
    return git(root, "rev-parse", "HEAD")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout that nobody changes: to copy it is quicker than to run git for every test."""
    root = tmp_path_factory.mktemp("template")
    git(root, "init", "--quiet")
    commit(root, FILES)
    (root / "notes.txt").write_text("nobody's business")
    return root


@pytest.fixture
def checkout(template: Path, tmp_path: Path) -> Path:
    return shutil.copytree(template, tmp_path / "checkout")


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[LoopbackHub]:
    (tmp_path / "dataset").mkdir()
    with LoopbackHub(tmp_path / "dataset", token=WRITER) as hub:
        hub.accounts.add(READER, "tester", "read")
        hub.accounts.add(GUEST, "guest", "write", ("guests",))
        yield hub


class Shell:
    """The command, run in this process; `out` and `err` are what the last run wrote."""

    def __init__(self, hub: LoopbackHub, root: Path, capture: pytest.CaptureFixture[str]) -> None:
        self.hub, self.root, self._capture = hub, root, capture
        self.out = self.err = ""

    def run(self, *arguments: str, token: str = WRITER, endpoint: str | None = None) -> int:
        environ = {"HF_TOKEN": token, "HF_ENDPOINT": endpoint or self.hub.endpoint}
        code = deploy.main(arguments, root=self.root, environ=environ)
        self.out, self.err = self._capture.readouterr()
        assert token.strip() not in self.out + self.err
        return code

    def refused(self, *arguments: str, code: int = 2, **settings: str) -> str:
        """What the reader is told: one sentence and advice, on standard error, with an exit code that says whose turn
        it is: 2 the reader's, 3 the Hub's."""
        assert self.run(*arguments, **settings) == code
        assert self.out == ""
        assert re.fullmatch(r"[^\n]+[.!?] [^\n]+\n", self.err)
        return self.err


@pytest.fixture
def shell(hub: LoopbackHub, checkout: Path, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(hub, checkout, capsys)


def put(hub: LoopbackHub, files: dict[str, str], space: str = SPACE) -> None:
    """Somebody writes to the Space past the command."""
    api = HfApi(endpoint=hub.endpoint, token=WRITER)
    api.create_repo(space, repo_type="space", space_sdk="docker", exist_ok=True)
    adding = [CommitOperationAdd(name, text.encode()) for name, text in files.items()]
    api.create_commit(space, adding, commit_message="Past the command", repo_type="space")


@pytest.fixture
def web_page() -> Iterator[str]:
    """The address of a server that answers everything with a page, as the log-in page of a network does."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<h1>Welcome</h1>")

        def log_message(self, *_: object) -> None:
            """Nothing worth a line."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class TestShipping:
    def test_a_space_is_made_of_the_last_commit_alone(self, shell: Shell) -> None:
        assert shell.run(SPACE) == 0
        space = shell.hub.spaces[SPACE]
        assert space.sdk == "docker"
        assert not space.repository.private
        thumbnail = f"{shell.hub.endpoint}/spaces/{SPACE}/resolve/main/assets/thumbnail.png"
        expected = {**FILES, "README.md": README.replace("assets/thumbnail.png", thumbnail)}
        assert {name: data.decode() for name, data in space.files.items()} == expected
        short = git(shell.root, "rev-parse", "HEAD")[:12]
        assert space.messages == [f"Deploy kbdash 0.1.0 ({short})"]
        assert shell.out.splitlines() == [
            f"{SPACE} now has the 6 files of commit {short}.",
            f"Space: {shell.hub.endpoint}/spaces/{SPACE}",
            f"App:   https://{space.repository.facts['subdomain']}.hf.space",
        ]

    def test_an_update_is_one_commit_that_also_deletes(self, shell: Shell) -> None:
        shell.run(SPACE)
        put(shell.hub, {".gitattributes": "*.png filter=lfs", "left/behind.txt": "x"})
        git(shell.root, "rm", "--quiet", "pages/über uns.py")
        commit(shell.root, {"app.py": "print(2)\n", "new/page.py": "new\n"})
        assert shell.run(SPACE, "--message", "Second edition") == 0
        space = shell.hub.spaces[SPACE]
        assert space.files.keys() == FILES.keys() - {"pages/über uns.py"} | {"new/page.py", ".gitattributes"}
        assert space.files["app.py"] == b"print(2)\n"
        assert [title.partition(" (")[0] for title in space.messages] == [
            "Deploy kbdash 0.1.0",
            "Past the command",
            "Second edition",
        ]

    def test_the_same_again_makes_no_commit(self, shell: Shell) -> None:
        shell.run(SPACE)
        assert shell.run(SPACE) == 0
        assert "already had the 6 files" in shell.out
        assert len(shell.hub.spaces[SPACE].messages) == 1

    def test_what_is_not_committed_stays_here_and_is_named(self, shell: Shell) -> None:
        (shell.root / "app.py").write_text("half done")
        commit(shell.root, {"Dockerfile": "FROM python\n"})
        assert shell.run(SPACE) == 0
        assert shell.hub.spaces[SPACE].files["app.py"] == b"print()\n"
        assert "Not committed, so left out: app.py\n" in shell.out

    def test_a_token_pasted_with_line_ends(self, shell: Shell) -> None:
        assert shell.run(SPACE, token=f" {WRITER}\r\n") == 0

    def test_the_space_of_an_organisation(self, shell: Shell) -> None:
        assert shell.run("GPUMODE/kernels") == 0
        assert list(shell.hub.spaces) == ["GPUMODE/kernels"]

    def test_an_existing_space_needs_no_plan(self, shell: Shell) -> None:
        put(shell.hub, {"README.md": README, ".gitattributes": ""})
        shell.hub.plan = "free"
        assert shell.run(SPACE) == 0
        assert "app.py" in shell.hub.spaces[SPACE].files

    def test_variables_are_set_where_they_differ(self, shell: Shell) -> None:
        shell.run(SPACE, "--variable", "KBDASH_SOURCE=sample", "--variable", "URL=https://x/?a=b", "--variable", "NO=")
        variables = shell.hub.spaces[SPACE].variables
        assert variables == {"KBDASH_SOURCE": "sample", "URL": "https://x/?a=b", "NO": ""}
        shell.hub.reset()
        assert shell.run(SPACE, "--variable", "KBDASH_SOURCE=sample", "--variable", "NO=1") == 0
        assert variables == {"KBDASH_SOURCE": "sample", "URL": "https://x/?a=b", "NO": "1"}
        asked = [entry.method for entry in shell.hub.counts.log if entry.path.endswith("/variables")]
        assert asked == ["GET", "POST"]

    def test_a_content_repository_is_handed_over(self, shell: Shell) -> None:
        assert shell.run(SPACE, "--content", "GPUMODE/kernel-content", "--variable", "KBDASH_SOURCE=sample") == 0
        assert shell.hub.spaces[SPACE].variables == {
            "KBDASH_CONTENT": "GPUMODE/kernel-content",
            "KBDASH_CONTENT_BUILD": "off",
            "KBDASH_SOURCE": "sample",
        }

    def test_a_private_space(self, shell: Shell) -> None:
        assert shell.run(SPACE, "--private") == 0
        assert shell.hub.spaces[SPACE].repository.private
        assert shell.run(SPACE, "--private") == 0

    def test_the_command_itself(self, hub: LoopbackHub, tmp_path: Path) -> None:
        """`python -m kbdash.deploy` in a checkout of this very project, with a token left by a login."""
        root = tmp_path / "clone"
        shutil.copytree(PROJECT / "kbdash", root / "kbdash", ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("README.md", "Dockerfile"):
            shutil.copy(PROJECT / name, root)
        git(root, "init", "--quiet")
        git(root, "add", ".")
        git(root, "commit", "--quiet", "--message", "All of it")
        (tmp_path / "home").mkdir()
        (tmp_path / "home" / "token").write_text(f"{WRITER}\n")
        done = command(root, tmp_path / "home", hub.endpoint)
        assert (done.returncode, done.stderr) == (0, "")
        assert f"Space: {hub.endpoint}/spaces/tester/kernels" in done.stdout
        assert WRITER not in done.stdout
        shipped = hub.spaces["tester/kernels"].files
        assert shipped["kbdash/deploy/command.py"] == (PROJECT / "kbdash" / "deploy" / "command.py").read_bytes()
        assert not [name for name in shipped if name.startswith(".git/")]


def command(root: Path, home: Path, endpoint: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """The command as a user types it, knowing no token but the one in `home`."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("HF_", "HUGGING", "PYTHON"))}
    return subprocess.run(
        [sys.executable, "-m", "kbdash.deploy", "tester/kernels"],
        cwd=root,
        env={**kept, "HF_HOME": str(home), "HF_ENDPOINT": endpoint, **environ},
        capture_output=True,
        text=True,
        check=False,
    )


class TestDryRun:
    def test_it_lists_everything_and_asks_nobody(self, shell: Shell) -> None:
        (shell.root / "app.py").write_text("half done")
        assert shell.run(SPACE, "--dry-run", "--private", "--variable", "KBDASH_SOURCE=sample") == 0
        assert shell.hub.counts.requests == 0
        sizes = {name: len(text.encode()) for name, text in FILES.items()}
        short = git(shell.root, "rev-parse", "HEAD")[:12]
        assert shell.out.splitlines() == [
            f"Would put commit {short} into {SPACE}: 6 files, {sum(sizes.values())} bytes.",
            *(f"{sizes[name]:>12}  {name}" for name in sorted(sizes)),
            "Would set KBDASH_SOURCE=sample",
            "Not committed, so left out: app.py",
        ]

    def test_it_needs_no_token_and_no_network(self, shell: Shell) -> None:
        shell.hub.faults.refuse = True
        assert deploy.main([SPACE, "--dry-run"], root=shell.root, environ={}) == 0

    def test_a_reader_who_is_gone_is_no_error(self, shell: Shell) -> None:
        with closed_output():
            assert deploy.main([SPACE, "--dry-run"], root=shell.root, environ={}) == 0
            sys.stdout.flush()  # as the interpreter does when it ends


class TestRefusals:
    """Each is one sentence, advice, exit code 2; nothing has happened on the Hub."""

    @pytest.mark.parametrize("name", ["kernels", "a/b/c", "a/", "/b", "", "a/b c", "a/../b", "a--b/c", "a/" + "b" * 97])
    def test_a_name_that_no_space_can_have(self, shell: Shell, name: str) -> None:
        assert "cannot be the name of a Space. Write OWNER/NAME" in shell.refused(name, "--dry-run")

    @pytest.mark.parametrize("text", ["KBDASH_SOURCE", "=x", "1ST=x", "A B=x", "", WRITER])
    def test_a_variable_that_is_none(self, shell: Shell, text: str) -> None:
        assert "--variable takes KEY=VALUE" in shell.refused(SPACE, "--variable", text)

    @pytest.mark.parametrize(
        "text",
        [
            "HF_TOKEN=abc", "api_key=abc", "APIKEY=abc", "PASSWD=abc", "AWS_ACCESS_KEY_ID=abc", "DB_PWD=abc",
            "SECRET=abc", "CREDENTIALS=abc", "MY_AUTH=abc", "PRIVATE=abc", "COOKIE=abc", "SIGNATURE=abc",
            "SENTRY_DSN=abc",
            f"NOTE={WRITER}", f"NOTE=Bearer {WRITER}", "NOTE=ghp_abcdefghijklmnop1234", "NOTE=AKIAABCDEFGHIJKLMNOP",
            "PROXY=http://user:abc@proxy", "PROXY=//user:abc@proxy:1",
            "NOTE=-----BEGIN abc-----", "NOTE=abc1abc2abc3abc4abc5abc6abc7abc8abc9",
        ],
    )  # fmt: skip
    def test_a_variable_that_is_a_secret(self, shell: Shell, text: str) -> None:
        message = shell.refused(SPACE, "--dry-run", "--variable", text)
        assert "looks like a secret" in message
        assert "abc" not in message

    @pytest.mark.parametrize(
        "text",
        [
            "KBDASH_SOURCE=GPUMODE/kernelbot-data@0123456789abcdef0123456789abcdef01234567",
            "HF_ENDPOINT=https://hub.example.org/a/long/path/that/has/1/number",
            "KBDASH_NEWER_SECONDS=900",
        ],
    )
    def test_an_ordinary_setting_is_none(self, shell: Shell, text: str) -> None:
        assert shell.run(SPACE, "--dry-run", "--variable", text) == 0

    def test_a_folder_that_is_no_checkout(self, shell: Shell, tmp_path: Path) -> None:
        shell.root = tmp_path
        assert f"{tmp_path} is not a git checkout (fatal: " in shell.refused(SPACE)

    def test_a_folder_inside_somebody_elses_checkout(self, shell: Shell) -> None:
        shell.root /= "pages"
        assert "lies inside the checkout of another project. Clone the repository" in shell.refused(SPACE)

    def test_a_checkout_without_a_commit(self, shell: Shell, tmp_path: Path) -> None:
        shell.root = tmp_path / "empty"
        shell.root.mkdir()
        git(shell.root, "init", "--quiet")
        assert "has no commit yet (fatal: " in shell.refused(SPACE)

    def test_a_machine_without_git(self, shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        assert shell.refused(SPACE) == "git is not installed. Install git, then run this again.\n"

    def test_a_symbolic_link(self, shell: Shell) -> None:
        (shell.root / "link").symlink_to("app.py")
        git(shell.root, "add", "link")
        commit(shell.root, {})
        assert "link is a symbolic link, which a Space cannot hold. " in shell.refused(SPACE)

    @pytest.mark.parametrize(
        "readme", ["# No front matter\n", "---\nsdk: docker\n---\n", "---\nsdk: static\napp_port: 1\n"]
    )
    def test_a_commit_without_front_matter(self, shell: Shell, readme: str) -> None:
        commit(shell.root, {"README.md": readme})
        assert "headed by `sdk: docker` and an `app_port`. Commit both" in shell.refused(SPACE, "--dry-run")

    def test_front_matter_that_the_hub_does_not_take(self, shell: Shell) -> None:
        commit(
            shell.root,
            {"README.md": README.replace("---\n#", f"colorTo: mauve\nshort_description: {'x' * 61}\n---\n#")},
        )
        message = shell.refused(SPACE)
        assert 'The Hub does not take the README: "colorTo" must be one of' in message
        assert "; " in message
        assert not shell.hub.spaces[SPACE].files

    @pytest.mark.parametrize(
        ("space", "token", "message"),
        [
            (SPACE, READER, "The token of tester is for reading only. Make one with the role write at https://"),
            (SPACE, "hf_unknown", "The Hub does not know this token. Make a new one at https://"),
            (SPACE, "hf_…copied", "The token holds characters that cannot be sent. Copy it again"),
            (SPACE, GUEST, "guest may not write to the Spaces of tester. Choose an owner among: guest, guests.\n"),
            (
                "nobody/x",
                WRITER,
                "tester may not write to the Spaces of nobody. Choose an owner among: tester, GPUMODE.\n",
            ),
        ],
    )
    def test_a_token_that_does_not_do(self, shell: Shell, space: str, token: str, message: str) -> None:
        assert shell.refused(space, token=token).startswith(message)
        assert not shell.hub.spaces

    def test_somebody_elses_space(self, shell: Shell) -> None:
        shell.run(SPACE)
        before = dict(shell.hub.spaces[SPACE].files)
        commit(shell.root, {"app.py": "mine now\n"})
        assert "guest may not write to the Spaces of tester." in shell.refused(SPACE, token=GUEST)
        assert shell.hub.spaces[SPACE].files == before

    @pytest.mark.parametrize("status", [401, 403])
    def test_a_token_for_other_things(self, shell: Shell, status: int) -> None:
        """A fine-grained token may know its owner and still not be allowed to write."""
        shell.hub.faults.fail(status, "/api/repos/create", message="Not among the scopes")
        assert f"The token of tester may not write to {SPACE}. Allow it" in shell.refused(SPACE)

    def test_no_token(self, hub: LoopbackHub, checkout: Path, tmp_path: Path) -> None:
        shutil.copytree(PROJECT / "kbdash", checkout / "kbdash", dirs_exist_ok=True)
        done = command(checkout, tmp_path / "home", hub.endpoint)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("There is no token for the Hub. Make one with the role write at https://")
        assert hub.counts.requests == 0

    def test_a_client_told_to_stay_offline(self, hub: LoopbackHub, checkout: Path, tmp_path: Path) -> None:
        shutil.copytree(PROJECT / "kbdash", checkout / "kbdash", dirs_exist_ok=True)
        done = command(checkout, tmp_path / "home", hub.endpoint, HF_TOKEN=WRITER, HF_HUB_OFFLINE="1")
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == "HF_HUB_OFFLINE is set, so the Hub is not asked. Unset it.\n"
        assert hub.counts.requests == 0

    def test_a_plan_without_docker_spaces(self, shell: Shell) -> None:
        shell.hub.plan = "free"
        assert "The plan of tester does not allow Docker Spaces. They need PRO" in shell.refused(SPACE)
        assert not shell.hub.spaces

    def test_a_plan_without_docker_spaces_said_otherwise(self, shell: Shell) -> None:
        shell.hub.faults.fail(403, "/api/repos/create", message="Subscribe to PRO to create Docker Spaces")
        assert "The plan of tester does not allow Docker Spaces." in shell.refused(SPACE)

    def test_a_hub_that_cannot_be_reached(self, shell: Shell) -> None:
        endpoint = shell.hub.endpoint
        shell.hub.faults.refuse = True
        told = shell.refused(SPACE, code=3)
        assert told == f"{endpoint} cannot be reached. Check the network, then run this again.\n"
        assert "cannot be reached" in shell.refused(SPACE, endpoint="http://hub.invalid", code=3)

    def test_a_hub_in_trouble(self, shell: Shell) -> None:
        shell.hub.faults.fail(503, "/api/spaces/*/commit/*", message="Down for maintenance")
        message = f"{shell.hub.endpoint} answered 503 (Down for maintenance). Wait a little, then run this again.\n"
        assert shell.refused(SPACE, code=3) == message

    def test_an_endpoint_that_is_no_hub(self, shell: Shell, web_page: str) -> None:
        assert "gave an answer that cannot be understood. Is HF_ENDPOINT" in shell.refused(SPACE, endpoint=web_page)

    def test_a_space_that_holds_another_app(self, shell: Shell) -> None:
        put(shell.hub, {"README.md": README, "game.py": "play()"})
        assert f"{SPACE} exists already and holds another app. Choose another name" in shell.refused(SPACE)
        assert shell.hub.spaces[SPACE].files.keys() == {"README.md", "game.py"}

    def test_a_public_space_does_not_turn_private(self, shell: Shell) -> None:
        shell.run(SPACE)
        commit(shell.root, {"app.py": "secret\n"})
        assert f"{SPACE} exists already and is public. Make it private" in shell.refused(SPACE, "--private")
        assert shell.hub.spaces[SPACE].files["app.py"] == b"print()\n"

    def test_two_at_once(self, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
        shell.run(SPACE)
        commit(shell.root, {"app.py": "print(2)\n"})
        look = HfApi.space_info

        def look_and_be_overtaken(api: HfApi, space: str) -> SpaceInfo:
            info = look(api, space)
            put(shell.hub, {"app.py": "theirs"})
            return info

        monkeypatch.setattr(HfApi, "space_info", look_and_be_overtaken)
        assert shell.refused(SPACE) == f"{SPACE} was changed by somebody else just now. Run this again.\n"
        assert shell.hub.spaces[SPACE].files["app.py"] == b"theirs"
        monkeypatch.undo()
        assert shell.run(SPACE) == 0

    def test_unknown_options_are_explained(self, shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
        with pytest.raises(SystemExit) as caught:
            shell.run(SPACE, "--publish")
        assert caught.value.code == 2
        assert "usage: python -m kbdash.deploy" in capsys.readouterr().err


class TestCheckout:
    def test_line_ends_are_those_of_the_commit(self, checkout: Path) -> None:
        git(checkout, "config", "core.autocrlf", "true")
        assert {name: data.decode() for name, data in read_head(checkout).files.items()} == FILES

    def test_staged_edited_and_deleted_files_are_changed_ones(self, checkout: Path) -> None:
        (checkout / "app.py").write_text("edited")
        (checkout / "Dockerfile").unlink()
        (checkout / "staged.py").write_text("new")
        git(checkout, "add", "staged.py")
        assert read_head(checkout).changed == ("Dockerfile", "app.py", "staged.py")


class TestFrontMatter:
    def test_the_readme_describes_a_docker_space(self) -> None:
        card = SpaceCard.load(PROJECT / "README.md").data
        assert (card.sdk, card.license, card.datasets) == ("docker", "mit", [DATASET])
        assert card.title
        assert 0 < len(card.short_description) <= 60
        assert f"\nEXPOSE {card.app_port}\n" in (PROJECT / "Dockerfile").read_text()

    @pytest.mark.parametrize("readme", ["", "# Title\n", "text\n---\nsdk: docker\n---\n", "---\nsdk: docker\n"])
    def test_a_readme_without_any(self, readme: str) -> None:
        assert front_matter(readme) == {}

    def test_lists_and_the_text_below_are_left_alone(self) -> None:
        readme = "---\nsdk:  docker \ntags:\n  - a\nurl: https://x: y\n---\nport: 1\n---\n"
        assert front_matter(readme) == {"sdk": "docker", "url": "https://x: y"}


def test_secrets_stay_out_of_commits(tmp_path: Path) -> None:
    """Also out of those that deploy: a Space gets what is committed."""
    git(tmp_path, "init", "-q")
    shutil.copy(PROJECT / ".gitignore", tmp_path)
    secrets = [".env", ".env.local", "docs/.env", ".streamlit/secrets.toml"]
    assert git(tmp_path, "check-ignore", *secrets).splitlines() == secrets


def test_the_base_image_is_pinned_and_how_to_refresh_it_is_said() -> None:
    before, base, _ = re.split(r"(?m)^FROM (.+)$", (PROJECT / "Dockerfile").read_text())
    assert re.fullmatch(r"python:3\.\d+\.\d+-slim-[a-z]+(@sha256:[0-9a-f]{64})?", base), "a patch release of Python"
    assert "To refresh it" in before
