"""Packed decision problems, and the search by the user's optimiser.

The parts of all examples are concatenated in flat arrays, and part u of these is atom u for both kinds of features:
with features of parts, atom u is unit u at its only label; with features of whole examples, it is unit i at label p,
i·P + p = u.
"""

from __future__ import annotations

from copy import copy
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array, Index
from maxmargin.base.errors import TaskError
from maxmargin.kernels.atom_batch import AtomBatch
from maxmargin.problem.contract.batch import Offered
from maxmargin.problem.contract.capabilities.latent import Latent
from maxmargin.problem.contract.capabilities.missing_labels import MissingLabels
from maxmargin.problem.contract.capabilities.rescaled_search import RescaledSearch
from maxmargin.problem.contract.capabilities.signed_losses import SignedLosses
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.planes.atoms import AtomRows, Atoms
from maxmargin.problem.planes.planes import Planes
from maxmargin.structures.decisions.answers import Optimisers, shown
from maxmargin.structures.decisions.observations import ROUNDING, Observed
from maxmargin.structures.decisions.regression import least_squares
from maxmargin.structures.parts.branching import PartScores, most_violated_parts

CHECKED = 100  # examples on which the optimiser is tried before training
MOST_DECODES = 200  # calls per example in one exact search with rescaled losses
SLOPPY = 1e-7  # tolerated suboptimality of an exact optimiser, relative to the total magnitude of its costs


class PartLayout(NamedTuple):
    """Positions of the parts of some examples in the flat arrays."""

    sizes: NDArray[np.int64]  # number of parts of each example
    parts: NDArray[np.int64]  # flat indices of all their parts
    owner: NDArray[np.int64]  # the example of each part, numbered within these examples

    def sums(self, values: Array) -> Array:
        """Sum the values over the parts of each example."""
        return np.asarray(np.bincount(self.owner, values, minlength=len(self.sizes)), dtype=float)

    def magnitudes(self, costs: Array, *decisions: Array) -> Array:
        """Return Σ|costs| · max|decisions| of each example, the scale of rounding errors in their products.

        All costs count, not only those of chosen parts: a linear program treats a cost of 1e-15 as 0 if another cost is
        1.
        """
        largest = np.zeros(len(self.sizes))
        np.maximum.at(largest, self.owner, np.max(np.abs(decisions), axis=0))
        return self.sums(np.abs(costs)) * largest


class DecisionBatch(AtomBatch, Latent, MissingLabels, RescaledSearch, SignedLosses):
    """Batch of examples whose outputs are decisions of an optimiser, at costs that are linear in w."""

    def __init__(self, task: Any, atoms: Atoms, bounds: NDArray[np.int64], labels: Observed, optimisers: Optimisers):
        super().__init__(task, len(bounds) - 1, atoms)
        self.bounds, self.sizes, self.labels, self.optimisers = bounds, np.diff(bounds), labels, optimisers
        self.truth = labels.decision  # unknown parts are filled in by `completed`
        self.call_cost = 6.0 if optimisers.at_once else 20.0

    def offers(self, capability: type[Offered]) -> Offered | None:
        if capability is Latent and not self.task.latent:
            return None
        counts_parts, exact = self.task.measure == "parts", self.optimisers.exact
        # The search branches over parts: it needs a loss that counts parts, and exact answers for its bounds.
        if capability is RescaledSearch and not (counts_parts and exact):
            return None
        if capability is SignedLosses and (counts_parts or exact):
            return None
        return super().offers(capability)

    def planes(self, w: Array, augment: float | Array = 1.0) -> Planes:
        from maxmargin.structures.decisions.compiled import decision_rows as compiled

        own = (self.bounds, self.ids)
        sign, factor, added = self.optimisers.sign, self.task.factor, self.labels.added
        costs = self._predicted(w)
        compiled.augment(costs, factor, added, *own, sign * self.loss_weights(augment))
        found = self._answers(costs)
        ends, indices = np.empty(len(self) + 1, dtype=np.int32), np.empty(len(costs), dtype=np.int32)
        values, loss = np.empty(len(costs)), np.empty(len(self))
        if compiled.difference_rows(costs, found, self.truth, added, *own, sign, factor, ends, indices, values, loss):
            return Planes(AtomRows(self.atoms, ends, indices[: ends[-1]], values[: ends[-1]]), loss)
        layout = self._layout_of_parts()
        return self._planes(layout, self._no_worse(found, costs, layout))

    def rescaled_planes(self, w: Array, formulation: Formulation) -> Planes:
        """Search by branch and bound over the parts that are decided otherwise than in the truth."""
        layout = self._layout_of_parts()
        scores = -self.optimisers.sign * self.task.factor * self._predicted(w)
        found, upper = self.truth[layout.parts], np.empty(len(self))
        ends = np.cumsum(layout.sizes)
        for j, (begin, end) in enumerate(zip(ends - layout.sizes, ends, strict=True)):
            one, own = self.take(np.array([j])), layout.parts[begin:end]
            truth = np.flatnonzero(self.truth[own])
            problem = PartScores(scores[begin:end], self.labels.added[own], truth)
            answer = most_violated_parts(one._chosen, problem, formulation, MOST_DECODES)
            if answer.chosen is not None:
                found[begin:end] = 0.0
                found[begin + answer.chosen] = 1.0
            upper[j] = answer.upper
        return self._planes(layout, found)._replace(upper=upper)

    def why_signed(self) -> str:
        """Return the reason why regrets of an inexact optimiser may be negative."""
        return "an inexact optimiser may find decisions that are better than those it considers the best ones"

    def regressed(self, weights: Array, constant: bool) -> Array:
        """Return the w that predicts the true costs best (regression.py); `constant` says if the last feature is 1."""
        units, rows = self.atoms.arrays, self.atoms.matrix()
        costs = (self.optimisers.sign * self.labels.added).reshape(-1, units.n_labels)
        each = np.repeat(weights, self.sizes) if self.task.of_parts_ else weights
        return least_squares(rows, costs, each, constant).ravel()

    # --- hidden parts

    def informative(self) -> Index:
        """Return the positions of the examples with at least one known part."""
        layout = self._layout_of_parts()
        return np.flatnonzero(layout.sums(~np.isnan(self.labels.decision[layout.parts])) > 0)

    def guessed(self, rng: np.random.Generator) -> Self:
        return self.completed(rng.standard_normal(self.dim))

    def completed(self, w: Array) -> Self:
        layout = self._layout_of_parts()
        after = copy(self)
        after.truth = self.truth.copy()
        after.truth[layout.parts] = self._explained(self._predicted(w), layout)
        return after

    def shifts_to(self, after: Self) -> AtomRows:
        layout = self._layout_of_parts()
        change = after.truth[layout.parts] - self.truth[layout.parts]
        return self._rows(layout, -self.optimisers.sign * self.task.factor * change)

    # --- promises

    def check_optimiser(self) -> None:
        """Raise a TaskError if the optimiser breaks a promise on the training data."""
        if self.task.measure == "regret":
            self._check_regrets()
        else:
            self._check_decisions()

    def _check_regrets(self) -> None:
        """Check the optimiser at the true costs and at their negatives: the best and the worst decisions."""
        for first in range(0, len(self), CHECKED):
            some = self.take(np.arange(first, min(first + CHECKED, len(self))))
            layout, costs = (
                some._layout_of_parts(),
                self.optimisers.sign * some.labels.added[some._layout_of_parts().parts],
            )
            best, worst = some.truth[layout.parts], some._answers(-costs)
            for z, what in ((best, "the answer at the costs"), (worst, "the answer at minus the costs")):
                some._check_feasible(z, layout, what)
            some._check_each_other({1: best, -1: worst}, costs, layout)
            regrets = self.optimisers.sign * layout.sums(costs * (worst - best))
            if (regrets > ROUNDING * layout.magnitudes(costs, best, worst)).any():
                return
        raise TaskError(
            "the optimiser returned decisions of the same cost at the costs in Y and at minus these costs, for every "
            "example: either it ignores its costs, or there is nothing to decide, because all decisions cost "
            f"the same. Its answer for example 0 was {shown(self.truth[: self.bounds[1]])}"
        )

    def _check_decisions(self) -> None:
        """Check that the decisions in Y are found at costs that reward agreement with them."""
        layout = self._layout_of_parts()
        known = np.nan_to_num(self.labels.decision[layout.parts])
        if not np.isnan(self.labels.decision).any():
            self._check_feasible(known, layout, "the decision in Y")
        if self.optimisers.exact:
            nearest = self._explained(np.zeros(len(known)), layout)
            self._check_feasible(nearest, layout, "the answer")
            some = self.take(np.arange(min(CHECKED, len(self))))
            layout = some._layout_of_parts()
            costs = self.optimisers.sign * some.labels.added[layout.parts]
            farthest = some._answers(-costs)
            some._check_each_other({1: nearest[: len(costs)], -1: farthest}, costs, layout)

    def _check_each_other(self, answers: dict[int, Array], costs: Array, layout: PartLayout) -> None:
        """Check that no answer, at these costs (1) or at their negatives (-1), is worse than another at its own costs.

        This exposes optimisers that use absolute values of costs or clip negative ones.
        """
        if not self.optimisers.exact or len(self) == 0:
            return
        alike = not isinstance(self.optimisers.given, list) and (layout.sizes == layout.sizes[0]).all()
        pool = np.concatenate([z.reshape(len(self), -1) for z in answers.values()]) if alike else None
        for sign, z in answers.items():
            rivals = [answers[-sign]]
            if pool is not None:
                best = np.argmin(self.optimisers.sign * sign * costs.reshape(len(self), -1) @ pool.T, axis=1)
                rivals.append(pool[best].ravel())
            for rival in rivals:
                self._no_worse(z, sign * costs, layout, known=rival)

    def _check_feasible(self, z: Array, layout: PartLayout, what: str) -> None:
        ends = np.cumsum(layout.sizes)
        for i, begin, end in zip(self.ids[:CHECKED].tolist(), ends - layout.sizes, ends, strict=False):
            self.optimisers.check_feasible(z[begin:end], i, f"{what} of example {i}")

    # --- inside

    def _layout_of_parts(self) -> PartLayout:
        begins, sizes = self.bounds[self.ids], self.sizes[self.ids]
        ends = np.cumsum(sizes)
        owner = np.repeat(np.arange(len(sizes)), sizes)
        return PartLayout(sizes, np.arange(len(owner)) + (begins - ends + sizes)[owner], owner)

    def _predicted(self, w: Array) -> Array:
        """Compute ĉ of all parts of these examples."""
        return self.atoms.scores(w, self._layout_of_parts().parts if self.task.of_parts_ else self.ids).ravel()

    def _answers(self, costs: Array) -> Array:
        """Return the optimiser's decisions at these costs."""
        whole = self.task.measure == "parts"
        return self.optimisers.answers(costs, self.sizes[self.ids], self.ids.tolist(), whole)

    def _no_worse(self, found: Array, costs: Array, layout: PartLayout, known: Array | None = None) -> Array:
        """Replace answers by known decisions (the truths) where these are better at the given costs.

        Differences by rounding are accepted, and so is any difference if the optimiser is inexact; a larger one of an
        exact optimiser is a TaskError.
        """
        known = self.truth[layout.parts] if known is None else known
        over = -self.optimisers.sign * layout.sums(costs * (found - known))  # by how much the answer is better
        worse = over < 0
        if not worse.any():
            return found
        if self.optimisers.exact:
            missed = over < -SLOPPY * layout.magnitudes(costs, found, known)
            if missed.any():
                j = int(np.argmax(missed))
                own = layout.owner == j
                raise TaskError(self._missed(j, found[own], known[own], costs[own], -over[j]))
        return np.where(worse[layout.owner], known, found)

    def _missed(self, j: int, found: Array, known: Array, costs: Array, by: float) -> str:
        better = "lower" if self.optimisers.sign > 0 else "higher"
        return (
            f"the optimiser missed the best decision of example {self.ids[j]}: at the costs {shown(costs)} it returned "
            f"{shown(found)}, and {shown(known)} has a total that is {better} by {by:g}. It must find the "
            f"{self.optimisers.sense}imum over all decisions (sense={self.optimisers.sense!r}) at costs of any sign "
            "and size, and the decisions in Y must be among them; set exact = False on an optimiser that may miss it"
        )

    def _planes(self, layout: PartLayout, found: Array) -> Planes:
        """Return planes with dpsi = κσ(z - y) over atoms and the losses a·(z - y)."""
        truth, added = self.truth[layout.parts], self.labels.added[layout.parts]
        more = found - truth
        loss = layout.sums(added * more)
        if (
            self.optimisers.exact and loss.min(initial=0.0) < 0
        ):  # the truth is optimal at the true costs, up to rounding
            sizes = layout.magnitudes(added, found, truth)
            if (loss < -SLOPPY * sizes).any():
                j = int(np.argmin(loss + SLOPPY * sizes))
                own = layout.owner == j
                costs = self.optimisers.sign * added[own]
                raise TaskError(self._missed(j, truth[own], found[own], costs, -loss[j]))
            loss = np.maximum(loss, 0.0)
        return Planes(self._rows(layout, self.optimisers.sign * self.task.factor * more), loss)

    def _rows(self, layout: PartLayout, values: Array) -> AtomRows:
        used = np.flatnonzero(values)
        counts = np.bincount(layout.owner[used], minlength=len(layout.sizes))
        ends = np.zeros(len(counts) + 1, dtype=np.int32)
        np.cumsum(counts, out=ends[1:])
        return AtomRows(self.atoms, ends, layout.parts[used].astype(np.int32), values[used])

    def _chosen(self, scores: Array) -> NDArray[np.int64]:
        """Return the parts with the highest total score; the batch must have one example."""
        layout = self._layout_of_parts()
        costs = -self.optimisers.sign * scores
        return np.flatnonzero(self._no_worse(self._answers(costs), costs, layout)).astype(np.int64)

    def _explained(self, predicted: Array, layout: PartLayout) -> Array:
        """Return the best decisions at these costs among those that agree with all known parts."""
        decision = self.labels.decision[layout.parts]
        found = self._answers(forced(predicted, decision, self.optimisers.sign, layout))
        known = ~np.isnan(decision)
        wrong = known & (found != decision)
        if wrong.any():
            at = int(np.argmax(wrong))
            j = int(layout.owner[at])
            part = at - int(np.cumsum(layout.sizes)[j] - layout.sizes[j])
            raise TaskError(
                f"the decision in Y of example {self.ids[j]} is not among the optimiser's: it has {decision[at]:g} at "
                f"part {part}, and the decision that agrees best with it {found[at]:g}. Y must be decisions that the "
                "optimiser could return"
            )
        return found


def forced(predicted: Array, decision: Array, sign: int, layout: PartLayout) -> Array:
    """Return costs at which the best decision agrees with all known parts, if any decision does.

    The predicted totals of two 0/1 decisions differ by at most Σ|ĉ|, and a known part that is decided otherwise costs
    twice that. The added costs are of the size of the predicted ones, so that no digits are lost.
    """
    strength = 2 * layout.sums(np.abs(predicted))
    strength[strength == 0] = 1.0
    known = ~np.isnan(decision)
    wanted = np.where(known, 1 - 2 * np.nan_to_num(decision), 0.0)
    return np.asarray(predicted + sign * wanted * strength[layout.owner])
