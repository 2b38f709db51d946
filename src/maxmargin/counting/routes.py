"""Routes as sequences of different points, and measures of agreement between predicted and true routes.

Both measures are F1 = 2 |A ∩ B| / (|A| + |B|), for a set A derived from the true route and a set B derived from the
predicted one, averaged over routes (Chen, Ong and Xie, "Learning points and routes to recommend trajectories", CIKM
2016). If both sets are empty, F1 is 1.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from maxmargin.inputs.labels.labels import plain

Route = Sequence[Hashable]


def point_f1(truth: Sequence[Route], found: Sequence[Route]) -> float:
    """Return the mean F1 of the points that routes visit, in any order; a given start counts like any other point.

    Parameters
    ----------
    truth, found : sequence
        Sequences of routes, each a sequence of points.

    Returns
    -------
    float, the mean over routes, between 0 and 1.

    Examples
    --------
    >>> from maxmargin.metrics import point_f1
    >>> round(point_f1([("a", "b", "c")], [("a", "c", "d")]), 3)
    0.667

    See Also
    --------
    pair_f1 : the same for the order of points.
    """
    return _mean_f1(truth, found, lambda route: route)


def pair_f1(truth: Sequence[Route], found: Sequence[Route]) -> float:
    """Return the mean F1 of ordered pairs: a route has the pair (u, v) if it visits u before v, adjacent or not.

    It is 1 only for the true points in the true order. It is meant for open routes, because the pairs of a closed tour
    depend on the point at which it is said to start.

    Parameters
    ----------
    truth, found : sequence
        Sequences of routes, each a sequence of points.

    Returns
    -------
    float, the mean over routes, between 0 and 1.

    Examples
    --------
    >>> from maxmargin.metrics import pair_f1
    >>> round(pair_f1([("a", "b", "c")], [("a", "c", "d")]), 3)
    0.333

    See Also
    --------
    point_f1 : the same for points, whatever their order.
    """
    return _mean_f1(truth, found, lambda route: combinations(route, 2))


def checked_place(name: Hashable, place: Any) -> tuple[float, float]:
    """Return the coordinates of a point; raise a ValueError unless they are two finite numbers."""
    try:
        numbers = np.asarray(place, dtype=float)
    except (ValueError, TypeError):
        numbers = np.empty(0)
    if numbers.shape != (2,) or not np.isfinite(numbers).all():
        raise ValueError(f"point {name!r} is at {place!r}; expected two finite coordinates")
    return float(numbers[0]), float(numbers[1])


def _mean_f1(truth: Sequence[Route], found: Sequence[Route], parts: Callable[[list[Any]], Iterable[Any]]) -> float:
    if len(truth) != len(found):
        raise ValueError(f"there are {len(truth)} true but {len(found)} predicted routes")
    if not len(truth):
        raise ValueError("there are no routes to compare")
    scores = []
    for i, pair in enumerate(zip(truth, found, strict=True)):
        mine, other = (
            set(parts(_points(route, f"{whose} route {i}")))
            for whose, route in zip(("true", "predicted"), pair, strict=True)
        )
        scores.append(2 * len(mine & other) / (len(mine) + len(other)) if mine or other else 1.0)
    return float(np.mean(scores))


def _points(route: Any, name: str) -> list[Any]:
    if isinstance(route, str | set | frozenset) or not isinstance(route, Iterable):
        raise ValueError(f"the {name} is {route!r}; expected a sequence of points")
    points = [plain(point) for point in route]
    if len(set(points)) < len(points):
        twice = next(point for k, point in enumerate(points) if point in points[:k])
        raise ValueError(f"the {name} visits {twice!r} twice; expected different points")
    return points
