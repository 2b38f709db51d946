import os
from itertools import pairwise

import numpy as np
import pytest

from maxmargin.datasets import (
    DataNotFound,
    chunk_features,
    data_folder,
    digit_strings,
    load_20newsgroups,
    load_conll2000,
    load_mnist,
    load_ocr_letters,
    load_usps,
    word_shape,
)

needs_data = pytest.mark.skipif("MAXMARGIN_DATA" not in os.environ, reason="MAXMARGIN_DATA is not set")

LOADERS = [
    lambda: load_conll2000("train"),
    load_ocr_letters,
    lambda: load_mnist("train"),
    lambda: load_usps("train"),
    lambda: load_20newsgroups("train"),
]


@pytest.mark.parametrize("load", LOADERS)
def test_unset_variable_is_named(load, monkeypatch):
    monkeypatch.delenv("MAXMARGIN_DATA", raising=False)
    with pytest.raises(DataNotFound, match=r"environment variable MAXMARGIN_DATA.*is not set") as caught:
        load()
    assert isinstance(caught.value, FileNotFoundError)


@pytest.mark.parametrize("load", LOADERS)
def test_missing_set_is_named(load, monkeypatch, tmp_path):
    monkeypatch.setenv("MAXMARGIN_DATA", str(tmp_path))
    with pytest.raises(DataNotFound, match="does not contain it"):
        load()


def test_missing_file_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("MAXMARGIN_DATA", str(tmp_path))
    (tmp_path / "usps").mkdir()
    assert data_folder("usps") == tmp_path / "usps"
    with pytest.raises(DataNotFound, match=r"'usps' is incomplete.*no file 'zip\.test\.txt\.xz'"):
        load_usps("test")


@pytest.mark.parametrize("load", [load_conll2000, load_mnist, load_usps, load_20newsgroups])
def test_unknown_split_is_refused(load):
    with pytest.raises(ValueError, match="'train' or 'test', not 'dev'"):
        load("dev")


def test_word_shape_cuts_runs_to_two():
    assert [word_shape(word) for word in ("London", "IBM", "1,234.5", "U.S.", "e-mail")] == [
        "Xxx",
        "XX",
        "d,dd.d",
        "X.X.",
        "x-xx",
    ]


def test_chunk_features_of_a_short_sentence():
    features = chunk_features([("The", "DT"), ("pound", "NN"), ("fell", "VBD")])
    assert len(features) == 3
    middle = set(features[1])
    assert {"w[-1]=The", "w[0]=pound", "w[1]=fell", "w[-1]|w[0]=The|pound", "w[0]|w[1]=pound|fell"} <= middle
    assert {"pos[-1]|pos[0]=DT|NN", "pos[-1]|pos[0]|pos[1]=DT|NN|VBD", "suffix3=und", "prefix2=po"} <= middle
    assert {"first", "capital-first", "lower=the", "w[-1]=<s1>"} <= set(features[0])
    assert "last" in features[2]
    assert all(len(set(attributes)) == len(attributes) for attributes in features)
    assert all(25 <= len(attributes) <= 35 for attributes in features)
    assert chunk_features([]) == []


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


@pytest.mark.data
@needs_data
@pytest.mark.parametrize(
    ("split", "n_sentences", "n_tokens", "n_chunks"),
    [("train", 8936, 211727, 106978), ("test", 2012, 47377, 23852)],
)
def test_conll2000_has_its_published_counts(split, n_sentences, n_tokens, n_chunks):
    from maxmargin.metrics import chunks

    sentences, tags = load_conll2000(split)
    assert len(sentences) == len(tags) == n_sentences
    assert sum(map(len, sentences)) == sum(map(len, tags)) == n_tokens
    assert sum(1 for sentence in tags for _ in chunks(sentence)) == n_chunks


@pytest.mark.data
@needs_data
def test_ocr_letters_has_its_published_counts():
    X, Y, folds = load_ocr_letters()
    assert len(X) == len(Y) == len(folds) == 6877
    assert sum(map(len, Y)) == 52152
    assert all(x.shape == (len(y), 128) and x.dtype == np.float64 for x, y in zip(X, Y, strict=True))
    assert np.bincount(folds).tolist() == [626, 704, 684, 698, 693, 651, 739, 717, 690, 675]
    assert len({"".join(y) for y in Y}) == 55


@pytest.mark.data
@needs_data
@pytest.mark.parametrize(("split", "n"), [("train", 60000), ("test", 10000)])
def test_mnist_has_its_published_counts(split, n):
    X, y = load_mnist(split)
    assert X.shape == (n, 784)
    assert (X.min(), X.max()) == (0.0, 1.0)
    assert y.shape == (n,)
    assert set(y.tolist()) == set(range(10))


@pytest.mark.data
@needs_data
@pytest.mark.parametrize(("split", "n"), [("train", 7291), ("test", 2007)])
def test_usps_has_its_published_counts(split, n):
    X, y = load_usps(split)
    assert X.shape == (n, 256)
    assert (X.min(), X.max()) == (-1.0, 1.0)
    assert y.shape == (n,)
    assert set(y.tolist()) == set(range(10))


@pytest.mark.data
@needs_data
@pytest.mark.parametrize(("split", "n"), [("train", 11314), ("test", 7532)])
def test_20newsgroups_has_its_published_counts(split, n):
    texts, labels = load_20newsgroups(split)
    assert len(texts) == len(labels) == n
    assert len(set(labels)) == 20
    assert "comp.sys.mac.hardware" in labels
