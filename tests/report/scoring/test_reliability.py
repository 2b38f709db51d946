"""Bins of confidence, their error, and the picture."""

import numpy as np
import pytest

from maxmargin.metrics import calibration_error, reliability
from maxmargin.plotting import ReliabilityDisplay

NAMES = ["a", "b"]
P = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.55, 0.45]])


def test_bins_hold_what_is_so_sure():
    found = reliability(["a", "b", "b", None], P, NAMES, bins=2)
    np.testing.assert_array_equal(found.counts, [0, 3])
    assert found.accuracy[1] == pytest.approx(2 / 3)
    assert found.confidence[1] == pytest.approx(0.8)
    assert found.error == pytest.approx(0.8 - 2 / 3)


def test_sequences_are_one_after_the_other():
    together = calibration_error(["a", "b", "b", "a"], P, NAMES)
    assert calibration_error([["a"], [], ["b", "b", "a"]], [P[:1], P[:0], P[1:]], NAMES) == together
    one = [abs(0.9 - 1), abs(0.8 - 0), abs(0.7 - 1), abs(0.55 - 1)]
    assert together == pytest.approx(np.mean(one))  # each in a bin of its own


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="2 lists of labels but 1"):
        calibration_error([["a"], ["b"]], [P], NAMES)
    with pytest.raises(ValueError, match="sequence 0 has 1 labels but 4 rows"):
        calibration_error([["a"]], [P], NAMES)


def test_the_picture_shows_the_bins():
    display = ReliabilityDisplay.from_predictions(["a", "b", "b", "a"], P, NAMES, bins=5).plot()
    assert display.error == pytest.approx(calibration_error(["a", "b", "b", "a"], P, NAMES, bins=5))
    points = display.ax_.collections[-1].get_offsets()
    assert len(points) == np.count_nonzero(display.counts)
