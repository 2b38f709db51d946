import numpy as np
import pytest

from maxmargin.training.temperature import best_temperature


@pytest.mark.parametrize("lowest", [1e-12, 0.3, 1.0, 7.0, 1e12])
def test_the_lowest_point_is_found(lowest):
    found = best_temperature(lambda beta: np.array([(np.log(beta * lowest)) ** 2, np.inf]), np.ones(2))
    assert found == pytest.approx(lowest, rel=2e-3)


def test_examples_count_by_their_weights():
    def losses(beta):
        return np.array([np.log(beta) ** 2, (np.log(beta) - 3) ** 2])

    assert best_temperature(losses, np.array([3.0, 1.0])) == pytest.approx(np.exp(-0.75), rel=2e-3)


def test_impossible_outputs_calibrate_nothing():
    with pytest.raises(ValueError, match="no calibration example"):
        best_temperature(lambda beta: np.array([np.inf]), np.ones(1))


def test_where_nothing_is_said_of_temperatures_scores_stay_as_they_are():
    assert best_temperature(lambda beta: np.array([2.0, np.inf]), np.ones(2)) == 1.0
