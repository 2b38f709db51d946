"""What warmup has compiled, a fit of the same kind need not compile again."""

import os
import subprocess
import sys

import pytest
from command.command_files import KINDS as FITS

import maxmargin as mm
from maxmargin.base.errors import warn_caller
from maxmargin.command.kinds import KINDS
from maxmargin.command.main import main
from maxmargin.warming import TINY

COUNT = """
import os, sys
from maxmargin.command.main import main
from maxmargin.base.compile_clock import COMPILING
main(["demo", "--files", "data"])
os.chdir("data")
rows = open("train.svm").read().splitlines(keepends=True)
open("two.svm", "w").write("".join(row for row in rows if row[0] != "2"))
before = COMPILING.times().begun
assert main(["fit", *sys.argv[1:], "-o", "m.mm", "-q"]) == 0
assert main(["predict", "m.mm", sys.argv[2], "-q", "-o", "out"]) == 0
print(COMPILING.times().begun - before)
"""


def test_all_kinds_are_known():
    assert list(TINY) == list(KINDS)
    assert {fit.estimator for fits in TINY.values() for fit in fits()} == {kind.estimator for kind in KINDS.values()}


def test_names_of_kinds_and_estimators():
    warmed = mm.warmup(["ordinal", "OrdinalSVC"])
    assert [each.kind for each in warmed] == ["ordinal"]
    assert mm.warmup("ordinal")[0].compiled == 0  # again in the same process
    with pytest.raises(ValueError, match=r"kinds has 'ordinals'; did you mean 'ordinal'\?"):
        mm.warmup(["ordinals"])


def test_an_interruption_ends_it(monkeypatch):
    """Ctrl-C during a tiny fit ends that fit with its best model, but nobody wants the other ones then."""
    calls = []

    def interrupted(self, X, y, *others, **named):
        calls.append(X)
        warn_caller("training was interrupted", mm.errors.TrainingInterrupted)
        return self

    monkeypatch.setattr(mm.OrdinalSVC, "fit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        mm.warmup("ordinal")
    assert len(calls) == 1


def test_an_empty_name_of_a_folder(capsys):
    assert main(["warmup", "ordinal", "--cache", ""]) == 2
    assert "--cache is empty" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sequences", "graphs"])
def test_it_gives_no_warning(kind):
    """Warnings, which are errors here, would be about data that no user has given."""
    assert [each.kind for each in mm.warmup([kind])] == [kind]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["classes", "sequences", "parsing"])
def test_a_fit_finds_everything(tmp_path, kind):
    cache = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "kernels")}
    command = [sys.executable, "-m", "maxmargin", "warmup", kind, "--cache", str(tmp_path / "kernels")]
    warmed = subprocess.run(command, capture_output=True, text=True, check=True, timeout=900)
    assert "once only" in warmed.stderr
    assert str(tmp_path / "kernels") in warmed.stdout
    fit = [sys.executable, "-c", COUNT, kind, *FITS[kind]]
    fitted = subprocess.run(fit, capture_output=True, text=True, check=True, timeout=900, cwd=tmp_path, env=cache)
    assert fitted.stdout.split()[-1] == "0", fitted.stderr


@pytest.mark.slow
def test_compilation_is_no_part_of_training(tmp_path):
    """With an empty cache, the seconds of the certificate and those of compilation are told apart."""
    code = """
import time, maxmargin as mm
from maxmargin.base.compile_clock import COMPILING
began = time.perf_counter()
model = mm.MulticlassSVC().fit([[0.0], [1.0], [2.0]], ["a", "b", "c"])
passed, compiling = time.perf_counter() - began, COMPILING.times()
assert compiling.begun > 0
assert 0 <= model.certificate_.seconds <= passed - compiling.seconds + 1e-6
assert all(0 <= line["seconds"] <= model.certificate_.seconds for line in model.history_)
"""
    cache = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", code], check=True, timeout=900, env=cache)
