"""Stores that are published to the Hub on loopback and attached from there."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import kbdash
from kbdash.content.building.build import Build
from kbdash.content.building.jobs import Opened
from kbdash.content.command import main
from kbdash.content.publishing.card import card
from kbdash.content.publishing.publish import push
from kbdash.content.store.finished import Store, find_store
from kbdash.content.store.layout import Manifest, folder_name
from kbdash.content.stores import ContentMissing
from kbdash.dataset.config import DATASET, Settings
from kbdash.dataset.source import open_source
from kbdash.errors import DataUnavailable, KbdashError
from tests.hub import LoopbackHub

TOKEN = "hf_writer"
NAME = "GPUMODE/kernel-content"


@pytest.fixture(scope="module")
def folder(sample_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two small files of the sample, and a licence."""
    home = tmp_path_factory.mktemp("dataset")
    for name in ("helion_b200_nebius_submissions.parquet", "trimul_submissions.parquet"):
        (home / name).write_bytes((sample_folder / name).read_bytes())
    (home / "LICENSE").write_text("The licence.\n")
    return home


@pytest.fixture
def own_hub(folder: Path) -> Iterator[LoopbackHub]:
    with LoopbackHub(folder, token=TOKEN) as hub:
        yield hub


@pytest.fixture
def options(own_hub: LoopbackHub, tmp_path: Path) -> Settings:
    return Settings(source=DATASET, endpoint=own_hub.endpoint, token=TOKEN, cache=tmp_path / "cache", hub_seconds=60.0)


@pytest.fixture(scope="module")
def helion(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Store:
    """The store of a competition of that dataset, built over a Hub."""
    cache = tmp_path_factory.mktemp("built")
    with LoopbackHub(folder, token=TOKEN) as hub:
        settings = Settings(source=DATASET, endpoint=hub.endpoint, token=TOKEN, cache=cache, hub_seconds=60.0)
        opened = Opened(open_source(settings), settings)
        [order] = opened.jobs(["helion"], cache / "content")
        manifest = Build(order).run()
        opened.close()
    return Store(cache / "content" / folder_name(order.file), manifest)


@pytest.fixture
def store(helion: Store, options: Settings) -> Store:
    """A copy of that store in the cache of the test."""
    shutil.copytree(helion.folder, options.cache / "content" / helion.folder.name)
    return Store(options.cache / "content" / helion.folder.name, helion.manifest)


def files_of(hub: LoopbackHub, name: str = NAME) -> dict[str, object]:
    return dict(hub._shelf.behind_link("dataset", name).head.files)


def test_a_published_store_is_fetched_when_it_is_needed(
    own_hub: LoopbackHub, options: Settings, store: Store, tmp_path: Path
) -> None:
    assert push(NAME, [store], options) == f"{own_hub.endpoint}/datasets/{NAME}"
    assert own_hub._shelf.behind_link("dataset", NAME).private
    there = files_of(own_hub)
    assert {"README.md", "LICENSE", f"{store.folder.name}/manifest.json", f"{store.folder.name}/lines.parquet"} <= set(
        there
    )
    assert any(path.startswith(f"{store.folder.name}/pages/") for path in there)
    reader = kbdash.connect(settings=replace(options, cache=tmp_path / "elsewhere", content=NAME))
    try:
        assert reader.content("helion").state in ("fetching", "built")
        found = reader.search("helion", competition="helion")
        assert len(found)
        assert reader.content("helion").state == "built"
        with pytest.raises(DataUnavailable, match="no content store of trimul"):
            reader.search("helion", competition="trimul")
        assert "no content store" in reader.content("trimul").note
        before = own_hub.counts.requests
        reader.code(int(found["best_submission_id"][0]), competition="helion")
        assert own_hub.counts.requests == before
    finally:
        reader.close()


def test_the_page_directory_comes_first_and_serves_source_texts_meanwhile(
    own_hub: LoopbackHub, options: Settings, store: Store, tmp_path: Path
) -> None:
    push(NAME, [store], options)
    own_hub.faults.fail(404, "*lines.parquet*")  # the tables never arrive
    reader = kbdash.connect(settings=replace(options, cache=tmp_path / "elsewhere", content=NAME))
    row = int(store.submission_of_row[0])
    text = reader.code(row, competition="helion")
    assert text.encode() == store.cell(0, row)
    [directory] = (store.folder / "pages").glob("*.json")
    assert (tmp_path / "elsewhere" / "pages" / directory.name).read_bytes() == directory.read_bytes()
    reader.close()


def test_pushing_again_replaces_what_is_out_of_date(own_hub: LoopbackHub, options: Settings, store: Store) -> None:
    push(NAME, [store], options)
    old = store.folder.rename(store.folder.with_name(store.folder.name[:-4] + "0000"))
    push(NAME, [Store(old, store.manifest)], options)
    folders = {path.split("/")[0] for path in files_of(own_hub) if "/" in path}
    assert folders == {old.name}


def test_publishing_to_a_public_repository_must_be_said(own_hub: LoopbackHub, options: Settings, store: Store) -> None:
    push(NAME, [store], options, public=True)
    assert not own_hub._shelf.behind_link("dataset", NAME).private
    with pytest.raises(KbdashError, match="everyone"):
        push(NAME, [store], options)


def test_tokens_that_cannot_write_are_named(own_hub: LoopbackHub, options: Settings, store: Store) -> None:
    stores = [store]
    with pytest.raises(KbdashError, match="no token"):
        push(NAME, stores, replace(options, token=None))
    own_hub.accounts.add("hf_reader", "reader", "read", ("GPUMODE",))
    with pytest.raises(KbdashError, match="reading only"):
        push(NAME, stores, replace(options, token="hf_reader"))
    with pytest.raises(KbdashError, match="does not let this token write"):
        push("somebody-else/x", stores, options)
    with pytest.raises(KbdashError, match="nothing was published"):
        push(NAME, stores, replace(options, endpoint="http://127.0.0.1:9"))


@pytest.mark.usefixtures("store")
def test_a_dry_run_asks_nothing(options: Settings, own_hub: LoopbackHub, capsys: pytest.CaptureFixture[str]) -> None:
    environ = {"KBDASH_CACHE": str(options.cache), "HF_ENDPOINT": options.endpoint, "KBDASH_SOURCE": DATASET}
    assert main(["push", NAME, "helion", "--dry-run"], environ=environ) == 0
    out = capsys.readouterr().out
    assert main(["push", NAME, "--dry-run", "helion"], environ=environ) == 0  # in any order
    assert capsys.readouterr().out == out
    with pytest.raises(SystemExit):
        main(["push", NAME, "--dry-run", "helion", "--no-such-option"], environ=environ)
    assert "--no-such-option" in capsys.readouterr().err
    assert "lines.parquet" in out
    assert "license: other" in out
    assert not own_hub._shelf.holds("dataset", NAME)


def manifest(licence: str) -> Manifest:
    origin = {"dataset": DATASET, "commit": "abc123", "licence": licence}
    return Manifest("f.parquet", "v", 1, "nvfp4", 1, 1, 1, 1, 1, {}, origin)


def test_the_card_says_on_what_terms() -> None:
    text = card([manifest("june-9-researcher-reciprocity")])
    for word in ("license: other", "license_name: june-9", "modified copy", "Training use is restricted", "abc123",
                 "GPU Mode and the KernelBot dataset", "kernelbot2025", "mark@gpumode.com", "LICENSE"):  # fmt: skip
        assert word in text
    assert "Training use" not in card([manifest("mit")])
    assert "license: cc-by-4.0" in card([manifest("cc-by-4.0")])


@pytest.mark.usefixtures("store")
def test_where_stores_come_from(options: Settings, tmp_path: Path) -> None:
    for content, state in ((None, "built"), (str(options.cache / "content"), "built"), ("off", "off")):
        engine = kbdash.connect(settings=replace(options, content=content))
        assert engine.content("helion").state == state
        engine.close()
    elsewhere = kbdash.connect(settings=replace(options, cache=tmp_path / "none"))
    assert elsewhere.content("helion").state == "absent"
    assert elsewhere.content("helion").cost_bytes > 0
    with pytest.raises(ContentMissing):
        elsewhere.search("torch")
    with pytest.raises(DataUnavailable, match="neither a folder"):
        kbdash.connect(settings=replace(options, content="/no/such/folder"))
    elsewhere.close()


def test_a_build_over_the_hub_survives_failures_that_pass(own_hub: LoopbackHub, options: Settings) -> None:
    source = open_source(options)
    opened = Opened(source, options)
    [order] = opened.jobs(["trimul"], options.cache / "content")
    own_hub.faults.fail(503, "/cdn/*", times=2)
    Build(order).run()
    assert find_store(order.root, order.file)
    opened.close()
