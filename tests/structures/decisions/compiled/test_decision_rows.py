"""Compiled rows against the plain ones of the batch, which look closer."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from structures.decisions.test_task import FORMS, WAYS, drawn
from thorough import examples

from maxmargin.structures.decisions.compiled.decision_rows import augment, difference_rows


@examples(40, 200)
@given(
    form=st.sampled_from(FORMS),
    way=st.sampled_from(WAYS[:3]),
    sense=st.sampled_from(["min", "max"]),
    seed=st.integers(0, 10**6),
)
def test_rows_are_the_plain_ones(form, way, sense, seed):
    rng = np.random.default_rng(seed)
    task, X, Y = drawn(form, way, sense, seed)
    task.setup(X, Y)
    batch = task.pack(X, Y).take(rng.permutation(len(X))[:3])
    layout = batch._layout_of_parts()
    predicted, lam = rng.standard_normal(len(layout.parts)), rng.random(3)
    plain = task.factor * predicted - batch.optimisers.sign * lam[layout.owner] * batch.labels.added[layout.parts]
    costs = predicted.copy()
    augment(costs, task.factor, batch.labels.added, batch.bounds, batch.ids, batch.optimisers.sign * lam)
    np.testing.assert_allclose(costs, plain, rtol=1e-14, atol=1e-14)
    found = batch._answers(costs)
    expected = batch._planes(layout, batch._no_worse(found, costs, layout))
    size, m = len(costs), len(batch)
    ends, indices = np.empty(m + 1, dtype=np.int32), np.empty(size, dtype=np.int32)
    values, loss = np.empty(size), np.empty(m)
    arrays = (batch.truth, batch.labels.added, batch.bounds, batch.ids)
    good = difference_rows(costs, found, *arrays, batch.optimisers.sign, task.factor, ends, indices, values, loss)
    if good:
        np.testing.assert_array_equal(ends, expected.dpsi.indptr)
        np.testing.assert_array_equal(indices[: ends[-1]], expected.dpsi.indices)
        np.testing.assert_array_equal(values[: ends[-1]], expected.dpsi.values)
        np.testing.assert_allclose(loss, expected.loss, rtol=1e-12, atol=1e-12)
    worst = batch._answers(-costs)
    if (batch.optimisers.sign * layout.sums(costs * (worst - batch.truth[layout.parts])) > 1e-9).any():
        assert not difference_rows(
            costs, worst, *arrays, batch.optimisers.sign, task.factor, ends, indices, values, loss
        )
