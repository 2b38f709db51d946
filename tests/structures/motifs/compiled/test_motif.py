import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from structures.motifs.compiled import motif_twin as twin
from structures.motifs.motif_strategies import motif_problems

from maxmargin.structures.motifs.task import Occurrence
from maxmargin.structures.motifs.windows import ChosenWindows


def places(problem, x):
    """All windows of a string on all strands."""
    task = problem.task
    starts = twin.windows(x, task.length, task.alphabet)
    return [Occurrence(True, h, s) for h in starts for s in (1, -1)[: task.strands]]


@given(motif_problems())
def test_best_window_is_the_best_of_all(problem):
    task, X, _, w = problem
    data = task.windows(X)
    (starts, strands), best = task.best_windows(w, data)
    for i, x in enumerate(X):
        gains = {z: twin.gain(w, x, z, task.length, task.background_order, task.alphabet) for z in places(problem, x)}
        z = Occurrence(True, int(starts[i] - data.strings.begins[i]), 1 if strands[i] == 0 else -1)
        assert best[i] == max(gains.values())
        assert gains[z] == best[i]


@given(motif_problems(), st.data())
def test_some_strings_in_any_order(problem, data):
    task, X, _, w = problem
    ids = np.array(data.draw(st.lists(st.integers(0, len(X) - 1), max_size=6)), dtype=np.int64)
    packed = task.windows(X)
    everything, some = task.best_windows(w, packed), task.best_windows(w, packed, ids)
    assert np.array_equal(everything.gains[ids], some.gains)
    for one, other in zip(everything.windows, some.windows, strict=True):
        assert np.array_equal(one[ids], other)


@given(motif_problems())
def test_weights_that_are_no_whole_numbers(problem):
    """Sums that run along the string lose no more than rounding."""
    task, X, _, w = problem
    w = np.sin(1e3 * w + np.arange(len(w)))
    for x, gain in zip(X, task.best_windows(w, task.windows(X)).gains, strict=True):
        wanted = max(twin.gain(w, x, z, task.length, task.background_order, task.alphabet) for z in places(problem, x))
        assert gain == pytest.approx(wanted, abs=1e-12)


@given(motif_problems(), st.data())
def test_differences_of_two_windows_or_none(problem, data):
    task, X, _, _ = problem
    packed = task.windows(X)
    pairs = [[data.draw(st.sampled_from([Occurrence(False), *places(problem, x)])) for x in X] for _ in range(2)]
    chosen = []
    for side in pairs:
        starts = [z.start + b if z.has else -1 for z, b in zip(side, packed.strings.begins[:-1], strict=True)]
        chosen.append(ChosenWindows(np.array(starts, dtype=np.int64), np.array([int(z.strand < 0) for z in side])))
    rows = task.differences(packed, *chosen).toarray()
    for x, first, second, row in zip(X, *pairs, rows, strict=True):
        wanted = np.zeros(task.dim)
        for sign, z in ((1, first), (-1, second)):
            for name, count in twin.features(x, z, task.length, task.background_order, task.alphabet).items():
                wanted[twin.coordinate(name, task.length, task.alphabet)] += sign * count
        assert np.array_equal(row, wanted)
