import io

import numpy as np
import pytest

from maxmargin.datasets import read_ocr_letters

PIXELS = np.random.default_rng(0).integers(0, 2, (5, 128))
HEADS = ["1 a 2 1 1 4", "2 b 3 1 2 4", "3 z -1 1 3 4", "4 c 5 2 1 0", "5 c -1 2 2 0"]


def text(heads, pixels=PIXELS):
    # The published file has a tab at the end of every line.
    rows = zip(heads, pixels.tolist(), strict=False)
    return io.StringIO("".join("\t".join([*head.split(), *map(str, row), "\n"]) for head, row in rows))


def test_letters_are_cut_into_words():
    X, Y, folds = read_ocr_letters(text(HEADS))
    assert Y == [["a", "b", "z"], ["c", "c"]]
    assert folds.tolist() == [4, 0]
    assert [x.shape for x in X] == [(3, 128), (2, 128)]
    assert np.array_equal(np.concatenate(X), PIXELS)
    assert X[0].dtype == np.float64
    X, Y, folds = read_ocr_letters(io.StringIO())
    assert (X, Y, folds.tolist()) == ([], [], [])


def test_words_that_are_torn_are_named():
    with pytest.raises(ValueError, match="line 2: found letter 3; expected letter 2, with which the word continues"):
        read_ocr_letters(text([HEADS[0], HEADS[2]]))
    with pytest.raises(ValueError, match="line 4: the file ends; expected letter 5, with which the word continues"):
        read_ocr_letters(text(HEADS[:4]))


@pytest.mark.parametrize(
    ("heads", "pixels"),
    [
        ([HEADS[0][:-2]], PIXELS),
        ([HEADS[0]], PIXELS[:, 1:]),
        ([HEADS[0]], PIXELS * 2),
        ([HEADS[0]], PIXELS + 10),
        (["1 a 2 1 1 x"], PIXELS),
        ([""], PIXELS[:, :0]),
    ],
)
def test_lines_that_are_no_letters_are_named(heads, pixels):
    with pytest.raises(ValueError, match=r"line 1: .*expected a letter, its five numbers and 128 pixels, 0 or 1"):
        read_ocr_letters(text(heads, pixels))
