"""The compiled functions of chains through the task, on problems with any scores that hypothesis likes."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inputs.labels.compiled import labelling_twin as labelling
from strategies import chains
from structures.sequences.compiled import chain_twin as twin

from maxmargin.problem.dual.objective import Formulation

LAMBDAS = st.sampled_from([0.0, 0.5, 1.0, 3.0])
FORMULATIONS = [Formulation("slack", "l1"), Formulation("margin", "l2"), Formulation("slack", "l2")]


def parts(drawn):
    return zip(drawn.e, drawn.truth, drawn.position_costs, strict=True)


@given(chains())
def test_twin_agrees_with_enumeration(drawn):
    for e in drawn.e:
        values = [value for _, value in twin.sequences(e, drawn.T, drawn.s, drawn.f)]
        assert twin.viterbi(e, drawn.T, drawn.s, drawn.f) == max(values)


@given(chains(most_labels=5, longest=6))
def test_best_score_and_labels(drawn):
    best = drawn.task.scores(drawn.w, drawn.X)
    for e, found, labels in zip(drawn.e, best, drawn.task.decode(drawn.w, drawn.X), strict=True):
        assert found == twin.viterbi(e, drawn.T, drawn.s, drawn.f)
        assert twin.score(e, drawn.T, drawn.s, drawn.f, labels) == found


@given(chains(most_labels=5, longest=6), st.data())
def test_loss_augmented_planes(drawn, data):
    lam = np.array([data.draw(LAMBDAS) for _ in drawn.X])
    planes = drawn.task.pack(drawn.X, drawn.Y).planes(drawn.w, augment=lam)
    heights = lam * planes.loss - planes.dpsi @ drawn.w
    for i, (e, truth, weight) in enumerate(parts(drawn)):
        augmented = twin.augment(e, drawn.cost, truth, lam[i] * weight)
        best = twin.viterbi(augmented, drawn.T, drawn.s, drawn.f)
        assert heights[i] == pytest.approx(best - twin.score(e, drawn.T, drawn.s, drawn.f, truth), abs=1e-9)


@given(chains())
def test_plane_is_the_difference_of_two_outputs(drawn):
    planes = drawn.task.pack(drawn.X, drawn.Y).planes(drawn.w)
    rows, n_labels = planes.dpsi.toarray(), len(drawn.cost)
    for i, (e, truth, weight) in enumerate(parts(drawn)):
        right = labelling.features(n_labels, drawn.X[i], truth, linked=True)
        fitting = [
            labels
            for labels, _ in twin.sequences(e, drawn.T, drawn.s, drawn.f)
            if np.array_equal(rows[i], right - labelling.features(n_labels, drawn.X[i], labels, linked=True))
            and planes.loss[i] == twin.loss(drawn.cost, truth, weight, labels)
        ]
        assert fitting, "the plane belongs to no output"


@given(chains(), st.integers(1, 100))
def test_n_best(drawn, n):
    for e, x in zip(drawn.e, drawn.X, strict=True):
        found = drawn.task.n_best(drawn.w, x, n)
        assert [value for _, value in found] == twin.n_best(e, drawn.T, drawn.s, drawn.f, n)
        assert [twin.score(e, drawn.T, drawn.s, drawn.f, labels) for labels, _ in found] == [v for _, v in found]
        assert len({tuple(labels) for labels, _ in found}) == len(found), "a sequence stands in the list twice"


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=str)
@given(drawn=chains())
def test_most_violated_output_among_all_losses(formulation, drawn):
    """Losses are whole numbers here, so that the best score of every loss is known exactly."""
    planes = drawn.task.pack(drawn.X, drawn.Y).rescaled_planes(drawn.w, formulation)
    found = formulation.value(planes.loss, planes.dpsi @ drawn.w)
    for i, (e, truth, weight) in enumerate(parts(drawn)):
        right = twin.score(e, drawn.T, drawn.s, drawn.f, truth)
        best = twin.best_per_loss(e, drawn.T, drawn.s, drawn.f, drawn.cost, truth, weight)
        assert found[i] == pytest.approx(max(formulation.value(c, right - v) for c, v in best.items()), abs=1e-9)


@given(lengths=st.lists(st.integers(1, 5), min_size=1, max_size=6), data=st.data())
def test_units_of_sequences_in_a_row(lengths, data):
    from maxmargin.structures.sequences.compiled.chain import unroll

    offsets = np.concatenate([[0], np.cumsum(lengths)])
    ids = np.array(data.draw(st.lists(st.integers(0, len(lengths) - 1), min_size=1, max_size=5)))
    expected = [list(range(offsets[i], offsets[i + 1])) for i in ids]
    bounds, units = np.empty(len(ids) + 1, dtype=np.int64), np.empty(len(ids) * max(lengths), dtype=np.int64)
    unroll(offsets, ids, bounds, units)
    assert [list(units[a:b]) for a, b in pairwise(bounds)] == expected
