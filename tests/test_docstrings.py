"""Docstrings: whole sentences, sections for the parameters and results of public names, and examples that run."""

import ast
import doctest
import importlib
import inspect
import re

import pytest
from sklearn.base import BaseEstimator
from source_trees import PACKAGE, source_trees

import maxmargin as mm

FILES = sorted(PACKAGE.rglob("*.py"))
FRAGMENT = re.compile(r"(What|Of|Whether|How|Those|Where|Who|That|So|Its|Their) ")  # not the beginning of a sentence
FACADES = (
    "active", "baselines", "counting", "datasets", "executors", "formats", "inference", "kernels", "metrics", "neural",
    "optimisers", "plotting", "solvers", "tasks", "testing",
)  # fmt: skip

# Both limits are what is true now. They may be lowered, never raised.
FRAGMENTS = 0.03  # share of docstrings that begin with a fragment
WITHOUT_SECTIONS = 48  # public names whose docstrings lack a section for their parameters or for their result


def docstrings():
    """Yield the file, the line and the docstring of every function and class of the package."""
    for path, tree in source_trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and (text := ast.get_docstring(node, clean=False)):
                yield path, node, text


def test_docstrings_begin_with_a_sentence():
    """A property may say "Whether …", since it describes a value; a function says what it does."""
    found = [(path, node, text) for path, node, text in docstrings()]
    properties = ("property", "cached_property")
    fragments = [
        f"{path}:{node.lineno} {text.splitlines()[0]}"
        for path, node, text in found
        if FRAGMENT.match(text)
        and not any(ast.unparse(each).endswith(properties) for each in getattr(node, "decorator_list", ()))
    ]
    assert len(fragments) / len(found) <= FRAGMENTS, "\n".join(fragments[:20])


def public_names():
    """Yield the public functions and classes, each once, with its name."""
    seen = set()
    for module in (mm, *(getattr(mm, name) for name in FACADES)):
        for name in module.__all__:
            value = getattr(module, name)
            if (inspect.isfunction(value) or inspect.isclass(value)) and value not in seen:
                seen.add(value)
                yield f"{module.__name__}.{name}", value


def missing_sections(value):
    """Return the sections that the docstring of a public function or class should have and does not."""
    text = inspect.getdoc(value) or ""
    missing = []
    if inspect.isclass(value):
        own = "__init__" in vars(value)
        taken = [name for name in inspect.signature(value.__init__).parameters if name != "self"] if own else []
    else:
        signature = inspect.signature(value)
        taken = list(signature.parameters)
        if signature.return_annotation not in (None, "None") and "Returns\n-------" not in text:
            missing.append("Returns")
    if taken and "Parameters\n----------" not in text and "parameters are those of" not in text:
        missing.append("Parameters")
    return missing


def test_public_names_describe_their_parameters_and_results():
    missing = {name: sections for name, value in public_names() if (sections := missing_sections(value))}
    assert len(missing) <= WITHOUT_SECTIONS, missing


ESTIMATORS = [
    value
    for name in mm.__all__
    if inspect.isclass(value := getattr(mm, name))
    and issubclass(value, BaseEstimator)
    and not issubclass(value, mm.Task)
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: estimator.__name__)
def test_estimators_have_every_section(estimator):
    text = inspect.getdoc(estimator)
    for section in ("Parameters", "Attributes", "See Also", "Examples"):
        assert f"\n{section}\n{'-' * len(section)}\n" in text, section


def with_examples():
    for path in FILES:
        if ">>> " in path.read_text(encoding="utf-8"):
            parts = path.relative_to(PACKAGE).with_suffix("").parts
            yield ".".join(("maxmargin", *parts)).removesuffix(".__init__")


@pytest.mark.every(4)
@pytest.mark.parametrize("name", list(with_examples()))
def test_examples_run(name):
    for extra in ("torch", "jax"):
        if name.startswith(f"maxmargin.{extra}."):
            pytest.importorskip(extra, reason=f"{name} needs the extra `{extra}`")
    result = doctest.testmod(importlib.import_module(name))
    assert result.attempted > 0
    assert result.failed == 0
