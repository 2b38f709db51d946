"""scikit-learn's own checks of the classifiers of matrices: all of them. MeasureSVC and Ranker have theirs elsewhere.

One of them skips itself where SCIPY_ARRAY_API is not set.
"""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from maxmargin import MulticlassSVC, OrdinalSVC, TaxonomySVC

ACCURACY = "the check asks two fits of one problem to agree to 7 digits: {}"


def expected_failures(estimator):
    reason = {
        "bcfw": "the default stops at a duality gap of 0.1%; one_slack with a small tol shows that all else is well",
        "subgradient": "a stochastic method ends where its few passes have taken it",
        "perceptron": "its result depends on the order and number of updates, not on an objective",
    }.get(estimator.solver)
    if reason is None:
        return {}
    return {f"check_sample_weight_equivalence_on_{kind}_data": ACCURACY.format(reason) for kind in ("dense", "sparse")}


@parametrize_with_checks([MulticlassSVC(), TaxonomySVC(), OrdinalSVC()], expected_failed_checks=expected_failures)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    [
        MulticlassSVC(solver="subgradient"),
        MulticlassSVC(solver="one_slack", tol=1e-8),  # no failures expected, nor of the others like it
        MulticlassSVC(solver="perceptron"),
        TaxonomySVC(solver="one_slack", tol=1e-8),
        TaxonomySVC(solver="subgradient", sharing=0, predict_at="nodes"),
        OrdinalSVC(solver="one_slack", tol=1e-8),
        OrdinalSVC(solver="one_slack", tol=1e-8, directions="separate"),
        OrdinalSVC(solver="subgradient"),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_check_of_variants(estimator, check):
    check(estimator)


@pytest.mark.parametrize("solver", ["bcfw", "n_slack", "one_slack", "bundle"])
def test_only_online_solvers_have_partial_fit(solver):
    assert not hasattr(MulticlassSVC(solver=solver), "partial_fit")
    with pytest.raises(TypeError, match=f"partial_fit needs the solver 'perceptron' or 'subgradient', not '{solver}'"):
        MulticlassSVC(solver=solver).partial_fit([[1.0], [2.0]], [0, 1], classes=[0, 1])
