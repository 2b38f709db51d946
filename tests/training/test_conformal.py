import numpy as np
import pytest

from maxmargin.training.conformal import allowed_distance, allowed_risk_distance, check_coverage


@pytest.mark.parametrize("coverage", [0.5, 0.8, 0.9])
@pytest.mark.parametrize("n", [9, 20, 101])
def test_coverage_of_distances_is_exact_over_all_places_of_the_new_one(n, coverage):
    """Of n + 1 numbers each is the new one once: the share of times that it is within reach is what is promised."""
    rng = np.random.default_rng(n)
    numbers = rng.standard_normal(n + 1) ** 2
    kept = [numbers[i] <= allowed_distance(np.delete(numbers, i), coverage) for i in range(n + 1)]
    assert coverage <= np.mean(kept) <= coverage + 1 / (n + 1) + 1e-12


@pytest.mark.parametrize("coverage", [0.5, 0.9])
def test_risk_of_labels_is_controlled_over_all_places_of_the_new_one(coverage):
    rng = np.random.default_rng(0)
    for n in (12, 40):
        sequences = [rng.random(rng.integers(1, 6)) for _ in range(n + 1)]
        missed = []
        for i in range(n + 1):
            others = [d for j, d in enumerate(sequences) if j != i]
            distances, shares = np.concatenate(others), np.concatenate([np.full(len(d), 1 / len(d)) for d in others])
            missed.append(np.mean(sequences[i] > allowed_risk_distance(distances, shares, n, coverage)))
        assert np.mean(missed) <= 1 - coverage + 1e-12


def test_how_many_examples_a_coverage_needs():
    assert check_coverage(0.9, 9) == 0.9
    with pytest.raises(ValueError, match="needs at least 9 examples"):
        check_coverage(0.9, 8)
    with pytest.raises(ValueError, match="between 0 and 1"):
        check_coverage(1.0, 10**6)


def test_distances_of_labels_are_as_small_as_the_coverage_allows():
    distances, shares = np.array([0.0, 3.0, 1.0, 2.0, np.inf]), np.full(5, 0.5)
    assert allowed_risk_distance(distances, shares, 9, 0.9) == np.inf  # nothing may be missed
    assert allowed_risk_distance(distances, shares, 9, 0.85) == 3.0  # half a sequence, the label at inf
    assert allowed_risk_distance(distances, shares, 9, 0.8) == 2.0
    assert allowed_risk_distance(distances, shares, 9, 0.2) == 0.0  # all may be missed, but 0 is the least distance
