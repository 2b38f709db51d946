"""How long work will take, from how far it has come."""

from __future__ import annotations

from math import inf, isfinite, log


class TimeLeft:
    """Of work that ends when an error falls below `goal`, or when so much work is done as `limit` says."""

    def __init__(self, goal: float, limit: float):
        self.goal, self.limit = goal, limit
        self._first: tuple[float, float] | None = None  # error and seconds

    def seconds(self, error: float, work: float, seconds: float) -> float | None:
        """Until whichever end comes first; None where nothing can be said."""
        left = min(self._until_goal(error, seconds), self._until_limit(work, seconds))
        return left if isfinite(left) else None

    def _until_goal(self, error: float, seconds: float) -> float:
        """Errors shrink about geometrically: extrapolate the logarithm."""
        if error <= self.goal:
            return 0.0
        if not isfinite(error):
            return inf
        if self._first is None:
            self._first = error, seconds
        fallen = log(self._first[0] / error)
        return log(error / self.goal) / fallen * (seconds - self._first[1]) if fallen > 0 else inf

    def _until_limit(self, work: float, seconds: float) -> float:
        return max(self.limit / work - 1, 0.0) * seconds if work > 0 else inf
