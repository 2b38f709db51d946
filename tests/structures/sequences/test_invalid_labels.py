"""Training labels that have a forbidden transition: named, repaired or dropped."""

import warnings

import numpy as np
import pytest

from maxmargin import SequenceLabeler
from maxmargin.errors import InvalidLabels

rng = np.random.default_rng(0)
LENGTHS = [4, 3, 5, 4, 1, 3]
X = [rng.normal(size=(length, 3)) for length in LENGTHS]
Y = [
    ["B-A", "I-A", "O", "O"],
    ["O", "B-B", "I-B"],
    ["B-A", "O", "I-B", "I-B", "O"],  # position 2
    ["O", "B-A", "B-A", "O"],
    ["I-B"],  # position 0
    ["O", "O", "B-A"],
]
REPAIRED = [*Y[:2], ["B-A", "O", "B-B", "I-B", "O"], Y[3], ["B-B"], Y[5]]
RIGHT = [0, 1, 3, 5]


def fitted(Y=Y, X=X, **options):
    return SequenceLabeler(C=10.0, tol=1e-3, **options).fit(X, Y)


@pytest.mark.parametrize(
    ("forbidden", "labels", "message"),
    [
        ("BIO", Y, "sequence 2, position 2: 'I-B' may not follow 'O' in BIO; repair such labels with invalid='repair'"),
        ("BIO", [*Y[:2], REPAIRED[2], *Y[3:]], "sequence 4, position 0: 'I-B' may not come first in BIO; "),
        ("IOBES", Y, "sequence 0, position 2: 'O' may not follow 'I-A' in IOBES; .*invalid='drop'"),
        (
            "BILOU",
            [["O"] * 4, ["O", "O", "B-A"], *(["O"] * n for n in LENGTHS[2:])],
            "sequence 1, position 2: 'B-A' may",
        ),
        ([("B-A", "B-A")], Y, "sequence 3, position 2: 'B-A' may not follow 'B-A', as forbidden says; leave out"),
        ([("B-A", None)], Y, "sequence 5, position 2: 'B-A' may not come last, as forbidden says; leave out"),
        ("BIO", [*Y[:2], [None, None, "O", "I-B", "O"], *Y[3:]], "sequence 2, position 3: 'I-B' may not follow 'O'"),
    ],
)
def test_the_first_is_named(forbidden, labels, message):
    with pytest.raises(ValueError, match=message):
        fitted(labels, forbidden=forbidden)


def test_repair():
    with pytest.warns(InvalidLabels, match="2 labels in 2 of 6 sequences were repaired, .* BIO .* sequence 2"):
        model = fitted(forbidden="BIO", invalid="repair")
    np.testing.assert_array_equal(model.w_, fitted(REPAIRED, forbidden="BIO").w_)


def test_repair_makes_labels_that_the_data_do_not_show():
    """Of IOB1, where I begins most chunks."""
    with pytest.warns(InvalidLabels):
        model = fitted([["I-A", "I-A", "O"]] * 6, [x[:1].repeat(3, 0) for x in X], forbidden="BIO", invalid="repair")
    assert model.classes_ == ["B-A", "I-A", "O"]


def test_drop():
    weights = np.arange(1.0, 7.0)
    with pytest.warns(
        InvalidLabels, match="2 of 6 sequences were left out, .*first: sequence 2, position 2: 'I-B' may"
    ):
        model = SequenceLabeler(C=10.0, tol=1e-3, forbidden="BIO", invalid="drop").fit(X, Y, sample_weight=weights)
    without = SequenceLabeler(C=10.0, tol=1e-3, forbidden="BIO", classes=model.classes_)
    without.fit([X[i] for i in RIGHT], [Y[i] for i in RIGHT], sample_weight=weights[RIGHT])
    assert model.certificate_.primal == pytest.approx(without.certificate_.primal)
    np.testing.assert_allclose(model.w_, without.w_)


@pytest.mark.parametrize("invalid", ["repair", "drop"])
def test_right_labels_are_left_alone(invalid):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = fitted(REPAIRED, forbidden="BIO", invalid=invalid)
    np.testing.assert_array_equal(model.w_, fitted(REPAIRED, forbidden="BIO").w_)


def test_all_dropped():
    with pytest.warns(InvalidLabels, match="6 of 6"), pytest.raises(ValueError, match="nothing to learn from"):
        fitted([["O"] * (n - 1) + ["I-A"] for n in LENGTHS], forbidden="BIO", invalid="drop")


def test_with_missing_labels():
    labels = [*Y[:2], ["B-A", None, "O", "I-B", "O"], Y[3], REPAIRED[4], Y[5]]
    with pytest.warns(InvalidLabels, match="1 of 6 sequences were left out"):
        assert fitted(labels, forbidden="BIO", invalid="drop").certificate_.rounds is not None
    with pytest.raises(ValueError, match="sequence 2, position 3: 'I-B' may not follow 'O' in BIO; leave out such"):
        fitted(labels, forbidden="BIO", invalid="repair")


def test_the_warning_points_to_the_call_of_fit():
    with pytest.warns(InvalidLabels) as caught:
        SequenceLabeler(forbidden="BIO", invalid="repair").fit(X, Y)
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"invalid": "ignore"}, "invalid must be one of 'error', 'repair', 'drop', got 'ignore'"),
        ({"invalid": "repair"}, "invalid='repair' needs a chunk scheme, forbidden='BIO' or 'BILOU' or 'IOBES'"),
        ({"forbidden": "IOB"}, r"forbidden must be one of 'BIO', 'BILOU', 'IOBES', or a list of .* got 'IOB'"),
        ({"forbidden": ["OI"]}, "forbidden names the label 'I'"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        fitted(**options)


@pytest.mark.parametrize(
    ("forbidden", "labels", "message"),
    [
        ("BIO", ["N", "V"], "forbidden='BIO' has no effect: no label is a chunk .* \\(the labels are 'N', 'V'\\)"),
        ("BILOU", [1, 2], "forbidden='BILOU' has no effect"),
        ("BIO", ["B-x", "L-x"], "forbidden='BIO' does not know the label 'L-x', .* is 'BILOU' or 'IOBES' meant"),
    ],
)
def test_labels_that_a_scheme_does_not_know_are_named(forbidden, labels, message):
    with pytest.warns(InvalidLabels, match=message):
        SequenceLabeler(forbidden=forbidden).fit([np.eye(2)], [labels])


@pytest.mark.parametrize("labels", [["O", "B-x"], ["B-x", "I-x"], ["B-x", "<end>"]])
def test_labels_that_a_scheme_knows_are_no_reason_to_warn(labels):
    with warnings.catch_warnings():
        warnings.simplefilter("error", InvalidLabels)
        SequenceLabeler(forbidden="BIO").fit([np.eye(2)], [labels])
