"""Score space of classes: against enumeration, with ties, at all scales; planes and predictions go through it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from strategies import costs, whole
from thorough import examples

from maxmargin.problem.contract.scored import Summable, inner
from maxmargin.tasks import ClassSpace, Multiclass, Ordinal, Taxonomy
from maxmargin.testing import check_scored
from maxmargin.testing.comparisons import ready

X = np.array([[1.0, 0.0], [0.5, -1.0], [0.0, 2.0], [1.0, 1.0]])
Y = ["a", "b", "c", "b"]


@examples(40, 300)
@given(st.data(), st.integers(1, 4), st.integers(1, 4), st.integers(-8, 8))
def test_best_of_a_space_without_features_is_that_of_all_classes(data, n, K, power):
    scores, cost = data.draw(whole((n, K))) * 10.0**power, data.draw(costs(K))
    truth = data.draw(hnp.arrays(np.int32, n, elements=st.integers(0, K - 1)))
    space, each = ClassSpace.of_labels(truth, K, cost), np.arange(n)
    mixed = np.array(data.draw(st.lists(st.sampled_from([0.0, 1.0, 2.0]), min_size=n, max_size=n)))
    for augment in (0.0, 1.0, 0.5, mixed):
        best = space.best(scores, augment)
        augmented = scores + np.reshape(augment, (-1, 1)) * cost[truth]
        np.testing.assert_array_equal(best.values, augmented.max(axis=1))
        np.testing.assert_array_equal(space.losses(best.found), cost[truth, best.found])
        tied = augmented[each, truth] == best.values
        np.testing.assert_array_equal(best.found, np.where(tied, truth, np.argmax(augmented, axis=1)))
        total = inner(space.indicator(best.found), scores) + np.sum(augment * space.losses(best.found))
        assert best.values.sum() == pytest.approx(total, rel=1e-12, abs=1e-12)
        moved = inner(space.indicator(best.found, mixed), scores)
        assert moved == pytest.approx(float(mixed @ scores[each, best.found]), rel=1e-12, abs=1e-12)


def test_inputs_without_truths():
    space = ClassSpace(2, 3)
    assert len(space) == 2
    assert space.truth is None
    best = space.best([[0, 2, 2], [1, 0, 0]])  # of ties, the first
    assert best.found.tolist() == [1, 0]
    assert best.values.tolist() == [2.0, 1.0]
    with pytest.raises(ValueError, match="need true outputs"):
        space.best(np.zeros((2, 3)), np.array([0.0, 1.0]))
    with pytest.raises(ValueError, match="need true outputs"):
        space.losses(best.found)


@examples(20, 100)
@given(st.data(), st.integers(1, 4), st.integers(1, 4), st.integers(-8, 8))
def test_sums_are_those_over_all_classes(data, n, K, power):
    scores = data.draw(whole((n, K))) * 10.0**power
    if K > 1 and data.draw(st.booleans()):
        scores[:, 0] = -np.inf
    sums = ClassSpace(n, K).sums(scores)
    log_z = np.logaddexp.reduce(scores, axis=1)
    np.testing.assert_allclose(sums.log_partitions, log_z, rtol=1e-12, atol=1e-12)
    p = np.exp(scores - log_z[:, None])
    np.testing.assert_allclose(sums.marginals(), p, rtol=1e-9, atol=1e-12)
    expected = [-sum(q * np.log(q) for q in row if q > 0) for row in p]
    np.testing.assert_allclose(sums.entropies, expected, rtol=1e-9, atol=1e-9)
    labels = data.draw(hnp.arrays(np.int32, n, elements=st.integers(0, K - 1)))
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(np.exp(sums.log_probabilities(labels)), p[np.arange(n), labels], atol=1e-12)
    drawn = sums.sample(np.random.default_rng(0), 50)
    assert all(p[j, k] > 0 for j, own in enumerate(drawn) for k in own)
    shares = [np.bincount(own, minlength=K) / 50 for own in drawn]
    assert np.abs(shares - p).max() <= 0.5


@pytest.mark.parametrize(
    ("what", "message"),
    [
        (lambda: ClassSpace.of_labels([0, 3], 3), "whole numbers from 0 to 2"),
        (lambda: ClassSpace.of_labels([0], 2, cost=np.zeros((3, 3))), "cost has shape"),
        (lambda: ClassSpace(2, 3).best(np.zeros((2, 2))), r"the scores have shape \(2, 2\)"),
        (lambda: ClassSpace(2, 3).sums(np.zeros((2, 2))), r"the scores have shape \(2, 2\)"),
        (lambda: ClassSpace(2, 3).sums(np.zeros((2, 3))).log_probabilities([0]), r"classes have shape \(1,\)"),
        (lambda: ClassSpace(2, 3).sums(np.zeros((2, 3))).log_probabilities([0, 3]), "numbers from 0 to 2"),
    ],
)
def test_what_does_not_fit_is_refused(what, message):
    with pytest.raises(ValueError, match=message):
        what()


@pytest.mark.parametrize(
    "task",
    [
        Multiclass(),
        Multiclass(costs={"a": 3.0}),
        Ordinal(),
        Ordinal(directions="separate", measure="error"),
        Taxonomy({"a": "ab", "b": "ab", "ab": "root", "c": "root"}),
        Taxonomy({"a": "ab", "b": "ab", "ab": "root", "c": "root"}, sharing=0),
    ],
    ids=repr,
)
def test_scored_classes_keep_the_contract(task):
    assert isinstance(ready(task, X, Y).scored(X), Summable)  # so that the sums are checked, too
    check_scored(task, X, Y)
    check_scored(task, sparse.csr_array(X), Y)


@pytest.mark.parametrize("kind", [Multiclass, Ordinal])
def test_batches_and_predictions_go_through_score_space(kind):
    task = kind()
    batch = task.setup_and_pack(X, Y)
    w = np.random.default_rng(0).standard_normal(task.dim)
    for index in ([0, 1, 2, 3], [2, 0]):
        scored = batch.take(np.array(index)).scored()
        planes, expected = scored.planes_of(scored.best(scored.scores(w), 1.0).found), batch.planes(w)
        np.testing.assert_array_equal(planes.dpsi.toarray(), expected.dpsi.toarray()[index])
        np.testing.assert_array_equal(planes.loss, expected.loss[index])
    bare = task.scored(X)
    best = bare.best(bare.scores(w))
    assert task.decode(w, X) == [task.classes_[k] for k in best.found]
    np.testing.assert_allclose(bare.scores(w), task.scores(w, X), rtol=1e-14)
