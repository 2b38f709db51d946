"""Parameters that estimators share are in their signatures and in their docstrings, though written once."""

import inspect
import re

import pytest

import maxmargin
from maxmargin.training.shared_options import DESCRIPTIONS, SharedOptions

ESTIMATORS = [
    thing
    for name in maxmargin.__all__
    if inspect.isclass(thing := getattr(maxmargin, name)) and issubclass(thing, SharedOptions)
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: estimator.__name__)
def test_docstrings_are_whole(estimator):
    assert not re.search(r"^ *\{\w+\}$", estimator.__doc__, re.MULTILINE)
    assert max(map(len, estimator.__doc__.splitlines())) <= 120
    for name in set(re.findall(r"^    (\w+) : ", estimator.__doc__.split("Attributes")[0], re.MULTILINE)):
        assert name in inspect.signature(estimator).parameters


class Base(SharedOptions):
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
    {tol}
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
    assert "        Nodes are counted through all graphs.\n    tol : float or None\n" in Heir.__doc__
    assert "None: 0.01, or what a solver object says itself." in Heir.__doc__
    assert "$" not in Heir.__doc__
    assert Heir(own=4, C=2.0).C == 2.0
    with pytest.raises(TypeError, match="Heir has no parameter 'D'; it has own, C, kernel"):
        Heir(D=1)


def test_an_heir_without_docstring_keeps_that_of_its_base():
    class Silent(Heir):
        pass

    assert Silent.__doc__ is None
    assert inspect.getdoc(Silent) == inspect.getdoc(Heir)


def test_a_quote_of_nothing_is_named():
    with pytest.raises(ValueError, match="the docstring of Wrong quotes 'color'; expected one of classes, costs"):
        type("Wrong", (Base,), {"__doc__": "Wrong.\n\n    {color}\n    "})


@pytest.mark.parametrize("name", DESCRIPTIONS)
def test_descriptions_begin_with_the_parameter(name):
    assert DESCRIPTIONS[name].split()[:2] == [name, ":"]
