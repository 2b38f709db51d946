"""Small groups of rows, and tasks that are set up on them."""

import numpy as np
from hypothesis import strategies as st
from strategies import groups_of_rows, whole

from maxmargin.tasks import WeightedRows

X = [np.array([[1.0, 0], [2, 1], [0, -1], [1, 1]]), np.array([[0.0, 2], [1, -1], [2, 2]])]
Y = [np.array([1, 0, 0, 1]), np.array([0, 1, 0])]


def set_up(task, X=X, Y=Y):
    """The task and its batch of these data."""
    task.setup(X, Y)
    return task, task.pack(X, Y)


@st.composite
def weighted_groups(draw, **options):
    """What `groups_of_rows` draws, and whole weights of all rows."""
    X, Y, w = draw(groups_of_rows(**options))
    return X, Y, [draw(whole(len(y), 1, 3)) for y in Y], w


def with_weights(Y, weights, scale=1.0):
    """Labels of rows that count so much."""
    return [WeightedRows(y, scale * v) for y, v in zip(Y, weights, strict=True)]


def prove_whole_weights_are_repeated_rows(make_task, problem, lam, scale):
    """The planes are as high as those of rows that stand as often as their weights say."""
    X, Y, weights, w = problem
    _, batch = set_up(make_task(), X, with_weights(Y, weights, scale))
    times = [v.astype(int) for v in weights]
    _, repeated = set_up(
        make_task(), *([np.repeat(a, v, axis=0) for a, v in zip(each, times, strict=True)] for each in (X, Y))
    )
    heights = [lam * planes.loss - planes.dpsi @ w for planes in (batch.planes(w, lam), repeated.planes(w, lam))]
    np.testing.assert_allclose(*heights, atol=1e-12)
