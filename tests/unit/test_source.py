"""Where the bytes come from: the environment, the Hub at one commit, a folder, the sample."""

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import kbdash
from kbdash.dataset.config import DATASET, HUB, Settings
from kbdash.dataset.source import newer_commit, open_source
from kbdash.errors import DataUnavailable
from tests.hub import LoopbackHub

TRIMUL = "trimul_submissions.parquet"


# --- the environment -----------------------------------------------------------------------------------------------


def test_an_empty_environment_means_the_public_dataset(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("huggingface_hub.get_token", lambda: None)
    settings = Settings.from_env({})
    assert (settings.source, settings.endpoint, settings.token) == (None, HUB, None)


def test_the_environment_is_honoured() -> None:
    settings = Settings.from_env(
        {"KBDASH_SOURCE": "sample", "HF_ENDPOINT": "http://hub.local/", "HF_TOKEN": "hf_x", "KBDASH_CACHE": "~/kb"}
    )
    assert (settings.source, settings.endpoint, settings.token) == ("sample", "http://hub.local", "hf_x")
    assert settings.cache == Path("~/kb").expanduser()


def test_empty_variables_are_unset_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.get_token", lambda: "hf_stored")
    settings = Settings.from_env({"KBDASH_SOURCE": "", "HF_ENDPOINT": "", "HF_TOKEN": "", "KBDASH_CACHE": ""})
    assert (settings.source, settings.endpoint, settings.token) == (None, HUB, "hf_stored")
    assert "hf_stored" not in repr(settings)


def test_the_argument_of_connect_wins_over_the_environment(
    monkeypatch: pytest.MonkeyPatch, sample_folder: Path, tmp_path: Path
) -> None:
    monkeypatch.setenv("KBDASH_SOURCE", "nobody/nothing")
    monkeypatch.setenv("KBDASH_CACHE", str(tmp_path))
    engine = kbdash.connect(sample_folder)
    assert engine.source.kind == "folder"
    engine.close()


# --- the Hub -------------------------------------------------------------------------------------------------------


def test_the_hub_is_resolved_to_a_commit_with_sizes_and_licence(hub: LoopbackHub, settings: Settings) -> None:
    source = open_source(settings)
    assert (source.kind, source.label, source.commit) == ("hub", DATASET, hub.commit)
    assert source.licence == "other"
    assert source.version == hub.commit
    assert set(source.files) == {path.name for path in hub.folder.glob("*.parquet")}
    for name, file in source.files.items():
        assert file.size == (hub.folder / name).stat().st_size
        assert file.location == hub.url(name)
    assert sum(entry.area == "api" for entry in hub.counts.log) == 1
    assert all(entry.method == "HEAD" and "/resolve/" in entry.path for entry in hub.counts.log if entry.area != "api")


def test_a_licence_with_a_name_is_told_by_its_name(hub: LoopbackHub, settings: Settings) -> None:
    hub.dataset.facts["cardData"] = {"license": "other", "license_name": "june-9"}
    assert open_source(settings).licence == "june-9"
    hub.dataset.facts.update({"cardData": None, "tags": ["language:en"]})
    assert open_source(settings).licence is None


def test_a_revision_stays_where_it_is(sample_folder: Path, tmp_path: Path) -> None:
    folder = tmp_path / "dataset"
    folder.mkdir()
    shutil.copy(sample_folder / TRIMUL, folder)
    with LoopbackHub(folder) as hub:
        first = hub.commit
        (folder / "helion_b200_nebius_submissions.parquet").write_bytes(b"later")
        hub.publish()
        settings = Settings(source=f"{DATASET}@{first}", endpoint=hub.endpoint, cache=tmp_path)
        source = open_source(settings)
        assert (source.commit, source.revision, set(source.files)) == (first, first, {TRIMUL})
        assert newer_commit(source, settings) is None
        on_main = open_source(replace(settings, source=f"{DATASET}@main"))
        assert on_main.commit == hub.commit != first


def test_the_version_of_a_file_changes_with_its_bytes_only(sample_folder: Path, tmp_path: Path) -> None:
    folder = tmp_path / "dataset"
    folder.mkdir()
    shutil.copy(sample_folder / TRIMUL, folder)
    with LoopbackHub(folder) as hub:
        settings = Settings(source=DATASET, endpoint=hub.endpoint, cache=tmp_path)
        first = open_source(settings)
        (folder / "other_submissions.parquet").write_bytes(b"more")
        hub.publish()
        second = open_source(settings)
        assert second.version != first.version
        assert second.files[TRIMUL].version == first.files[TRIMUL].version
        (folder / TRIMUL).unlink()  # the Hub keeps the bytes of its commits
        (folder / TRIMUL).write_bytes(b"other bytes")
        hub.publish()
        assert open_source(settings).files[TRIMUL].version != first.files[TRIMUL].version


def test_files_in_folders_and_of_other_kinds_are_left_out(sample_folder: Path, tmp_path: Path) -> None:
    folder = tmp_path / "dataset"
    (folder / "scripts").mkdir(parents=True)
    shutil.copy(sample_folder / TRIMUL, folder)
    shutil.copy(sample_folder / TRIMUL, folder / "scripts" / "old_submissions.parquet")
    (folder / "README.md").write_text("# data")
    with LoopbackHub(folder) as hub:
        assert set(open_source(Settings(source=DATASET, endpoint=hub.endpoint, cache=tmp_path)).files) == {TRIMUL}


def test_the_token_opens_a_private_dataset_and_is_sent_to_the_hub_alone(sample_folder: Path, tmp_path: Path) -> None:
    with LoopbackHub(sample_folder, token="hf_member", private=True) as hub:
        settings = Settings(source=DATASET, endpoint=hub.endpoint, cache=tmp_path, hub_seconds=30.0)
        with pytest.raises(DataUnavailable) as failure:
            kbdash.connect(settings=settings)
        assert "HF_TOKEN" in failure.value.advice
        engine = kbdash.connect(settings=replace(settings, token="hf_member"))
        assert not engine.leaderboard("trimul").empty
        assert hub.counts.tokens_at_cdn == 0
        assert "hf_member" not in repr(engine.source)
        engine.close()


def test_a_token_of_a_stranger_is_not_taken_for_a_missing_dataset(sample_folder: Path, tmp_path: Path) -> None:
    with LoopbackHub(sample_folder, token="hf_member", private=True) as hub:
        settings = Settings(source=DATASET, endpoint=hub.endpoint, cache=tmp_path, token="hf_typo")
        with pytest.raises(DataUnavailable) as failure:
            open_source(settings)
        assert "HF_TOKEN" in failure.value.advice


def test_offline_mode_is_told(monkeypatch: pytest.MonkeyPatch, hub: LoopbackHub, settings: Settings) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.utils._http.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(DataUnavailable, match="HF_HUB_OFFLINE"):
        open_source(settings)
    assert hub.counts.requests == 0


# --- local files ---------------------------------------------------------------------------------------------------


def test_a_folder_is_read_in_place(sample_folder: Path, tmp_path: Path) -> None:
    source = open_source(Settings(source=str(sample_folder), cache=tmp_path))
    assert (source.kind, source.commit, source.licence, source.notice) == ("folder", None, None, None)
    assert source.files[TRIMUL].location == str((sample_folder / TRIMUL).resolve())
    assert source.files[TRIMUL].size == (sample_folder / TRIMUL).stat().st_size


def test_the_version_of_a_folder_changes_with_its_files(sample_folder: Path, tmp_path: Path) -> None:
    shutil.copy(sample_folder / TRIMUL, tmp_path)
    settings = Settings(source=str(tmp_path), cache=tmp_path)
    before = open_source(settings)
    assert open_source(settings).version == before.version
    os.utime(tmp_path / TRIMUL, ns=(1, 1))
    assert open_source(settings).version != before.version
    assert newer_commit(before, settings) is None


@pytest.mark.parametrize("name", ["/no/such/folder", "./nothing", "~/no-such-folder", "../x/y", "word", "a/b/c"])
def test_a_folder_that_is_not_there_is_told(name: str, tmp_path: Path) -> None:
    with pytest.raises(DataUnavailable, match="There is no folder") as failure:
        open_source(Settings(source=name, cache=tmp_path))
    assert "KBDASH_SOURCE" in failure.value.advice


def test_a_folder_without_parquet_files_is_told(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing here")
    with pytest.raises(DataUnavailable, match="no parquet files"):
        open_source(Settings(source=str(tmp_path), cache=tmp_path))


def test_names_with_quotes_and_spaces_are_only_names(sample_folder: Path, tmp_path: Path) -> None:
    folder = tmp_path / 'it\'s a "folder"'
    folder.mkdir()
    shutil.copy(sample_folder / TRIMUL, folder)
    shutil.copy(sample_folder / TRIMUL, folder / "it's; drop view submissions --.parquet")
    engine = kbdash.connect(folder, settings=Settings(cache=tmp_path))
    assert engine.unavailable == {}
    assert len(engine.competitions) == 2
    assert not engine.leaderboard("trimul", competition="trimul").empty
    engine.close()


def test_the_sample_needs_no_network(sample_cache: Path) -> None:
    engine = kbdash.connect("sample", settings=Settings(cache=sample_cache, endpoint="http://127.0.0.1:1"))
    assert (engine.source.kind, engine.source.label, engine.source.notice) == ("sample", "sample", None)
    assert engine.unavailable == {}
    assert engine.bytes_moved() == 0
    engine.close()
