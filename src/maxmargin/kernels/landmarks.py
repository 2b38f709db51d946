"""Landmarks: a few inputs whose kernel features span almost the same space as those of all training rows.

There are three ways to choose them. "uniform" draws rows with equal probability. "leverage" draws row i with a
probability that follows its ridge leverage score

    ℓ_i = [G (G + λI)⁻¹]_ii ≤ 1                                                                                   (1)

(Alaoui and Mahoney 2015), which measures how much row i is needed to span the directions with eigenvalues above λ. G is
not formed: from s rows S drawn uniformly

    ℓ_i ≈ (k_ii − k_iS (k_SS + λ (s/n) I)⁻¹ k_Si) / λ                                                              (2)

(Musco and Musco 2017, one level of their recursion; with s = n it is (1)). "k-means" uses the centres of clusters,
which bounds the error by the spread within clusters (Zhang, Tsang and Kwok 2008).
"""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.base.arrays import Array
from maxmargin.kernels.base import Kernel
from maxmargin.kernels.named import is_precomputed
from maxmargin.kernels.projection import AT_ONCE, Landmarks, finite_values

Numbers = NDArray[np.intp]
LandmarkKind = Literal["leverage", "k-means", "uniform"]
KINDS = get_args(LandmarkKind)


def distinct_rows(rows: Any) -> Numbers:
    """Return the numbers of different rows, the first of each kind."""
    if sparse.issparse(rows):
        parts = zip(np.split(rows.indices, rows.indptr[1:-1]), np.split(rows.data, rows.indptr[1:-1]), strict=True)
        keys = [(columns.tobytes(), values.tobytes()) for columns, values in parts][: rows.shape[0]]
        first: dict[tuple[bytes, bytes], int] = {}
        for i, key in enumerate(keys):
            first.setdefault(key, i)
        return np.fromiter(first.values(), dtype=np.intp, count=len(first))
    return np.sort(np.unique(rows, axis=0, return_index=True)[1])


def chosen_landmarks(
    kind: str, kernel: Kernel, rows: Any, distinct: Numbers, n: int, rng: np.random.RandomState
) -> Landmarks:
    """Return n landmarks for the distinct rows, of which there are more.

    For "k-means" these are the cluster centres if rows are dense; if they are sparse, which centres are not, the rows
    that are nearest to the centres.
    """
    if kind == "k-means":
        centres = _centres(kernel, rows[distinct], n, rng)
        if not sparse.issparse(rows):
            return Landmarks(centres, centres, None)
        numbers = distinct[_nearest(rows[distinct], centres)]
    elif kind == "leverage":
        pilot = np.sort(rng.choice(distinct, n, replace=False))
        scores = leverage_scores(kernel, rows, distinct, pilot)
        numbers = rng.choice(distinct, n, replace=False, p=scores / scores.sum())
    else:
        numbers = rng.choice(distinct, n, replace=False)
    return these_rows(kernel, rows, np.sort(numbers))


def these_rows(kernel: Kernel, rows: Any, numbers: Numbers) -> Landmarks:
    """Return some of the training rows as landmarks."""
    return Landmarks(rows[numbers], kernel.kept(rows, numbers), numbers)


def leverage_scores(
    kernel: Kernel, rows: Any, candidates: Numbers, pilot: Numbers, ridge: float | None = None
) -> Array:
    """Return (2) for each of the n candidates, with S = pilot and λ = ridge; scores are clipped to (0, 1].

    Without a ridge λ = Σ_{i>t} σ_i / t with t = s/4, Musco and Musco's choice for rank t, where σ are the eigenvalues
    of (n/s) k_SS: about t directions are above it.
    """
    landmarks = these_rows(kernel, rows, pilot)
    gram = finite_values(kernel, *landmarks)
    values, vectors = np.linalg.eigh((gram + gram.T) / 2)
    share = len(pilot) / len(candidates)
    largest = max(float(np.abs(values).max()), np.finfo(float).tiny)
    if ridge is None:
        rank = max(1, len(pilot) // 4)
        ridge = max(float(np.maximum(values[:-rank], 0.0).sum()) / rank, 1e-12 * largest) / share
    root = vectors / np.sqrt(np.maximum(values, 0.0) + ridge * share)
    scores = kernel.diagonal(rows)[candidates]
    for begin in range(0, len(candidates), AT_ONCE):
        some = slice(begin, begin + AT_ONCE)
        numbers = candidates[some]
        scores[some] -= np.sum((finite_values(kernel, rows[numbers], landmarks.kept, numbers) @ root) ** 2, axis=1)
    return np.clip(scores / ridge, np.finfo(float).eps, 1.0)  # so that every row can be drawn


def _centres(kernel: Kernel, rows: Any, n: int, rng: np.random.RandomState) -> Array:
    from sklearn.cluster import MiniBatchKMeans  # slow to import

    if is_precomputed(kernel):
        raise ValueError(
            "landmarks='k-means' needs rows of features, and a precomputed kernel has none; use 'leverage' or 'uniform'"
        )
    megabytes = 8 * n * rows.shape[1] / 2**20
    if megabytes > kernel.cache_mb:
        raise ValueError(
            f"{n} cluster centres of {rows.shape[1]} features take {megabytes:.0f} MB, but cache_mb = "
            f"{kernel.cache_mb:g}; use landmarks='leverage' or 'uniform', or give the kernel a larger cache_mb"
        )
    means = MiniBatchKMeans(n, random_state=rng.randint(2**31 - 1), n_init=1, batch_size=max(1024, 2 * n))
    return np.asarray(means.fit(rows).cluster_centers_, dtype=np.float64)


def _nearest(rows: Any, centres: Array) -> Numbers:
    from sklearn.metrics import pairwise_distances_argmin

    return np.unique(pairwise_distances_argmin(centres, rows)).astype(np.intp)
