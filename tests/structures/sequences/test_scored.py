"""Score space of chains: against enumeration, with ties, at all scales; planes and predictions go through it."""

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import chains
from thorough import examples

from maxmargin.problem.contract.scored import inner
from maxmargin.structures.sequences.chain_space import ChainScores, ChainSpace
from maxmargin.tasks import Chain, Weighted
from maxmargin.testing import check_scored

X = [np.array([[1.0, 0.0], [0.5, -1.0], [0.0, 2.0]]), np.array([[-1.0, 1.0]]), np.array([[1.0, 1.0], [2.0, 0.0]])]
Y = [["a", "b", "b"], ["a"], ["b", "c"]]


def score(labels, e, T, s, f):
    links = sum(T[a, b] for a, b in pairwise(labels))
    return s[labels[0]] + f[labels[-1]] + links + sum(e[t, k] for t, k in enumerate(labels))


@examples(40, 300)
@given(chains(), st.integers(-8, 8), st.sampled_from([0.0, 1.0, 0.5, 3.0]), st.data())
def test_best_of_a_space_without_features_is_that_of_all_label_sequences(problem, power, augment, data):
    """Scores are small whole numbers, so that ties are common, times a power of ten."""
    K, scale = len(problem.s), 10.0**power
    lengths = [len(e) for e in problem.e]
    truth, factors = np.concatenate(problem.truth), np.concatenate(problem.position_costs)
    space = ChainSpace.of_lengths(lengths, K, truth, problem.cost, factors)
    scores = ChainScores.of(*(scale * each for each in (np.concatenate(problem.e), problem.T, problem.s, problem.f)))
    lam = np.array(data.draw(st.lists(st.sampled_from([0.0, 1.0, 2.0]), min_size=len(lengths), max_size=len(lengths))))
    for augment_by, each in ((augment, np.full(len(lengths), augment)), (lam, lam)):
        best = space.best(scores, augment_by)
        losses = space.losses(best.found)
        for j, (a, b) in enumerate(zip(space.bounds, space.bounds[1:], strict=False)):
            listed = list(product(range(K), repeat=int(b - a)))
            links = (scores.transitions, scores.start, scores.end)
            priced = problem.cost[truth[a:b]] * factors[a:b, None]
            values = [score(z, scores.unary[a:b] + each[j] * priced, *links) for z in listed]
            assert best.values[j] == pytest.approx(max(values), rel=1e-12)
            one = np.eye(len(lengths))[j]
            own = inner(space.indicator(best.found, one), scores) + each[j] * losses[j]
            assert best.values[j] == pytest.approx(own, rel=1e-12, abs=1e-12 * scale)
            assert losses[j] == pytest.approx(sum(priced[t, k] for t, k in enumerate(best.found[a:b])))


def test_gradient_of_the_hinge():
    """It is the indicator of the best output less that of the truth, by differences; there are no ties."""
    rng = np.random.default_rng(0)
    space = ChainSpace.of_lengths([3, 1, 2], 3, truth=[0, 1, 2, 2, 1, 1])
    scores = ChainScores.of(*(rng.standard_normal(shape) for shape in ((6, 3), (3, 3), 3, 3)))

    def hinge(scores):
        return space.best(scores, 1.0).values.sum() - inner(space.indicator(space.truth), scores)

    best, truth = (space.indicator(each) for each in (space.best(scores, 1.0).found, space.truth))
    for name, one, other in zip(scores._fields, best, truth, strict=True):
        for at in np.ndindex(one.shape):
            moved = getattr(scores, name).copy()
            moved[at] += 1e-6
            slope = (hinge(scores._replace(**{name: moved})) - hinge(scores)) / 1e-6
            assert slope == pytest.approx((one - other)[at], abs=1e-6)


def test_sums_of_a_space_without_features():
    rng = np.random.default_rng(1)
    space = ChainSpace.of_lengths([2, 0, 3], 3)
    scores = ChainScores.of(*(rng.standard_normal(shape) for shape in ((5, 3), (3, 3), 3, 3)))
    sums, links = space.sums(scores), scores[1:]
    for j, e in ((0, scores.unary[:2]), (2, scores.unary[2:])):
        each = [score(z, e, *links) for z in product(range(3), repeat=len(e))]
        assert sums.log_partitions[j] == pytest.approx(np.logaddexp.reduce(each))
    assert sums.log_partitions[1] == 0
    assert [len(drawn) for drawn in sums.sample(np.random.default_rng(0), 2)[2]] == [3, 3]


def test_empty_sequences_have_the_value_0():
    space = ChainSpace.of_lengths([0, 2, 0], 2, truth=[1, 0])
    scores = ChainScores.of([[1.0, 0.0], [0.0, 3.0]])
    best = space.best(scores, 1.0)
    assert best.found.tolist() == [0, 1]
    assert best.values.tolist() == [0.0, 6.0, 0.0]
    assert space.losses(best.found).tolist() == [0.0, 2.0, 0.0]
    for lengths in ([0, 0], []):
        none = ChainSpace.of_lengths(lengths, 2).best(ChainScores.of(np.zeros((0, 2))))
        assert none.values.tolist() == [0.0] * len(lengths)
        assert len(none.found) == 0


def test_arrays_of_any_kind_are_read():
    """Whole numbers, single precision, columns of another order: compiled code reads none of them as they are."""
    space = ChainSpace.of_lengths([2], 2)
    for unary in ([[0, 1], [2, 0]], np.array([[0, 1], [2, 0]], dtype=np.float32), np.array([[0, 2], [1, 0]]).T):
        assert space.best(ChainScores.of(unary)).found.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("what", "message"),
    [
        (lambda: ChainSpace.of_lengths([2], 2, truth=[0]), "a number for each of the 2 positions"),
        (lambda: ChainSpace.of_lengths([2], 2, truth=[0, 2]), "whole numbers from 0 to 1"),
        (lambda: ChainSpace.of_lengths([2], 2, truth=[0, 1], cost=np.zeros((3, 3))), "cost has shape"),
        (lambda: ChainSpace.of_lengths([2], 2).best(ChainScores.of(np.zeros((3, 2)))), "`unary` have shape"),
        (lambda: ChainSpace.of_lengths([2], 2).best(ChainScores.of(np.zeros((2, 2)), end=[1.0])), "`end` have shape"),
        (lambda: ChainSpace.of_lengths([2], 2).best(ChainScores.of(np.zeros((2, 2))), 1.0), "need true outputs"),
        (lambda: ChainSpace.of_lengths([2], 2).losses(np.zeros(2, dtype=np.int32)), "need true outputs"),
    ],
)
def test_what_does_not_fit_is_refused(what, message):
    with pytest.raises(ValueError, match=message):
        what()


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"costs": {"a": 2.0, "b": 0.5}},
        {"forbidden": [("a", "a"), ("b", "a"), (None, "c")]},
        {"order": 2},
        {"order": 3, "forbidden": [("c", "c")]},
        {"transition_features": [0]},
        {"order": 2, "transition_features": True},
    ],
)
def test_scored_chains_keep_the_contract(settings):
    check_scored(Chain(**settings), X, Y)


def test_costs_of_positions_keep_the_contract():
    costs = [[1.0, 0.0, 2.5], [1.0], [0.5, 3.0]]
    check_scored(Chain(), X, [Weighted(y, own) for y, own in zip(Y, costs, strict=True)])


def test_batches_and_predictions_go_through_score_space():
    task = Chain()
    batch = task.setup_and_pack(X, Y)
    w = np.random.default_rng(0).standard_normal(task.dim)
    for index in ([0, 1, 2], [2, 0], [1]):
        scored = batch.take(np.array(index)).scored()
        planes = scored.planes_of(scored.best(scored.scores(w), 1.0).found)
        expected = batch.take(np.array(index)).planes(w)
        np.testing.assert_array_equal(planes.dpsi.toarray(), expected.dpsi.toarray())
        np.testing.assert_array_equal(planes.loss, expected.loss)
    bare = task.scored([*X, []])
    best = bare.best(bare.scores(w))
    found = np.split(best.found, bare.bounds[1:-1])
    assert task.decode(w, [*X, []]) == [[task.classes_[k] for k in labels] for labels in found]
    np.testing.assert_array_equal(task.scores(w, [*X, []]), best.values)
    with pytest.raises(ValueError, match="need true outputs"):
        bare.planes_of(best.found)


def test_missing_labels_cost_the_cheapest_mistake():
    task = Chain(classes=["a", "b", "c"])
    task.setup(X, [["a", None, "b"], ["a"], [{"b", "c"}, "c"]])
    scored = task.scored(X, [["a", None, "b"], ["a"], [{"b", "c"}, "c"]])
    found = np.array([1, 2, 1, 0, 0, 2], dtype=np.int32)
    assert scored.losses(found).tolist() == [1.0, 0.0, 1.0]
    np.testing.assert_array_equal(scored.planes_of(found).loss, scored.losses(found))
