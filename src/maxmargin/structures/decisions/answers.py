"""Optimisers: calls of the user's optimiser, one by one or many at once, with checks of what it returns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.base.errors import TaskError

WHOLE = 1e-6  # answers this close to 0 or 1 are rounded: the tolerance of mixed-integer solvers
SENSES = {"min": 1, "max": -1}


class Optimisers:
    """Wrapper of one optimiser for all examples, or of a list with one for each.

    An optimiser is a function of costs, one per part, that returns a number for every part: the decision z with the
    lowest costs·z (sense "min") or the highest ("max"). It may have these attributes:

    sense : "min" (the default) or "max".
    exact : False if it may miss the best decision.
    nonnegative : True if it needs costs >= 0.
    same_size : True if Σ z is the same for all decisions, so that a constant may be added to all costs.
    n_parts : the number of costs it takes.
    solve_many : a function of an (n, P) array of costs that returns the n decisions at once.
    check : a function of z that raises an error, or returns False, if z is not a valid decision.
    """

    def __init__(self, given: Any, sense: str | None = None):
        self.given = list(given) if isinstance(given, list | tuple) else given
        every = self.given if isinstance(self.given, list) else [given]
        for k, each in enumerate(every):
            if not callable(each):
                which = f"optimiser {k}" if isinstance(self.given, list) else "optimiser"
                raise TypeError(f"{which} must be a function of costs that returns a decision, got {each!r}")
        self.sense = _agreed_sense([getattr(each, "sense", None) for each in every], sense)
        self.sign = SENSES[self.sense]
        self.exact = all(getattr(each, "exact", True) for each in every)
        self.nonnegative = any(getattr(each, "nonnegative", False) for each in every)
        self.shifts = all(getattr(each, "same_size", False) for each in every if getattr(each, "nonnegative", False))

    @property
    def at_once(self) -> bool:
        """True if one call can solve many examples."""
        return hasattr(self.given, "solve_many")

    def of(self, i: int) -> Any:
        """Return the optimiser of example i."""
        return self.given[i] if isinstance(self.given, list) else self.given

    def check_sizes(self, sizes: NDArray[np.int64]) -> None:
        """Raise a ValueError if an example has another number of parts than its optimiser takes."""
        for i, size in enumerate(sizes.tolist()):
            expected = getattr(self.of(i), "n_parts", None)
            if expected is not None and expected != size:
                raise ValueError(f"example {i} has {size} parts; expected {expected}, which its optimiser takes")

    def refuse_nonnegative(self) -> None:
        """Raise a ValueError if the optimiser cannot take the costs that training needs."""
        if self.nonnegative and not self.shifts:
            raise ValueError(
                "the optimiser needs costs >= 0 (nonnegative = True), but training calls it at predicted costs minus "
                "true ones or minus a margin, which have any sign. Use an optimiser that takes "
                "all costs (on a graph without cycles, dynamic programming instead of Dijkstra's algorithm), or, "
                "if Σ z is the same for all decisions, set same_size = True: a constant is then added to all "
                "costs, which changes no decision"
            )

    def answers(self, costs: Array, sizes: NDArray[np.int64], ids: Sequence[int], whole: bool = False) -> Array:
        """Return the decisions at these costs, concatenated over examples; ids are the numbers of the examples.

        whole : whether decisions consist of 0 and 1, so that they can be compared part by part.
        """
        found = self._answers(costs, sizes, ids)
        if not whole or ((found == 0) | (found == 1)).all():
            return found
        ends = np.cumsum(sizes)
        parts = zip(ids, ends - sizes, ends, strict=True)
        return np.concatenate([_rounded(found[a:b], f"example {i}", costs[a:b]) for i, a, b in parts])

    def _answers(self, costs: Array, sizes: NDArray[np.int64], ids: Sequence[int]) -> Array:
        if self.nonnegative:
            costs = _shifted(costs, sizes)
        if self.at_once and len(sizes) > 0 and (sizes == sizes[0]).all():
            return self._together(costs.reshape(len(sizes), -1), ids).ravel()
        found = np.empty(len(costs))
        ends = np.cumsum(sizes)
        for i, begin, end in zip(ids, (ends - sizes).tolist(), ends.tolist(), strict=True):
            own = costs[begin:end]
            try:
                answer = self.of(i)(own.copy())
            except Exception as error:
                error.add_note(f"maxmargin: raised by the optimiser on example {i}, at the costs {shown(own)}")
                raise
            found[begin:end] = _checked(answer, own, f"example {i}")
        return found

    def _together(self, costs: Array, ids: Sequence[int]) -> Array:
        try:
            answer = self.of(0).solve_many(costs.copy())
        except Exception as error:
            which = ", ".join(map(str, ids[:20])) + (", …" if len(ids) > 20 else "")
            error.add_note(f"maxmargin: raised by solve_many of the optimiser on the examples {which}")
            raise
        given: Any = None if answer is None else np.asarray(answer)
        if given is not None and given.shape == costs.shape and given.dtype.kind in "fiub":
            found = np.array(given, dtype=float)
            if np.isfinite(found.sum()):
                return found
        if given is None or given.ndim != 2 or len(given) != len(costs):
            shape = "None" if given is None else f"an array of shape {given.shape}"
            raise TaskError(f"solve_many of the optimiser returned {shape} for costs of shape {costs.shape}")
        rows = [_checked(each, own, f"example {i}") for each, own, i in zip(given, costs, ids, strict=True)]
        return np.array(rows)

    def check_feasible(self, z: Array, i: int, what: str) -> None:
        """Raise a TaskError if the optimiser has a check and it rejects z."""
        check = getattr(self.of(i), "check", None)
        if check is None:
            return
        try:
            verdict = check(z.copy())
        except Exception as error:
            raise TaskError(f"the optimiser's check rejects {what}: {error}; it is {shown(z)}") from error
        if verdict is not None and not verdict:
            raise TaskError(f"the optimiser's check rejects {what}; it is {shown(z)}")


def shown(values: Array) -> str:
    """Format a few of these numbers for messages."""
    text = np.array2string(np.asarray(values), precision=6, threshold=12, edgeitems=4, max_line_width=1000)
    return text if len(values) <= 12 else f"{text} ({len(values)} of them)"


def _agreed_sense(own: list[Any], given: str | None) -> str:
    """Return the sense of all optimisers, after checking that they and the user do not contradict each other."""
    if given is not None and given not in SENSES:
        raise ValueError(f"sense must be 'min', 'max' or None (the optimiser's own sense), got {given!r}")
    for k, each in enumerate(own):
        if each is not None and each not in SENSES:
            raise ValueError(f"the optimiser's sense is {each!r}; expected 'min' or 'max'")
        if each is not None and given is not None and each != given:
            raise ValueError(f"sense is {given!r}, but the optimiser's own sense is {each!r}; use sense=None")
        if given is None and (each or "min") != (own[0] or "min"):
            raise ValueError(
                f"optimiser {k} has the sense {each or 'min'!r}, but optimiser 0 has {own[0] or 'min'!r}; "
                "expected the same sense for all"
            )
    return given or own[0] or "min"


def _shifted(costs: Array, sizes: NDArray[np.int64]) -> Array:
    """Make costs nonnegative by adding a constant to all costs of every example that has negative ones."""
    owner = np.repeat(np.arange(len(sizes)), sizes)
    lowest = np.zeros(len(sizes))
    np.minimum.at(lowest, owner, costs)
    return np.asarray(costs - lowest[owner])


def _checked(answer: Any, costs: Array, name: str) -> Array:
    """Return the numbers of a decision, or raise a TaskError that says what was returned instead."""
    found = None if answer is None else np.asarray(answer)
    if found is None:
        what = "None"
    elif found.dtype.kind not in "fiub":
        what = f"{found.dtype} values"
    elif found.shape != costs.shape:
        what = f"an array of shape {found.shape}"
    elif not np.isfinite(found).all():
        what = f"{found[~np.isfinite(found)][0]} at part {int(np.argmin(np.isfinite(found)))}"
    else:
        return np.asarray(found, dtype=float)
    raise TaskError(
        f"the optimiser returned {what} for {name}, at the costs {shown(costs)}; expected {len(costs)} finite numbers, "
        "one per part"
    )


def _rounded(z: Array, name: str, costs: Array) -> Array:
    """Round a decision to zeros and ones, or raise a TaskError if it is not near to them."""
    rounded = np.round(z)
    good = (np.abs(z - rounded) <= WHOLE) & (rounded >= 0) & (rounded <= 1)
    if not good.all():
        p = int(np.argmin(good))
        raise TaskError(
            f"the optimiser's answer for {name} has {z[p]:g} at part {p}, at the costs {shown(costs)}; with "
            'measure="parts" every number must be 0 or 1'
        )
    return rounded + 0.0
