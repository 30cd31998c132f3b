"""The sample when the cache folder cannot be used: it lies in a temporary one, and says so."""

import errno
import shutil
from functools import partial
from pathlib import Path

import pytest

import kbdash
from kbdash.dataset import sample
from kbdash.dataset.config import Settings
from kbdash.dataset.sample import ensure_sample
from kbdash.errors import DataUnavailable


@pytest.fixture
def blocked(tmp_path: Path) -> Path:
    """A cache folder that nobody can make, root neither: a file is in its way."""
    (tmp_path / "file").write_text("")
    return tmp_path / "file" / "cache"


def test_a_cache_that_cannot_be_made_is_replaced(
    blocked: Path, tmp_path: Path, sample_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "tmp"
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    temporary.mkdir()
    copied = partial(shutil.copytree, sample_folder, dirs_exist_ok=True)
    monkeypatch.setattr(sample, "write_sample", copied)
    kb = kbdash.connect("sample", settings=Settings(cache=blocked))
    assert kb.source.notice is not None
    assert (
        "cannot be used (Not a directory), so the sample lies in a temporary one. Set KBDASH_CACHE" in kb.source.notice
    )
    assert len(kb.problems())
    kb.close()


def test_a_full_disk_is_said_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(sample, "write_sample", full)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))  # where nobody has written the sample before
    with pytest.raises(DataUnavailable, match="No space left on device") as failure:
        kbdash.connect("sample", settings=Settings(cache=tmp_path / "cache"))
    assert "KBDASH_CACHE" in failure.value.advice
    assert not list(tmp_path.rglob(".sample-*")), "what was begun would take the room that is left"


def test_a_cache_that_works_is_used_without_a_word(sample_cache: Path) -> None:
    folder, said = sample.sample_folder(sample_cache)
    assert folder == ensure_sample(sample_cache)
    assert said is None


def test_a_cache_is_made_with_what_is_above_it_or_taken_as_it_is(
    sample_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sample, "write_sample", partial(shutil.copytree, sample_folder, dirs_exist_ok=True))
    for cache in (tmp_path / "above" / "cache", tmp_path):
        assert {path.name for path in sample.ensure_sample(cache).iterdir()} == {
            path.name for path in sample_folder.iterdir()
        }
