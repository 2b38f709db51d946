"""What commands do without is not imported, and is there for whoever asks later."""

import subprocess
import sys

import pytest

START = "from maxmargin.command.light_start import import_scikit_learn; import_scikit_learn(); import sys\n"


def run(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_a_prediction_needs_neither_pandas_nor_statistics(tmp_path):
    import maxmargin as mm

    path = tmp_path / "model.mm"
    mm.SequenceLabeler(C=10.0).fit([[["a"], ["b"]]] * 2, [["A", "B"]] * 2).save(path)
    code = f"""{START}
import maxmargin as mm
print(*mm.load({str(path)!r}).predict([[["a"], ["b"]]])[0])
print(*(name for name in ("pandas", "scipy.stats", "scipy.optimize", "matplotlib") if name in sys.modules))
"""
    assert run(code) == ["A", "B"]


@pytest.mark.every(3)
@pytest.mark.parametrize(
    "code",
    [
        "import scipy.stats; print(scipy.stats.norm.cdf(0.0))",
        "from scipy.stats import norm; print(norm.cdf(0.0))",
        "import scipy; print(scipy.stats.norm.cdf(0.0))",
        "from sklearn.utils.fixes import scipy; print(scipy.stats.norm.cdf(0.0))",
        "import pandas; print(pandas.Series([0.5]).sum())",
        "import pandas, sklearn.preprocessing as p; p.StandardScaler().fit(pandas.DataFrame([[1.0]])); print(0.5)",
    ],
)
def test_they_are_imported_when_they_are_asked_for(code):
    assert run(START + code) == ["0.5"]


def test_a_module_that_is_used_while_it_is_left_out():
    """As by another version of scikit-learn."""
    code = """
import sys
from maxmargin.command.light_start import Later
sys.modules["scipy.stats"] = later = Later("scipy.stats")
import scipy.stats
assert sys.modules["scipy.stats"] is later
from scipy.stats import norm
import scipy.stats
assert sys.modules["scipy.stats"] is not later
print(norm.cdf(0.0), later.norm is norm)
"""
    assert run(code) == ["0.5", "True"]


def test_what_is_there_stays():
    assert run(f"import pandas, scipy.stats as first\n{START}import scipy.stats\nprint(scipy.stats is first)") == [
        "True"
    ]
