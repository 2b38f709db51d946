import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import whole
from structures.motifs.planted import COMPLEMENTS, MOTIF, finder, planted

from maxmargin.structures.motifs.sites import non_overlapping

X, _, _ = planted()
MODEL = finder()
LENGTH = len(MOTIF)


@given(st.integers(1, 4), whole((2, 9)), st.integers(-2, 2))
def test_windows_apart(length, gains, threshold):
    """By the rule itself: again and again the best of what is left."""
    left, expected = gains.copy(), []
    while left.max() > threshold:
        strand, start = np.unravel_index(np.argmax(left), left.shape)
        expected.append(left[strand, start])
        left[:, max(0, start - length + 1) : start + length] = -99
    found = non_overlapping(gains, length, threshold)
    assert sorted(gains[s, h] for h, s in found) == sorted(expected)
    starts = [h for h, _ in found]
    assert starts == sorted(starts)
    assert all(b - a >= length for a, b in itertools.pairwise(starts))


def test_all_sites_are_apart_and_above_the_threshold():
    text = "A" * 15 + MOTIF + "C" * 15 + MOTIF[::-1].translate(COMPLEMENTS) + "T" * 15
    (sites,) = MODEL.all_sites([text])
    near = [min(abs(site.start - true) for site in sites) for true in (15, 40)]
    assert max(near) <= 2
    assert {site.strand for site in sites} == {"+", "-"}
    for threshold in (-5.0, 0.0, 0.5):
        for x, several, best in zip(X, MODEL.all_sites(X, threshold), MODEL.find_sites(X), strict=True):
            starts = [site.start for site in several]
            assert all(b - a >= LENGTH for a, b in itertools.pairwise(starts))
            assert all(site.score > threshold for site in several)
            assert (best.score > threshold) == bool(several)
            assert not several or max(site.score for site in several) == pytest.approx(best.score)
            gains = MODEL.task_.gains(MODEL.w_, x)
            for h in range(gains.shape[1]):  # whatever is left out overlaps with something better
                if gains[:, h].max() > threshold and h not in starts:
                    rivals = [s for s in several if abs(s.start - h) < LENGTH]
                    assert max(s.score for s in rivals) >= gains[:, h].max() - 1e-9


@pytest.mark.parametrize("threshold", [None, "0", np.nan, True])
def test_thresholds_that_are_no_numbers(threshold):
    with pytest.raises(ValueError, match="threshold must be a number"):
        MODEL.all_sites(X, threshold)
