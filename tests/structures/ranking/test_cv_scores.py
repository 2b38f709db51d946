"""MeasureSVC's cv_scores_: an estimate of the measure on new data that is not too high, also where there is only noise.

For noise, the difference between an unbiased estimate and the score on new data has mean 0. Its mean over 12 or more
independent samples then exceeds 4 of its standard errors with a probability of about 0.1% (Student's t), which is the
rate of false alarms of each test.
"""

import numpy as np
import pytest

from maxmargin import MeasureSVC
from maxmargin.structures.ranking.measures import measure_of
from maxmargin.structures.ranking.score_measure import FoldMeasure
from maxmargin.structures.ranking.threshold import FoldRows

SAMPLES = 40


def too_high_by(measure, n, seed):
    """The difference for n rows whose labels are noise, two in five of them positive."""
    rng = np.random.default_rng([seed, n])
    model = MeasureSVC(measure, C=10.0, train_for="measure", tol=0.05)
    model.fit(rng.standard_normal((n, 5)), rng.permutation(n) < 0.4 * n)
    return model.cv_scores_[measure] - model.score(rng.standard_normal((4000, 5)), rng.permutation(4000) < 1600)


def assert_not_too_high(differences):
    assert np.mean(differences) <= 4 * np.std(differences, ddof=1) / np.sqrt(len(differences))


def test_scores_of_noise_are_not_too_high():
    assert_not_too_high([too_high_by("error", 60, seed) for seed in range(12)])


@pytest.mark.slow
@pytest.mark.parametrize("n", [40, 60, 200])
@pytest.mark.parametrize("measure", ["error", "balanced_error", "kld"])
def test_scores_of_noise_are_not_too_high_for_other_measures(measure, n):
    assert_not_too_high([too_high_by(measure, n, seed) for seed in range(SAMPLES)])


@pytest.mark.parametrize("measure", ["error", "f1", "balanced_error"])
def test_the_other_folds_choose_the_cut_of_a_fold(measure):
    """The scores of a fold are cut where the others are best, counted here fold by fold."""
    rng = np.random.default_rng(0)
    truth, scores, fold = (np.arange(90) % 3 == 0) * 1.0, rng.standard_normal(90), np.arange(90) // 3 % 3
    found = FoldMeasure(measure_of(measure), FoldRows(truth, np.ones(90), fold)).cut(scores)
    for number in range(3):
        own = fold == number
        others = FoldRows(truth[~own], np.ones(60), np.unique(fold[~own], return_inverse=True)[1])
        at = FoldMeasure(measure_of(measure), others).cut(scores[~own]).at
        above, right = scores[own] > at, truth[own] > 0
        kinds = (right & above, ~right & above, right & ~above, ~right & ~above)
        expected = measure_of(measure).worth(*(np.array([float(kind.sum())]) for kind in kinds))[0]
        assert found.held_out[number] == pytest.approx(expected)
    assert found.mean == pytest.approx(found.held_out.mean())
    assert found.values.mean() >= found.mean - 1e-12
