"""What SubstitutionDisplay computes and draws; how it looks was judged by eye."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
from Bio.Align import substitution_matrices
from matplotlib.figure import Figure
from sklearn.exceptions import NotFittedError

from maxmargin.formats import SubstitutionMatrix, read_matrix
from maxmargin.plotting import SubstitutionDisplay
from maxmargin.structures.alignment.estimator import Aligner


def published(name):
    return read_matrix(Path(substitution_matrices.__file__).parent / "data" / name)


@pytest.fixture
def ax():
    return Figure().subplots()


def test_amino_acids_are_grouped_and_scores_stay_with_their_letters(ax):
    matrix = published("BLASTP")
    display = SubstitutionDisplay(matrix)
    assert display.plot(ax) is display
    letters = [tick.get_text() for tick in ax.get_xticklabels()]
    assert "".join(letters) == "CSTPAGNDEQHRKMILVFYWBZJXUO*"
    assert [tick.get_text() for tick in ax.get_yticklabels()] == letters
    for i, first in enumerate(letters):
        for j, second in enumerate(letters):
            assert display.table[i, j] == matrix[first, second]
    texts = {text.get_position(): text.get_text() for text in ax.texts}
    assert len(texts) == 27 * 27
    assert texts[letters.index("W"), letters.index("A")] == "−3"
    low, high = display.image_.get_clim()
    assert low == -high  # 0 has the neutral colour
    assert ax.get_title() == "gap costs: open 12, extend 1"
    assert len(ax.lines) == 2 * 6  # between the seven groups


@pytest.mark.parametrize("name", ["NUC.4.4", "SCHNEIDER"])
def test_other_alphabets_keep_their_order(name, ax):
    matrix = published(name)
    display = SubstitutionDisplay(matrix).plot(ax)
    assert display.groups == [list(matrix.alphabet)]
    assert np.array_equal(display.table, matrix.values)
    assert ax.get_title() == ""
    assert len(ax.texts) == (225 if name == "NUC.4.4" else 0)


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([[0.5, -0.25], [0, 0.75]], [".50", "−.25", ".00", ".75"]),
        ([[5, -2.5], [0, 7]], ["5.0", "−2.5", "0.0", "7.0"]),
        ([[5, -2], [0, 7]], ["5", "−2", "0", "7"]),
    ],
)
def test_numbers_have_the_digits_they_need(values, texts, ax):
    SubstitutionDisplay(SubstitutionMatrix("AC", values, gap_open=0.98765)).plot(ax)
    assert [text.get_text() for text in ax.texts] == texts
    assert ax.get_title() == "gap costs: open 0.988"
    assert ax.get_ylabel() == "in the first sequence"  # the matrix is not symmetric


def test_cells_are_annotated_as_asked():
    matrix = SubstitutionMatrix("AC", np.zeros((2, 2)))
    for annotate, count in ((True, 4), (False, 0), (None, 4)):
        ax = Figure().subplots()
        SubstitutionDisplay(matrix).plot(ax, annotate=annotate)
        assert len(ax.texts) == count


X = [("ACDA", "ACA"), ("CDD", "CD"), ("AACD", "ACD")]
Y = [("ACDA", "AC-A"), ("CDD", "C-D"), ("AACD", "-ACD")]


def test_an_aligner_shows_its_scores_and_costs(ax):
    model = Aligner(C=5).fit(X, Y)
    display = SubstitutionDisplay.from_estimator(model).plot(ax)
    assert display.matrix.alphabet == tuple(model.alphabet_)
    assert np.array_equal(display.matrix.values, model.substitution_matrix_)
    assert ax.get_title() == f"gap costs: open {model.gap_open_:.3g}, extend {model.gap_extend_:.3g}"
    assert np.array_equal(display.matrix.values, model.to_matrix().values)


def test_costs_that_differ_between_the_sequences_are_both_shown(ax):
    model = Aligner(C=5, symmetric=False).fit(X, Y)
    SubstitutionDisplay.from_estimator(model).plot(ax)
    (a, b), (c, d) = model.gap_open_, model.gap_extend_
    assert ax.get_title() == f"gap costs: open {a:.3g} and {b:.3g}, extend {c:.3g} and {d:.3g}"


def test_what_is_not_trained_is_not_shown():
    with pytest.raises(NotFittedError):
        SubstitutionDisplay.from_estimator(Aligner())


def test_other_spellings_of_a_matrix():
    display = SubstitutionDisplay(substitution_matrices.load("BLOSUM62"))
    assert display.matrix.alphabet == published("BLOSUM62").alphabet
    assert np.array_equal(display.table, SubstitutionDisplay(published("BLOSUM62")).table)
    for matrix, message in (
        (Aligner(), "Aligner is not a matrix; use SubstitutionDisplay.from_estimator"),
        ("BLOSUM62", "'BLOSUM62' is not a matrix; formats.read_matrix"),
        (np.eye(2), r"needs its alphabet: .*SubstitutionMatrix\('ACGT', matrix\)"),
    ):
        with pytest.raises(ValueError, match=message):
            SubstitutionDisplay(matrix)


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("alphabet", ["A", "ACGT", "ACGTNRY"])
def test_the_title_is_inside_of_the_figure(alphabet, symmetric):
    matrix = np.diag(np.arange(1.0, len(alphabet) + 1))
    model = Aligner.from_matrix(matrix, 1.2345, 0.1234, alphabet=alphabet, symmetric=symmetric)
    display = SubstitutionDisplay.from_estimator(model).plot()
    figure = display.ax_.figure
    assert display.ax_.get_title().replace("\n", " ") == display.title
    figure.canvas.draw()
    box = display.ax_.title.get_window_extent()
    plt.close(figure)
    assert 0 <= box.x0 < box.x1 <= figure.bbox.width
    assert 0 <= box.y0 < box.y1 <= figure.bbox.height
