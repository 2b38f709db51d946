"""The best cycle of a digraph with scored arcs: the choice of a search method.

    max Σ_{arcs (u, v) of the cycle} W[u, v]    over cycles of `shortest` to `longest` nodes                        (1)

With front=True the cycle must go through node 0. Open paths are searched in this way: node 0 represents both ends of
the path (routes.py).
"""

from __future__ import annotations

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.counting.decoders.methods import check_method, tries_all
from maxmargin.counting.decoders.pair_scores import checked_scores


def best_cycle(
    W: Array, shortest: int, longest: int, method: str = "auto", front: bool = False
) -> tuple[list[int], bool]:
    """Return a cycle for (1), and whether it is proved to be optimal. The diagonal of W is not read."""
    check_method(method, len(W))
    W = checked_scores(W, "the arc from {u} to {v}")
    if method == "milp":
        from maxmargin.counting.decoders.cycle_program import programmed_cycle

        return programmed_cycle(W, shortest, longest, front), True
    if tries_all(method, len(W)):
        from maxmargin.counting.decoders.held_karp import exact_cycle

        return exact_cycle(W, shortest, longest, front), True
    from maxmargin.counting.decoders.cycle_search import local_cycle

    if method == "auto" and front and shortest == longest:
        from maxmargin.counting.decoders.bounded_cycle import bounded_cycle

        found, exact = bounded_cycle(W, shortest, local_cycle(W, shortest, longest, front, starts=6, kicks=0))
        if exact:
            return found, True
        return bounded_cycle(W, shortest, _better(W, found, local_cycle(W, shortest, longest, front)))
    return local_cycle(W, shortest, longest, front), False


def _better(W: Array, first: list[int], second: list[int]) -> list[int]:
    return max(first, second, key=lambda cycle: float(W[cycle, np.roll(cycle, -1)].sum()))
