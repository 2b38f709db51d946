"""Every solver, with other options than its defaults, is saved with an estimator and loaded again."""

import numpy as np
import pytest

import maxmargin as mm
from maxmargin import solvers

OTHERS = {bool: True, int: 7, float: 0.125, str: "block"}
KINDS = [each for each in map(vars(solvers).get, solvers.__all__) if isinstance(each, type)]
KINDS = [each for each in KINDS if issubclass(each, solvers.Solver) and each is not solvers.Solver]


def changed(kind):
    """Return a solver none of whose options has its default."""
    given = {name: OTHERS.get(type(default), 0.25) for name, default in kind.options().items()}
    if kind is solvers.CCCP:
        given |= {"inner": solvers.BCFW(block=3), "start": np.arange(4.0)}
    return kind(**given)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_solver_is_loaded_as_it_was_saved(kind, tmp_path):
    solver = changed(kind)
    defaults = kind.options()
    assert all(not np.array_equal(getattr(solver, name), default) for name, default in defaults.items())
    model = mm.MulticlassSVC(random_state=0).fit(np.eye(2), [0, 1]).set_params(solver=solver)
    model.save(tmp_path / "model.mm")
    loaded = mm.load(tmp_path / "model.mm").solver
    assert type(loaded) is kind
    assert repr(loaded) == repr(solver)
