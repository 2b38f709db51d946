"""That models are learnt bit for bit alike: in every process, and before and after a change.

digests.py trains every estimator in many ways and writes what it learns as JSON. To see that a change of the code
changes no result, run this test before it; it prints the path of the digests that it wrote. Make the change and run

    MAXMARGIN_DIGESTS=that/path pytest -m slow tests/test_digests.py

which names every model that differs. Digests hold for one machine and one set of installed packages only: other
libraries may sum in another order.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("digests.py")


def written(path, hash_seed):
    """Digests from a process of its own."""
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    subprocess.run([sys.executable, SCRIPT, path], env=environment, stdout=subprocess.DEVNULL, check=True)
    return json.loads(path.read_text())


def differences(before, after):
    """What differs for each model: parts of its digest."""
    nothing = {}
    return {
        name: sorted(part for part in old.keys() | new.keys() if old.get(part) != new.get(part))
        for name in sorted(before.keys() | after.keys())
        if (old := before.get(name, nothing)) != (new := after.get(name, nothing))
    }


@pytest.mark.slow
def test_models_are_the_same_bit_for_bit(tmp_path, capsys):
    recorded = os.environ.get("MAXMARGIN_DIGESTS")
    before = json.loads(Path(recorded).read_text()) if recorded else None  # first, lest a wrong path cost minutes
    folder = tmp_path if recorded else Path(tempfile.mkdtemp(prefix="maxmargin-"))
    path = folder / "digests.json"
    first = written(path, hash_seed="1")
    assert {name: each["error"] for name, each in first.items() if "error" in each} == {}
    assert differences(first, written(tmp_path / "again.json", hash_seed="2")) == {}
    if before is None:
        with capsys.disabled():
            print(f"\n{len(first)} digests are in {path}; compare later with MAXMARGIN_DIGESTS={path}")
    else:
        assert differences(before, first) == {}
