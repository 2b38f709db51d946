"""A fit that ends above its tolerance says so, once, with what helps."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import maxmargin as mm

pytestmark = pytest.mark.filterwarnings("ignore::maxmargin.errors.NothingLearnt")

RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 3)) * [1, 1e3, 1e-2]
y = RNG.integers(0, 3, 40)
SEQUENCES = [x.reshape(-1, 3) for x in np.split(X, 10)]
TAGS = [list(part) for part in np.split(y, 10)]

CASES = {
    "MulticlassSVC": (mm.MulticlassSVC, X, y),
    "OrdinalSVC": (mm.OrdinalSVC, X, y),
    "SequenceLabeler": (mm.SequenceLabeler, SEQUENCES, TAGS),
    "MeasureSVC": (lambda **options: mm.MeasureSVC("f1", **options), X, y == 0),
}


@pytest.mark.parametrize("solver", ["bcfw", "n_slack", "one_slack", "bundle"])
@pytest.mark.parametrize("name", CASES)
def test_a_gap_is_told_with_its_size_and_a_remedy(name, solver):
    make, inputs, outputs = CASES[name]
    with pytest.warns(ConvergenceWarning, match=f"{name} stopped .* above tol = .*max_passes") as told:
        make(C=1e4, solver=solver, max_passes=2, tol=1e-6).fit(inputs, outputs)
    (warning,) = [w for w in told if issubclass(w.category, ConvergenceWarning)]
    assert warning.filename == __file__


@pytest.mark.parametrize("options", [{"max_passes": 500}, {"callback": lambda record: True}])
def test_nothing_is_told_of_what_converged_or_was_asked_for(options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mm.MulticlassSVC(C=1, **options).fit(X / [1, 1e3, 1e-2], y)


def test_the_remedy_fits_the_reason():
    with pytest.warns(ConvergenceWarning, match=r"similar scales.*or lower C\.$"):
        mm.MulticlassSVC(C=1e8, max_passes=3, tol=1e-9).fit(X, y)


def test_counting_tells_too():
    with pytest.warns(ConvergenceWarning, match=r"CountingClassifier stopped with a residual of .* raise max_iter"):
        mm.CountingClassifier(solver="cg", max_iter=1, tol=1e-12, alpha=1e-3).fit(X, y)


@pytest.mark.parametrize("solver", ["bcfw", "n_slack", "one_slack", "bundle"])
@pytest.mark.parametrize("most", [1, 3, 10])
def test_max_passes_is_kept(solver, most):
    """But for the pass that was running, and for the measurement of what it ended with."""
    model = mm.MulticlassSVC(C=1e6, solver=solver, max_passes=most, tol=1e-12).fit(X, y)
    assert model.certificate_.passes <= most + 2
