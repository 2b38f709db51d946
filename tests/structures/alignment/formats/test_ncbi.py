import io
from pathlib import Path

import numpy as np
import pytest
from Bio.Align import substitution_matrices
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from structures.alignment.alignment_strategies import texts, words
from structures.alignment.formats.refusals import assert_refused

from maxmargin import Aligner
from maxmargin.formats import SubstitutionMatrix, read_matrix, write_matrix

reals = st.floats(allow_nan=False, allow_infinity=False)
costs = st.none() | reals | st.integers(-20, 20).map(float)


@st.composite
def matrices(draw):
    """Asymmetric matrices of reals of any size, or of integers."""
    alphabet = draw(st.lists(words(not_first="#"), min_size=1, max_size=5, unique=True))
    elements = draw(st.sampled_from([reals, st.integers(-9, 20).map(float)]))
    values = draw(hnp.arrays(np.float64, (len(alphabet), len(alphabet)), elements=elements))
    return SubstitutionMatrix(alphabet, values, draw(costs), draw(costs), draw(st.lists(texts, max_size=3)))


def written(matrix):
    file = io.StringIO()
    write_matrix(file, matrix)
    return file.getvalue()


@given(matrices())
def test_matrices_read_back_as_they_were(matrix):
    found = read_matrix(io.StringIO(written(matrix)))
    assert found == matrix
    assert hash(found) == hash(matrix)


@given(matrices())
def test_biopython_reads_what_is_written(matrix):
    assume(len(matrix.alphabet) > 1)  # Biopython takes a single row for a vector
    found = substitution_matrices.read(io.StringIO(written(matrix)))
    assert tuple(found.alphabet) == matrix.alphabet
    assert np.array_equal(np.asarray(found), matrix.values)


@pytest.mark.parametrize("name", substitution_matrices.load())
def test_the_matrices_that_biopython_ships_are_read(name):
    wanted = substitution_matrices.load(name)
    found = read_matrix(Path(substitution_matrices.__file__).parent / "data" / name)
    assert found.alphabet == tuple(wanted.alphabet)
    assert np.array_equal(found.values, np.asarray(wanted))
    if name == "BLOSUM62":
        assert (found["W", "W"], found["A", "R"], found["*", "A"]) == (11, -1, -4)
        assert found.gap_open is None
    if name == "BLASTP":
        assert (found.gap_open, found.gap_extend) == (12, 1)
        assert not any("gap open score:" in comment for comment in found.comments)


def test_the_form_of_the_file():
    matrix = SubstitutionMatrix("AC", [[4, -1], [0, 9]], 11, 0.5, ("made by hand",))
    assert (
        written(matrix)
        == """# made by hand
# gap open score: -11
# gap extend score: -0.5
   A  C
A  4 -1
C  0  9
"""
    )
    assert matrix["A", "C"] == -1
    assert matrix["C", "A"] == 0
    with pytest.raises(KeyError, match="'G' is not one of the letters A C"):
        matrix["A", "G"]
    with pytest.raises(ValueError, match="read-only"):
        matrix.values[0, 0] = 1
    assert matrix != SubstitutionMatrix("AC", [[4, -1], [0, 9]], 11, 1, ("made by hand",))


TABLE = "  A C\nA 4 0\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "which is empty: the file ends here with 0 rows"),
        ("# nothing\n", "line 1: the file ends here with 0 rows for 0 letters"),
        (TABLE, "line 2: the file ends here with 1 rows for 2 letters"),
        (TABLE + "G 0 9\n", "line 3: found the row of 'G'; expected 'C'"),
        (TABLE + "C 0\n", "line 3: the row of 'C' has 1 scores; expected 2"),
        (TABLE + "C 0 x\n", "line 3: the score of C and C is 'x'; expected a finite number"),
        (TABLE + "C nan 9\n", "line 3: the score of C and A is 'nan'"),
        (TABLE + "C 0 9\n\nA 1 2\n", "line 5: found a row 'A' after the rows of all 2 letters"),
        ("  A A\n", "line 1: the letters A A are not all different"),
        ("# gap open score: many\n" + TABLE, "line 1: the gap open score is 'many'"),
    ],
)
def test_malformed_files_are_named_with_the_line(text, message, tmp_path):
    assert_refused(read_matrix, tmp_path / "bad.txt", text, message)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("AA", np.zeros((2, 2))), "the alphabet is 'A A'; expected one letter or more, each only once"),
        (("", np.zeros((0, 0))), "the alphabet is ''"),
        (("AC", np.zeros((2, 3))), r"values have the shape \(2, 3\); expected \(2, 2\)"),
        (("AC", [[0, 0], [np.inf, 0]]), "the score of C and A is inf"),
        (("A", [[0]], np.nan), "gap_open is nan"),
    ],
)
def test_what_is_no_matrix_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        SubstitutionMatrix(*arguments)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (SubstitutionMatrix(("A", "#"), np.zeros((2, 2))), "'#' cannot be a letter"),
        (SubstitutionMatrix(("A", "B C"), np.zeros((2, 2))), "'B C' cannot be a letter"),
        (SubstitutionMatrix("A", [[1]], comments=("gap open score: -1",)), "'gap open score: -1' cannot be a comment"),
        (SubstitutionMatrix("A", [[1]], comments=("a\nb",)), "cannot be a comment"),
        (np.eye(3), r"got ndarray; expected a SubstitutionMatrix: .*SubstitutionMatrix\(alphabet, values\)"),
        (Aligner(), r"got Aligner; expected a SubstitutionMatrix: use aligner.to_matrix\(\)"),
    ],
)
def test_what_would_not_read_back_is_not_written(matrix, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        write_matrix(tmp_path / "new.txt", matrix)
    assert not (tmp_path / "new.txt").exists()
