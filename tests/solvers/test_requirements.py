"""Requirements of solvers: what a problem lacks is said before a run, with solvers that do work."""

import re
import warnings

import numpy as np
import pytest

from maxmargin import MulticlassSVC, SequenceLabeler
from maxmargin.solvers import BCFW, SMOOTH, SOLVERS, Solver
from maxmargin.solvers.requirements import listed

RNG = np.random.default_rng(0)
X = RNG.standard_normal((12, 2))
Y = (X[:, 0] > 0).astype(int)
CHAINS = [x[None] for x in X], [[int(k)] for k in Y]
PROBLEMS = {
    "hard margin": (MulticlassSVC, {"C": np.inf}),
    "bounds": (MulticlassSVC, {"bounds": (-1.0, 1.0)}),
    "prior": (MulticlassSVC, {"prior": 1.0}),
    "hinge": (MulticlassSVC, {}),
    "likelihood": (SequenceLabeler, {"objective": "likelihood"}),
    "likelihood, order 2": (SequenceLabeler, {"objective": "likelihood", "order": 2}),
    "likelihood, bounds": (SequenceLabeler, {"objective": "likelihood", "bounds": (-1.0, 1.0)}),
}
# The solvers that cannot train a problem. A new solver is listed wherever its `requires` rules a problem out.
REFUSED = {
    "hard margin": {"bundle", "sampled_cuts", "subgradient", "exponentiated_gradient", "lbfgs"},
    "bounds": {"sampled_cuts", "subgradient", "perceptron", "exponentiated_gradient", "lbfgs"},
    "prior": {"sampled_cuts", "subgradient", "perceptron", "exponentiated_gradient", "lbfgs"},
    "hinge": {"exponentiated_gradient", "lbfgs"},
    "likelihood": {"bcfw", "n_slack", "sampled_cuts", "subgradient", "perceptron", "cccp"},
    "likelihood, order 2": {
        "bcfw", "n_slack", "sampled_cuts", "subgradient", "perceptron", "cccp", "exponentiated_gradient",
    },
    "likelihood, bounds": {
        "bcfw", "n_slack", "sampled_cuts", "subgradient", "perceptron", "cccp", "exponentiated_gradient", "lbfgs",
    },
}  # fmt: skip


def fit(problem, solver):
    kind, options = PROBLEMS[problem]
    data = (X, Y) if kind is MulticlassSVC else CHAINS
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kind(**options, solver=solver, max_passes=3, random_state=0).fit(*data)


@pytest.mark.parametrize("solver", [*SOLVERS, *SMOOTH])
@pytest.mark.parametrize("problem", PROBLEMS)
def test_a_solver_trains_a_problem_or_says_which_ones_do(problem, solver):
    if solver not in REFUSED[problem]:
        fit(problem, solver)
        return
    with pytest.raises(ValueError, match=r"solver '\w+' needs .*; use solver=") as refusal:
        fit(problem, solver)
    named = re.findall(r"'(\w+)'", str(refusal.value).rpartition("; use solver=")[2])
    assert named
    assert not set(named) & REFUSED[problem]


def test_solvers_are_known_by_their_names():
    assert set(Solver.known) == {*SOLVERS, *SMOOTH}
    assert all(kind.name == name for name, kind in {**SOLVERS, **SMOOTH}.items())


def test_a_solver_of_ones_own_has_the_name_of_its_class():
    class Mine(Solver):
        pass

    assert Mine.name == "Mine"
    assert Mine not in Solver.known.values()


def test_a_solver_with_a_name_can_be_chosen_by_it():
    """Errors about other solvers list all known names, so all of these must work."""
    try:

        class Mine(BCFW, name="mine"):
            pass

        fit("hinge", "mine")
        with pytest.raises(ValueError, match=r"'lbfgs' needs .*; use solver=.* or 'mine'"):
            fit("hinge", "lbfgs")
    finally:
        Solver.known.pop("mine")
    with pytest.raises(ValueError, match="unknown solver 'mine'"):
        fit("hinge", "mine")


def test_names_are_listed_as_people_write_them():
    assert listed(["a"]) == "'a'"
    assert listed(["a", "b", "c"]) == "'a', 'b' or 'c'"
