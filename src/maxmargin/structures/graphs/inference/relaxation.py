"""The LP relaxation over the local polytope: a point close to its optimum, with a proved distance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.structures.graphs.compiled.sorted_arcs import SortedArcs
from maxmargin.structures.graphs.inference.expansion import best_expansion
from maxmargin.structures.graphs.inference.messages import canonical, improved, levelled, pass_messages, start_messages
from maxmargin.structures.graphs.inference.model import Accuracy, Answer, Labels, PairwiseModel, Relaxed
from maxmargin.structures.graphs.inference.residual import ResidualModel

STALL = 0.05  # sweeps end when ten of them close less of the gap: from there on primal-dual steps are faster
LEVELLING = 4  # rounds that show which labels are in doubt
WIDTH = 0.01  # labels closer to the best one than this share of the gap are undecided
ROUNDS = 100  # each adds labels to the residual or halves its tolerance; usually there are one to four


def best_relaxation(
    model: PairwiseModel,
    messages: Array | None = None,
    tol: float | Accuracy = 1e-2,
    sweeps: int = 200,
    steps: int = 20_000,
    arcs: SortedArcs | None = None,
) -> tuple[Answer, Array]:
    """Find a point of the local polytope whose value is within `tol` of the relaxation's, and messages that prove it.

        maximise  Σ_i ⟨unary[i], nodes[i]⟩ + Σ_e ⟨pair[e], edges[e]⟩
        over nodes[i] in the simplex and edges[e] >= 0 with the margins nodes[i] and nodes[j]

    Message passing usually ends with a bound that a labelling attains, its own or one that α-expansion makes of it.
    This labelling then solves the relaxation, and `relaxed` of the answer is None. Otherwise few nodes are undecided
    between few labels. On this residual the linear programme is solved by primal-dual steps. Its messages are extended
    to the whole model, where message passing continues; labels that violate them are added to the residual, until bound
    and value meet (column generation). None of these steps must be trusted: the value is computed from the point, and
    the bound from messages, which prove a bound whatever they are.

    Parameters
    ----------
    model : PairwiseModel
        The model.
    messages : array or None
        The result of the last call for this graph, perhaps with other scores; makes this call faster.
    tol : float or Accuracy
        Upper - max(value, relaxed.value) of the answer is at most this, unless sweeps and steps are used up. An
        Accuracy states it relative to the score that was found.
    sweeps, steps : int
        The most sweeps of message passing, and the most primal-dual steps for each residual.
    arcs : SortedArcs or None
        `SortedArcs.of` the graph, if it is known already.

    Returns
    -------
    (Answer, messages).
    """
    accuracy = tol if isinstance(tol, Accuracy) else Accuracy(tol)
    labels = model.unary.argmax(axis=1).astype(np.int32)
    best = BestKnown(model, accuracy, labels, model.value(labels), np.inf, start_messages(model, messages))
    best.approach(best.messages, sweeps, arcs)
    kept = np.zeros(model.unary.shape, dtype=bool)
    share = 0.5
    for _ in range(ROUNDS):
        if best.near_enough:
            break
        now = levelled(model, best.messages, LEVELLING)
        kept |= _margins(model, now) <= max(best.allowed, WIDTH * best.gap)
        residual = ResidualModel.of(model, kept, now)
        solved = residual.solved(best.relaxed, best.upper, share * best.allowed, steps)
        best.learn_point(solved.point)
        if best.near_enough:
            break
        now, upper, excess = residual.extended(solved.messages, now)
        best.learn_bound(upper, now)
        if best.near_enough or solved.steps >= steps:
            break
        best.approach(now, sweeps, arcs)
        if not (excess > 0.0).any():
            share *= 0.5
        kept |= excess > 0.0
    return best.answer(), best.messages


@dataclass
class BestKnown:
    """The best known labelling, point and bound of a model."""

    model: PairwiseModel
    accuracy: Accuracy
    labels: Labels
    value: float
    upper: float
    messages: Array
    relaxed: Relaxed | None = None
    expanded: Labels | None = None  # a labelling that no expansion improves

    def approach(self, messages: Array, sweeps: int, arcs: SortedArcs | None) -> None:
        """Pass messages, beginning with these; if that ends far from the best labelling, expand it and continue."""
        for _ in range(2):
            passed = pass_messages(self.model, messages, sweeps, self.accuracy, STALL, self.labels)
            self.learn_labels(*passed.answer[:2])
            self.learn_bound(passed.answer.upper, passed.messages)
            if self.near_enough or not self.expand(arcs) or self.near_enough:
                break
            messages = passed.messages

    @property
    def highest(self) -> float:
        """The value of the best point."""
        return self.value if self.relaxed is None else max(self.value, self.relaxed.value)

    @property
    def gap(self) -> float:
        """An upper bound on the distance of the best point from the optimum of the relaxation."""
        return self.upper - self.highest

    @property
    def allowed(self) -> float:
        """The allowed distance from the optimum."""
        return self.accuracy.allowed(self.highest)

    @property
    def near_enough(self) -> bool:
        return self.gap <= self.allowed

    def learn_point(self, point: Relaxed) -> None:
        """Keep a point, and the labelling near it, if they are better."""
        if self.relaxed is None or point.value > self.relaxed.value:
            self.relaxed = point
            labels = improved(self.model, point.nodes.argmax(axis=1).astype(np.int32))
            self.learn_labels(labels, self.model.value(labels))

    def learn_labels(self, labels: Labels, value: float) -> None:
        """Keep a labelling if it is better."""
        if value > self.value:
            self.labels, self.value = labels, value

    def expand(self, arcs: SortedArcs | None) -> bool:
        """Improve the labelling by large moves, unless it is known that none does; return whether one did."""
        if self.labels is self.expanded:
            return False
        found = best_expansion(self.model, self.labels, arcs=arcs)
        better = found.value > self.value
        self.learn_labels(found.labels, found.value)
        self.expanded = self.labels
        return better

    def learn_bound(self, upper: float, messages: Array) -> None:
        """Keep messages if they prove a lower bound."""
        if upper < self.upper:
            self.upper, self.messages = upper, messages

    def answer(self) -> Answer:
        """Return the labelling alone if it is accurate enough, or at least as good as the point."""
        far = self.upper - self.value > self.accuracy.allowed(self.value)
        fractional = self.relaxed is not None and self.relaxed.value > self.value and far
        return Answer(self.labels, self.value, max(self.upper, self.value), self.relaxed if fractional else None)


def _margins(model: PairwiseModel, messages: Array) -> Array:
    """Return how far every label is behind the best one of its node, if it received all that its edges can give."""
    from maxmargin.structures.graphs.compiled.messages import collect_all

    scores = np.empty(model.unary.shape)
    collect_all(*canonical(model), messages, np.empty(model.n_labels), scores)
    return scores.max(axis=1, keepdims=True) - scores
