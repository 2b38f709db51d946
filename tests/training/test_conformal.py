import numpy as np
import pytest

from maxmargin.training.conformal import allowed_distance, check_coverage, least_probability


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
            others = [p for j, p in enumerate(sequences) if j != i]
            truths, shares = np.concatenate(others), np.concatenate([np.full(len(p), 1 / len(p)) for p in others])
            missed.append(np.mean(sequences[i] < least_probability(truths, shares, n, coverage)))
        assert np.mean(missed) <= 1 - coverage + 1e-12


def test_how_many_examples_a_coverage_needs():
    assert check_coverage(0.9, 9) == 0.9
    with pytest.raises(ValueError, match="needs at least 9 examples"):
        check_coverage(0.9, 8)
    with pytest.raises(ValueError, match="between 0 and 1"):
        check_coverage(1.0, 10**6)
