import json
import os
import subprocess
import sys
from pathlib import Path

import numba
import pytest

import maxmargin
from maxmargin.base.compiled.kernel import PackageCache, StampedCacheFile, kernel, source_digest

CALLEE = """
from pathlib import Path
from maxmargin.base.compiled.kernel import stamped_kernel

kernel = stamped_kernel(Path(__file__).parents[3])

@kernel
def step(x):
    return x + 1
"""

CALLER = """
from throwaway.one.compiled.callee import kernel, step

@kernel
def run(x):
    return 10 * step(x)
"""

SCRIPT = """
import json
from throwaway.two.compiled.caller import run

value = run(1)
stats = getattr(run, "stats", None)
hits = sum(stats.cache_hits.values()) if stats else None
print(json.dumps({"value": value, "hits": hits, "path": stats.cache_path if stats else None}))
"""


@kernel
def halved_for_digest(x):
    return x // 2


class Throwaway:
    """A package of two folders, where a kernel in one calls a kernel in the other."""

    def __init__(self, root):
        self.root = root
        self.callee, self.folder = (root / "throwaway" / room / "compiled" for room in ("one", "two"))
        for folder in (self.callee, self.folder):
            folder.mkdir(parents=True)
        (self.callee / "callee.py").write_text(CALLEE)
        (self.folder / "caller.py").write_text(CALLER)

    def change_callee(self):
        """Replace one character and keep the time stamp, so that only the content tells."""
        path = self.callee / "callee.py"
        before = path.stat()
        path.write_text(CALLEE.replace("x + 1", "x + 2"))
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    def run(self, **extra_env):
        env = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
        # Python's own cache of bytecode would not see the change either.
        env |= {"PYTHONPATH": os.pathsep.join([str(self.root), *sys.path]), "PYTHONDONTWRITEBYTECODE": "1"}
        env |= extra_env
        result = subprocess.run([sys.executable, "-c", SCRIPT], env=env, cwd=self.root, capture_output=True, text=True)
        assert result.returncode == 0, result.stderr
        return json.loads(result.stdout)


@pytest.fixture
def throwaway(tmp_path):
    return Throwaway(tmp_path)


@pytest.fixture
def unwritable(throwaway):
    """The package with a file where its cache folder would be, which stops even a privileged user."""
    for folder in (throwaway.callee, throwaway.folder):
        (folder / "__pycache__").touch()
    return throwaway


def test_change_in_another_folder_is_seen(throwaway):
    first = throwaway.run()
    assert (first["value"], first["hits"]) == (20, 0)
    assert Path(first["path"]) == throwaway.folder / "__pycache__"
    again = throwaway.run()
    assert (again["value"], again["hits"]) == (20, 1)
    throwaway.change_callee()
    changed = throwaway.run()
    assert (changed["value"], changed["hits"]) == (30, 0)


def test_unwritable_package_is_cached_for_the_user(unwritable, tmp_path):
    env = {"HOME": str(tmp_path / "home"), "XDG_CACHE_HOME": str(tmp_path / "home" / "cache")}
    first = unwritable.run(**env)
    assert (first["value"], first["hits"]) == (20, 0)
    assert Path(first["path"]).is_relative_to(tmp_path / "home")
    again = unwritable.run(**env)
    assert (again["value"], again["hits"]) == (20, 1)
    unwritable.change_callee()
    changed = unwritable.run(**env)
    assert (changed["value"], changed["hits"]) == (30, 0)


def test_no_writable_folder_at_all(unwritable, tmp_path):
    blocked = tmp_path / "blocked"
    blocked.touch()
    result = unwritable.run(HOME=str(blocked), XDG_CACHE_HOME=str(blocked))
    assert result == {"value": 20, "hits": 0, "path": None}


def test_disabled_compilation(throwaway):
    assert throwaway.run(NUMBA_DISABLE_JIT="1") == {"value": 20, "hits": None, "path": None}


def test_disabled_compilation_returns_the_function_itself(monkeypatch):
    monkeypatch.setattr(numba.config, "DISABLE_JIT", 1)

    def func(x):
        return x

    assert kernel(func) is func


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
def test_flags():
    @kernel
    def func(x):
        return x

    options = {name: value for name, value in func.targetoptions.items() if value is not None}
    assert options == {"nopython": True, "nogil": True, "_nrt": False, "no_cfunc_wrapper": True}
    assert isinstance(func._cache, PackageCache)


def test_importing_the_package_does_not_import_numba():
    code = "import sys, maxmargin; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def digest_of(folder):
    return source_digest.__wrapped__(folder)


def test_digest_covers_names_and_contents_of_compiled_folders_only(tmp_path):
    assert digest_of(tmp_path) is None
    folder = tmp_path / "inner" / "compiled"
    folder.mkdir(parents=True)
    inner = folder / "a.py"
    inner.write_text("x = 1\n")
    digest = digest_of(tmp_path)
    (folder / "notes.txt").write_text("anything")
    (folder / "broken.py").symlink_to(tmp_path / "missing")
    (tmp_path / "inner" / "plain.py").write_text("x = 1\n")
    assert digest_of(tmp_path) == digest
    inner.write_text("x = 2\n")
    changed = digest_of(tmp_path)
    inner.rename(folder / "b.py")
    renamed = digest_of(tmp_path)
    assert len({digest, changed, renamed}) == 3


def test_the_stamp_covers_every_kernel_of_the_package():
    package = Path(maxmargin.__file__).parent
    if not numba.config.DISABLE_JIT:
        assert halved_for_digest._cache._cache_file._source_stamp[1] == source_digest.__wrapped__(package)
    users = {path for path in package.rglob("*.py") if "@kernel" in path.read_text()}
    assert users
    assert {path.parent.name for path in users} == {"compiled"}
    calls = {line for path in users for line in path.read_text().splitlines() if line.startswith("from maxmargin")}
    assert all(".compiled." in line for line in calls)  # kernels call kernels only, so that the stamp covers all


def test_interrupted_save_leaves_no_stale_entry(tmp_path):
    def cache_file(stamp):
        return StampedCacheFile(cache_path=str(tmp_path), filename_base="f", source_stamp=stamp)

    old, new = cache_file("old"), cache_file("new")
    old.save("key", "old code")
    assert old.load("key") == "old code"
    new._save_index({"key": new._data_name(1)})  # and the process ends before it writes the code
    assert new.load("key") is None
    new.save("key", "new code")
    assert new.load("key") == "new code"
    new._save_index({"key": new._data_name(1), "other": new._data_name(1)})  # two writers, one name
    assert new.load("other") is None


def test_an_index_of_classes_that_are_gone_is_no_index(tmp_path):
    """After an update, a cache may speak of named tuples that now have other names."""
    file = StampedCacheFile(tmp_path, "kernel", "stamp")
    file.save("key", "code")
    assert file.load("key") == "code"
    index = tmp_path / file._index_name
    whole = index.read_bytes()
    for damaged in (whole[:-3], whole[: whole.index(b"\x80")] + b"\x80\x04cmaxmargin\nGone\n.", b""):
        index.write_bytes(damaged)
        assert file.load("key") is None
        file.save("key", "new code")
        assert file.load("key") == "new code"
