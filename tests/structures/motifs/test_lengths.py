import pytest
from structures.motifs.planted import MOTIF, OPTIONS, finder, planted

from maxmargin import MotifFinder

X, Y, _ = planted()
MODEL = finder()
LENGTH = len(MOTIF)


def test_the_length_is_chosen_by_held_out_strings():
    model = MotifFinder(**{**OPTIONS, "length": range(3, 12, 7)}).fit(X, Y)
    assert set(model.length_errors_) == {3, 10}
    assert model.length_ == 10
    assert model.length_errors_[10] < model.length_errors_[3]
    assert model.pssm_.shape == (10, 4)
    assert MODEL.length_ == LENGTH
    assert MODEL.length_errors_ == {}
    with pytest.raises(ValueError, match=r"only 3 strings are with the motif; expected 4 or more, or a single length"):
        MotifFinder(**{**OPTIONS, "length": [3, 4]}).fit(X[27:], Y[27:])
    discovered = MotifFinder([4, 10], background_order=0, restarts=1).fit(X[:30])
    assert set(discovered.length_errors_) == {4, 10}
