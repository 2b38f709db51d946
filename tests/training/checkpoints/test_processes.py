"""Processes that are killed, and processes that continue what another one began."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from digest_groups.data import tagged

import maxmargin as mm

HERE = Path(__file__).parent
KILLS = 100


def run(script, *arguments, **environment):
    command = [sys.executable, HERE / script, *map(str, arguments)]
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]
    return done.stdout


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")
def test_many_processes_are_killed():
    assert f"{KILLS} of {KILLS} alike" in run("kills.py", KILLS, 0)


SCRIPT = """
import sys
from training.checkpoints.sessions import OFTEN, Killed, killed_after
from training.checkpoints.test_processes import tagger
from digest_groups.data import tagged
path, stop = sys.argv[1], int(sys.argv[2])
model = tagger().set_params(checkpoint=path, checkpoint_every=OFTEN)
try:
    model.set_params(callback=killed_after(stop)).fit(*tagged(20))
except Killed:
    sys.exit(3)
print(model.w_.tobytes().hex())
"""


def tagger():
    return mm.SequenceLabeler(C=10.0, forbidden="BIO", tol=1e-4)


@pytest.mark.slow
def test_another_process_with_other_hashes_goes_on(tmp_path):
    for session, stop in enumerate([2, 1000]):
        environment = {**os.environ, "PYTHONHASHSEED": str(session + 1)}
        paths = [str(HERE.parents[1]), environment.get("PYTHONPATH", "")]
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
        command = [sys.executable, "-c", SCRIPT, str(tmp_path / "checkpoint"), str(stop)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == (3 if stop < 1000 else 0), done.stderr
    whole = tagger().fit(*tagged(20))  # in this process, with hashes of its own
    assert done.stdout.strip() == whole.w_.tobytes().hex() != ""
