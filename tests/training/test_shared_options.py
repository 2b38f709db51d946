"""Parameters that estimators share are in their signatures and in their docstrings, though written once."""

import inspect
import re
from typing import get_args

import pytest

import maxmargin
from maxmargin.counting.descriptions import COUNTING
from maxmargin.solvers import SMOOTH, SOLVERS
from maxmargin.solvers.named import SolverName
from maxmargin.training.descriptions import TRAINING
from maxmargin.training.shared_options import SharedOptions, described_parameters

ESTIMATORS = [
    thing
    for name in maxmargin.__all__
    if inspect.isclass(thing := getattr(maxmargin, name)) and issubclass(thing, SharedOptions)
]


# Parameters that an estimator and its task have in common with another default or another type, and why.
DIFFERENT = {
    ("HomologRanker", "mode"): "homologs are compared by parts of sequences",
    ("Clusterer", "start"): "the estimator also takes weights, and finds some by default",
    ("MotifFinder", "length"): "the estimator chooses among several lengths",
    ("Ranker", "measure"): "precision_at_k has a task of its own",
}


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: estimator.__name__)
def test_docstrings_describe_every_parameter(estimator):
    assert not re.search(r"^ *\{\w+\}$", estimator.__doc__, re.MULTILINE)
    assert max(map(len, estimator.__doc__.splitlines())) <= 120
    described = described_parameters(estimator.__doc__)
    assert set(described) == set(inspect.signature(estimator).parameters)
    assert all(len(lines) > 1 for lines in described.values())


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: estimator.__name__)
def test_an_estimator_and_its_task_agree_on_parameters(estimator):
    own = inspect.signature(estimator).parameters
    for task in estimator._described_by:
        for name, parameter in inspect.signature(task).parameters.items():
            if name in own and (estimator.__name__, name) not in DIFFERENT:
                assert repr(own[name].default) == repr(parameter.default), name
                assert own[name].annotation == parameter.annotation, name


def test_all_names_of_solvers_are_completed():
    assert set(get_args(SolverName)) == set(SOLVERS) | set(SMOOTH)


class Base(SharedOptions):
    _descriptions = TRAINING

    def __init__(self, C=1.0, kernel=None, **unknown):
        self._refuse(unknown)
        self.C, self.kernel = C, kernel


class Heir(Base):
    """An heir.

    Parameters
    ----------
    own : int
        Its own, {as: it is}.
    {kernel}
        Nodes are counted through all graphs.
    {options}
    """

    _units = "nodes"
    _default_tol = 0.01

    def __init__(self, own=3, **options):
        self.own = own
        super().__init__(**options)


def test_signature_and_docstring_of_an_heir():
    assert list(inspect.signature(Heir).parameters) == ["own", "C", "kernel"]
    lines = Heir.__doc__.splitlines()
    assert lines[4:8] == [
        "    own : int",
        "        Its own, {as: it is}.",
        "    kernel : None, str, callable or Kernel",
        lines[7],
    ]
    assert lines[7].startswith("        None: scores are linear in the features of nodes.")
    assert "        Nodes are counted through all graphs.\n    C : float\n" in Heir.__doc__
    assert "$" not in Heir.__doc__
    assert Heir(own=4, C=2.0).C == 2.0
    with pytest.raises(TypeError, match="Heir has no parameter 'D'; it has own, C, kernel"):
        Heir(D=1)


def test_an_heir_without_docstring_keeps_that_of_its_base():
    class Silent(Heir):
        pass

    assert Silent.__doc__ is None
    assert inspect.getdoc(Silent) == inspect.getdoc(Heir)


def test_a_task_describes_parameters():
    class Described:
        """Something.

        Parameters
        ----------
        own : int
            In two
            lines.
        other : str
            In one.

        Attributes
        ----------
        found : int
            No parameter.
        """

    assert list(described_parameters(Described.__doc__)) == ["own", "other"]
    namespace = {"__doc__": "An heir.\n\n    {own}\n    ", "_described_by": (Described,)}
    assert "    own : int\n        In two\n        lines.\n" in type("Quoting", (Base,), namespace).__doc__


def test_a_quote_of_nothing_is_named():
    with pytest.raises(ValueError, match="the docstring of Wrong quotes 'color', which is described nowhere"):
        type("Wrong", (Base,), {"__doc__": "Wrong.\n\n    {color}\n    "})


@pytest.mark.parametrize(("table", "name"), [(table, name) for table in (TRAINING, COUNTING) for name in table])
def test_descriptions_begin_with_the_parameter(table, name):
    assert table[name].split()[:2] == [name, ":"]
