import os

import numba
import pytest

from maxmargin.base.compiled import accelerated, self_check
from maxmargin.base.compiled.accelerated import PASSED, decide

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")


@pytest.fixture
def checks(tmp_path, monkeypatch):
    """A list of the self-checks that were run, with an empty cache folder."""
    made = []
    monkeypatch.delenv("MAXMARGIN_PLAIN_KERNELS", raising=False)
    monkeypatch.setattr(accelerated, "cache_folder", lambda package: tmp_path)
    monkeypatch.setattr(self_check, "check", lambda: made.append("check"))
    return made


def test_the_installed_versions_pass_the_self_check():
    self_check.check()
    assert (os.environ.get("MAXMARGIN_PLAIN_KERNELS", "0") in ("", "0")) == accelerated.ACCELERATED


def test_one_self_check_for_each_cache_folder(checks, tmp_path):
    assert decide(tmp_path)
    assert decide(tmp_path)
    assert checks == ["check"]
    (tmp_path / PASSED).unlink()
    assert decide(tmp_path)
    assert checks == ["check", "check"]


def test_without_a_cache_folder_every_process_checks(checks, tmp_path, monkeypatch):
    monkeypatch.setattr(accelerated, "cache_folder", lambda package: None)
    assert decide(tmp_path)
    assert decide(tmp_path)
    assert checks == ["check", "check"]


@pytest.mark.parametrize("error", [ImportError, AttributeError, TypeError, RuntimeError])
def test_a_failed_self_check_means_plain_kernels(checks, tmp_path, monkeypatch, error):
    def check():
        raise error("a part of numba that is gone")

    monkeypatch.setattr(self_check, "check", check)
    assert not decide(tmp_path)
    assert not (tmp_path / PASSED).exists()


def test_plain_kernels_can_be_asked_for(checks, tmp_path, monkeypatch):
    monkeypatch.setenv("MAXMARGIN_PLAIN_KERNELS", "1")
    assert not decide(tmp_path)
    monkeypatch.setenv("MAXMARGIN_PLAIN_KERNELS", "0")
    assert decide(tmp_path)


def test_a_wrong_result_fails_the_self_check(monkeypatch):
    monkeypatch.setattr(self_check, "inlined", lambda func, cache: numba.njit(lambda *args: 0.0))
    with pytest.raises(RuntimeError, match="this version of numba"):
        self_check.check()
