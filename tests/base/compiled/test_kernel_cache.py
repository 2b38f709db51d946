import os
from pathlib import Path

import numba
import pytest

from maxmargin.base.compiled import kernel_cache
from maxmargin.base.compiled.kernel_cache import KEPT, cache_folder, caching_in, source_digest


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package with one file of kernels; the user has chosen no folder."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    folder = tmp_path / "package" / "inner" / "compiled"
    folder.mkdir(parents=True)
    (folder / "a.py").write_text("x = 1\n")
    cache_folder.cache_clear()
    yield tmp_path / "package"
    cache_folder.cache_clear()


def test_the_digest_covers_names_and_contents_of_compiled_folders_only(package):
    folder = package / "inner" / "compiled"
    digest = source_digest(package)
    (folder / "notes.txt").write_text("anything")
    (folder / "broken.py").symlink_to(package / "missing")
    (package / "inner" / "plain.py").write_text("x = 1\n")
    assert source_digest(package) == digest
    (folder / "a.py").write_text("x = 2\n")
    changed = source_digest(package)
    (folder / "a.py").rename(folder / "b.py")
    renamed = source_digest(package)
    assert len({digest, changed, renamed}) == 3


@pytest.mark.parametrize("owner", [numba, kernel_cache.llvmlite])
def test_the_digest_covers_versions(package, owner, monkeypatch):
    digest = source_digest(package)
    monkeypatch.setattr(owner, "__version__", "another")
    assert source_digest(package) != digest


def test_there_is_no_folder_without_source_files(package):
    (package / "inner" / "compiled" / "a.py").unlink()
    assert source_digest(package) is None
    assert cache_folder(package) is None


def test_folders_of_old_states_are_removed(package):
    folders = []
    for state in range(KEPT + 4):
        (package / "inner" / "compiled" / "a.py").write_text(f"x = {state}\n")
        cache_folder.cache_clear()
        folders.append(cache_folder(package))
        (folders[-1] / "entry").touch()
        os.utime(folders[-1], (state, state))  # so that their order does not depend on the clock
    assert [folder.exists() for folder in folders] == [False] * 3 + [True] * (KEPT + 1)


def test_processes_that_begin_at_the_same_time_share_the_folder(package, monkeypatch):
    """Another process creates the folder between the question whether it exists and its creation."""
    exists = Path.exists

    def late(self):
        found = exists(self)
        if self.parent.name == "kernels":
            self.mkdir(parents=True, exist_ok=True)
        return found

    monkeypatch.setattr(Path, "exists", late)
    assert cache_folder(package).parent == package / "__pycache__" / "kernels"


def test_processes_that_remove_the_same_old_folders(package, monkeypatch):
    def fail(root, new):
        raise FileNotFoundError(root / "old")

    monkeypatch.setattr(kernel_cache, "_remove_old", fail)
    assert cache_folder(package).parent == package / "__pycache__" / "kernels"


def test_the_setting_of_numba_is_restored(package):
    with caching_in(package):
        assert str(package) == numba.config.CACHE_DIR
    assert numba.config.CACHE_DIR == ""
