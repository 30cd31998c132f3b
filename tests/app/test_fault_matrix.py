"""Every fault on every page: the words a reader meets, what still works, and that the app heals without a restart.

The three tables are the specification: what is switched on at the Hub, and the words that must then stand on every
page that needs what failed. `None` means that readers notice nothing, because the fault passes or can be got round.
"""

import io
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from streamlit.testing.v1 import AppTest

from kbdash.dataset.config import DATASET, Settings
from kbdash.engine import KernelBot
from kbdash.web import engines
from tests.app.conftest import healthy, open_app, opened_engine, words
from tests.app.shown import table, tables
from tests.conftest import part_of
from tests.forgetting import forget_answers
from tests.hub import LoopbackHub

BROKEN = "nvidia_nvfp4_submissions.parquet"
WHOLE = ("trimul_submissions.parquet", "helion_b200_nebius_submissions.parquet")

QUERY_SECONDS = 3.0
HURRIED, PATIENT = 0.4, 30.0  # seconds


@dataclass(frozen=True)
class Fault:
    """Something that goes wrong at the Hub, and what readers are told."""

    name: str
    switch_on: Callable[[LoopbackHub], None]
    says: str | None


def failing(status: int, path: str, **how: object) -> Callable[[LoopbackHub], None]:
    """Answers with an error."""
    return lambda hub: hub.faults.fail(status, path, **how)  # type: ignore[arg-type]


def rewritten(change: Callable[[pa.Table], pa.Table], *, listed: bool = False) -> Callable[[LoopbackHub], None]:
    """Another file in the place of the broken one; `listed` = it was published so."""

    def switch_on(hub: LoopbackHub) -> None:
        buffer = io.BytesIO()
        pq.write_table(change(pq.read_table(hub.folder / BROKEN)), buffer)
        hub.faults.replace(BROKEN, buffer.getvalue(), listed=listed)

    return switch_on


def as_text(table: pa.Table) -> pa.Table:
    """The table with scores as words."""
    place = table.column_names.index("score")
    return table.set_column(place, "score", pa.array(["fast"] * len(table)))


def refuse(hub: LoopbackHub) -> None:
    hub.faults.refuse = True


DATASET_FAULTS = (
    Fault("refused", refuse, "cannot be reached"),
    Fault("hang", lambda hub: hub.faults.hang("/api/*"), "did not answer within"),
    Fault("401", failing(401, "/api/*"), "set HF_TOKEN"),
    Fault("403 gated", failing(403, "/api/*", code="GatedRepo"), "is gated"),
    Fault("404 dataset", failing(404, "/api/*", code="RepoNotFound"), "has no dataset"),
    Fault("404 revision", failing(404, "/api/*", code="RevisionNotFound"), "has no revision"),
    Fault("429", failing(429, "/api/*", retry_after=60), "answered 429"),
    Fault("500", failing(500, "/api/*"), "answered 500"),
    Fault("503 passing", failing(503, "/api/*", times=1), None),
    Fault("body cut", lambda hub: hub.faults.cut_after(20, "/api/*"), "cannot be reached"),
    Fault("body cut once", lambda hub: hub.faults.cut_after(20, "/api/*", times=1), None),
)

FILE_FAULTS = (
    Fault("hang", lambda hub: hub.faults.hang(f"*{BROKEN}"), "did not answer in time"),
    Fault("trickles", lambda hub: hub.faults.trickle(f"/cdn/*{BROKEN}"), "did not answer in time"),
    Fault("401", failing(401, f"*/resolve/*{BROKEN}"), "refused access (401)"),
    Fault("403 gated", failing(403, f"*/resolve/*{BROKEN}", code="GatedRepo"), "refused access (403)"),
    Fault("404", failing(404, f"*{BROKEN}"), f"no longer has {BROKEN} (404)"),
    Fault("429", failing(429, f"*{BROKEN}", retry_after=60), "asks to slow down (429)"),
    Fault("429 passing", failing(429, f"*{BROKEN}", retry_after=1, times=1), None),
    Fault("500", failing(500, f"*{BROKEN}"), "failed to answer (500)"),
    Fault("503", failing(503, f"*{BROKEN}"), "failed to answer (503)"),
    Fault("503 passing", failing(503, f"*{BROKEN}", times=2), None),
    Fault("body cut", lambda hub: hub.faults.cut_after(100, f"/cdn/*{BROKEN}"), "was lost while"),
    Fault("body cut once", lambda hub: hub.faults.cut_after(100, f"/cdn/*{BROKEN}", times=1), None),
    Fault("link refused", failing(403, f"/cdn/*{BROKEN}"), "signed link"),
    Fault("links for one use", lambda hub: hub.faults.expire_links(uses=1), None),
    Fault("not parquet", lambda hub: hub.faults.replace(BROKEN, b"<html>Sign in</html>", listed=True), "is damaged"),
    Fault("truncated", lambda hub: hub.faults.replace(BROKEN, read(hub)[:-1000], listed=True), "is damaged"),
    Fault("replaced", rewritten(lambda table: table.slice(1)), "was replaced"),
    Fault(
        "missing column",
        rewritten(lambda table: table.drop_columns(["runner"]), listed=True),
        "lacks the column runner",
    ),
    Fault("retyped column", rewritten(as_text, listed=True), "column score has the type VARCHAR"),
)

# While questions are answered from a file that was opened in good order.
ANSWER_FAULTS = (
    Fault("stalls", lambda hub: hub.faults.hang(f"*{BROKEN}"), "did not answer in time"),
    Fault(
        "stalls in the middle", lambda hub: hub.faults.silent_after(100, f"/cdn/*{BROKEN}"), "did not answer in time"
    ),
    Fault("trickles", lambda hub: hub.faults.trickle(f"/cdn/*{BROKEN}"), "did not answer in time"),
    Fault("503", failing(503, f"*{BROKEN}"), "failed to answer (503)"),
    Fault("changed under its address", rewritten(lambda table: table.slice(1)), "was replaced"),
    Fault("corrupt", lambda hub: hub.faults.corrupt(f"/cdn/*{BROKEN}"), "is damaged"),
    Fault("corrupt once", lambda hub: hub.faults.corrupt(f"/cdn/*{BROKEN}", times=1), None),
)

# While a text is fetched for a page whose facts are known already.
TEXT_FAULTS = (
    Fault("refused", refuse, "cannot be reached"),
    Fault("401", failing(401, f"*{BROKEN}"), "refused access (401)"),
    Fault("404", failing(404, f"*{BROKEN}"), f"no longer has {BROKEN} (404)"),
    Fault("429", failing(429, f"*{BROKEN}", retry_after=60), "Wait 60 seconds"),
    Fault("503", failing(503, f"*{BROKEN}"), "failed to answer (503)"),
    Fault("503 passing", failing(503, f"*{BROKEN}", times=1), None),
    Fault("body cut", lambda hub: hub.faults.cut_after(100, f"/cdn/*{BROKEN}"), "was lost while"),
    Fault("link expired", lambda hub: hub.faults.expire_links(), None),
    Fault("file replaced", rewritten(lambda table: table.slice(1)), "was replaced"),
)


def read(hub: LoopbackHub) -> bytes:
    return (hub.folder / BROKEN).read_bytes()


@pytest.fixture(scope="module")
def folder(sample_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset of three competitions, of which one will break."""
    return part_of(sample_folder, tmp_path_factory.mktemp("dataset"), BROKEN, *WHOLE)


@pytest.fixture
def unread(environment: pytest.MonkeyPatch, folder: Path, tmp_path: Path) -> Iterator[LoopbackHub]:
    """A Hub with that dataset, which the app is told to read and nothing else; answers from before stay."""
    with LoopbackHub(folder) as hub:
        environment.setenv("KBDASH_SOURCE", DATASET)
        environment.setenv("KBDASH_CACHE", str(tmp_path))
        environment.setenv("HF_ENDPOINT", hub.endpoint)
        yield hub


@pytest.fixture
def shelf(unread: LoopbackHub) -> LoopbackHub:
    """The same, and nothing that was read of such a dataset before is known any more."""
    forget_answers()
    return unread


@pytest.fixture(scope="module")
def pages(kb: KernelBot) -> dict[str, dict[str, str]]:
    """Every page as a link into the competition that breaks; `about` and `elsewhere` need nothing of it."""
    best = kb.leaderboard("nvfp4_gemm").iloc[0]
    steps = kb.ladder("nvfp4_gemm", best["user_id"], runner="NVIDIA")["submission_id"]
    return {
        "overview": {},
        "competition": {"page": "nvfp4", "problem": "nvfp4_gemm"},
        "submission": {"page": "submission", "id": str(best["submission_id"])},
        "compare": {"page": "compare", "a": str(steps.iloc[0]), "b": str(steps.iloc[-1])},
        "ladder": {"page": "ladder", "problem": "nvfp4_gemm", "user": best["user_id"]},
        "user": {"page": "user", "user": best["user_id"]},
        "about": {"page": "about"},
        "elsewhere": {"page": "trimul"},
    }


def plain(app: AppTest) -> str:
    """The words on a page as a reader sees them."""
    return re.sub(r"\\(.)", r"\1", words(app)).replace("\u2060", "")


def sound(app: AppTest) -> bool:
    """No traceback, no program error, no sample in the place of what was asked for."""
    said = plain(app)
    return not app.exception and not any(
        word in said for word in ("Traceback", "Something went wrong", "Sample data.", "NaN", "nan ")
    )


def silent(app: AppTest) -> bool:
    """A page without rows or charts."""
    return not tables(app) and not app.get("plotly_chart")


def in_order(app: AppTest) -> bool:
    """A page with all it should have, and no word about a failure."""
    return sound(app) and healthy(app) and BROKEN not in plain(app)


def wait_for_the_hub(environment: pytest.MonkeyPatch, seconds: float) -> None:
    """How long the Hub may take. Only a silent one is given little: others answer at once, however busy the machine."""
    read = Settings.from_env
    environment.setattr(Settings, "from_env", lambda: replace(read(), hub_seconds=seconds))


@pytest.mark.parametrize("fault", DATASET_FAULTS, ids=lambda fault: fault.name)
def test_a_fault_of_the_dataset(
    fault: Fault, shelf: LoopbackHub, pages: dict[str, dict[str, str]], environment: pytest.MonkeyPatch
) -> None:
    fault.switch_on(shelf)
    wait_for_the_hub(environment, PATIENT)
    if fault.says is None:
        assert {page: in_order(open_app(**link)) for page, link in pages.items()} == dict.fromkeys(pages, True)
        return
    with environment.context() as patch:
        wait_for_the_hub(patch, HURRIED if fault.name == "hang" else PATIENT)
        patch.setattr(engines, "REOPEN_SECONDS", 600.0)  # readers who come one after the other share the failure
        shown = {page: open_app(**link) for page, link in pages.items()}
    for page, app in shown.items():
        assert fault.says in plain(app), page
        assert sound(app), page
        assert silent(app), page
    shelf.faults.clear()
    assert in_order(shown["competition"].button(key="problem-retry").click().run())
    assert in_order(open_app(**pages["overview"]))


@pytest.mark.parametrize("fault", [fault for fault in DATASET_FAULTS if fault.says], ids=lambda fault: fault.name)
def test_a_fault_of_the_public_dataset_shows_the_sample_and_says_so(
    fault: Fault, unread: LoopbackHub, environment: pytest.MonkeyPatch, sample_cache: Path
) -> None:
    fault.switch_on(unread)
    environment.delenv("KBDASH_SOURCE")
    environment.setenv("KBDASH_CACHE", str(sample_cache))
    wait_for_the_hub(environment, HURRIED if fault.name == "hang" else PATIENT)
    for page in ("", "nvfp4", "about"):
        app = open_app(page)
        assert healthy(app), page
        assert "All rows are synthetic, not real." in plain(app), page
        assert str(fault.says) in plain(app), page
        assert "a synthetic sample, not real results" in plain(app), page


@pytest.mark.parametrize("fault", FILE_FAULTS, ids=lambda fault: fault.name)
def test_a_fault_of_one_file(
    fault: Fault, shelf: LoopbackHub, pages: dict[str, dict[str, str]], environment: pytest.MonkeyPatch
) -> None:
    fault.switch_on(shelf)
    if fault.name not in ("hang", "trickles"):
        wait_for_the_hub(environment, PATIENT)
    shown = {page: open_app(**link) for page, link in pages.items()}
    if fault.says is None:
        assert {page: in_order(app) for page, app in shown.items()} == dict.fromkeys(pages, True)
        return
    assert in_order(shown.pop("about"))
    assert in_order(shown["elsewhere"])
    assert tables(shown.pop("elsewhere"))
    for page, app in shown.items():
        assert fault.says in plain(app), page
        assert BROKEN in plain(app), page
        assert sound(app), page
        assert silent(app) or page in ("overview", "user"), page
    assert len(tables(shown["overview"])) == len(WHOLE)
    assert "NVIDIA NVFP4 is left out" in plain(shown["user"])
    shelf.faults.clear()
    assert in_order(shown["submission"].button(key="problem-retry").click().run())
    healed = open_app(**pages["overview"])
    assert in_order(healed)
    assert len(tables(healed)) == len(WHOLE) + 1


@pytest.mark.parametrize("fault", TEXT_FAULTS, ids=lambda fault: fault.name)
def test_a_fault_while_a_text_is_fetched(
    fault: Fault,
    shelf: LoopbackHub,
    pages: dict[str, dict[str, str]],
    kb: KernelBot,
) -> None:
    assert in_order(open_app(**pages["submission"]))
    far = kb.leaderboard("nvfp4_dual_gemm").iloc[-1]["submission_id"]
    near = pages["submission"]["id"]
    links = {
        "submission": {"page": "submission", "id": str(far)},
        "compare": {"page": "compare", "a": str(near), "b": str(far)},
    }
    fault.switch_on(shelf)
    shown = {page: open_app(**link) for page, link in links.items()}
    if fault.says is None:
        assert {page: in_order(app) for page, app in shown.items()} == dict.fromkeys(links, True)
        return
    for page, app in shown.items():
        assert fault.says in plain(app), page
        assert sound(app), page
        assert "nvfp4_dual_gemm" in plain(app), page
        assert not [part for part in app.get("bidi_component") if "code" in part.proto.component_name], page
    shelf.faults.clear()
    assert in_order(shown["submission"].button(key="code-problem-retry").click().run())


def test_a_file_without_rows(shelf: LoopbackHub, pages: dict[str, dict[str, str]]) -> None:
    rewritten(lambda table: table.slice(0, 0), listed=True)(shelf)
    says = {
        "overview": "No submissions yet.",
        "competition": "This competition has no submissions.",
        "submission": "There is no submission",
        "compare": "There is no submission",
        "ladder": "has no ranked time on",
    }
    for page, word in says.items():
        app = open_app(**pages[page])
        assert word in plain(app), page
        assert sound(app), page
    assert in_order(open_app(**pages["elsewhere"]))


def test_a_file_replaced_while_the_app_runs_changes_nothing(
    shelf: LoopbackHub, pages: dict[str, dict[str, str]]
) -> None:
    before = tables(open_app(**pages["competition"]))[0]
    rewritten(lambda table: table.slice(len(table) // 2))(shelf)
    forget_answers()
    after = open_app(**pages["competition"])
    assert in_order(after)
    assert table(after)["score"].tolist() == before["score"].tolist()


@pytest.mark.parametrize("fault", ANSWER_FAULTS, ids=lambda fault: fault.name)
def test_a_fault_of_a_file_after_it_was_opened(
    fault: Fault, shelf: LoopbackHub, pages: dict[str, dict[str, str]], environment: pytest.MonkeyPatch
) -> None:
    """The others answer meanwhile; nobody waits much longer than a question may take."""
    hurried = replace(Settings.from_env(), query_seconds=QUERY_SECONDS)
    environment.setattr(Settings, "from_env", lambda: hurried)
    about = open_app(**pages["about"])
    assert in_order(about)
    opened_engine()._database.wait_until_opened(60.0)
    fault.switch_on(shelf)
    start = time.monotonic()
    elsewhere = open_app(**pages["elsewhere"])
    assert in_order(elsewhere)
    assert tables(elsewhere)
    shown = {page: open_app(**pages[page]) for page in ("overview", "user", "competition", "submission")}
    if fault.says is None:
        assert {page: in_order(app) for page, app in shown.items()} == dict.fromkeys(shown, True)
        return
    for page, app in shown.items():
        assert sound(app), page
        assert fault.says in plain(app), page
        assert len(tables(app)) == {"overview": len(WHOLE), "user": 1}.get(page, 0), page
    assert in_order(open_app(**pages["elsewhere"]))
    # The overview finds out and tells the other pages; on a busy machine the pages themselves take their time.
    assert time.monotonic() - start < 30 + 2 * QUERY_SECONDS
    shelf.faults.clear()
    healed = shown["submission"].button(key="problem-retry").click().run()
    assert in_order(healed), plain(healed)
    assert len(tables(open_app(**pages["overview"]))) == len(WHOLE) + 1
