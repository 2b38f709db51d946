"""What LogoDisplay computes and draws; how it looks was judged by eye."""

from functools import cache

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from sklearn.exceptions import NotFittedError
from structures.motifs.planted import planted

from maxmargin import MotifFinder
from maxmargin.plotting import LogoDisplay

X, Y, _ = planted(10)


@cache
def trained():
    return MotifFinder(10, background_order=0, restarts=1, positive="with").fit(X, Y)


@pytest.fixture
def ax():
    return Figure().subplots()


def box(patch):
    return patch.get_path().get_extents()


def test_letters_are_as_high_as_their_share_of_the_information(ax):
    display = LogoDisplay.from_matrix([[1, 0, 0, 0], [0.5, 0, 0, 0.5], [0.25] * 4], "ACGT", "three")
    assert display.heights[0].tolist() == [2, 0, 0, 0]
    assert display.heights[1].tolist() == [0.5, 0, 0, 0.5]
    assert display.heights[2] == pytest.approx(np.zeros(4))
    assert display.plot(ax) is display
    assert set(display.patches_) == {(0, "A"), (1, "A"), (1, "T")}
    alone = box(display.patches_[0, "A"])
    assert (alone.y0, alone.height) == pytest.approx((0, 2), abs=0.05)
    assert (alone.x0 + alone.x1) / 2 == pytest.approx(0)
    lower, upper = (box(display.patches_[1, letter]) for letter in "AT")
    assert lower.y1 <= upper.y0 + 1e-9 or upper.y1 <= lower.y0 + 1e-9  # one above the other
    assert ax.get_ylim()[1] >= 2
    assert (ax.get_ylabel(), ax.get_title()) == ("bits", "three")
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["1", "2", "3"]


def test_negative_weights_hang_below_the_axis(ax):
    display = LogoDisplay([[3, 1, -2, -1]], "ACGT", "weight").plot(ax)
    boxes = {letter: box(patch) for (_, letter), patch in display.patches_.items()}
    assert boxes["C"].y0 == pytest.approx(0)
    assert boxes["A"].y0 == pytest.approx(1)  # the tallest is farthest from the axis
    assert boxes["T"].y1 <= 1e-9
    assert boxes["G"].y1 <= -1 + 0.05
    low, high = ax.get_ylim()
    assert low <= -3
    assert high >= 4
    assert len(ax.lines) == 1


def test_of_a_model(ax):
    display = LogoDisplay.from_estimator(trained()).plot(ax)
    np.testing.assert_allclose(display.heights.sum(axis=1), trained().information_)
    assert trained().consensus_ in display.title
    weights = LogoDisplay.from_estimator(trained(), kind="weights").plot(Figure().subplots())
    np.testing.assert_allclose(weights.heights.sum(axis=1), 0, atol=1e-12)
    np.testing.assert_allclose(np.diff(weights.heights, axis=1), np.diff(trained().pssm_, axis=1))


def test_colours(ax):
    dna = LogoDisplay([[1, 1, 1, 1]], "ACGT").plot(ax).patches_
    assert len({to_hex(patch.get_facecolor()) for patch in dna.values()}) == 4
    protein = LogoDisplay([[1, 1, 1]], "DEK").plot(Figure().subplots()).patches_
    acids, base = (to_hex(protein[0, letter].get_facecolor()) for letter in "DK")
    assert acids == to_hex(protein[0, "E"].get_facecolor()) != base
    other = LogoDisplay([[1, 1]], "XZ").plot(Figure().subplots()).patches_
    assert len({to_hex(patch.get_facecolor()) for patch in other.values()}) == 1


def test_a_narrow_letter_stays_narrow(ax):
    patches = LogoDisplay([[1, 1]], "IW").plot(ax).patches_
    assert box(patches[0, "I"]).width < 0.6 < box(patches[0, "W"]).width


def test_long_motifs_number_some_positions_only(ax):
    LogoDisplay(np.ones((90, 2)), "AB").plot(ax)
    assert len(ax.get_xticks()) <= 40


def test_it_makes_its_own_axes():
    assert LogoDisplay([[1.0, 0]], "AB").plot().ax_.figure.get_axes()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: LogoDisplay([[1, 2]], "ACGT"), r"heights have the shape \(1, 2\); expected \(positions, 4\)"),
        (lambda: LogoDisplay(np.ones((0, 4)), "ACGT"), r"heights have the shape \(0, 4\)"),
        (lambda: LogoDisplay([[1, np.nan]], "AB"), "the height of B at position 0 is nan; expected a number"),
        (lambda: LogoDisplay.from_matrix([[1, 1]], "AB"), "the frequencies of position 0 sum to 2; expected 1"),
        (lambda: LogoDisplay.from_matrix([[1.5, -0.5]], "AB"), "finite numbers >= 0"),
        (lambda: LogoDisplay.from_matrix([0.5, 0.5], "AB"), r"the frequencies have shape \(2,\)"),
        (lambda: LogoDisplay.from_estimator(trained(), "bits"), "kind must be 'information' or 'weights', got 'bits'"),
    ],
)
def test_bad_input(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_model_must_be_fitted():
    with pytest.raises(NotFittedError):
        LogoDisplay.from_estimator(MotifFinder())
