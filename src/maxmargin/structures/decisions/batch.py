"""Packed decisions, and their search through the user's optimiser.

Parts of all examples stand one after the other in flat arrays, and part u of these is atom u, whatever the features
are of: with features of parts, unit u at its one label; with those of whole examples, unit i at label p, which is atom
i·P + p = u. So all that follows is written once.
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
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.planes.atoms import AtomRows, Atoms
from maxmargin.problem.planes.planes import Planes
from maxmargin.structures.decisions.answers import Optimisers, shown
from maxmargin.structures.decisions.observations import ROUNDING, Observed
from maxmargin.structures.decisions.regression import least_squares
from maxmargin.structures.parts.branching import PartScores, most_violated_parts

CHECKED = 100  # examples on which the optimiser is tried before training
MOST_DECODES = 200  # of an example in one exact search with rescaled losses
SLOPPY = 1e-7  # of what costs could add up to: an answer that is worse than a known one by more is no optimum


class PartPlaces(NamedTuple):
    """Where the parts of some examples are."""

    sizes: NDArray[np.int64]  # of each example
    parts: NDArray[np.int64]  # flat numbers of all their parts
    owner: NDArray[np.int64]  # of each part, the place of its example among these

    def sums(self, values: Array) -> Array:
        """Over the parts of each example."""
        return np.asarray(np.bincount(self.owner, values, minlength=len(self.sizes)), dtype=float)

    def reach(self, costs: Array, *decisions: Array) -> Array:
        """What costs and decisions of this size could add up to, for each example: accuracy is measured by it.

        Of all costs, and not only those of chosen parts: to a linear programme, a cost of 1e-15 beside 1 is 0.
        """
        largest = np.zeros(len(self.sizes))
        np.maximum.at(largest, self.owner, np.max(np.abs(decisions), axis=0))
        return self.sums(np.abs(costs)) * largest


class DecisionBatch(AtomBatch, Latent, MissingLabels, RescaledSearch):
    """Examples whose truth is a decision, with costs that are linear in w."""

    def __init__(self, task: Any, atoms: Atoms, bounds: NDArray[np.int64], labels: Observed, asked: Optimisers):
        super().__init__(task, len(bounds) - 1, atoms)
        self.bounds, self.sizes, self.labels, self.asked = bounds, np.diff(bounds), labels, asked
        self.truth = labels.decision  # or, where parts of it are not known, its completion
        self.call_cost = 6.0 if asked.at_once else 20.0

    def offers(self, capability: type[Offered]) -> Offered | None:
        if capability is Latent and not self.task.latent:
            return None
        # Without it, rescaled losses are searched through λ. The search refuses the regrets of an inexact optimiser.
        regrets = self.task.measure == "regret"
        if capability is RescaledSearch and regrets == self.asked.exact:
            return None
        return super().offers(capability)

    def planes(self, w: Array, augment: float | Array = 1.0) -> Planes:
        from maxmargin.structures.decisions.compiled import decision_rows as compiled

        own = (self.bounds, self.ids)
        sign, factor, added = self.asked.sign, self.task.factor, self.labels.added
        costs = self._predicted(w)
        compiled.augment(costs, factor, added, *own, sign * self.loss_weights(augment))
        found = self._answers(costs)
        ends, indices = np.empty(len(self) + 1, dtype=np.int32), np.empty(len(costs), dtype=np.int32)
        values, loss = np.empty(len(costs)), np.empty(len(self))
        if compiled.difference_rows(costs, found, self.truth, added, *own, sign, factor, ends, indices, values, loss):
            return Planes(AtomRows(self.atoms, ends, indices[: ends[-1]], values[: ends[-1]]), loss)
        places = self._places()
        return self._planes(places, self._no_worse(found, costs, places))

    def rescaled_planes(self, w: Array, formulation: Formulation) -> Planes:
        """Search by branch and bound over parts, each of which is wrong or right."""
        if self.task.measure == "regret":
            raise ValueError(
                "an inexact optimiser may find decisions that are better than those it considers the best "
                'ones, and rescaled losses need regrets >= 0: use rescaling="margin" and slack="l1"'
            )
        places = self._places()
        scores = -self.asked.sign * self.task.factor * self._predicted(w)
        found, upper = self.truth[places.parts], np.empty(len(self))
        ends = np.cumsum(places.sizes)
        for j, (begin, end) in enumerate(zip(ends - places.sizes, ends, strict=True)):
            one, own = self.take(np.array([j])), places.parts[begin:end]
            truth = np.flatnonzero(self.truth[own])
            problem = PartScores(scores[begin:end], self.labels.added[own], truth)
            answer = most_violated_parts(one._chosen, problem, formulation, MOST_DECODES)
            if answer.chosen is not None:
                found[begin:end] = 0.0
                found[begin + answer.chosen] = 1.0
            upper[j] = answer.upper
        return self._planes(places, found)._replace(upper=upper)

    def regressed(self, weights: Array, constant: bool) -> Array:
        """The w that predicts the true costs best (regression.py); the last feature may be the constant."""
        units, rows = self.atoms.arrays, self.atoms.matrix()
        costs = (self.asked.sign * self.labels.added).reshape(-1, units.n_labels)
        each = np.repeat(weights, self.sizes) if self.task.of_parts_ else weights
        return least_squares(rows, costs, each, constant).ravel()

    # --- hidden parts

    def informative(self) -> Index:
        """Return the positions of examples of whose decision anything is known."""
        places = self._places()
        return np.flatnonzero(places.sums(~np.isnan(self.labels.decision[places.parts])) > 0)

    def guessed(self, rng: np.random.Generator) -> Self:
        return self.completed(rng.standard_normal(self.dim))

    def completed(self, w: Array) -> Self:
        places = self._places()
        after = copy(self)
        after.truth = self.truth.copy()
        after.truth[places.parts] = self._explained(self._predicted(w), places)
        return after

    def shifts_to(self, after: Self) -> AtomRows:
        places = self._places()
        change = after.truth[places.parts] - self.truth[places.parts]
        return self._rows(places, -self.asked.sign * self.task.factor * change)

    # --- promises

    def check_optimiser(self) -> None:
        """What an optimiser can be seen to do wrong before training."""
        if self.task.measure == "regret":
            self._check_regrets()
        else:
            self._check_decisions()

    def _check_regrets(self) -> None:
        """At the true costs and at their opposites: the best decision, and the worst."""
        for first in range(0, len(self), CHECKED):
            some = self.take(np.arange(first, min(first + CHECKED, len(self))))
            places, costs = some._places(), self.asked.sign * some.labels.added[some._places().parts]
            best, worst = some.truth[places.parts], some._answers(-costs)
            for z, what in ((best, "the answer at the costs"), (worst, "the answer at minus the costs")):
                some._check_feasible(z, places, what)
            some._check_each_other({1: best, -1: worst}, costs, places)
            regrets = self.asked.sign * places.sums(costs * (worst - best))
            if (regrets > ROUNDING * places.reach(costs, best, worst)).any():
                return
        raise TaskError(
            "the optimiser returned decisions of the same cost at the costs in Y and at minus these costs, for every "
            "example: either it ignores its costs, or there is nothing to decide, because all decisions cost "
            f"the same. Its answer for example 0 was {shown(self.truth[: self.bounds[1]])}"
        )

    def _check_decisions(self) -> None:
        """A decision that pays for every part as in Y must be found."""
        places = self._places()
        known = np.nan_to_num(self.labels.decision[places.parts])
        if not np.isnan(self.labels.decision).any():
            self._check_feasible(known, places, "the decision in Y")
        if self.asked.exact:
            nearest = self._explained(np.zeros(len(known)), places)
            self._check_feasible(nearest, places, "the answer")
            some = self.take(np.arange(min(CHECKED, len(self))))
            places = some._places()
            costs = self.asked.sign * some.labels.added[places.parts]
            farthest = some._answers(-costs)
            some._check_each_other({1: nearest[: len(costs)], -1: farthest}, costs, places)

    def _check_each_other(self, answers: dict[int, Array], costs: Array, places: PartPlaces) -> None:
        """Answers at these costs (1) and at their opposites (-1): none is worse than any other one at its own costs.

        An optimiser that takes sizes of costs only, or cuts negative ones off, gives itself away here.
        """
        if not self.asked.exact or len(self) == 0:
            return
        alike = not isinstance(self.asked.given, list) and (places.sizes == places.sizes[0]).all()
        pool = np.concatenate([z.reshape(len(self), -1) for z in answers.values()]) if alike else None
        for sign, z in answers.items():
            rivals = [answers[-sign]]
            if pool is not None:
                best = np.argmin(self.asked.sign * sign * costs.reshape(len(self), -1) @ pool.T, axis=1)
                rivals.append(pool[best].ravel())
            for rival in rivals:
                self._no_worse(z, sign * costs, places, known=rival)

    def _check_feasible(self, z: Array, places: PartPlaces, what: str) -> None:
        ends = np.cumsum(places.sizes)
        for i, begin, end in zip(self.ids[:CHECKED].tolist(), ends - places.sizes, ends, strict=False):
            self.asked.check_feasible(z[begin:end], i, f"{what} of example {i}")

    # --- inside

    def _places(self) -> PartPlaces:
        begins, sizes = self.bounds[self.ids], self.sizes[self.ids]
        ends = np.cumsum(sizes)
        owner = np.repeat(np.arange(len(sizes)), sizes)
        return PartPlaces(sizes, np.arange(len(owner)) + (begins - ends + sizes)[owner], owner)

    def _predicted(self, w: Array) -> Array:
        """ĉ of all parts of these examples."""
        return self.atoms.scores(w, self._places().parts if self.task.of_parts_ else self.ids).ravel()

    def _answers(self, costs: Array) -> Array:
        """Decisions at these costs."""
        whole = self.task.measure == "parts"
        return self.asked.answers(costs, self.sizes[self.ids], self.ids.tolist(), whole)

    def _no_worse(self, found: Array, costs: Array, places: PartPlaces, known: Array | None = None) -> Array:
        """Answers at these costs beside decisions that are known, the truths: an optimum is no worse.

        What is worse by a rounding error gives way to the truth; so does what an inexact search has missed.
        """
        known = self.truth[places.parts] if known is None else known
        over = -self.asked.sign * places.sums(costs * (found - known))  # by how much the answer is better
        worse = over < 0
        if not worse.any():
            return found
        if self.asked.exact:
            missed = over < -SLOPPY * places.reach(costs, found, known)
            if missed.any():
                j = int(np.argmax(missed))
                own = places.owner == j
                raise TaskError(self._missed(j, found[own], known[own], costs[own], -over[j]))
        return np.where(worse[places.owner], known, found)

    def _missed(self, j: int, found: Array, known: Array, costs: Array, by: float) -> str:
        better = "lower" if self.asked.sign > 0 else "higher"
        return (
            f"the optimiser missed the best decision of example {self.ids[j]}: at the costs {shown(costs)} it returned "
            f"{shown(found)}, and {shown(known)} has a total that is {better} by {by:g}. It must find the "
            f"{self.asked.sense}imum over all decisions (sense={self.asked.sense!r}) at costs of any sign and size, "
            "and what Y shows must be among them; one that may miss it says so by exact = False"
        )

    def _planes(self, places: PartPlaces, found: Array) -> Planes:
        """σ times 1 or 2 for what was decided, and the opposite for the truth."""
        truth, added = self.truth[places.parts], self.labels.added[places.parts]
        more = found - truth
        loss = places.sums(added * more)
        if self.asked.exact and loss.min(initial=0.0) < 0:  # the truth is optimal at the true costs, but for rounding
            sizes = places.reach(added, found, truth)
            if (loss < -SLOPPY * sizes).any():
                j = int(np.argmin(loss + SLOPPY * sizes))
                own = places.owner == j
                costs = self.asked.sign * added[own]
                raise TaskError(self._missed(j, truth[own], found[own], costs, -loss[j]))
            loss = np.maximum(loss, 0.0)
        return Planes(self._rows(places, self.asked.sign * self.task.factor * more), loss)

    def _rows(self, places: PartPlaces, values: Array) -> AtomRows:
        used = np.flatnonzero(values)
        counts = np.bincount(places.owner[used], minlength=len(places.sizes))
        ends = np.zeros(len(counts) + 1, dtype=np.int32)
        np.cumsum(counts, out=ends[1:])
        return AtomRows(self.atoms, ends, places.parts[used].astype(np.int32), values[used])

    def _chosen(self, scores: Array) -> NDArray[np.int64]:
        """The parts with the highest total score, of the one example that this batch has."""
        places = self._places()
        costs = -self.asked.sign * scores
        return np.flatnonzero(self._no_worse(self._answers(costs), costs, places)).astype(np.int64)

    def _explained(self, predicted: Array, places: PartPlaces) -> Array:
        """The best decisions at these costs of those that have all known parts as they are known."""
        decision = self.labels.decision[places.parts]
        found = self._answers(forced(predicted, decision, self.asked.sign, places))
        known = ~np.isnan(decision)
        wrong = known & (found != decision)
        if wrong.any():
            at = int(np.argmax(wrong))
            j = int(places.owner[at])
            part = at - int(np.cumsum(places.sizes)[j] - places.sizes[j])
            raise TaskError(
                f"the decision in Y of example {self.ids[j]} is not among the optimiser's: it has {decision[at]:g} at "
                f"part {part}, and the decision that agrees best with it {found[at]:g}. Y must be decisions that the "
                "optimiser could return"
            )
        return found


def forced(predicted: Array, decision: Array, sign: int, places: PartPlaces) -> Array:
    """Costs at which known parts are decided as they are known, wherever a decision does so.

    Two decisions of zeros and ones differ by Σ|ĉ| at most in what is predicted; a known part that is decided otherwise
    costs twice that. What is added is of the size of the costs, so that none of their digits is lost.
    """
    strength = 2 * places.sums(np.abs(predicted))
    strength[strength == 0] = 1.0
    known = ~np.isnan(decision)
    wanted = np.where(known, 1 - 2 * np.nan_to_num(decision), 0.0)
    return np.asarray(predicted + sign * wanted * strength[places.owner])
