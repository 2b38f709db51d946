"""Subtopics: the subtopics of a query's documents, the weight that a set of documents covers, and the best set.

Weights of subtopics are whole numbers (the number of documents with a subtopic, or 1), so that coverage is exact and
sets that cover equally much compare as equal.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

SubtopicWeights = Literal["documents", "equal"]
WEIGHTS = get_args(SubtopicWeights)


class Subtopics:
    """Numbered subtopics of each document of one query, with their weights.

    of : for every document the set of its subtopics, any hashable values; an empty set if it has none.
    weights : "documents", a subtopic weighs as much as it has documents; "equal", all weigh the same.
    """

    def __init__(self, of: Any, weights: str = "documents"):
        self.sets = _read(of)
        names: dict[Hashable, int] = {}
        for each in self.sets:
            for name in sorted(each, key=lambda value: (type(value).__name__, repr(value))):
                names.setdefault(name, len(names))
        self.names = list(names)
        self.numbers = [np.array(sorted(names[name] for name in each), dtype=np.int64) for each in self.sets]
        flat = np.concatenate(self.numbers) if self.numbers else np.empty(0, dtype=np.int64)
        counts = np.bincount(flat, minlength=len(names)).astype(np.int64)
        self.weights: NDArray[np.int64] = counts if checked_weights(weights) == "documents" else np.ones_like(counts)
        self.total = int(self.weights.sum())

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self.sets)

    def covered(self, documents: Iterable[int]) -> int:
        """Return the weight of the subtopics that these documents cover together."""
        found = [self.numbers[d] for d in documents]
        return int(self.weights[np.unique(np.concatenate(found))].sum()) if found else 0

    def best(self, k: int) -> tuple[frozenset[int], ...]:
        """Return the sets of subtopics of at most k documents that together cover the largest possible weight.

        Documents with the same subtopics are interchangeable, and those with a subset of another's are no better. The
        remaining small problem of maximum coverage is solved exactly as a mixed-integer program; sets that add nothing
        are dropped from its solution.
        """
        return _best_sets(tuple(frozenset(each.tolist()) for each in self.numbers), tuple(self.weights.tolist()), k)

    def most(self, k: int) -> int:
        """Return the largest weight that k documents can cover."""
        return int(self.weights[sorted(set().union(*self.best(k)))].sum())


@lru_cache(maxsize=256)  # the losses of all outputs of an example need the same sets
def _best_sets(sets: tuple[frozenset[int], ...], weights: tuple[int, ...], k: int) -> tuple[frozenset[int], ...]:
    kinds = [each for each in dict.fromkeys(sets) if each]
    kinds = [each for each in kinds if not any(each < other for other in kinds)]
    needed: list[frozenset[int]] = []
    covered: set[int] = set()
    for kind in sorted(kinds if len(kinds) <= k else _best_cover(kinds, weights, k), key=lambda kind: -len(kind)):
        if not kind <= covered:
            needed.append(kind)
            covered |= kind
    return tuple(needed)


def _best_cover(kinds: list[frozenset[int]], weights: tuple[int, ...], k: int) -> list[frozenset[int]]:
    """Choose the k sets whose union has the largest weight."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    # maximise Σ weights[s] c_s, where c_s <= number of chosen kinds with s and k kinds are chosen
    n_kinds, n_subtopics = len(kinds), len(weights)
    has = np.array([[s in kind for kind in kinds] for s in range(n_subtopics)], dtype=float)
    rows = sparse.csr_array(np.hstack([-has, np.eye(n_subtopics)]))
    chosen = np.append(np.ones(n_kinds), np.zeros(n_subtopics))[None, :]
    found = milp(
        -np.append(np.zeros(n_kinds), np.array(weights, dtype=float)),
        integrality=np.append(np.ones(n_kinds), np.zeros(n_subtopics)),
        bounds=Bounds(0, 1),
        constraints=[LinearConstraint(rows, -np.inf, 0), LinearConstraint(chosen, -np.inf, k)],
        options={"mip_rel_gap": 0.0},
    )
    if not found.success:
        raise RuntimeError(f"the mixed-integer program for the best {k} documents failed: {found.message}")
    return [kinds[t] for t in np.flatnonzero(found.x[:n_kinds] > 0.5)]


def read_all(Y: Any, sizes: Sequence[int], weights: str) -> list[Subtopics]:
    """Read the subtopics of all queries, and check them against the numbers of documents."""
    if isinstance(Y, str | Mapping | set | frozenset) or not isinstance(Y, Iterable):
        raise ValueError(f"Y is of type {type(Y).__name__}; expected for each query a list of sets of subtopics")
    queries = []
    for i, (y, size) in enumerate(zip(Y, sizes, strict=True)):
        try:
            subtopics = y if isinstance(y, Subtopics) else Subtopics(y, weights)
        except ValueError as error:
            raise ValueError(f"query {i}: {error}") from None
        if len(subtopics) != size:
            raise ValueError(
                f"query {i} has {size} documents but {len(subtopics)} sets of subtopics; expected one per document"
            )
        queries.append(subtopics)
    return queries


def checked_weights(weights: Any) -> str:
    """Return the name of a weighting of subtopics after checking it."""
    if not isinstance(weights, str) or weights not in WEIGHTS:
        raise ValueError(f"subtopic weights must be 'documents' or 'equal', got {weights!r}")
    return weights


def _read(of: Any) -> list[frozenset[Hashable]]:
    if isinstance(of, str | Mapping | set | frozenset) or not isinstance(of, Iterable):
        raise ValueError(
            f"the subtopics are of type {type(of).__name__}; expected a list with a set of subtopics for each document"
        )
    sets = []
    for d, each in enumerate(of):
        if not isinstance(each, set | frozenset | list | tuple | np.ndarray):
            raise ValueError(
                f"the subtopics of document {d} are {each!r}; expected a set (an empty one if there are no subtopics)"
            )
        try:
            sets.append(frozenset(each.tolist() if isinstance(each, np.ndarray) else each))
        except TypeError:
            raise ValueError(f"the subtopics of document {d} are {each!r}; expected hashable values") from None
        if None in sets[-1]:
            raise ValueError(f"document {d} has the subtopic None; expected an empty set if there are no subtopics")
    if not sets:
        raise ValueError("there are no documents; expected a set of subtopics for at least one")
    if not any(sets):
        raise ValueError("no document has a subtopic, so every choice is as good as any other; leave this query out")
    return sets
