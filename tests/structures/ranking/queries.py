"""Rows of queries to be ranked."""

import numpy as np


def queries(n=12, seed=0, noise=0.3, fewest=5):
    """Rows of several queries, mixed; relevance 0 to 2 by a hidden score within each query."""
    rng = np.random.default_rng(seed)
    qid = rng.permutation(np.repeat(np.arange(n), rng.integers(fewest, 12, n)))
    X = rng.standard_normal((len(qid), 4)) + rng.standard_normal((n, 4))[qid]
    hidden = X @ [2.0, -1.0, 0.5, 0.0] + noise * rng.standard_normal(len(qid))
    y = np.zeros(len(qid), dtype=int)
    for q in range(n):
        order = np.flatnonzero(qid == q)[np.argsort(-hidden[qid == q])]
        y[order[:3]] = 1
        y[order[:1]] = 2
    return X, y, qid


def repeated(X, y, qid, times):
    """Every query q as often as times[q] says, each copy under a name of its own."""
    names = [(q, 100 * t + q) for q in range(len(times)) for t in range(times[q])]
    copies = [(X[qid == q], y[qid == q], np.full(np.sum(qid == q), name)) for q, name in names]
    return tuple(np.concatenate(parts) for parts in zip(*copies, strict=True))
