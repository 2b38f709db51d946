"""Changes of coefficients and what they do to scores, with the whole kernel matrix at hand."""

from __future__ import annotations

import numpy as np


def spread(direct, n_labels, gram, delta, w, seen):
    """w and seen after the changes in delta."""
    w, seen = w + delta, seen.copy()
    seen[:direct] += delta[:direct]
    for v in range(len(gram)):
        for u in range(len(gram)):
            for k in range(n_labels):
                seen[direct + v * n_labels + k] += gram[v, u] * delta[direct + u * n_labels + k]
    return w, np.asarray(seen)
