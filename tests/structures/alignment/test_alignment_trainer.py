"""What Aligner and HomologRanker share: parameters, scikit-learn's rules, what `score` refuses."""

import pytest
from sklearn.utils import estimator_checks, get_tags

from maxmargin import Aligner, HomologRanker

X, Y = [("AC", "A"), ("CA", "C")], [[(0, 0)], [(0, 0)]]
SEARCHES = [(a, [b, "CC"]) for a, b in X]
FOUND = [(0, y) for y in Y]
DATA = {Aligner: (X, Y), HomologRanker: (SEARCHES, FOUND)}


@pytest.mark.parametrize("estimator", [Aligner(), HomologRanker()], ids=lambda estimator: type(estimator).__name__)
@pytest.mark.parametrize(
    "check",
    [
        estimator_checks.check_estimator_cloneable,
        estimator_checks.check_estimator_repr,
        estimator_checks.check_no_attributes_set_in_init,
        estimator_checks.check_do_not_raise_errors_in_init_or_set_params,
        estimator_checks.check_get_params_invariance,
        estimator_checks.check_set_params,
        estimator_checks.check_parameters_default_constructible,
        estimator_checks.check_valid_tag_types,
    ],
    ids=lambda check: check.__name__,
)
def test_checks_of_scikit_learn(check, estimator):
    check(type(estimator).__name__, estimator)


@pytest.mark.parametrize("estimator", [Aligner(), HomologRanker()], ids=lambda estimator: type(estimator).__name__)
def test_tags(estimator):
    tags = get_tags(estimator)
    assert tags.target_tags.required
    assert not tags.input_tags.two_d_array


def test_parameters():
    assert (Aligner().mode, HomologRanker().mode) == ("overlap", "local")
    assert Aligner("global").mode == HomologRanker("global").mode == "global"
    own = {"max_shift", "objective", "sharpness", "calibrate"}
    assert set(Aligner().get_params()) - set(HomologRanker().get_params()) == own
    with pytest.raises(TypeError, match="HomologRanker has no parameter 'max_shift'; it has mode, features, gaps"):
        HomologRanker(max_shift=1)
    with pytest.raises(TypeError, match="Aligner has no parameter 'letters'; it has mode, max_shift, solver"):
        Aligner(letters="AC")


@pytest.mark.parametrize("kind", DATA)
def test_scores_need_as_many_truths_as_examples(kind):
    inputs, outputs = DATA[kind]
    model = kind(max_passes=2).fit(inputs, outputs)
    with pytest.raises(ValueError, match="X has 2 examples but Y has 1"):
        model.score(inputs, outputs[:1])
    with pytest.raises(ValueError, match="there is nothing to score"):
        model.score([], [])
