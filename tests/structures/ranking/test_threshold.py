import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.structures.ranking.measures import measure_of
from maxmargin.structures.ranking.threshold import JudgedRows, balanced_rate, best_cut, cut_after

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
    return scores * scale, JudgedRows(truth.astype(float), weights.astype(float), fold), scale


@pytest.mark.parametrize("name", VALUES)
@given(sample=cut_samples())
def test_no_cut_is_better(name, sample):
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
    np.testing.assert_allclose(cut.values, values(cut.at))
    means = {at: np.mean(values(at * scale)) for at in np.arange(-4.5, 4.5)}
    best = max(means.values())
    assert cut.mean == pytest.approx(best)
    fewest = max(at for at, mean in means.items() if mean >= best - 1e-12 * (1 + abs(best)))
    assert np.sum(scores > cut.at) == np.sum(scores > fewest * scale)
