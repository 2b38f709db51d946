"""Estimates of the remaining time of iterative work."""

from __future__ import annotations

from math import inf, isfinite, log


class TimeLeft:
    """An estimator of the time until an error falls below `goal` or the amount of work reaches `limit`."""

    def __init__(self, goal: float, limit: float):
        self.goal, self.limit = goal, limit
        self._first: tuple[float, float] | None = None  # error and seconds

    def seconds(self, error: float, work: float, seconds: float) -> float | None:
        """Return the estimated seconds until whichever end comes first, or None if nothing is known."""
        left = min(self._until_goal(error, seconds), self._until_limit(work, seconds))
        return left if isfinite(left) else None

    def _until_goal(self, error: float, seconds: float) -> float:
        """Extrapolate the logarithm of the error, because errors shrink about geometrically."""
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
