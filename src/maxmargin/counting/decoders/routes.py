"""The best simple path of a complete digraph with scored arcs and nodes, between given ends and of given length.

    max Σ_{nodes v} node_scores[v] + Σ_{steps u -> v} arcs[u, v] + start_scores[first] + end_scores[last]           (1)

over paths without repeated nodes. A path is a cycle through a depot that stands for its ends: the depot precedes the
first node that is free to choose, and follows the last one. So the searches for cycles apply (cycles.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.base.checks import is_whole
from maxmargin.counting.decoders.cycles import best_cycle
from maxmargin.counting.decoders.methods import check_method


class FoundRoute(NamedTuple):
    """A path that a search has found."""

    path: list[int]
    value: float  # the value (1) of the path
    exact: bool  # True if the path is proved to be optimal


def best_route(
    arcs: Array,
    node_scores: Array | None = None,
    start: int | None = None,
    end: int | None = None,
    length: int | None = None,
    method: str = "auto",
    start_scores: Array | None = None,
    end_scores: Array | None = None,
) -> FoundRoute:
    """Return the best path of (1), or a good one if the search is hard.

    Parameters
    ----------
    arcs : array of shape (n, n)
        The score of going from row to column. The diagonal is not read.
    node_scores : array of shape (n,) or None
        The score of visiting a node. None means 0.
    start, end : int or None
        The first and the last node, or None if they are free. The same node for both is a path of length 1.
    length : int or None
        The number of nodes of the path; None for any number >= 1.
    method : str
        "exact": over all subsets of the nodes that are free to choose, at most 19; "local": local search; "milp": an
        integer program, exact; "auto": "exact" for at most 14 free nodes, otherwise local search, which for a given
        length is followed by branch and bound: lengths up to 15 among 90 nodes are exact in most cases.
    start_scores, end_scores : array of shape (n,) or None
        The score of a node as the first and as the last of the path.

    Returns
    -------
    FoundRoute with the path, its value, and whether it is proved to be optimal.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.counting.decoders.routes import best_route
    >>> best_route(np.array([[0, 2, 1], [0, 0, 3], [0, 0, 0]]), start=0)
    FoundRoute(path=[0, 1, 2], value=5.0, exact=True)

    See Also
    --------
    best_tour : the same for closed tours.
    """
    arcs = checked_arcs(arcs)
    nodes, first, last = (
        _checked_scores(name, scores, len(arcs))
        for name, scores in (("node_scores", node_scores), ("start_scores", start_scores), ("end_scores", end_scores))
    )
    start, end = checked_end("start", start, len(arcs)), checked_end("end", end, len(arcs))
    _check_length(length, len(arcs), start, end)
    check_method(method, 1)  # checked even if there is nothing to search
    found = [(path, True) for path in _fixed_paths(start, end, length)]
    ends = {each for each in (start, end) if each is not None}
    free = np.array([v for v in range(len(arcs)) if v not in ends], dtype=np.intp)
    least, most = (1, len(free)) if length is None else (length - len(ends), length - len(ends))
    if 1 <= least <= most and (start is None or start != end):
        gains = arcs + nodes  # gain of stepping to a node
        W = np.zeros((len(free) + 1, len(free) + 1))
        W[1:, 1:] = gains[np.ix_(free, free)]
        W[0, 1:] = gains[start, free] if start is not None else first[free] + nodes[free]
        W[1:, 0] = gains[free, end] if end is not None else last[free]
        cycle, exact = best_cycle(W, least + 1, most + 1, method, front=True)
        at = cycle.index(0)
        inner = free[[v - 1 for v in (*cycle[at + 1 :], *cycle[:at])]].tolist()
        found.append(([*([] if start is None else [start]), *inner, *([] if end is None else [end])], exact))

    def value(path: list[int]) -> float:
        return float(nodes[path].sum() + arcs[path[:-1], path[1:]].sum() + first[path[0]] + last[path[-1]])

    path = max((path for path, _ in found), key=value)
    return FoundRoute(path, value(path), all(exact for _, exact in found))


def _fixed_paths(start: int | None, end: int | None, length: int | None) -> Iterator[list[int]]:
    """Yield the paths without a node that is free to choose."""
    if start is not None and (end is None or end == start) and length in (None, 1):
        yield [start]
    elif start is None and end is not None and length in (None, 1):
        yield [end]
    elif start is not None and end is not None and end != start and length in (None, 2):
        yield [start, end]


def checked_arcs(arcs: Any) -> Array:
    """Return a copy of a square matrix of finite scores, with a zero diagonal."""
    arcs = np.array(arcs, dtype=np.float64)
    if arcs.ndim != 2 or arcs.shape[0] != arcs.shape[1] or not len(arcs):
        raise ValueError(f"arcs have the shape {arcs.shape}; expected a square matrix with one row per node")
    np.fill_diagonal(arcs, 0.0)
    _check_finite("arcs", arcs)
    return arcs


def _checked_scores(name: str, given: Any, n: int) -> Array:
    scores = np.zeros(n) if given is None else np.array(given, dtype=np.float64)
    if scores.shape != (n,):
        raise ValueError(f"{name} have the shape {scores.shape}; expected ({n},), one per row of arcs")
    _check_finite(name, scores)
    return scores


def _check_finite(name: str, scores: Array) -> None:
    if not np.isfinite(scores).all():
        place = tuple(np.argwhere(~np.isfinite(scores))[0].tolist())
        raise ValueError(f"{name}[{', '.join(map(str, place))}] is {scores[place]}; expected finite numbers")


def checked_end(name: str, node: Any, n: int) -> int | None:
    """Return the number of a node, or None; raise a ValueError if it is not a node."""
    if node is None:
        return None
    if not is_whole(node) or not 0 <= int(node) < n:
        raise ValueError(f"{name} is {node!r}; expected a node 0 … {n - 1}")
    return int(node)


def _check_length(length: Any, n: int, start: int | None, end: int | None) -> None:
    if length is None:
        return
    least, most = 1, n
    if start is not None and end is not None:
        least, most = (1, 1) if start == end else (2, n)
    if not is_whole(length) or not least <= int(length) <= most:
        between = f"from {start} to {end}" if least == 2 or most == 1 else f"over {n} nodes"
        raise ValueError(f"length is {length!r}; expected {least} … {most} nodes for a path {between}")
