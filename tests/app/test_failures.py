"""When the Hub fails: a clear word in its place, everything else works, and the app heals without a restart."""

import math
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from kbdash.database import materialising
from kbdash.dataset.config import DATASET
from kbdash.web import session
from tests.app.conftest import FEW, Open, healthy, open_app, opened_engine, words
from tests.app.shown import tables
from tests.forgetting import forget_answers
from tests.hub import LoopbackHub

NVFP4 = "nvidia_nvfp4_submissions.parquet"


@pytest.fixture
def public(environment: pytest.MonkeyPatch, hub: LoopbackHub) -> Open:
    """The app as it is without any setting: the public dataset, else the sample."""
    environment.setenv("HF_ENDPOINT", hub.endpoint)
    return open_app


@pytest.fixture
def strict(environment: pytest.MonkeyPatch, hub: LoopbackHub) -> Open:
    """The app told to read that dataset and nothing else."""
    environment.setenv("HF_ENDPOINT", hub.endpoint)
    environment.setenv("KBDASH_SOURCE", DATASET)
    return open_app


def test_the_footer_names_licence_revision_and_bytes(public: Open, hub: LoopbackHub) -> None:
    app = public("nvfp4")
    assert healthy(app)
    footer = app.caption[-1].value
    assert f"[{hub.commit[:7]}]({hub.endpoint}/datasets/{DATASET}/commit/{hub.commit})" in footer
    assert "licence: other" in footer
    assert "moved since start" in footer
    assert "Sample data." not in words(app)


def test_an_unreachable_hub_gives_the_sample_with_a_banner_and_heals(public: Open, hub: LoopbackHub) -> None:
    hub.faults.refuse = True
    app = public("nvfp4")
    assert healthy(app)
    said = words(app)
    assert "Sample data." in said
    assert "could not be opened" in said
    app.button(key="sample-retry").click().run()
    assert "Sample data." in words(app)
    hub.faults.clear()
    app.button(key="sample-retry").click().run()
    assert "Sample data." not in words(app)
    assert healthy(app)
    assert "Sample data." not in words(public())


def test_a_named_dataset_is_never_replaced_by_the_sample(strict: Open, hub: LoopbackHub) -> None:
    hub.faults.refuse = True
    app = strict()
    assert not app.exception
    assert "cannot be reached" in words(app)
    assert not tables(app)
    hub.faults.clear()
    app.button(key="problem-retry").click().run()
    assert healthy(app)
    assert tables(app)


@pytest.mark.parametrize(
    ("status", "code", "said"),
    [
        (401, None, "HF_TOKEN"),
        (403, "GatedRepo", "is gated"),
        (404, "RepoNotFound", "has no dataset"),
        (404, "RevisionNotFound", "has no revision"),
        (503, None, "answered 503"),
    ],
)
def test_what_the_hub_answered_is_told(
    strict: Open, hub: LoopbackHub, status: int, code: str | None, said: str
) -> None:
    hub.faults.fail(status, "/api/*", code=code)
    app = strict()
    assert not app.exception
    assert said in words(app).replace("\\", "").replace("\u2060", "")


def test_one_broken_file_leaves_the_others_alone(strict: Open, hub: LoopbackHub) -> None:
    hub.faults.fail(404, f"*{NVFP4}")
    forget_answers()  # the same revision was read before, by another test
    overview = strict()
    assert not overview.exception
    assert "404" in overview.warning[0].value
    assert len(tables(overview)) == len(FEW) - 1
    assert not healthy(strict("nvfp4"))
    assert healthy(strict("trimul"))


def test_a_file_that_is_not_parquet_is_named(strict: Open, hub: LoopbackHub) -> None:
    hub.faults.replace(NVFP4, b"not parquet at all")
    app = strict("nvfp4")
    assert not app.exception
    assert "nvidia\\_nvfp4" in words(app)
    assert healthy(strict("helion"))


def test_a_failure_in_the_middle_shows_in_its_place_and_passes(
    strict: Open, hub: LoopbackHub, environment: pytest.MonkeyPatch
) -> None:
    environment.setattr(materialising, "WORTH_AFTER", 10**9)  # what is kept here needs no Hub
    forget_answers()  # so that this engine opens the file
    app = strict()
    assert healthy(app)
    hub.faults.refuse = True
    forget_answers()
    opened_engine().source.bytes.forget("trimul_submissions.parquet")
    app.query_params["page"] = "trimul"
    app.query_params["tab"] = "submissions"
    app.run()
    assert app.title[0].value == "TriMul"
    assert not healthy(app)
    assert not app.exception
    hub.faults.clear()
    app.run()
    assert healthy(app)
    assert tables(app)


def test_errors_are_not_kept(strict: Open, hub: LoopbackHub) -> None:
    hub.faults.cut_after(1000, "/cdn/*")
    broken = strict("linalg")
    assert not broken.exception
    hub.faults.clear()
    session.engines.clear()
    assert healthy(strict("linalg"))


def test_a_newer_revision_is_offered_and_never_forced(
    environment: pytest.MonkeyPatch, sample_folder: Path, tmp_path: Path
) -> None:
    helion = "helion_b200_nebius_submissions.parquet"
    (tmp_path / helion).write_bytes((sample_folder / helion).read_bytes())
    environment.setenv("KBDASH_SOURCE", DATASET)
    with LoopbackHub(tmp_path) as hub:
        environment.setenv("HF_ENDPOINT", hub.endpoint)
        app = open_app()
        old = hub.commit
        (tmp_path / "more_submissions.parquet").write_bytes((sample_folder / helion).read_bytes())
        new = hub.publish()
        opened_engine()._asked_at = -math.inf
        _until_offered(app)
        assert old[:7] in app.caption[-1].value
        assert len(tables(app)) == 1
        app.button(key="newer-load").click().run()
        assert new[:7] in app.caption[-1].value
        assert "newer revision" not in words(app)
        assert len(tables(app)) == 2


def _until_offered(app: AppTest) -> None:
    """The Hub is asked in the background, so the offer comes with one of the next runs."""
    for _ in range(100):
        if "newer revision" in words(app.run()):
            return
    pytest.fail("no newer revision was offered")


def test_an_unknown_file_gets_a_page(environment: pytest.MonkeyPatch, sample_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "my_own_submissions.parquet").write_bytes((sample_folder / "trimul_submissions.parquet").read_bytes())
    (tmp_path / "notes.parquet").write_bytes((sample_folder / "leaderboards.parquet").read_bytes())
    environment.setenv("KBDASH_SOURCE", str(tmp_path))
    app = open_app("my-own")
    assert healthy(app)
    assert app.title[0].value == "my own"
    assert tables(app)
    assert "[my" not in words(app)


def test_a_program_error_is_neutral_and_logged(
    environment: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, sample_folder: Path
) -> None:
    environment.setenv("KBDASH_SOURCE", str(sample_folder))
    environment.setattr("kbdash.web.about.RULE", None)
    environment.setattr("kbdash.web.about.DUCKDB", None)
    app = open_app("about")
    assert not app.exception
    assert "Something went wrong" in words(app)
    assert "AttributeError" not in words(app)
    assert "A page failed" in caplog.text
    assert app.caption[-1].value.startswith("Data:")
