"""The public names, and what an import costs."""

import importlib
import importlib.util
import inspect
import pkgutil
import subprocess
import sys

import pytest
from sklearn.base import BaseEstimator

import maxmargin
from maxmargin.counting.trainer import CountingTrainer

EXTRAS = ("torch", "jax")  # packages of which a folder of the same name makes layers
MISSING = tuple(f"maxmargin.{name}" for name in EXTRAS if importlib.util.find_spec(name) is None)
MODULES = [
    name for _, name, _ in pkgutil.walk_packages(maxmargin.__path__, "maxmargin.") if not name.startswith(MISSING)
]
PARTS = [
    "maxmargin",
    "maxmargin.active",
    "maxmargin.baselines",
    "maxmargin.compat",
    "maxmargin.counting",
    "maxmargin.datasets",
    "maxmargin.executors",
    "maxmargin.formats",
    "maxmargin.inference",
    "maxmargin.kernels",
    "maxmargin.metrics",
    "maxmargin.neural",
    "maxmargin.optimisers",
    "maxmargin.plotting",
    "maxmargin.solvers",
    "maxmargin.tasks",
]


def test_every_public_name_can_be_had():
    assert sorted(maxmargin.__all__) == sorted(name for name in dir(maxmargin) if not name.startswith("_"))
    for name in maxmargin.__all__:
        thing = getattr(maxmargin, name)
        assert thing.__name__ in (name, f"maxmargin.{name}")


@pytest.mark.parametrize("name", PARTS)
def test_all_of_the_parts(name):
    module = importlib.import_module(name)
    assert len(set(module.__all__)) == len(module.__all__)
    for public in module.__all__:
        thing = getattr(module, public)
        if inspect.isclass(thing) or inspect.isfunction(thing):
            assert thing.__module__.startswith("maxmargin"), public
            assert inspect.getdoc(thing), f"{public} has no docstring"
    classes = {
        public
        for public, thing in vars(module).items()
        if inspect.isclass(thing) and thing.__module__.startswith("maxmargin") and not public.startswith("_")
    }
    assert classes <= set(module.__all__)


@pytest.mark.parametrize("name", EXTRAS)
def test_all_of_the_extras(name):
    pytest.importorskip(name, reason=f"maxmargin.{name} needs the extra `{name}`")
    test_all_of_the_parts(f"maxmargin.{name}")


@pytest.mark.parametrize("name", EXTRAS)
def test_extras_are_not_hidden_by_folders_of_their_name(name):
    other = pytest.importorskip(name, reason=f"maxmargin.{name} needs the extra `{name}`")
    assert importlib.import_module(f"maxmargin.{name}") is not other


def test_star_import():
    names = {}
    exec("from maxmargin import *", names)
    assert set(maxmargin.__all__) <= set(names)


ESTIMATORS = [
    name
    for name in maxmargin.__all__
    if inspect.isclass(thing := getattr(maxmargin, name))
    and issubclass(thing, BaseEstimator)
    and not issubclass(thing, maxmargin.Task)
]
TRAINERS = [name for name in ESTIMATORS if name not in ("PCFG", "Tuned")]  # which have no options of training
NEEDED = {
    "CostLearner": {"optimiser": None},
    "CountingPredictor": {"output_set": None},
    "StructuredSVM": {"task": None},
}


def shared(name):
    """Return the names of some parameters that an estimator shares with others, as a pattern."""
    if issubclass(getattr(maxmargin, name), CountingTrainer):
        return "alpha, .*solver, .*max_iter, .*verbose, .*checkpoint_every"
    return "C, .*rescaling, .*verbose, .*checkpoint_every"


@pytest.mark.parametrize("name", TRAINERS)
def test_unknown_parameters_are_named_with_the_estimator(name):
    with pytest.raises(TypeError, match=f"{name} has no parameter 'meassure'; it has .*{shared(name)}$"):
        getattr(maxmargin, name)(meassure="f1", **NEEDED.get(name, {}))


def test_every_estimator_documents_its_parameters():
    for name in ESTIMATORS:
        estimator = getattr(maxmargin, name)
        assert issubclass(estimator, BaseEstimator)
        own = inspect.getdoc(estimator)
        for parameter in inspect.signature(estimator).parameters:
            assert f"{parameter} :" in own, f"{name} does not document {parameter}"


def test_every_method_of_an_estimator_is_documented():
    for name in ESTIMATORS:
        for method_name, method in inspect.getmembers(getattr(maxmargin, name), inspect.isfunction):
            if not method_name.startswith("_") and method.__module__.startswith("maxmargin"):
                assert inspect.getdoc(method), f"{name}.{method_name} has no docstring"


def test_importing_is_light_and_silent():
    heavy = ["numba", "llvmlite", "torch", "jax", "matplotlib", "rich", "dask", "distributed", "pandas", "polars"]
    script = f"""
import sys, sklearn.base
before = set(sys.modules)  # scikit-learn itself imports pandas where it is installed
import maxmargin
sys.exit(' '.join(name for name in {heavy} if name in sys.modules and name not in before))
"""
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (result.stdout, result.stderr.strip()) == ("", "")


@pytest.mark.parametrize("name", MODULES)
def test_every_module_says_what_it_is_for(name):
    assert importlib.import_module(name).__doc__


def test_version():
    from importlib.metadata import version

    assert maxmargin.__version__ == version("maxmargin")


def test_plotting_and_testing_are_there_when_asked_for():
    script = "import maxmargin; maxmargin.testing.check_task; maxmargin.plotting.GapDisplay"
    subprocess.run([sys.executable, "-c", script], check=True)
    with pytest.raises(AttributeError, match="attribute ploting"):
        _ = maxmargin.ploting
