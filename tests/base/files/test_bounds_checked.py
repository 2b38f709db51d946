"""Models from crafted files predict where compiled code checks every index: none reads memory that is not its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from base.files.fitted_models import MAKERS

CHECKED, STEP = 20, 97  # spoiled files for each kind of model, and every STEP-th of its changed fields
GROUPS = 7  # processes; each of them compiles what its kinds need, and keeps it for the next
CODE = """
import sys, warnings
from pathlib import Path
from base.files.test_hostile_files import attack, attack_fields

warnings.simplefilter("ignore")
for kind in sys.argv[4:]:
    attack(kind, int(sys.argv[2]), Path(sys.argv[1]), seed=2)
    attack_fields(kind, int(sys.argv[3]), Path(sys.argv[1]))
    print(kind)
"""


@pytest.fixture(scope="module")
def kernels(tmp_path_factory):
    """A folder for kernels with checks, which others must not load."""
    return tmp_path_factory.mktemp("kernels")


@pytest.mark.slow
@pytest.mark.parametrize("group", range(GROUPS))
def test_predictions_stay_within_bounds(group, kernels, tmp_path):
    environment = {
        **os.environ,
        "NUMBA_BOUNDSCHECK": "1",
        "NUMBA_CACHE_DIR": str(kernels),
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[2]), *sys.path]),
    }
    kinds = list(MAKERS)[group::GROUPS]
    command = [sys.executable, "-c", CODE, str(tmp_path / "model.mm"), str(CHECKED), str(STEP), *kinds]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=1500, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.splitlines() == kinds
