from itertools import pairwise

import numpy as np
import pytest

from maxmargin.datasets import digit_strings, mutated_pairs


def test_digit_strings_have_the_promised_form():
    X_train, Y_train, X_test, Y_test = digit_strings(n_train=30, n_test=20, seed=1)
    assert (len(X_train), len(Y_train), len(X_test), len(Y_test)) == (30, 30, 20, 20)
    for x, y in zip(X_train + X_test, Y_train + Y_test, strict=True):
        assert x.shape == (len(y), 64)
        assert 5 <= len(y) <= 9
        assert x.min() >= 0
        assert x.max() <= 1
        assert all(type(digit) is int and 0 <= digit <= 9 for digit in y)


def test_digit_strings_mostly_count():
    _, Y, _, _ = digit_strings(n_train=300, n_test=0)
    steps = [(b - a) % 10 == 1 for y in Y for a, b in pairwise(y)]
    # 0.8 and a tenth of the other 0.2
    assert np.mean(steps) == pytest.approx(0.82, abs=0.03)


def test_digit_strings_share_no_image_between_train_and_test():
    X_train, _, X_test, _ = digit_strings(n_train=200, n_test=200)
    train = {row.tobytes() for x in X_train for row in x}
    test = {row.tobytes() for x in X_test for row in x}
    assert train
    assert test
    assert not train & test


def test_digit_strings_show_the_digits_they_name():
    from sklearn.datasets import load_digits

    images, digits = load_digits(return_X_y=True)
    named = {row.tobytes(): digit for row, digit in zip(images / 16.0, digits.tolist(), strict=True)}
    X, Y, _, _ = digit_strings(n_train=20, n_test=0)
    assert [[named[row.tobytes()] for row in x] for x in X] == Y


def test_digit_strings_repeat_with_the_seed():
    first, again, other = (digit_strings(5, 5, seed=seed) for seed in (3, 3, 4))
    assert first[1] == again[1]
    assert first[3] == again[3]
    assert all(np.array_equal(a, b) for a, b in zip(first[0], again[0], strict=True))
    assert first[1] != other[1]


def test_mutated_pairs_have_the_promised_form():
    pairs, alignments = mutated_pairs(20, length=30, alphabet="ACGT", seed=3)
    assert len(pairs) == len(alignments) == 20
    for (a, b), alignment in zip(pairs, alignments, strict=True):
        assert len(a) == 30
        assert set(a + b) <= set("ACGT")
        assert alignment.lengths == (len(a), len(b))
        assert alignment.trusted.all()
    assert mutated_pairs(20, length=30, seed=3) == (pairs, alignments)
    assert mutated_pairs(20, length=30, seed=4)[0] != pairs


def test_mutated_pairs_keep_residues_and_exchange_partners():
    pairs, alignments = mutated_pairs(100, length=100, keep=0.5)
    letters = [a[i] + b[j] for (a, b), y in zip(pairs, alignments, strict=True) for i, j in y.pairs]
    # half stay; of the others three quarters become partners and the rest any letter
    assert np.mean([x[0] == x[1] for x in letters]) == pytest.approx(0.5 + 0.125 / 4, abs=0.02)
    assert np.mean([x in ("AG", "GA", "CT", "TC") for x in letters]) == pytest.approx(0.375 + 0.125 / 4, abs=0.02)
    assert (
        mutated_pairs(5, length=10, keep=1.0, gap=0.0)[0][0][0]
        == mutated_pairs(5, length=10, keep=1.0, gap=0.0)[0][0][1]
    )


@pytest.mark.parametrize(
    "wrong", [{"n": 0}, {"n": 1, "length": 0}, {"n": 1, "alphabet": "A"}, {"n": 1, "alphabet": "AA"}]
)
def test_mutated_pairs_refuse_what_makes_no_sequences(wrong):
    with pytest.raises(ValueError, match="must be at least 1"):
        mutated_pairs(**wrong)


@pytest.mark.parametrize("wrong", [{"keep": 2}, {"keep": -0.1}, {"gap": 0.5}, {"gap": -1}, {"gap": float("nan")}])
def test_mutated_pairs_refuse_what_is_no_probability(wrong):
    with pytest.raises(ValueError, match="must be from 0 to 1"):
        mutated_pairs(1, **wrong)
