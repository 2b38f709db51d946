"""Score space of dependency trees: against enumeration, with ties, at all scales; planes go through it."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import whole
from thorough import examples

from maxmargin.problem.contract.scored import inner
from maxmargin.structures.dependencies.heads import check_tree
from maxmargin.tasks import ArcSpace, Dependencies
from maxmargin.testing import check_scored

X = [[("a", "N"), ("b", "V"), ("a", "D")], [("b", "V")], [("c", "N"), ("b", "V")]]
Y = [[2, 0, 2], [0], [0, 1]]
LABELLED = [[(2, "s"), (0, "r"), (2, "o")], [(0, "r")], [(0, "r"), (1, "s")]]


def trees(n, n_labels, single_root, projective):
    """All trees, as pairs of heads and labels."""
    for heads in product(range(n + 1), repeat=n):
        try:
            check_tree(heads, n, "", single_root, projective)
        except ValueError:
            continue
        for labels in product(range(n_labels), repeat=n) if n_labels else [(-1,) * n]:
            yield heads, labels


@examples(30, 200)
@given(
    st.data(),
    st.lists(st.integers(1, 3), min_size=1, max_size=2),
    st.integers(0, 2),
    st.booleans(),
    st.booleans(),
    st.integers(-6, 6),
    st.sampled_from([0.0, 1.0, 0.5, 3.0]),
)
def test_best_of_a_space_without_features_is_that_of_all_trees(
    data, lengths, n_labels, single_root, projective, power, augment
):
    L = max(n_labels, 1)
    scores = 10.0**power * data.draw(whole(sum((n + 1) * n * L for n in lengths)))
    listed = [list(trees(n, n_labels, single_root, projective)) for n in lengths]
    chosen = [data.draw(st.sampled_from(own)) for own in listed]
    truth = [list(zip(*tree, strict=True)) if n_labels else list(tree[0]) for tree in chosen]
    space = ArcSpace.of_lengths(lengths, n_labels, truth, single_root, projective, price=2.0)
    best = space.best(scores, augment)
    losses = space.losses(best.found)
    for j, table in enumerate(space.tables(scores)):
        n = lengths[j]
        score = {z: sum(table[h, m, max(k, 0)] for m, (h, k) in enumerate(zip(*z, strict=True))) for z in listed[j]}
        loss = {z: 2.0 * sum(a != b for a, b in zip(zip(*z), zip(*chosen[j]), strict=True)) for z in listed[j]}  # noqa: B905
        assert best.values[j] == pytest.approx(
            max(score[z] + augment * loss[z] for z in listed[j]), rel=1e-12, abs=1e-12
        )
        words = slice(best.found.bounds[j], best.found.bounds[j + 1])
        z = tuple(best.found.heads[words].tolist()), tuple(best.found.labels[words].tolist())
        assert losses[j] == loss[z]
        assert inner(space.indicator(best.found, np.eye(len(lengths))[j]), scores) == pytest.approx(score[z])
        assert best.values[j] == pytest.approx(score[z] + augment * loss[z], rel=1e-12, abs=1e-12)
        sums = space.sums(scores)
        assert sums.log_partitions[j] == pytest.approx(np.logaddexp.reduce(list(score.values())), rel=1e-9, abs=1e-9)
        assert len(sums.marginals()[j].heads) == n
    assert space.losses(space.truth).tolist() == [0.0] * len(lengths)
    bare = ArcSpace.of_lengths(lengths, n_labels, None, single_root, projective)
    np.testing.assert_allclose(bare.best(scores).values, space.best(scores).values, rtol=1e-12)


@pytest.mark.parametrize(
    ("what", "message"),
    [
        (lambda: ArcSpace.of_lengths([2], 0, [[2, 1]]), "has no root"),
        (lambda: ArcSpace.of_lengths([1], 2, [[(0, 2)]]), "expected 2 labels"),
        (lambda: ArcSpace.of_lengths([1], 0, [[(0, 0)]]), "expected no labels"),
        (lambda: ArcSpace.of_lengths([1]).best(np.zeros(3)), r"the scores have shape \(3,\); expected \(2,\)"),
        (lambda: ArcSpace.of_lengths([1]).best(np.zeros(2), 1.0), "need true outputs"),
    ],
)
def test_what_does_not_fit_is_refused(what, message):
    with pytest.raises(ValueError, match=message):
        what()


def rows(x):
    n = len(x)
    return np.random.default_rng(n).standard_normal(((n + 1) * n, 3))


@pytest.mark.parametrize("labels", [Y, LABELLED], ids=["heads", "labelled"])
@pytest.mark.parametrize(
    "settings",
    [{}, {"projective": True}, {"single_root": False, "measure": "share"}, {"hash_bits": 6}, {"features": rows}],
    ids=["default", "projective", "share", "hashed", "given rows"],
)
def test_scored_dependencies_keep_the_contract(settings, labels):
    check_scored(Dependencies(**settings), X, labels)


@pytest.mark.parametrize("features", [None, rows])
def test_the_search_by_best_labels_is_that_by_all_scores(features):
    """Training and prediction never make the scores of all labels."""
    task = Dependencies(features=features)
    batch = task.setup_and_pack(X, LABELLED)
    w = np.random.default_rng(0).standard_normal(task.dim)
    for scored in (batch.scored(), batch.take(np.array([2, 0])).scored(), task.scored(X)):
        for augment in (0.0, 1.0) if scored.truth is not None else (0.0,):
            best, other = scored.best(scored.scores(w), augment), scored.searched(scored.scored_arcs(w), augment)
            np.testing.assert_array_equal(best.found.heads, other.heads)
            np.testing.assert_array_equal(best.found.labels, other.labels)
