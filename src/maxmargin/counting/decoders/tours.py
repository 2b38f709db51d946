"""The best closed tour of a complete digraph with scored arcs, through given points and of given length.

    max Σ_{steps u -> v} arcs[u, v],   the step from the last node back to the first one included,                  (1)

over tours of three or more nodes without repeated ones. A tour is written from the node on where it starts; the last
node is the one from which it returns there.
"""

from __future__ import annotations

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.base.checks import is_whole
from maxmargin.counting.decoders.cycles import best_cycle
from maxmargin.counting.decoders.methods import check_method
from maxmargin.counting.decoders.routes import FoundRoute, checked_arcs, checked_end

LEAST = 3  # the fewest nodes of a tour


def best_tour(
    arcs: Array,
    start: int | None = None,
    end: int | None = None,
    length: int | None = None,
    method: str = "auto",
) -> FoundRoute:
    """Return the best tour of (1), or a good one if the search is hard.

    Parameters
    ----------
    arcs : array of shape (n, n)
        The score of going from row to column. The diagonal is not read.
    start, end : int or None
        The first and the last node, or None. If both are None, a tour starts at its smallest node.
    length : int or None
        The number of nodes of the tour; None for any number >= 3.
    method : str
        As for best_route.

    Returns
    -------
    FoundRoute with the tour, its value, and whether it is proved to be optimal.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.counting.decoders.tours import best_tour
    >>> best_tour(np.array([[0, 2, 0], [0, 0, 2], [2, 0, 0]]))
    FoundRoute(path=[0, 1, 2], value=6.0, exact=True)

    See Also
    --------
    best_route : the same for open paths.
    """
    arcs = checked_arcs(arcs)
    n = len(arcs)
    start, end = checked_end("start", start, n), checked_end("end", end, n)
    if n < LEAST:
        raise ValueError(f"arcs between {n} nodes have no tour; expected at least {LEAST} nodes")
    if start is not None and start == end:
        raise ValueError(f"start and end are both {start}; expected two nodes of a tour, which returns to its start")
    if length is not None and (not is_whole(length) or not LEAST <= int(length) <= n):
        raise ValueError(f"length is {length!r}; expected {LEAST} … {n} nodes for a tour over {n} nodes")
    check_method(method, 1)
    shortest, longest = (LEAST, n) if length is None else (int(length), int(length))
    if start is not None and end is not None:
        tour, exact = _between(arcs, start, end, shortest, longest, method)
    elif start is not None:
        tour, exact = _through(arcs, start, shortest, longest, method)
    elif end is not None:
        tour, exact = _through(arcs, end, shortest, longest, method)
        tour = _turned(tour, 1)
    else:
        tour, exact = best_cycle(arcs, shortest, longest, method)
        tour = _turned(tour, tour.index(min(tour)))
    return FoundRoute(tour, float(arcs[tour, np.roll(tour, -1)].sum()), exact)


def _through(arcs: Array, node: int, shortest: int, longest: int, method: str) -> tuple[list[int], bool]:
    """Return the best tour through one node, starting there."""
    order = np.array([node, *(v for v in range(len(arcs)) if v != node)])
    cycle, exact = best_cycle(arcs[np.ix_(order, order)], shortest, longest, method, front=True)
    return order[_turned(cycle, cycle.index(0))].tolist(), exact


def _between(arcs: Array, start: int, end: int, shortest: int, longest: int, method: str) -> tuple[list[int], bool]:
    """Return the best tour in which `start` follows `end`; the two are merged into one node."""
    free = np.array([v for v in range(len(arcs)) if v not in (start, end)])
    W = np.zeros((len(free) + 1, len(free) + 1))
    W[1:, 1:] = arcs[np.ix_(free, free)]
    W[0, 1:], W[1:, 0] = arcs[start, free], arcs[free, end]
    cycle, exact = best_cycle(W, shortest - 1, longest - 1, method, front=True)
    inner = [v - 1 for v in _turned(cycle, cycle.index(0))[1:]]
    return [start, *free[inner].tolist(), end], exact


def _turned(cycle: list[int], at: int) -> list[int]:
    return [*cycle[at:], *cycle[:at]]
