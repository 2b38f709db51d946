import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.structures.ranking.measures import measure_of
from maxmargin.structures.ranking.threshold import FoldRows, balanced_rate, best_cut, cut_after

SCORES = np.array([3.0, -1.0, 2.0, 2.0, 0.0])
VALUES = {
    "balanced": balanced_rate,
    "f1": measure_of("f1").worth,
    "kld": measure_of("kld").worth,
    "own": lambda tp, fp, fn, tn: 3 * tp - fp,
}


@pytest.mark.parametrize(("size", "expected"), [(0, 4.0), (1, 2.5), (2, 1.0), (3, 1.0), (4, -0.5), (5, -2.0)])
def test_as_many_as_are_wanted_lie_above(size, expected):
    """More, where scores are tied; all and none have a threshold beyond the last score."""
    assert cut_after(SCORES, size) == expected


@st.composite
def cut_samples(draw):
    """Integer scores, so that many are tied; every fold has both classes."""
    n_folds, scale = draw(st.integers(1, 3)), draw(st.sampled_from([1e-8, 1.0, 1e8]))
    row = st.tuples(st.integers(-3, 3), st.integers(0, 1), st.integers(1, 3), st.integers(0, n_folds - 1))
    rows = draw(st.lists(row, max_size=9))
    for k in range(n_folds):
        rows += [(draw(st.integers(-3, 3)), kind, 1, k) for kind in (0, 1)]
    scores, truth, weights, fold = np.array(rows).T
    return scores * scale, FoldRows(truth.astype(float), weights.astype(float), fold), scale


@pytest.mark.parametrize("name", VALUES)
@given(sample=cut_samples())
def test_the_middle_of_the_cuts_that_are_near_the_best(name, sample):
    """Against every cut, each of them counted anew."""
    (scores, rows, scale), value = sample, VALUES[name]

    def values(at):
        found, right, all_values = scores > at, rows.truth > 0, []
        for k in range(rows.fold.max() + 1):
            own = rows.weights * (rows.fold == k)
            kinds = (right & found, ~right & found, right & ~found, ~right & ~found)
            all_values.append(value(*(np.array([own @ kind]) for kind in kinds))[0])
        return all_values

    cut = best_cut(scores, rows, value)
    assert cut.at not in scores
    every = {at: values(at * scale) for at in np.arange(3.5, -4.5, -1)}
    kinds = {int(np.sum(scores > at * scale)): own for at, own in every.items()}  # by how many rows are above
    means = {above: np.mean(own) for above, own in kinds.items()}
    highest = max(means.values())
    best = min(above for above, mean in means.items() if mean >= highest - 1e-12 * (1 + abs(highest)))
    np.testing.assert_allclose(cut.values, kinds[best])
    assert cut.values.mean() == pytest.approx(highest)
    n_folds = len(kinds[best])
    chance = np.std(kinds[best], ddof=1) / np.sqrt(n_folds) if n_folds > 1 else 0.0
    if any(abs(mean - (means[best] - chance)) < 1e-9 * (1 + abs(mean)) for a, mean in means.items() if a != best):
        return  # rounding decides whether it is near
    near = sorted(above for above, mean in means.items() if mean >= means[best] - chance)
    assert np.sum(scores > cut.at) == near[(len(near) - 1) // 2]


def test_chance_widens_what_is_near():
    scores, truth = np.arange(12.0, 0, -1), np.array([1, 1, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0.0])
    one = best_cut(scores, FoldRows(truth, np.ones(12), np.zeros(12, dtype=int)), VALUES["f1"])
    two = best_cut(scores, FoldRows(truth, np.ones(12), np.array([0, 1, 1, 0, 0, 1] * 2)), VALUES["f1"])
    assert np.sum(scores > one.at) == 2  # with 5 it is as high
    assert one.values == pytest.approx([2 / 3])
    assert np.sum(scores > two.at) == 5
