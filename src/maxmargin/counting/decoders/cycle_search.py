"""Local search for a good cycle, from several starts and then from changes to the best cycle. It is deterministic."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array

STARTS = 30  # for at most 50 nodes; larger graphs get fewer
KICKS = 100  # changes to the best cycle
TOLERANCE = 1e-10  # relative to the largest score; smaller gains are rounding errors

Tour = NDArray[np.int64]


def local_cycle(
    W: Array, shortest: int, longest: int, front: bool, starts: int = STARTS, kicks: int = KICKS
) -> list[int]:
    """Return a cycle that no single change of nodes and no reversal improves; see cycles.py."""
    rng = np.random.default_rng(0)
    climb = _Climb(W, shortest, longest, front)
    if shortest <= 3 <= longest and not front:
        climb.start(_best_triangle(W))
    for number in range(min(starts, max(6, 1500 // len(W)))):
        climb.start(_start(W, shortest, longest, front, number, rng))
    for _ in range(kicks):
        climb.start(_kicked(climb.best, len(W), shortest, longest, rng))
    return climb.best.tolist()


class _Climb:
    """A local search and the best cycle that it has found so far."""

    def __init__(self, W: Array, shortest: int, longest: int, front: bool):
        self.W, self.shortest, self.longest, self.front = W, shortest, longest, front
        self.tolerance = TOLERANCE * float(np.abs(W).max(initial=0.0)) + 1e-300
        self.tour, self.inside = np.zeros(len(W), dtype=np.int64), np.zeros(len(W), dtype=np.uint8)
        self.value, self.best = -np.inf, np.zeros(0, dtype=np.int64)

    def start(self, start: Tour) -> None:
        """Improve this cycle until no single move improves it."""
        from maxmargin.counting.compiled.cycle_moves import climb_cycle

        size = len(start)
        self.tour[:size] = start
        self.inside[:] = 0
        self.inside[start] = 1
        before = -np.inf
        while True:
            size = climb_cycle(self.W, self.tour, size, self.inside, self.shortest, self.longest, self.tolerance)
            tour = self.tour[:size]
            value = float(self.W[tour, np.roll(tour, -1)].sum())
            if self.front or value <= before + self.tolerance:
                break
            before = value
            tour[:] = np.roll(tour, size // 2)  # no move changes the first node, so another one becomes the first
        if value > self.value:
            self.value, self.best = value, tour.copy()


def _start(W: Array, shortest: int, longest: int, front: bool, number: int, rng: np.random.Generator) -> Tour:
    """Return a short greedy cycle, then greedy cycles of random lengths; for few nodes, random ones in turn."""
    n = len(W)
    size = int(rng.integers(shortest, longest + 1)) if number else shortest
    first = 0 if front or not number else int(rng.integers(n))
    if number % 2 == 0 or n > 50:
        return _greedy(W, size, first)
    others = rng.permutation(n)
    return np.append(first, others[others != first][: size - 1])


def _kicked(tour: Tour, n: int, shortest: int, longest: int, rng: np.random.Generator) -> Tour:
    """Return the cycle with a stretch moved and some nodes exchanged, as far as the bounds on its length allow."""
    size = len(tour)
    rest = tour[1:]
    if size > 3:
        a, b, c = np.sort(rng.integers(0, size, 3))
        rest = np.concatenate([rest[:a], rest[b:c], rest[a:b], rest[c:]])
    dropped = min(int(rng.integers(0, 4)), len(rest))
    rest = np.delete(rest, rng.permutation(len(rest))[:dropped])
    outside = np.delete(np.arange(n), tour)
    added = int(rng.integers(0, 4))
    least, most = shortest - 1 - len(rest), longest - 1 - len(rest)
    added = min(max(added, least), most)
    fresh = outside[rng.permutation(len(outside))][:added]
    missing = least - len(fresh)
    if missing > 0:  # there are too few other nodes, so some return
        gone = np.setdiff1d(tour[1:], rest)
        fresh = np.append(fresh, gone[rng.permutation(len(gone))][:missing])
    places = rng.integers(0, len(rest) + 1, len(fresh))
    return np.append(tour[0], np.insert(rest, places, fresh))


def _greedy(W: Array, size: int, begin: int) -> Tour:
    """Return the cycle that follows the best arc to a new node from every node."""
    tour, free = [begin], np.ones(len(W), dtype=bool)
    free[begin] = False
    while len(tour) < size:
        tour.append(int(np.argmax(np.where(free, W[tour[-1]], -np.inf))))
        free[tour[-1]] = False
    return np.array(tour, dtype=np.int64)


def _best_triangle(W: Array) -> Tour:
    off = np.where(np.eye(len(W), dtype=bool), -np.inf, W)
    best, triangle = -np.inf, (0, 1, 2)
    for u in range(len(W)):
        sums = off[u][:, None] + off + off[:, u][None, :]  # u -> v -> w -> u
        v, w = divmod(int(np.argmax(sums)), len(W))
        if sums[v, w] > best:
            best, triangle = sums[v, w], (u, v, w)
    return np.array(triangle, dtype=np.int64)
