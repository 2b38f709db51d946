"""What hypothesis draws for diversification: documents of few words, with small integers for values, so that ties are
common."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st
from scipy import sparse
from strategies import whole


class Collection(NamedTuple):
    """Documents as lists of items, what items and documents are worth, and the same as arrays."""

    documents: list[list[int]]
    values: np.ndarray
    base: np.ndarray
    indptr: np.ndarray
    items: np.ndarray
    k: int


@st.composite
def collections(draw, low=-3, most_documents=6, most_items=7):
    """Some documents may be empty, and the same."""
    n, n_items = draw(st.integers(1, most_documents)), draw(st.integers(1, most_items))
    documents = draw(st.lists(st.sets(st.integers(0, n_items - 1)).map(sorted), min_size=n, max_size=n))
    # halves and thirds, so that sums are rounded
    values = draw(whole(n_items, low, 3)) / draw(st.sampled_from([1.0, 2.0, 3.0]))
    base = draw(whole(n, max(low, -2), 2)) if draw(st.booleans()) else np.zeros(n)
    indptr = np.append(0, np.cumsum(list(map(len, documents)))).astype(np.int64)
    items = np.array([item for document in documents for item in document], dtype=np.int32)
    return Collection(documents, values, base, indptr, items, draw(st.integers(1, n)))


@st.composite
def queries(draw, most=3, k=None, features=False):
    """X (dicts of counts by field), Y and k: documents with words and subtopics, a query of each kind at least."""
    k = draw(st.integers(1, 3)) if k is None else k
    n_features = draw(st.integers(0, 2)) if features else 0
    fields = draw(st.sampled_from([("text",), ("title", "body")]))
    X, Y = [], []
    for _ in range(draw(st.integers(1, most))):
        n, n_words = draw(st.integers(k, 5)), draw(st.integers(1, 5))
        counts = {name: draw(whole((n, n_words), 0, 2)) for name in fields}
        counts[fields[0]][0, 0] += 1
        X.append(({name: sparse.csr_array(each) for name, each in counts.items()}, draw(whole((n, n_features)))))
        of = draw(st.lists(st.sets(st.sampled_from("abcd"), max_size=2), min_size=n, max_size=n))
        of[draw(st.integers(0, n - 1))].add("a")
        Y.append(of)
    return X, Y, k
