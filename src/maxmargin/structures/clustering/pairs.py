"""Pairs: the input of clustering, a set of items that is described by features of pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.base.checks import is_whole, refuse_complex
from maxmargin.inputs.matrices import check_rows_of_pairs, number_matrix, table_columns
from maxmargin.structures.clustering.labels import Clusters, cluster_numbers


class Pairs:
    """A set of n items with a feature vector for some or all unordered pairs of them.

    Only the listed pairs can be linked, and pairs that are not listed have no score. Listing candidates only avoids the
    two million rows of two thousand items.

    Parameters
    ----------
    n_items : int
        The number of items.
    pairs : array of shape (m, 2)
        Item numbers, no pair twice and no item with itself.
    features : array, sparse matrix or table of shape (m, F)
        One row per pair.
    feature_names : sequence of str, optional
        F names, by which a trained model names its weights; by default the column names of a table.

    See Also
    --------
    maxmargin.Clusterer : The estimator that takes lists of them.

    Examples
    --------
    >>> from maxmargin import tasks
    >>> tasks.Pairs.of(["ab", "abc", "xyz"], lambda a, b: [len(set(a) & set(b))], feature_names=["shared letters"])
    Pairs(3 items, 3 pairs, 1 features)
    """

    n_items: int
    pairs: NDArray[np.int64]  # the smaller item number first
    features: Any  # (m, F) float64, dense or CSR
    feature_names: list[str] | None

    def __init__(self, n_items: int, pairs: Any, features: Any, feature_names: Sequence[str] | None = None):
        if not is_whole(n_items) or n_items < 1:
            raise ValueError(f"n_items is {n_items!r}; expected a whole number of items, 1 or more")
        self.n_items = int(n_items)
        self.pairs = _checked_pairs(pairs, self.n_items)
        names = table_columns(features) if feature_names is None else feature_names
        self.features = _checked_features(features, self.pairs)
        self.feature_names = _checked_names(names, self.features)

    @classmethod
    def of(
        cls,
        items: Sequence[Any],
        function: Callable[[Any, Any], Any],
        candidates: Iterable[tuple[int, int]] | None = None,
        feature_names: Sequence[str] | None = None,
    ) -> Pairs:
        """Call function(item_i, item_j) -> feature vector for the candidate pairs (i, j), by default for all i < j."""
        if len(items) == 0:
            raise ValueError("the list of items is empty; expected at least one item")
        if candidates is None:
            pairs = np.column_stack(np.triu_indices(len(items), 1))
        else:
            pairs = _checked_pairs(list(candidates), len(items))
        rows: list[Any] = []
        for i, j in pairs.tolist():
            row = function(items[i], items[j])
            refuse_complex(f"the row of features of the pair ({i}, {j})", row)
            if not sparse.issparse(row):
                row = np.asarray(row, dtype=float)
                if row.ndim != 1:
                    raise ValueError(
                        f"the features of the pair ({i}, {j}) have shape {row.shape}; expected one dimension"
                    )
            if rows and row.shape != rows[0].shape:
                raise ValueError(
                    f"the features of the pair ({i}, {j}) have shape {row.shape}; expected {rows[0].shape} as for "
                    f"the pair {tuple(pairs[0].tolist())}"
                )
            rows.append(row)
        if any(map(sparse.issparse, rows)):
            features: Any = sparse.vstack([sparse.csr_array(row.reshape(1, -1)) for row in rows], "csr")
        else:
            features = np.array(rows) if rows else np.empty((0, 0))
        return cls(len(items), pairs, features, feature_names)

    @classmethod
    def from_array(cls, values: Any, feature_names: Sequence[str] | None = None) -> Pairs:
        """Read an (n, n, F) array that is symmetric in its first two dimensions or 0 below the diagonal.

        Pairs are (0, 1), (0, 2), …, as np.triu_indices(n, 1) lists them. The diagonal is not read.
        """
        refuse_complex("the array of pairs", values)
        try:
            values = np.asarray(values, dtype=float)
        except (TypeError, ValueError):
            raise ValueError(f"expected Pairs or an (n, n, F) array, got {type(values).__name__}") from None
        if values.ndim != 3 or values.shape[0] != values.shape[1]:
            raise ValueError(f"expected Pairs or an (n, n, F) array, got an array of shape {values.shape}")
        n = len(values)
        if n == 0:
            raise ValueError("the array has no items; expected at least one")
        upper = np.triu_indices(n, 1)
        features, mirrored = values[upper], values[upper[::-1]]
        differs = ~((features == mirrored) | (np.isnan(features) & np.isnan(mirrored)))
        if differs.any() and mirrored.any():
            k, f = map(int, np.argwhere(differs)[0])
            i, j = int(upper[0][k]), int(upper[1][k])
            raise ValueError(
                f"feature {f} of the pair ({i}, {j}) is {features[k, f]:g} but the feature of ({j}, {i}) is "
                f"{mirrored[k, f]:g}; expected a symmetric array, or zeros below the diagonal"
            )
        return cls(n, np.column_stack(upper), features, feature_names)

    @property
    def n_features(self) -> int | None:
        """F, or None if there is no pair."""
        return int(self.features.shape[1]) if len(self.pairs) else None

    def inside(self, clusters: Clusters) -> NDArray[np.bool_]:
        """Return, for every pair, whether both items have the same cluster."""
        return np.asarray(clusters[self.pairs[:, 0]] == clusters[self.pairs[:, 1]])

    def __len__(self) -> int:
        """Return the number of items."""
        return self.n_items

    def __repr__(self) -> str:
        return f"Pairs({self.n_items} items, {len(self.pairs)} pairs, {self.features.shape[1]} features)"


def read_all(X: Sequence[Any]) -> list[Pairs]:
    """Read examples, each given as Pairs or as an (n, n, F) array."""
    if isinstance(X, Pairs) or not isinstance(X, Iterable):
        raise ValueError(
            f"X is of type {type(X).__name__}; expected a list of sets of items: Pairs or (n, n, F) arrays"
        )
    examples = []
    for i, x in enumerate(X):
        try:
            examples.append(x if isinstance(x, Pairs) else Pairs.from_array(x))
        except ValueError as error:
            raise ValueError(f"example {i}: {error}") from None
    return examples


def read_clustered(X: Sequence[Any], Y: Sequence[Any]) -> tuple[int, list[str] | None]:
    """Check sets of items and their true clusters, and return the number of features and their names, if known.

    Some of the sets may omit the names.
    """
    found: int | None = None
    names: list[str] | None = None
    inside = False
    for i, (x, y) in enumerate(zip(read_all(X), Y, strict=True)):
        inside = bool(np.any(x.inside(cluster_numbers(y, x.n_items, f"example {i}")))) or inside
        if found is None and x.n_features is not None:
            found, where = x.n_features, i
        elif x.n_features not in (None, found):
            raise ValueError(
                f"example {i} has {x.n_features} features per pair; expected {found} as in example {where}"
            )
        if names is None:
            names, named = x.feature_names, i
        elif x.feature_names is not None and x.feature_names != names:
            raise ValueError(
                f"example {i} has the features {', '.join(x.feature_names)}; expected {', '.join(names)} as in "
                f"example {named}"
            )
    if found is None:
        raise ValueError("no example has a pair of items; expected at least one set of two or more items")
    if not inside:
        raise ValueError("no listed pair is inside a true cluster; expected at least one pair of equal labels")
    return found, names


def _checked_pairs(pairs: Any, n_items: int) -> NDArray[np.int64]:
    try:
        numbers = np.asarray(pairs)
    except ValueError:
        raise ValueError("pairs must be an (m, 2) array of item numbers, got rows of different lengths") from None
    if numbers.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if numbers.ndim != 2 or numbers.shape[1] != 2:
        raise ValueError(f"pairs have shape {numbers.shape}; expected (m, 2), two item numbers each")
    if numbers.dtype.kind not in "iu":
        raise ValueError(f"pairs are of the type {numbers.dtype}; expected whole numbers, the indices of items")
    for k in np.flatnonzero(((numbers < 0) | (numbers >= n_items)).any(axis=1))[:1]:
        raise ValueError(
            f"pair {k} is {tuple(numbers[k].tolist())}; expected item numbers from 0 to {n_items - 1}, "
            f"as there are {n_items} items"
        )
    for k in np.flatnonzero(numbers[:, 0] == numbers[:, 1])[:1]:
        raise ValueError(f"pair {k} is {tuple(numbers[k].tolist())}, an item with itself; expected two different items")
    ordered = np.sort(numbers.astype(np.int64), axis=1)
    codes = ordered[:, 0] * n_items + ordered[:, 1]
    order = np.argsort(codes, kind="stable")
    for k in np.flatnonzero(np.diff(codes[order]) == 0)[:1]:
        one, other = order[k : k + 2]
        raise ValueError(f"pairs {one} and {other} are both {tuple(ordered[one].tolist())}; expected every pair once")
    return ordered


def _checked_features(features: Any, pairs: NDArray[np.int64]) -> Any:
    matrix = number_matrix(features, "features must be an (m, F) array of numbers, one row per pair")
    if not sparse.issparse(matrix) and matrix.size == 0 and not len(pairs):
        matrix = matrix.reshape(0, matrix.shape[-1] if matrix.ndim == 2 else 0)
    if matrix.ndim != 2:
        raise ValueError(f"features have shape {matrix.shape}; expected ({len(pairs)}, F), one row per pair")
    check_rows_of_pairs(matrix, pairs, "features", "pair")
    return matrix


def _checked_names(names: Any, features: Any) -> list[str] | None:
    if names is None or not features.shape[0]:
        return None
    listed = [names] if isinstance(names, str) else list(names)
    if len(listed) != features.shape[1] or not all(isinstance(name, str) for name in listed):
        raise ValueError(f"feature_names are {names!r}; expected {features.shape[1]} names, one per feature")
    if len(set(listed)) < len(listed):
        raise ValueError(f"feature_names are {names!r}; expected different names")
    return listed
