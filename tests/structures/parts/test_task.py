"""Parts: three decoders of a user's own, against enumeration of their outputs."""

import pickle
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from structures.parts.decoders import (
    Scene,
    all_assignments,
    all_paths,
    all_trees,
    best_assignment,
    best_path,
    best_tree,
)
from thorough import examples

from maxmargin import StructuredSVM
from maxmargin.errors import TaskError
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.solvers import BCFW, OneSlack
from maxmargin.structures.parts.branching import PartScores, most_violated_parts
from maxmargin.tasks import Parts, PricedParts
from maxmargin.testing import brute_force, check_solver, check_task

ALL = [Formulation(rescaling, slack) for rescaling in ("margin", "slack") for slack in ("l1", "l2")]


def trees(rng, n=3, whole=True):
    n_parts = n * (n + 1)
    x = rng.integers(-2, 3, (n_parts, 4)).astype(float) if whole else rng.standard_normal((n_parts, 4))
    return sparse.csr_array(x), list(all_trees(n_parts))


def scenes(rng, whole=True):
    n, m = (int(k) for k in rng.integers(1, 3, 2))
    size = n * m + n + m
    x = rng.integers(-2, 3, (size, 4)) if whole else rng.standard_normal((size, 4))
    return Scene.of(x, n, m), list(all_assignments(n, m))


def grids(rng, whole=True):
    rows, columns = (int(k) for k in rng.integers(2, 4, 2))
    x = rng.integers(-2, 3, (rows * columns, 4)) if whole else rng.standard_normal((rows * columns, 4))
    return Scene.of(x, rows, columns), list(all_paths(rows, columns))


KINDS = {"trees": (trees, best_tree), "assignments": (scenes, best_assignment), "paths": (grids, best_path)}
kinds = pytest.mark.parametrize("kind", KINDS)


def drawn(kind, n, seed=0, costs=(1.0, 1.0), whole=True, most_decodes=10_000):
    """(task, X, Y) with a random output of every example as its label."""
    make, best = KINDS[kind]
    rng = np.random.default_rng(seed)
    X, lists = zip(*(make(rng, whole=whole) for _ in range(n)), strict=True)
    Y = [listed[int(rng.integers(len(listed)))] for listed in lists]
    known = {id(x): listed for x, listed in zip(X, lists, strict=True)}
    return Predictions(best, costs=costs, most_decodes=most_decodes, known=Known(known)), list(X), Y


class Known(dict):
    """Survives clone as it is: the ids of inputs are its keys."""

    def __sklearn_clone__(self):
        return self

    def __deepcopy__(self, memo):
        return self


class Predictions(Parts):
    """Parts with a list of outputs, for the reference."""

    def __init__(self, best=None, parts=None, costs=(1.0, 1.0), most_decodes=200, kernel=None, known=None):
        super().__init__(best, parts, costs, most_decodes, kernel)
        self.known = known

    def outputs(self, x):
        return self.known[id(x)]


@examples(20, 60)
@given(kind=st.sampled_from(list(KINDS)), seed=st.integers(0, 10**6), scale=st.sampled_from([1e-8, 1.0, 1e8]))
def test_decoders_find_the_best_output(kind, seed, scale):
    """What the proofs below stand on."""
    rng = np.random.default_rng(seed)
    make, best = KINDS[kind]
    x, listed = make(rng)
    scores = scale * rng.integers(-3, 4, x.shape[0])
    found = best(scores, x)
    assert any(set(found) == set(z) for z in listed)
    assert scores[found].sum() == pytest.approx(max(scores[z].sum() for z in listed), abs=1e-9 * scale)


@kinds
@pytest.mark.parametrize("costs", [(1.0, 1.0), (1.0, 0.0), (0.5, 2.0)], ids=str)
def test_contract(kind, costs):
    check_task(*drawn(kind, 5, costs=costs))


@kinds
@pytest.mark.parametrize("formulation", ALL, ids=str)
def test_training_ends_at_the_optimum_of_all_constraints(kind, formulation):
    task, X, Y = drawn(kind, 5, seed=3, whole=False)
    optimum = brute_force(task, X, Y, 2.0, formulation).value
    for solver in (BCFW(tol=1e-5), OneSlack(tol=1e-5)):
        certificate = check_solver(solver, task, X, Y, 2.0, formulation).certificate
        assert certificate.converged
        assert certificate.dual <= optimum * (1 + 1e-7) + 1e-9
        assert optimum <= certificate.primal * (1 + 1e-7) + 1e-9


@examples(20, 60)
@given(
    kind=st.sampled_from(list(KINDS)),
    seed=st.integers(0, 10**6),
    scale=st.sampled_from([1e-8, 1e-3, 0.1, 1.0, 30.0, 1e8]),
    formulation=st.sampled_from(ALL[1:]),
    whole=st.booleans(),
)
def test_rescaled_losses_are_searched_exactly(kind, seed, scale, formulation, whole):
    """Against enumeration, also inside of the convex hull of losses and margins, which no search on λ reaches."""
    task, X, Y = drawn(kind, 4, seed, whole=whole)
    task.setup(X, Y)
    w = scale * np.random.default_rng(seed).standard_normal(task.dim)
    planes = task.pack(X, Y).rescaled_planes(w, formulation)
    found = formulation.value(planes.loss, planes.dpsi @ w)
    for i, (x, y) in enumerate(zip(X, Y, strict=True)):
        psi = np.array([np.asarray(x[z].sum(axis=0)).ravel() for z in task.outputs(x)])
        losses = np.array([task.loss(y, z) for z in task.outputs(x)])
        margins = (np.asarray(x[y].sum(axis=0)).ravel() - psi) @ w
        best = formulation.value(losses, margins).max()
        size = 1e-7 * max(1.0, abs(best))
        assert found[i] == pytest.approx(best, abs=size)
        assert best <= planes.upper[i] + size
        assert planes.upper[i] <= best + 10 * size


def test_a_search_that_is_given_up_is_bounded():
    """With one decode per example: the bound still holds, and the certificate is true, if wide."""
    task, X, Y = drawn("trees", 6, seed=1, most_decodes=1)
    optimum = brute_force(task, X, Y, 2.0, Formulation("slack", "l1")).value
    certificate = StructuredSVM(task, C=2.0, rescaling="slack", max_passes=50).fit(X, Y).certificate_
    assert certificate.dual <= optimum * (1 + 1e-9)
    assert optimum <= certificate.primal * (1 + 1e-9)


def test_prices_of_single_parts():
    """A label with prices of its own: by hand, and in training."""
    task, X, Y = drawn("paths", 4, seed=2)
    priced = [PricedParts(y, extra=np.arange(x.shape[0]), missing=0.0) for x, y in zip(X, Y, strict=True)]
    task.setup(X, priced)
    other = next(z for z in task.outputs(X[0]) if set(z) != set(Y[0]))
    assert task.loss(priced[0], other) == sum(set(other) - set(Y[0]))
    assert task.loss(priced[0], Y[0]) == 0
    check_task(task, X, priced)
    doubled = StructuredSVM(task).fit(X, [PricedParts(y, 2.0, 2.0) for y in Y])
    twice = StructuredSVM(clone(task).set_params(costs=(2.0, 2.0))).fit(X, Y)
    assert np.array_equal(doubled.w_, twice.w_)


def test_masks_and_numbers_are_the_same():
    task, X, Y = drawn("assignments", 6, seed=4)
    masks = [np.isin(np.arange(x.shape[0]), y) for x, y in zip(X, Y, strict=True)]
    by_numbers, by_masks = StructuredSVM(task).fit(X, Y), StructuredSVM(task).fit(X, masks)
    assert np.array_equal(by_numbers.w_, by_masks.w_)
    assert by_numbers.score(X, Y) == by_masks.score(X, masks)


def test_predictions_are_outputs_and_learnt():
    """Labels that a weight vector explains are learnt."""
    task, X, _ = drawn("trees", 30, seed=5, whole=False)
    task.setup(X, [])
    true = np.array([1.0, -2.0, 0.5, 0.0])
    Y = [task.argmax(true, x) for x in X]
    model = StructuredSVM(task, C=100.0).fit(X, Y)
    assert model.score(X, Y) >= -0.2
    for x, z in zip(X, model.predict(X), strict=True):
        assert any(set(z) == set(each) for each in task.outputs(x))


def test_parts_from_objects_and_kernels():
    """Inputs of any kind with `parts`, and a kernel of parts instead of features: linear is as without."""
    task, X, Y = drawn("paths", 8, seed=6, whole=False)
    best = task.best
    boxes = [{"features": x} for x in X]
    from_boxes = Parts(lambda scores, x: best(scores, x["features"]), parts=lambda x: x["features"])
    plain = StructuredSVM(Parts(best), C=3.0).fit(X, Y)
    assert np.array_equal(plain.w_, StructuredSVM(from_boxes, C=3.0).fit(boxes, Y).w_)
    linear = StructuredSVM(Parts(best, kernel="linear"), C=3.0, tol=1e-6).fit(X, Y)
    tight = StructuredSVM(Parts(best), C=3.0, tol=1e-6).fit(X, Y)
    assert linear.certificate_.primal == pytest.approx(tight.certificate_.primal, rel=1e-5)
    # Values, and not outputs: some paths have equal scores.
    for x, one, other in zip(X, linear.predict(X), tight.predict(X), strict=True):
        scores = np.asarray(x) @ tight.w_
        assert scores[list(one)].sum() == pytest.approx(scores[list(other)].sum(), abs=1e-4)


@pytest.mark.parametrize("rescaling", ["margin", "slack"])
@pytest.mark.parametrize(
    "bad",
    [
        lambda scores, x: best_tree(-scores, x),
        lambda scores, x: [],
        lambda scores, x: np.arange(len(scores)),
        lambda scores, x: best_tree(np.abs(scores), x),
    ],
    ids=["minimiser", "nothing", "everything", "signless"],
)
def test_a_decoder_that_is_no_maximiser_is_named(bad, rescaling):
    _, X, Y = drawn("trees", 6, seed=7)
    with pytest.raises(TaskError, match=r"Parts broke its promise on example \d"):
        StructuredSVM(Parts(bad), C=10.0, rescaling=rescaling).fit(X, Y)


def test_a_decoder_that_fails_only_later_is_named():
    """At scores that are not whole it is no maximiser: that shows in the search for the most violated output."""
    _, X, Y = drawn("trees", 6, seed=7, whole=False)

    def bad(scores, x):
        whole = np.array_equal(scores, np.round(scores))
        return best_tree(scores if whole else -scores, x)

    for rescaling in ("margin", "slack"):
        with pytest.raises(TaskError, match=r"Parts broke its promise on example \d"):
            StructuredSVM(Parts(bad), C=10.0, rescaling=rescaling).fit(X, Y)


def test_a_label_that_is_no_output_is_named():
    task, X, Y = drawn("paths", 3)
    with pytest.raises(TaskError, match=r"example 1: best.*the label must be one of them"):
        StructuredSVM(Parts(task.best)).fit(X, [Y[0], Y[1][1:], Y[2]])


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e4, 1e8])
@pytest.mark.parametrize("formulation", ALL[1:], ids=str)
def test_searches_of_learnt_examples_are_short(scale, formulation):
    """Where nothing or little is violated, any set of 8 parts being an output, of which there are 256."""
    rng, most = np.random.default_rng(0), 0
    for _ in range(20):
        scores, mask = scale * rng.standard_normal(8), rng.random(8) < 0.5
        scores[mask] = np.abs(scores[mask]) + 10
        scores[~mask] = -np.abs(scores[~mask]) - 10 * (rng.random() < 0.5)
        calls = []
        problem = PartScores(scores, np.where(mask, -1.0, 1.0), np.flatnonzero(mask))
        found = most_violated_parts(
            lambda altered, calls=calls: calls.append(1) or np.flatnonzero(altered > 0), problem, formulation, 10_000
        )
        listed = [np.flatnonzero(z) for z in product([False, True], repeat=8)]
        best = max(float(formulation.value(*problem.measured(z))) for z in listed)
        assert found.value == pytest.approx(best, rel=1e-7, abs=1e-7)
        assert best - 1e-7 <= found.upper <= best + 1e-6 * max(1.0, best)
        most = max(most, len(calls))
    assert most <= 60


def test_losses_are_not_what_cancellation_leaves():
    task = Parts(lambda scores, x: [0, 1, 2])
    x, y = np.ones((4, 1)), PricedParts([0, 1, 2], missing=[0.1, 0.2, 0.3, 1.0])
    task.setup([x], [y])
    assert task.pack([x], [y]).planes(np.zeros(1)).loss[0] == 0
    far = PricedParts([0, 1], missing=[1e8, 1e-9, 0.0, 0.0])
    task.best = lambda scores, x: [0]
    assert task.pack([x], [far]).planes(np.zeros(1)).loss[0] == 1e-9


@pytest.mark.parametrize("kernel", [None, "rbf"])
def test_errors_name_the_example_and_the_part(kernel):
    task, X, Y = drawn("paths", 3, whole=False)
    task = Parts(task.best, kernel=kernel)
    model = StructuredSVM(task).fit(X, Y)
    broken = X[2].copy()
    broken[1, 3] = np.nan
    for what in (lambda X: StructuredSVM(task).fit(X, Y), model.predict):
        with pytest.raises(ValueError, match="example 2: part 1, feature 3: X contains NaN"):
            what([*X[:2], broken])
        with pytest.raises(ValueError, match="example 2 has parts of 3 features; expected 4"):
            what([*X[:2], X[2][:, :3]])
    model.task_.best = lambda scores, x: [[1], [1, 2]] if x is X[1] else task.best(scores, x)
    with pytest.raises(ValueError, match=r"expected numbers of parts") as caught:
        model.predict(X)
    assert "on example 1" in " ".join(caught.value.__notes__)


def test_nothing_to_learn_from():
    with pytest.raises(ValueError, match="no features to learn from"):
        StructuredSVM(Parts(best_tree)).fit([np.zeros((2, 0))], [[0]])
    with pytest.raises(ValueError, match="no example has a part"):
        StructuredSVM(Parts(best_tree, kernel="rbf")).fit([np.zeros((0, 2))], [[]])


@pytest.mark.parametrize("kernel", [None, "rbf"])
@pytest.mark.parametrize("rescaling", ["margin", "slack"])
def test_examples_without_parts_and_with_one(kernel, rescaling):
    X = [np.zeros((0, 2)), np.array([[1.0, 2.0]]), sparse.csr_array(np.array([[-1.0, 1.0]]))]
    Y = [[], [0], []]
    model = StructuredSVM(Parts(positive, kernel=kernel), C=10.0, rescaling=rescaling).fit(X, Y)
    assert model.certificate_.converged
    assert [z.tolist() for z in model.predict(X)] == Y
    assert pickle.loads(pickle.dumps(model)).score(X, Y) == 0
    assert model.certify(X, Y).converged


def positive(scores, x):
    return scores > 0


def test_processes_find_the_same(pool):
    _, X, Y = drawn("trees", 6, whole=False)
    alone = StructuredSVM(Parts(best_tree), rescaling="slack").fit(X, Y)
    spread = StructuredSVM(Parts(best_tree), rescaling="slack", executor=pool).fit(X, Y)
    assert np.array_equal(alone.w_, spread.w_)


@pytest.mark.parametrize(
    ("parameters", "label", "message"),
    [
        ({"best": 3}, None, "best must be a function"),
        ({"parts": 3}, None, "parts must be None or a function"),
        ({"costs": (1.0, -1.0)}, None, "the missing price of part 0 is -1.0"),
        ({"costs": 2.0}, None, r"expected \(extra, missing\)"),
        ({"most_decodes": 0}, None, "most_decodes must be a whole number >= 1, got 0"),
        ({}, [0, 99], r"the label of example 1 has the part 99; there are \d+ parts"),
        ({}, [-1], "the label of example 1 has the part -1"),
        ({}, [1, 1], "names a part twice"),
        ({}, np.zeros(0, dtype=bool), r"the label of example 1 is .*or a mask of \d+ parts"),
        ({}, [[0], [1, 2]], r"the label of example 1 is .*expected numbers of parts"),
        ({}, np.array([2**63], dtype=np.uint64), "has the part 9223372036854775808"),
        ({}, [0.5], r"the label of example 1 is .*expected numbers of parts, or a mask"),
        ({}, PricedParts([0], extra=[1.0, 2.0]), r"the extra prices have shape \(2,\)"),
        ({}, PricedParts([0], missing=np.nan), "the missing price of part 0 is nan"),
        ({"best": lambda scores, x: [len(scores)]}, None, r"best\(scores, x\) has the part"),
        ({"parts": lambda x: np.zeros(3)}, None, "example 0 has parts of shape"),
    ],
)
def test_bad_input(parameters, label, message):
    task, X, Y = drawn("paths", 3)
    task = Parts(**{"best": task.best, **parameters})
    if label is not None:
        Y = [Y[0], label, Y[2]]
    with pytest.raises((ValueError, TypeError), match=message):
        StructuredSVM(task).fit(X, Y)


def test_widths_that_differ():
    task, X, Y = drawn("paths", 3)
    narrow = Scene.of(np.zeros((4, 3)), 2, 2)
    with pytest.raises(ValueError, match=r"example 1 has parts of 3 features; expected 4"):
        StructuredSVM(Parts(task.best)).fit([X[0], narrow], [Y[0], [0, 1, 3]])


def test_an_error_of_the_decoder_names_the_example():
    task, X, Y = drawn("paths", 3)

    def fails(scores, x):
        if x is X[2]:
            raise RuntimeError("no path")
        return task.best(scores, x)

    with pytest.raises(RuntimeError, match="no path") as caught:
        StructuredSVM(Parts(fails)).fit(X, Y)
    assert "example 2" in " ".join(caught.value.__notes__)


def test_the_oracle_reports_the_bounds_of_given_up_searches():
    task, X, Y = drawn("trees", 4, seed=8, most_decodes=1)
    task.setup(X, Y)
    oracle = Oracle(task.pack(X, Y), Formulation("slack", "l1"))
    w = np.random.default_rng(0).standard_normal(task.dim)
    patient = clone(task).set_params(most_decodes=10**4)
    patient.setup(X, Y)
    exact = Oracle(patient.pack(X, Y), Formulation("slack", "l1"))
    assert (oracle.slacks(w) >= exact.slacks(w) - 1e-9).all()


@pytest.mark.parametrize("formulation", [Formulation("slack", "l1"), Formulation("slack", "l2")], ids=str)
@kinds
def test_that_nothing_is_violated_is_proved_with_few_decodes(kind, formulation):
    """Every other output is beaten by more than 1, so the truth, whose violation is 0, is the worst of all."""
    task, X, _ = drawn(kind, 5, seed=9, whole=False, most_decodes=200)
    task.setup(X, [])
    w = 1e3 * np.random.default_rng(9).standard_normal(task.dim)
    Y = [task.argmax(w, x) for x in X]
    planes = task.pack(X, Y).rescaled_planes(w, formulation)
    assert not planes.loss.any()
    assert (planes.upper <= 1e-8).all()
