"""PairTable against the pairs of its examples."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from strategies import whole
from structures.clustering.pair_strategies import clustered

from maxmargin.structures.clustering.pair_table import PairTable
from maxmargin.tasks import Pairs


@given(clustered(), st.booleans(), st.data())
def test_table_has_the_pairs_of_all_examples(drawn, constant, data):
    X, _, n_features = drawn
    table = PairTable(X, n_features, constant)
    w = data.draw(whole(n_features + constant))
    ids = np.array(data.draw(st.lists(st.integers(0, len(X) - 1), max_size=4)), dtype=np.intp)
    assert len(table) == len(X)
    for g, found in zip(ids, table.scores(w, ids), strict=True):
        own = table.rows(g)
        assert [*zip(table.first[own], table.second[own], strict=True)] == [tuple(pair) for pair in X[g].pairs]
        scores = X[g].features @ w[:n_features] if len(X[g].pairs) else np.zeros(0)
        np.testing.assert_allclose(found, scores + (w[-1] if constant else 0.0))


def test_scores_do_not_depend_on_the_batch():
    rng = np.random.default_rng(0)
    X = [Pairs.of(list(rng.random(n)), lambda a, b: [a - b, a * b, a, b, 1.0]) for n in (3, 30, 7, 12)]
    table, w = PairTable(X, 5, True), rng.standard_normal(6)
    together = table.scores(w, np.arange(4))
    for g, scores in enumerate(together):
        np.testing.assert_array_equal(table.scores(w, np.array([g]))[0], scores)
