"""What hypothesis draws: sizes, and small integers everywhere, so that ties are common."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from maxmargin.problem.planes.atoms import AtomRows, Atoms
from maxmargin.tasks import Chain, Multiclass, Weighted


def whole(shape, low=-3, high=3):
    """Arrays of small integers, as floats."""
    return hnp.arrays(np.float64, shape, elements=st.integers(low, high))


@st.composite
def costs(draw, n_labels, high=3):
    """A cost matrix of small integers with a zero diagonal."""
    cost = draw(whole((n_labels, n_labels), 0, high))
    np.fill_diagonal(cost, 0)
    return cost


class Rows(NamedTuple):
    """Rows over atoms beside the same rows written out."""

    rows: AtomRows
    matrix: np.ndarray  # (units, features)
    n_labels: int
    direct: int


@st.composite
def atom_rows(draw):
    """Some atoms (coordinates, and units at labels) and rows over them, in which an atom may stand twice."""
    n_units, n_features = draw(st.integers(0, 4)), draw(st.integers(0, 9))
    n_labels, direct = draw(st.integers(1, 4)), draw(st.integers(0, 3))
    matrix = draw(whole((n_units, n_features)))
    n_atoms = direct + n_units * n_labels
    lengths = draw(st.lists(st.integers(0, 5 if n_atoms else 0), min_size=1, max_size=5))
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    entries = int(indptr[-1])
    indices = draw(hnp.arrays(np.int32, entries, elements=st.integers(0, max(n_atoms - 1, 0))))
    values = draw(whole(entries))
    atoms = Atoms(sparse.csr_array(matrix), n_labels, direct)
    return Rows(AtomRows(atoms, indptr, indices, values), matrix, n_labels, direct)


class Scores(NamedTuple):
    """A chain problem given by its scores, and the task, data and weights that have exactly these scores."""

    e: list[np.ndarray]  # per sequence (length, K)
    T: np.ndarray
    s: np.ndarray
    f: np.ndarray
    truth: list[np.ndarray]
    cost: np.ndarray
    position_costs: list[np.ndarray]
    task: Chain
    X: list[np.ndarray]
    Y: list[Weighted]
    w: np.ndarray


@st.composite
def chains(draw, most_labels=3, longest=4, most_sequences=3, forbid=True):
    """Every position has a feature of its own, so that any unit scores can be had; -inf marks what is forbidden."""
    n_labels = draw(st.integers(2, most_labels))
    lengths = draw(st.lists(st.integers(1, longest), min_size=1, max_size=most_sequences))
    e = [draw(whole((length, n_labels))) for length in lengths]
    T, s, f = draw(whole((n_labels, n_labels))), draw(whole(n_labels)), draw(whole(n_labels))
    truth = [draw(hnp.arrays(np.int64, length, elements=st.integers(0, n_labels - 1))) for length in lengths]
    cost = draw(costs(n_labels))
    position_costs = [draw(whole(length, 0, 2)) for length in lengths]
    used = {(None, t[0]) for t in truth} | {(t[-1], None) for t in truth}
    used |= {pair for t in truth for pair in pairwise(t)}
    labels = [*range(n_labels), None]
    free = [pair for pair in ((a, b) for a in labels for b in labels) if pair not in used and pair != (None, None)]
    forbidden = draw(st.lists(st.sampled_from(free), unique=True)) if forbid and free else []
    task = Chain(classes=list(range(n_labels)), costs=cost, forbidden=forbidden)
    units = np.eye(sum(lengths))
    X = np.split(units, np.cumsum(lengths)[:-1])
    Y = [Weighted(list(map(int, t)), list(c)) for t, c in zip(truth, position_costs, strict=True)]
    task.setup(X, Y)
    w = np.concatenate([T.ravel(), s, f, np.concatenate(e).ravel()])
    T, s, f = T.copy(), s.copy(), f.copy()
    for before, after in forbidden:
        if before is None:
            s[after] = -np.inf
        elif after is None:
            f[before] = -np.inf
        else:
            T[before, after] = -np.inf
    return Scores(e, T, s, f, truth, cost, position_costs, task, X, Y, w)


class Labelled(NamedTuple):
    """A multiclass problem given by its scores."""

    scores: np.ndarray
    truth: np.ndarray
    cost: np.ndarray
    task: Multiclass
    X: np.ndarray
    w: np.ndarray


@st.composite
def labelled_units(draw):
    n, n_labels = draw(st.integers(1, 5)), draw(st.integers(2, 4))
    scores, cost = draw(whole((n, n_labels))), draw(costs(n_labels))
    truth = draw(hnp.arrays(np.int64, n, elements=st.integers(0, n_labels - 1)))
    task, X = Multiclass(classes=list(range(n_labels)), costs=cost), np.eye(n)
    task.setup(X, truth)
    return Labelled(scores, truth, cost, task, X, scores.ravel())


@st.composite
def multiclass_data(draw, most=6):
    """X, Y and a task whose classes need not all occur."""
    n, n_features, n_labels = draw(st.integers(1, most)), draw(st.integers(1, 3)), draw(st.integers(2, 3))
    X = draw(whole((n, n_features), -2, 2))
    Y = draw(st.lists(st.integers(0, n_labels - 1), min_size=n, max_size=n))
    return Multiclass(classes=list(range(n_labels)), costs=draw(costs(n_labels, 2))), X, Y


@st.composite
def chain_data(draw, most=3):
    """X, Y and a task with dense features."""
    n, n_features, n_labels = draw(st.integers(1, most)), draw(st.integers(1, 2)), draw(st.integers(2, 3))
    lengths = draw(st.lists(st.integers(1, 3), min_size=n, max_size=n))
    X = [draw(whole((length, n_features), -2, 2)) for length in lengths]
    Y = [draw(st.lists(st.integers(0, n_labels - 1), min_size=k, max_size=k)) for k in lengths]
    return Chain(classes=list(range(n_labels))), X, Y


@st.composite
def groups_of_rows(draw, most_groups=3, most_rows=5, levels=(0, 1), n_features=2):
    """Matrices, a level for every row of them (other groups than the first may have one level only), and weights."""
    sizes = [draw(st.integers(2, most_rows)), *draw(st.lists(st.integers(1, most_rows), max_size=most_groups - 1))]
    X = [draw(whole((size, n_features), -2, 2)) for size in sizes]
    Y = [draw(hnp.arrays(np.int64, size, elements=st.sampled_from(levels))) for size in sizes]
    Y[0][:2] = levels[0], levels[-1]
    return X, Y, draw(whole(n_features)) * draw(st.sampled_from([0.1, 0.4, 1.0, 3.0]))
