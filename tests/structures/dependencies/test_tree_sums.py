"""Sums over dependency trees: against enumeration, at all scales, with and without labels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from structures.dependencies.test_task import arc_rows, outputs
from structures.dependencies.tree_lists import all_heads, sentences, total
from thorough import examples

from maxmargin.structures.dependencies.tree_sums import tree_sum
from maxmargin.tasks import Dependencies
from maxmargin.testing import check_sums


@examples(32, 80)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 5),
    n_labels=st.integers(1, 3),
    single_root=st.booleans(),
    projective=st.booleans(),
    log_scale=st.floats(-8, 8),
    whole=st.booleans(),
)
def test_sums_of_one_sentence(seed, n, n_labels, single_root, projective, log_scale, whole):
    rng = np.random.default_rng(seed)
    scores = 10.0**log_scale * rng.standard_normal((n + 1, n, n_labels))
    scores = np.rint(scores) if whole else scores
    size = 1 + np.abs(scores).max()
    table = np.full((n + 1, n + 1), -np.inf)
    table[:, 1:] = np.logaddexp.reduce(scores, axis=2)
    trees = all_heads(n, single_root, projective)
    each = np.array([total(table, heads) for heads in trees])
    log_z = np.logaddexp.reduce(each)
    p = np.exp(each - log_z)
    heads = np.zeros((n, n + 1))
    for tree, share in zip(trees, p, strict=True):
        heads[np.arange(n), tree] += share
    found = tree_sum(scores, single_root, projective)
    near = 1e-14 * n * size
    assert found.log_z == pytest.approx(log_z, abs=near, rel=0)
    np.testing.assert_allclose(found.heads, heads, atol=1e-13 + 8 * near, rtol=0)
    np.testing.assert_allclose(found.heads.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_allclose(found.arcs().sum(axis=2).T, found.heads, atol=1e-12)
    assert (found.heads >= 0).all()


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("projective", [False, True])
@pytest.mark.parametrize("scale", [1.0, 30.0, 1e3])
def test_sums_are_those_over_all_trees(scale, projective, single_root):
    X, Y = sentences(3, longest=3)
    task = Dependencies(projective, single_root)
    check_sums(task, X, Y, trials=1, scale=scale, outputs=outputs(single_root, projective))


@pytest.mark.parametrize("hash_bits", [None, 8])
@pytest.mark.parametrize("projective", [False, True])
def test_sums_with_labels(projective, hash_bits):
    X, Y = sentences(3, labelled=True, longest=2)
    labels = sorted({label for y in Y for _, label in y})
    task = Dependencies(projective, hash_bits=hash_bits, measure="share")
    check_sums(task, X, Y, trials=1, outputs=outputs(True, projective, labels))


def test_sums_with_features_of_ones_own():
    X, Y = sentences(3, labelled=True, longest=2)
    labels = sorted({label for y in Y for _, label in y})
    check_sums(Dependencies(features=arc_rows), X, Y, trials=1, outputs=outputs(labels=labels))


def test_places_of_arcs_kept_or_made_anew_are_the_same():
    X, Y = sentences(6, labelled=True, seed=2, longest=6)
    task = Dependencies()
    task.setup(X, Y)
    kept, anew = task.pack(X, Y).arcs, task.scored(X).arcs
    assert len(kept.known.begins) > 0
    assert len(anew.known.begins) == 0
    rng = np.random.default_rng(0)
    w = rng.standard_normal(task.dim)
    for i in range(len(X)):
        shares = rng.standard_normal(kept.all_scores(w, i).shape)
        np.testing.assert_allclose(kept.all_scores(w, i), anew.all_scores(w, i), atol=1e-12)
        sums = np.zeros((2, task.dim))
        for each, arcs in zip(sums, (kept, anew), strict=True):
            arcs.add_shares(each, i, 0.7, shares)
        np.testing.assert_allclose(*sums, atol=1e-12)


@pytest.mark.parametrize("projective", [False, True])
@pytest.mark.parametrize("scale", [1.0, 1e3])
def test_long_sentences_agree_with_differences(projective, scale):
    """Where trees cannot be listed: d log Z / d score of an arc is its probability."""
    rng = np.random.default_rng(1)
    n = 30
    scores = scale * rng.standard_normal((n + 1, n, 1))
    found = tree_sum(scores, True, projective)
    np.testing.assert_allclose(found.heads.sum(axis=1), 1, atol=1e-11)
    assert found.heads[:, 0].sum() == pytest.approx(1, abs=1e-11)
    for _ in range(5):
        m = int(rng.integers(n))
        h = int(np.argmax(found.heads[m]))
        step = 1e-4
        moved = [scores.copy(), scores.copy()]
        for sign, each in zip((1, -1), moved, strict=True):
            each[h, m, 0] += sign * step
        up, down = (tree_sum(each, True, projective).log_z for each in moved)
        assert (up - down) / (2 * step) == pytest.approx(found.heads[m, h], abs=1e-6)


def test_determinants_agree():
    """The matrix-tree theorem as a determinant, for scores of a size that it can bear."""
    rng = np.random.default_rng(4)
    n = 25
    scores = 2 * rng.standard_normal((n + 1, n, 1))
    masses = np.exp(scores[:, :, 0])
    inner = masses[1:].copy()
    np.fill_diagonal(inner, 0)
    laplacian = np.diag(inner.sum(axis=0)) - inner
    many = np.linalg.slogdet(laplacian + np.diag(masses[0]))[1]
    laplacian[0] = masses[0]  # Koo et al. 2007: one child of the root
    one = np.linalg.slogdet(laplacian)[1]
    assert tree_sum(scores, False, False).log_z == pytest.approx(many, abs=1e-10)
    assert tree_sum(scores, True, False).log_z == pytest.approx(one, abs=1e-10)
