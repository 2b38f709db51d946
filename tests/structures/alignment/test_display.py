"""What AlignmentDisplay computes and draws; how it looks was judged by eye."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from structures.alignment.alignment_strategies import pairwise_alignments

from maxmargin.formats import SubstitutionMatrix
from maxmargin.plotting import AlignmentDisplay
from maxmargin.structures.alignment.alignments import PairwiseAlignment
from maxmargin.structures.alignment.estimator import Aligner


@pytest.fixture
def ax():
    return Figure().subplots()


@st.composite
def predictions(draw):
    """Two alignments of the same sequences."""
    a, b, predicted = draw(pairwise_alignments())
    _, _, other = draw(pairwise_alignments())
    fits = (other.pairs < predicted.lengths).all(axis=1)
    return a, b, predicted, PairwiseAlignment(other.pairs[fits], predicted.lengths, other.trusted[fits])


@given(predictions(), st.integers(0, 3))
def test_the_colours_count_what_the_quality_counts(drawn, max_shift):
    a, b, predicted, truth = drawn
    display = AlignmentDisplay(a, b, predicted, truth, max_shift)
    counts = {name: display.status.count(name) for name in ("right", "shifted", "wrong", "not judged")}
    n_trusted = int(truth.trusted.sum())
    assert sum(counts.values()) == len(predicted.pairs)
    assert sum(counts.values()) - counts["not judged"] + len(display.missed) == n_trusted
    if n_trusted:
        assert counts["right"] / n_trusted == pytest.approx(predicted.agreement(truth))
        found = (counts["right"] + counts["shifted"]) / n_trusted
        assert found == pytest.approx(predicted.agreement(truth, max_shift))


TRUTH = PairwiseAlignment([(0, 0), (1, 1), (2, 3), (4, 4)], (5, 6), np.array([True, True, True, False]))
PREDICTED = [(0, 0), (2, 1), (3, 4), (4, 5)]


def letters(ax):
    """Texts by their place, (column, line)."""
    return {(text.get_position()[0], round(text.get_position()[1], 6)): text for text in ax.texts}


def test_rows_show_every_residue_in_its_place(ax):
    display = AlignmentDisplay("MKVLA", "MWVIRA", PREDICTED, TRUTH, max_shift=1, names=("one", "two"))
    assert display.status == ["right", "wrong", "not judged", "not judged"]
    assert display.missed == [1]
    assert display.plot(ax, width=4) is display
    assert display.ax_ is ax
    rows = "MKV--LA", "M-WVIRA"  # in blocks of four columns
    found = letters(ax)
    for c in range(7):
        top = 3.9 * (c // 4)
        drawn = [found[c % 4 + 0.5, round(top + line, 6)].get_text() for line in (0, 2)]
        assert [letter.replace("–", "-") for letter in drawn] == [rows[0][c], rows[1][c]]
    signs = [found[c % 4 + 0.5, round(3.9 * (c // 4) + 1, 6)].get_text() for c in (0, 2, 5, 6)]
    assert signs == ["|", "×", "·", "·"]
    margins = [text.get_text() for text in ax.texts if text.get_position()[0] in (-0.7, 4.7, 3.7)]
    assert margins == ["one", "3", "two", "3", "4", "5", "4", "6"]
    assert found[1.5, 0.0].get_color() == "#D55E00"  # K, which the truth aligns
    assert found[0.5, 0.0].get_color() == "black"
    assert ax.get_title() == "Q = 0.33, within 1: 0.33"
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["right: 1", "wrong: 1", "not judged: 2", "missed: 1"]


def test_shifts_are_shown_by_their_size(ax):
    display = AlignmentDisplay("MKVLA", "MWVIRA", PREDICTED, TRUTH, max_shift=2).plot(ax)
    assert display.status[1] == "shifted"
    assert letters(ax)[2.5, 1.0].get_text() == "2"
    assert ax.get_title() == "Q = 0.33, within 2: 0.67"


def test_without_a_truth_identical_residues_are_marked(ax):
    display = AlignmentDisplay.from_predictions({"residue": "MKA", "SS": "HHH"}, list("MVA"), ("MKA", "MVA")).plot(ax)
    assert (display.a, display.b) == ("MKA", "MVA")
    assert display.truth is None
    assert display.status == ["identical", "not judged", "identical"]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["different: 1", "identical: 2"]
    assert ax.get_title() == ""


def test_paths_go_through_the_pairs(ax):
    display = AlignmentDisplay("MKVLA", "MWVIRA", PREDICTED, TRUTH).plot(ax, kind="path")
    band, trusted, path = (line.get_xydata() for line in ax.lines[:3])
    for corners in (band, path):
        assert corners[0].tolist() == [0.5, 0.5]
        assert corners[-1].tolist() == [5.5, 6.5]
    steps = np.diff(path, axis=0)
    pairs = path[:-1][(steps == 1).all(axis=1)] - 0.5
    assert pairs.tolist() == [list(pair) for pair in PREDICTED]
    middles = np.nanmean(trusted.reshape(-1, 3, 2), axis=1) - 1
    assert middles.tolist() == TRUTH.pairs[TRUTH.trusted].tolist()
    dots = np.concatenate([dots.get_offsets() for dots in ax.collections[:5]])
    assert sorted((dots - 1).tolist()) == [list(pair) for pair in PREDICTED]
    assert (ax.collections[5].get_offsets() - 1).tolist() == [[1, 1]]  # missed
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("first", "second")
    assert display.plot(Figure().subplots(), kind="path") is display


def test_an_estimator_aligns_the_sequences():
    matrix = SubstitutionMatrix("KMV", 3 * np.eye(3) - 1)
    aligner = Aligner.from_matrix(matrix, gap_open=1, gap_extend=1)
    truth = PairwiseAlignment([(0, 0), (2, 1)], (3, 2))
    display = AlignmentDisplay.from_estimator(aligner, ("MKV", "MK"), truth, max_shift=1, names=("a", "b"))
    assert display.predicted == aligner.predict([("MKV", "MK")])[0]
    assert display.predicted.pairs.tolist() == [[0, 0], [1, 1]]
    assert display.status == ["right", "not judged"]
    assert display.missed == [2]
    assert display.names == ("a", "b")


def test_empty_alignments_are_drawn(ax):
    for kind in ("rows", "path"):
        AlignmentDisplay("MK", "V", [], [(0, 0)]).plot(Figure().subplots(), kind=kind)
    AlignmentDisplay("MK", "V", []).plot(ax)


@pytest.mark.parametrize(
    ("options", "message"), [({"kind": "pie"}, "kind must be .* got 'pie'"), ({"width": 0}, "width is 0")]
)
def test_wrong_options_are_named(options, message, ax):
    with pytest.raises(ValueError, match=message):
        AlignmentDisplay("MK", "V", []).plot(ax, **options)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (({"SS": "HH"}, "V", []), r"the first sequence has the columns \['SS'\]; expected one named 'residue'"),
        ((None, "V", []), "the first sequence is NoneType; expected a string, or a dict of columns"),
        (("M", ["Val"], []), "the second sequence has the residue 'Val'"),
        (("M", "V", [(1, 0)]), "the predicted alignment: pair 0"),
        (("M", "V", [], [(0, 1)]), "the true alignment: pair 0"),
    ],
)
def test_what_cannot_be_shown_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        AlignmentDisplay.from_predictions(*arguments)


def test_an_aligner_needs_two_sequences():
    aligner = Aligner.from_matrix(np.eye(2), 1, 1, alphabet="AC")
    with pytest.raises(ValueError, match=r"expected a pair \(a, b\) of sequences"):
        AlignmentDisplay.from_estimator(aligner, None)
