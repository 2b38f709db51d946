"""Assignment against all sets of pairs."""

from itertools import product

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from structures.parts.optimisers.proofs_of_solvers import cost_rows, prove

from maxmargin.optimisers import Assignment


def all_outputs(rows, columns, births, deaths):
    """Every choice of a column, or none, for each row, with what that leaves alone."""
    for chosen in product([*range(columns), None], repeat=rows):
        taken = [j for j in chosen if j is not None]
        lonely_rows = [float(j is None) for j in chosen]
        lonely_columns = [float(j not in taken) for j in range(columns)]
        if len(set(taken)) < len(taken):
            continue
        if not (births or deaths) and len(taken) < min(rows, columns):
            continue
        if (births or deaths) and ((any(lonely_rows) and not deaths) or (any(lonely_columns) and not births)):
            continue
        pairs = [float(j == chosen[i]) for i in range(rows) for j in range(columns)]
        yield [*pairs, *(lonely_rows if deaths else []), *(lonely_columns if births else [])]


@given(st.data(), st.integers(1, 4), st.integers(1, 4), st.booleans(), st.booleans())
def test_all_shapes(data, rows, columns, births, deaths):
    assume(births == deaths or (rows >= columns if deaths else columns >= rows))
    solver = Assignment(rows, columns, births, deaths)
    outputs = list(all_outputs(rows, columns, births, deaths))
    prove(solver, outputs, data.draw(cost_rows(solver.n_parts)))


def test_what_is_refused():
    with pytest.raises(ValueError, match="3 columns cannot all be paired with 2 rows; expected births=True"):
        Assignment(2, 3, deaths=True)
    with pytest.raises(ValueError, match="3 rows cannot all be paired with 2 columns; expected deaths=True"):
        Assignment(3, 2, births=True)
    with pytest.raises(ValueError, match="rows must be a whole number >= 1, got 0"):
        Assignment(0, 2)


def test_what_is_no_assignment_is_named():
    with pytest.raises(ValueError, match="row 0 is chosen 2 times; expected once"):
        Assignment(2, 2).check([1, 1, 0, 0])
    with pytest.raises(ValueError, match="column 1 is chosen 0 times; expected once"):
        Assignment(2, 2, births=True, deaths=True).check([1, 0, 0, 0, 0, 1, 0, 0])
    with pytest.raises(ValueError, match="column 0 is chosen 2 times; expected once or never"):
        Assignment(2, 3).check([1, 0, 0, 1, 0, 0])
