"""The contracts stay small: what every structure has is in a base class, and all else is a capability of its own."""

import ast
import inspect
from pathlib import Path

import pytest
from source_trees import source_trees

from maxmargin.problem.contract.batch import Batch
from maxmargin.problem.contract.capabilities.descriptions import DESCRIPTIONS, required
from maxmargin.problem.dual.block_dual import BlockDual
from maxmargin.problem.dual.plane_dual import PlaneDual
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.problem.oracle.risk_oracle import RiskOracle
from maxmargin.problem.oracle.soft_oracle import SoftOracle
from maxmargin.solvers.requirements import ORACLES
from maxmargin.structures.classes.class_dual import ClassDual
from maxmargin.structures.sequences.chain_flows import ChainFlows
from maxmargin.tasks import Multiclass
from maxmargin.training.trainer import Trainer

SOURCE = Path(inspect.getfile(Batch)).parents[2]


def names(kind, inherited=False):
    """Return the methods, properties and annotated attributes of a class, without dunders."""
    found = set()
    for each in kind.__mro__[:-1] if inherited else [kind]:
        found |= {name for name, value in vars(each).items() if not name.startswith("__") and _counts(value)}
        found |= {name for name in inspect.get_annotations(each) if not name.startswith("__")}
    return found


def _counts(value):
    return isinstance(value, property | classmethod | staticmethod) or inspect.isfunction(value)


def public(found):
    return {name for name in found if not name.startswith("_")}


def test_a_batch_has_twelve_names_at_most():
    assert len(names(Batch)) <= 12


def test_a_dual_point_has_twenty_names_at_most():
    assert len(names(BlockDual)) <= 20, sorted(names(BlockDual))
    assert "Order of calls" in inspect.getdoc(BlockDual)


@pytest.mark.parametrize("kind", [PlaneDual, ClassDual, ChainFlows])
def test_dual_points_have_all_that_the_contract_asks_for(kind):
    for name in names(BlockDual):
        member = inspect.getattr_static(kind, name)
        function = member.fget if isinstance(member, property) else member
        if inspect.isfunction(function):
            assert "NotImplementedError" not in inspect.getsource(function), f"{kind.__name__}.{name}"


def test_a_trainer_has_25_names_at_most():
    """Constants count, too; what scikit-learn adds to estimators does not."""
    own = {**vars(Trainer), **inspect.get_annotations(Trainer)}
    counted = {name for name in own if not name.startswith("__") and not name.endswith("_request")}
    assert len(counted) <= 25, sorted(counted)
    assert "in this order" in inspect.getdoc(Trainer)


def test_an_oracle_has_22_public_names_with_those_that_it_inherits():
    assert len(public(names(Oracle, inherited=True))) <= 22
    assert len(names(Oracle)) <= 26


@pytest.mark.parametrize("kind", [Oracle, SoftOracle])
def test_oracles_refuse_nothing_that_they_inherit(kind):
    for name in public(names(RiskOracle)):
        member = inspect.getattr_static(kind, name)
        function = member.fget if isinstance(member, property) else member
        if inspect.isfunction(function):
            assert "NotImplementedError" not in inspect.getsource(function), f"{kind.__name__}.{name}"


@pytest.mark.parametrize("capability", DESCRIPTIONS, ids=lambda each: each.__name__)
def test_a_capability_is_a_small_protocol_that_says_in_which_order_it_is_called(capability):
    assert capability._is_protocol
    assert len(public(names(capability))) <= 6
    assert "Order of calls" in inspect.getdoc(capability)
    assert inspect.getsource(inspect.getmodule(capability)).count("@runtime_checkable") == 1, "one per file"


def only_raises(body):
    """Return whether the first statement of a function after its docstring, or of a branch of it, only refuses."""
    statements = [each for each in body if not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))]
    first = statements[0] if statements else None
    if isinstance(first, ast.If) and len(first.body) == 1:
        return isinstance(first.body[0], ast.Raise) and ".task." in ast.unparse(first.test)  # which `offers` can ask
    return isinstance(first, ast.Raise)


def test_no_batch_offers_what_it_then_refuses():
    """A batch that lacks a capability does not offer it: no method of a capability begins with an error."""
    known = {name for capability in DESCRIPTIONS for name in public(names(capability))}
    seen, refused = 0, []
    for path in sorted(SOURCE.rglob("*.py")):
        if "capabilities" in path.parts:
            continue
        for kind in (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ClassDef)):
            for function in kind.body:
                if isinstance(function, ast.FunctionDef) and function.name in known:
                    seen += 1
                    refused += [f"{path.name}: {kind.name}.{function.name}"] if only_raises(function.body) else []
    assert seen > 50
    assert refused == []


@pytest.mark.parametrize("kind", [Batch, RiskOracle, *ORACLES], ids=lambda each: each.__name__)
def test_contracts_say_in_which_order_they_are_called(kind):
    assert "Order of calls" in inspect.getdoc(kind)


def test_what_is_missing_is_named():
    batch = Batch(Multiclass(), 2)
    for capability, words in DESCRIPTIONS.items():
        assert batch.offers(capability) is None
        with pytest.raises(ValueError, match=f"this solver needs {words}, which Multiclass does not have here; use x"):
            required(batch, capability, "this solver", "use x")


# --- private names

# Private names that code outside of the class and its module uses: why
USED_OUTSIDE = {
    "_check_saved": "a hook of classes in model files, called when an object was read",
    "_check_learnt": "a hook of classes in checkpoints, called when a state was read",
    "_proved": "a hook of Reported, called by the pages of report/",
    "_learnt": "a hook of Reported, called by the pages of report/",
    "_named_solver": "a hook of Trainer, called by the decorator of partial_fit",
    "_fit": "a step of Trainer, taken by estimators that train others of their kind",
    "_warn": "a step of Trainer, taken by estimators that train others of their kind",
    "_sums_at": "a step of ProbabilisticTrainer, taken for a model of the same class",
    "_getframe": "of sys: warnings name the line of the user",
    "_exit": "of os: a process whose parent is gone",
}
OF_TUPLES = {"_replace", "_fields", "_asdict", "_make"}  # public names of named tuples


def _private_uses(tree):
    """Yield (line, name) of every use of a private name of an object that is not from this module."""
    nodes = list(ast.walk(tree))
    own = {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    own |= {node.attr for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)}
    own |= {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    for node in nodes:
        if isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.startswith("__"):
            known = node.attr in own or ast.unparse(node.value) in ("self", "cls", "super()")
            if not known and node.attr not in OF_TUPLES:
                yield node.lineno, node.attr


def test_private_names_stay_in_their_module():
    found = {f"{path}:{line}": name for path, tree in source_trees().items() for line, name in _private_uses(tree)}
    others = {place: name for place, name in found.items() if name not in USED_OUTSIDE}
    assert not others, f"pass what is needed as an argument, or make the name public: {others}"
    assert set(found.values()) == set(USED_OUTSIDE)
