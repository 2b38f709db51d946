import json
import os
import subprocess
import sys
from pathlib import Path

import numba
import pytest

import maxmargin
from maxmargin.base.compiled.accelerated import ACCELERATED
from maxmargin.base.compiled.kernel import kernel

CALLEE = """
from pathlib import Path
from maxmargin.base.compiled.kernel import kernel_of

kernel = kernel_of(Path(__file__).parents[2])

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


class Throwaway:
    """A package of two folders, where a kernel in one calls a kernel in the other."""

    def __init__(self, root):
        self.root, self.package = root, root / "throwaway"
        self.callee, self.folder = (self.package / name / "compiled" for name in ("one", "two"))
        for folder in (self.callee, self.folder):
            folder.mkdir(parents=True)
        (self.callee / "callee.py").write_text(CALLEE)
        (self.folder / "caller.py").write_text(CALLER)

    def change_callee(self):
        """Replace one character and keep the time stamp, so that only the contents differ."""
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
    (throwaway.package / "__pycache__").touch()
    return throwaway


@pytest.mark.every(2)
@pytest.mark.parametrize("plain", ["0", "1"])
def test_change_in_another_folder_is_seen(throwaway, plain):
    env = {"MAXMARGIN_PLAIN_KERNELS": plain}
    first = throwaway.run(**env)
    assert (first["value"], first["hits"]) == (20, 0)
    assert Path(first["path"]).is_relative_to(throwaway.package / "__pycache__" / "kernels")
    again = throwaway.run(**env)
    assert (again["value"], again["hits"]) == (20, 1)
    throwaway.change_callee()
    changed = throwaway.run(**env)
    assert (changed["value"], changed["hits"]) == (30, 0)


@pytest.mark.slow
def test_the_users_cache_folder_is_respected(throwaway, tmp_path):
    chosen = tmp_path / "chosen"
    assert Path(throwaway.run(NUMBA_CACHE_DIR=str(chosen))["path"]).is_relative_to(chosen)
    assert not (throwaway.package / "__pycache__").exists()


@pytest.mark.slow
def test_unwritable_package_is_cached_for_the_user(unwritable, tmp_path):
    env = {"HOME": str(tmp_path / "home"), "XDG_CACHE_HOME": str(tmp_path / "home" / "cache")}
    first = unwritable.run(**env)
    assert (first["value"], first["hits"]) == (20, 0)
    assert Path(first["path"]).is_relative_to(tmp_path / "home")
    again = unwritable.run(**env)
    assert (again["value"], again["hits"]) == (20, 1)


@pytest.mark.slow
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
def test_options():
    @kernel
    def func(x):
        return x

    options = {name: value for name, value in func.targetoptions.items() if value is not None}
    fast = {"_nrt": False, "no_cfunc_wrapper": True} if ACCELERATED else {}
    assert options == {"nopython": True, "nogil": True, **fast}
    assert func.stats.cache_path is not None


def test_importing_the_package_does_not_import_numba():
    code = "import sys, maxmargin; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_kernels_live_in_compiled_folders_and_call_only_each_other():
    """The name of the cache folder covers these folders only."""
    package = Path(maxmargin.__file__).parent
    users = {path for path in package.rglob("*.py") if "@kernel" in path.read_text()}
    assert users
    assert {path.parent.name for path in users} == {"compiled"}
    calls = {line for path in users for line in path.read_text().splitlines() if line.startswith("from maxmargin")}
    assert all(".compiled." in line for line in calls)
