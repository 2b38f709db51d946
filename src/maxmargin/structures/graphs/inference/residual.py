"""The residual of a relaxation, in which most nodes have one label and the others a few, and its solution."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.structures.graphs.inference.messages import NodeLinks, Numbers, canonical
from maxmargin.structures.graphs.inference.model import PairwiseModel, Relaxed

Kept = NDArray[np.bool_]

SETTLING = 20  # rounds in which a residual's messages may find the messages to all other labels
FIRST_WEIGHT = 0.05  # initial ratio of primal to dual steps, relative to the range of an edge's scores; soon adapted


class ResidualSolution(NamedTuple):
    """The solution of a residual."""

    point: Relaxed  # as a point of the model
    messages: Array  # the messages of the residual
    steps: int  # how many it took


class ExtendedMessages(NamedTuple):
    """Messages of the model that agree with the solution of a residual on the kept labels."""

    messages: Array  # (E, 2, K): the messages
    upper: float  # the bound that they prove
    excess: Array  # (N, K) the belief in a label minus the highest belief of the kept labels


class ResidualModel(NamedTuple):
    """A model in which every node has only the kept labels: see compiled/local_polytope.py for the arrays."""

    model: PairwiseModel
    kept: Kept  # (N, K)
    place: Numbers  # (N,) number of a node, or -1 - k where only label k is kept
    begin: Numbers
    label: Numbers
    edge_at: Numbers  # (E,) number of an edge, or -1
    ends: Numbers
    table_at: Numbers
    message_at: Numbers
    degree: Numbers
    scores: Array
    tables: Array
    messages: Array

    @classmethod
    def of(cls, model: PairwiseModel, kept: Kept, messages: Array) -> ResidualModel:
        """Return the residual with these labels, at least one for each node, and the messages of the model to them."""
        from maxmargin.structures.graphs.compiled.local_polytope import fold

        model = canonical(model)
        kept = kept.copy()
        sizes = kept.sum(axis=1, dtype=np.int64)
        loose = sizes > 1
        place = np.where(loose, np.cumsum(loose) - 1, -1 - kept.argmax(axis=1))
        inner = loose[model.edges].all(axis=1)
        edge_at = np.where(inner, np.cumsum(inner) - 1, -1)
        begin, label = _offsets(sizes[loose]), np.nonzero(kept[loose])[1]
        ends = np.ascontiguousarray(place[model.edges[inner]])
        end_sizes = sizes[model.edges[inner]]
        table_at, message_at = _offsets(end_sizes.prod(axis=1)), _offsets(end_sizes.sum(axis=1))
        degree = np.bincount(ends.ravel(), minlength=len(begin) - 1)
        scores, tables, flat = np.empty(begin[-1]), np.empty(table_at[-1]), np.empty(message_at[-1])
        own = scores, tables, flat
        residual = cls(model, kept, place, begin, label, edge_at, ends, table_at, message_at, degree, *own)
        fold(residual, messages)
        return residual

    def solved(self, start: Relaxed | None, known: float, tol: float, steps: int) -> ResidualSolution:
        """Solve the residual's linear programme up to tol, or up to tol from an upper bound that is known already.

        `start` has mass on kept labels only; None begins with equal numbers.
        """
        from maxmargin.structures.graphs.compiled.local_polytope import BEST, NOW, gather, run_steps, unfold

        x, z, y = (np.zeros((4, len(each))) for each in (self.scores, self.tables, self.messages))
        if start is None:
            node_sizes, table_sizes = np.diff(self.begin), np.diff(self.table_at)
            x[NOW], z[NOW] = np.repeat(1.0 / node_sizes, node_sizes), np.repeat(1.0 / table_sizes, table_sizes)
        else:
            gather(self, start.nodes, start.edges, x[NOW], z[NOW])
        y[NOW] = self.messages
        pull, column, repaired = np.empty(len(self.scores)), np.empty(self.model.n_labels), np.empty(len(self.tables))
        known -= self._alone()
        made = run_steps(self, x, z, y, pull, column, repaired, self._weight(), known, tol, steps)
        nodes, tables = np.zeros(self.model.unary.shape), np.zeros(self.model.pair.shape)
        unfold(self, x[BEST], z[BEST], nodes, tables)
        return ResidualSolution(Relaxed(nodes, tables, self.model.relaxed_value(nodes, tables)), y[BEST], int(made))

    def extended(self, flat: Array, messages: Array) -> ExtendedMessages:
        """Return the messages `flat` of the residual as messages of the model; others begin with `messages`.

        The bound of the residual is one of the model if there are messages to the other labels that make no node prefer
        them, and leave no edge a positive score. They are computed in rounds over the nodes. If labels in excess
        remain, the residual may lack these labels.
        """
        from maxmargin.structures.graphs.compiled.local_polytope import extend, settle
        from maxmargin.structures.graphs.compiled.messages import add_up

        model, full = self.model, messages.copy()
        extend(self, flat, full)
        first_link, _, links, _, order = NodeLinks.of(model.n_nodes, model.edges)
        excess, beliefs = np.empty(model.unary.shape), np.empty(model.unary.shape)
        belief, sent = np.empty(model.n_labels), np.empty(model.n_labels)
        for number in range(SETTLING):
            forward = number % 2 == 0
            worst = settle(
                model.unary, model.pair, first_link, links, order, forward, self.kept, full, belief, sent, excess
            )  # fmt: skip
            if worst <= 0.0:
                break
        return ExtendedMessages(full, float(add_up(*model, full, beliefs)), excess)

    def _alone(self) -> float:
        """Return the score of nodes with one label and of the edges between them, which the residual leaves out."""
        model, alone = self.model, self.place < 0
        between = alone[model.edges].all(axis=1)
        first, second = -1 - self.place[model.edges[between]].T
        return float(model.unary[alone, -1 - self.place[alone]].sum() + model.pair[between, first, second].sum())

    def _weight(self) -> float:
        if not len(self.ends):
            return FIRST_WEIGHT * float(np.ptp(self.scores)) if len(self.scores) and np.ptp(self.scores) else 1.0
        highest, lowest = (each.reduceat(self.tables, self.table_at[:-1]) for each in (np.maximum, np.minimum))
        return FIRST_WEIGHT * float((highest - lowest).mean()) or 1.0


def _offsets(sizes: Numbers) -> Numbers:
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes)])
