import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from structures.motifs.compiled import motif_twin as twin
from structures.motifs.listed_motif import listed, listed_examples, truths
from structures.motifs.motif_strategies import motif_problems

from maxmargin.problem.contract.examples import dot
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.structures.motifs.task import ABSENT, Occurrence

FORMULATIONS = [Formulation("slack", "l1"), Formulation("margin", "l2"), Formulation("slack", "l2")]


@given(motif_problems(), st.integers(0, 9), st.data())
def test_planes_equal_enumeration(problem, seed, data):
    """At any completion, any factor of the loss, and for any selection of examples."""
    task, X, Y, w = problem
    batch = task.pack(X, Y).guessed(np.random.default_rng(seed))
    reference = listed_examples(problem, batch)
    index = np.array(data.draw(st.lists(st.integers(0, len(X) - 1), min_size=1, max_size=5)))
    lam = np.array([data.draw(st.sampled_from([0.0, 0.5, 1.0, 3.0])) for _ in index])
    found, wanted = (examples.take(index).planes(w, lam) for examples in (batch, reference))
    assert np.array_equal(lam * found.loss - found.dpsi @ w, lam * wanted.loss - wanted.dpsi @ w)
    assert (found.values(w)[lam == 1] >= 0).all()
    for i, row, loss in zip(index, found.dpsi.toarray(), found.loss, strict=True):
        differences = {
            tuple(_difference(task, X[i], reference.truth[i], z)): task.loss(Y[i], z) for z in task.outputs(X[i])
        }
        assert differences[tuple(row)] == loss or not row.any()


@given(motif_problems(), st.sampled_from(FORMULATIONS), st.integers(0, 9))
def test_rescaled_planes_equal_enumeration(problem, formulation, seed):
    task, X, Y, w = problem
    batch = task.pack(X, Y).guessed(np.random.default_rng(seed))
    found = batch.rescaled_planes(w, formulation)
    wanted = listed_examples(problem, batch).rescaled_planes(w, formulation)
    values = [formulation.value(planes.loss, planes.dpsi @ w) for planes in (found, wanted)]
    assert np.array_equal(np.maximum(values[0], 0), np.maximum(values[1], 0))
    for i, row, loss in zip(range(len(X)), found.dpsi.toarray(), found.loss, strict=True):
        differences = [tuple(_difference(task, X[i], truths(batch)[i], z)) for z in task.outputs(X[i])]
        assert tuple(row) in differences
        assert loss in (0, 1)


@given(motif_problems(), st.data())
def test_completions_and_their_shifts(problem, data):
    task, X, Y, w = problem
    plain = listed(problem)
    before = task.pack(X, Y).guessed(np.random.default_rng(data.draw(st.integers(0, 9))))
    after = before.completed(w)
    assert after.data is before.data
    for x, y, z in zip(X, Y, truths(after), strict=True):
        assert task.loss(y, z) == 0
        assert dot(task.psi(x, z), w) == dot(task.psi(x, plain.complete(w, x, y)), w)
    rows = listed_examples(problem, before).shifts_to(listed_examples(problem, after))
    assert np.array_equal(before.shifts_to(after).toarray(), rows.toarray())
    index = np.array(data.draw(st.lists(st.integers(0, len(X) - 1), unique=True, min_size=1)))
    part = truths(before.take(index).completed(w))
    for i in range(len(X)):
        assert part[i] == truths(after if i in index else before)[i]


@given(motif_problems())
def test_truths_after_completion_have_no_better_rival(problem):
    """At the weights of the completion only the loss is left of a plane: slack <= 1 + score of the wrong class."""
    task, X, Y, w = problem
    batch = task.pack(X, Y).completed(w)
    planes = batch.planes(w, augment=0.0)
    right = planes.loss == 0
    assert (planes.dpsi @ w)[right] == pytest.approx(0)
    assert Oracle(batch).slacks(w).min() >= 0


@given(motif_problems(), st.integers(0, 99))
def test_guesses_explain_the_labels(problem, seed):
    task, X, Y, _ = problem
    batch = task.pack(X, Y).guessed(np.random.default_rng(seed))
    for x, y, z in zip(X, Y, truths(batch), strict=True):
        assert z in task.outputs(x)
        assert task.label(z) == y


@given(motif_problems())
def test_what_is_told_of_the_training_strings(problem):
    """Letter by letter: the best sites of strings with the motif, and the background of the others."""
    task, X, Y, w = problem
    _, kept, told = task.pack(X, Y).trained_model(w)
    assert kept is w
    assert [site.sequence for site in told["sites_"]] == np.flatnonzero(Y).tolist()
    for site in told["sites_"]:
        x, z = X[site.sequence], Occurrence(True, site.start, 1 if site.strand == "+" else -1)
        best = task.complete(w, x, True)
        assert dot(task.psi(x, z), w) == dot(task.psi(x, best), w)
        assert site.score == dot(task.psi(x, z), w) - dot(task.psi(x, ABSENT), w)
        assert site.text == twin.read(x[site.start : site.start + task.length], z.strand)
    weights = {letter: [] for letter in task.alphabet}
    for x, y in zip(X, Y, strict=True):
        for i, letter in enumerate(x):
            if not y and letter in task.alphabet:
                name = twin.background_name(x, i, task.background_order or 0, task.alphabet)
                number = twin.coordinate(name, task.length, task.alphabet)
                weights[letter].append(0.0 if task.background_order is None else w[number])
    total = max(sum(map(len, weights.values())), 1)
    assert told["background_frequencies_"].tolist() == [len(each) / total for each in weights.values()]
    assert told["letter_weights_"].tolist() == [sum(each) / max(len(each), 1) for each in weights.values()]


def _difference(task, x, truth, z):
    row = np.zeros(task.dim)
    np.add.at(row, *task.psi(x, truth))
    np.subtract.at(row, *task.psi(x, z))
    return row
