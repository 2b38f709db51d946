"""The LP relaxation over the local polytope: a point near its optimum, and a proof of how near."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from maxmargin.arrays import Array
from maxmargin.structures.graphs.inference.messages import canonical, improved, levelled, pass_messages
from maxmargin.structures.graphs.inference.model import Answer, Labels, PairwiseModel, Relaxed
from maxmargin.structures.graphs.inference.residual import ResidualModel

STALL = 0.1  # sweeps end where ten of them close less of the gap: from there on primal-dual steps are faster
LEVELLING = 4  # rounds that show which labels are in doubt
WIDTH = 0.01  # labels that are not further behind the best one than this part of the gap are in doubt
ROUNDS = 100  # each adds labels to the residual or halves its tolerance; usually there are one to four


def best_relaxation(
    model: PairwiseModel,
    messages: Array | None = None,
    tol: float = 1e-2,
    sweeps: int = 200,
    steps: int = 20_000,
) -> tuple[Answer, Array]:
    """A point of the local polytope whose value is within `tol` of the relaxation's, and the messages that prove it.

        maximise  Σ_i ⟨unary[i], nodes[i]⟩ + Σ_e ⟨pair[e], edges[e]⟩
        over nodes[i] in the simplex and edges[e] >= 0 with the margins nodes[i] and nodes[j]

    Message passing usually ends with a bound that a labelling meets. This labelling is then a solution of the
    relaxation, and `relaxed` of the answer is None. Elsewhere few nodes are in doubt between few labels. On this
    residual the linear programme is solved by primal-dual steps. Its messages are taken back to the whole model; labels
    that refuse them are added to the residual, until bound and value meet (column generation). None of that needs
    trust: the value is computed from the point, and the bound from messages, which prove one whatever they are.

    messages : what the last call for this graph returned, perhaps with other scores; makes this call faster.
    tol : upper - max(value, relaxed.value) of the answer is at most this, unless sweeps and steps are used up.
    sweeps, steps : at most that many sweeps of message passing, and primal-dual steps for each residual.
    """
    passed = pass_messages(model, messages, sweeps, tol, STALL)
    best = BestKnown(model, *passed.answer[:3], passed.messages)
    if best.gap <= tol:
        return passed.answer, passed.messages
    now = levelled(model, best.messages, LEVELLING)
    kept = _margins(model, now) <= max(tol, WIDTH * best.gap)
    inner_tol = 0.5 * tol
    for _ in range(ROUNDS):
        residual = ResidualModel.of(model, kept, now)
        solved = residual.solved(best.relaxed, best.upper, inner_tol, steps)
        best.learn_point(solved.point)
        if best.gap <= tol:
            break
        now, upper, excess = residual.extended(solved.messages, now)
        best.learn_bound(upper, now)
        if best.gap <= tol or solved.steps >= steps:
            break
        if not (excess > 0.0).any():
            inner_tol *= 0.5
        kept |= excess > 0.0
    return best.answer(tol), best.messages


@dataclass
class BestKnown:
    """The best that is known of a model."""

    model: PairwiseModel
    labels: Labels
    value: float
    upper: float
    messages: Array
    relaxed: Relaxed | None = None

    @property
    def gap(self) -> float:
        """How far the best point is at most from the optimum of the relaxation."""
        return self.upper - max(self.value, -np.inf if self.relaxed is None else self.relaxed.value)

    def learn_point(self, point: Relaxed) -> None:
        """Keep a point, and the labelling near it, where they are better."""
        if self.relaxed is None or point.value > self.relaxed.value:
            self.relaxed = point
            labels = improved(self.model, point.nodes.argmax(axis=1).astype(np.int32))
            value = self.model.value(labels)
            if value > self.value:
                self.labels, self.value = labels, value

    def learn_bound(self, upper: float, messages: Array) -> None:
        """Keep messages that prove a lower bound."""
        if upper < self.upper:
            self.upper, self.messages = upper, messages

    def answer(self, tol: float) -> Answer:
        """The labelling alone where it is as good as demanded, or at least as good as the point."""
        fractional = self.relaxed is not None and self.relaxed.value > self.value and self.upper - self.value > tol
        return Answer(self.labels, self.value, max(self.upper, self.value), self.relaxed if fractional else None)


def _margins(model: PairwiseModel, messages: Array) -> Array:
    """How far every label is behind the best one of its node, if that took from all its edges what they can give."""
    from maxmargin.structures.graphs.compiled.messages import collect_all

    scores = np.empty(model.unary.shape)
    collect_all(*canonical(model), messages, np.empty(model.n_labels), scores)
    return scores.max(axis=1, keepdims=True) - scores
