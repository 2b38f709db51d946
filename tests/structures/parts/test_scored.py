"""Score space of parts: against enumeration, with ties, at all scales; planes and predictions go through it."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import whole
from thorough import examples

from maxmargin.problem.contract.scored import inner
from maxmargin.tasks import Links, Parts, PartSpace, PricedParts
from maxmargin.testing import check_scored

MOST = 2  # parts of an output


def best(scores, x):
    """The best set of at most two parts."""
    order = np.argsort(-np.asarray(scores), kind="stable")[:MOST]
    return order[np.asarray(scores)[order] > 0]


def listed(size):
    return [np.array(z, dtype=np.int64) for k in range(MOST + 1) for z in combinations(range(size), k)]


@examples(40, 300)
@given(
    st.data(),
    st.lists(st.integers(0, 4), min_size=1, max_size=3),
    st.integers(-8, 8),
    st.sampled_from([0.0, 1.0, 0.5, 3.0]),
    st.tuples(st.sampled_from([0.0, 1.0, 2.5]), st.sampled_from([0.0, 1.0, 0.5])),
)
def test_best_of_a_space_without_features_is_that_of_all_sets(data, sizes, power, augment, costs):
    scores = 10.0**power * data.draw(whole(sum(sizes)))
    truth = [data.draw(st.sampled_from(listed(size))) for size in sizes]
    space = PartSpace.of_sizes(sizes, best, sizes, truth, costs)
    found = space.best(scores, augment)
    losses = space.losses(found.found)
    for j, own in enumerate(np.split(scores, space.bounds[1:-1])):
        priced = [
            costs[0] * len(np.setdiff1d(z, truth[j])) + costs[1] * len(np.setdiff1d(truth[j], z))
            for z in listed(sizes[j])
        ]
        values = [own[z].sum() + augment * price for z, price in zip(listed(sizes[j]), priced, strict=True)]
        assert found.values[j] == pytest.approx(max(values), rel=1e-12, abs=1e-12)
        one = np.eye(len(sizes))[j]
        assert inner(space.indicator(found.found, one), scores) == pytest.approx(own[found.found[j]].sum())
        assert found.values[j] == pytest.approx(own[found.found[j]].sum() + augment * losses[j], rel=1e-12, abs=1e-12)
    assert space.losses(space.truth).tolist() == [0.0] * len(sizes)
    bare = PartSpace.of_sizes(sizes, best, sizes).best(scores)
    np.testing.assert_array_equal(bare.values, space.best(scores).values)


@pytest.mark.parametrize(
    ("what", "message"),
    [
        (lambda: PartSpace.of_sizes([2], best, [0]).best(np.zeros(3)), r"the scores have shape \(3,\)"),
        (lambda: PartSpace.of_sizes([2], best, [0]).best(np.zeros(2), 1.0), "need true outputs"),
        (lambda: PartSpace.of_sizes([2], best, [0], [[2]]), r"truth\[0\] has the part 2"),
        (lambda: PartSpace.of_sizes([2], lambda s, x: [5], [0]).best(np.zeros(2)), "has the part 5"),
    ],
)
def test_what_does_not_fit_is_refused(what, message):
    with pytest.raises(ValueError, match=message):
        what()


X = [np.array([[1.0, 0.0], [0.5, -1.0], [0.0, 2.0]]), np.array([[-1.0, 1.0]]), np.array([[1.0, 1.0], [2.0, 0.0]])]
Y = [[0, 2], [], [1]]


@pytest.mark.parametrize("labels", [Y, [PricedParts(y, extra=2.0, missing=0.5) for y in Y]], ids=["plain", "priced"])
def test_scored_parts_keep_the_contract(labels):
    check_scored(Parts(best), X, labels, outputs=lambda x: listed(len(x)))


def test_scored_links_keep_the_contract():
    rng = np.random.default_rng(0)
    frames = [rng.standard_normal((n, m, 2)) for n, m in ((2, 2), (1, 3), (3, 1))]
    check_scored(Links(), frames, [[1, -1], [2], [-1, 0, -1]])


def test_batches_and_predictions_go_through_score_space():
    task = Parts(best)
    batch = task.setup_and_pack(X, Y)
    w = np.random.default_rng(0).standard_normal(task.dim)
    for index in ([0, 1, 2], [2, 0]):
        scored = batch.take(np.array(index)).scored()
        planes = scored.planes_of(scored.best(scored.scores(w), 1.0).found)
        np.testing.assert_array_equal(planes.dpsi.toarray(), batch.planes(w).dpsi.toarray()[index])
    bare = task.scored(X)
    found = bare.best(bare.scores(w)).found
    assert [z.tolist() for z in task.decode(w, X)] == [z.tolist() for z in found]
    assert task.decode(w, []) == []
