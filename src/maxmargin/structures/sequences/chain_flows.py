"""The dual point of chains: a flow through the lattice of every sequence's labels, instead of weights of labellings.

    maximise  D(α) = Σ α Δ - ½‖w‖²,   w = Σ α (Ψ(x, y) - Ψ(x, z))   subject to α >= 0, Σ_z αᵢ(z) <= capᵢ = C vᵢ / n

Ψ and Δ are sums over positions and links, so that D depends on α only through the weight of each label and each pair
of neighbouring labels: a flow of capᵢ through the lattice of sequence i, of which a few edges carry any (the marginals
of Taskar, Guestrin, Koller, NIPS 2003). What labellings have in common is kept once, and crossings of old labellings
are searched without the oracle, too. A visit moves flow from the worst path that has any to the best path (of all, or
of those remembered), exactly, and separately in every stretch in which they differ.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array, read_only
from maxmargin.base.files.objects import Fields
from maxmargin.base.memory_budget import zeros
from maxmargin.base.pickled_weights import lent
from maxmargin.base.rounding import gamma
from maxmargin.inputs.labels.labelling import wrong_labels
from maxmargin.inputs.labels.labels import Labels
from maxmargin.problem.dual.block_dual import CALL, BlockDual, Decoder, Proof, Remembered, Report, caps
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.planes.atoms import AtomRows, Atoms, one_or_each
from maxmargin.problem.planes.planes import Planes
from maxmargin.structures.sequences.compiled.flow_arrays import (
    GAIN,
    MOVED,
    PENALTY,
    REFUSED,
    REPORT,
    WORK,
    ChainWeights,
    FlowProblem,
    FlowScratch,
    Grams,
    Lattice,
    Positions,
)
from maxmargin.structures.sequences.learnt_flows import LearntLattice, LearntPaths, WeightedPaths

ROOM = 4  # edges of a position, at first
VISIT = 100.0  # multiplications that take as long as what is done in a visit besides
ROUNDS = 2  # of a visit that searches nothing
BLOCK = 2**16  # positions of paths whose rows are written down at a time
AT_ONCE = 2**12  # sequences that are looked at together
MOST_LABELS = 2**16  # which 16 bits can tell apart


class LabelledChains(NamedTuple):
    """Sequences in a row, each position with one label; sequence i has the positions bounds[i] : bounds[i + 1]."""

    atoms: Atoms
    allowed: Array  # of every link: 0, or -inf where it is forbidden
    cost: Array
    bounds: NDArray[np.int64]
    units: NDArray[np.int64]
    truths: Labels
    rows: Labels  # of the table of costs
    factors: Array  # of these costs


class ChainFlows(BlockDual):
    """The flows, for plain slacks under a finite C."""

    confinable = True
    learnt: ClassVar[Fields] = {"_lattice": LearntLattice(), "_paths": LearntPaths()}

    def __init__(
        self,
        chains: LabelledChains,
        weights: Array,
        formulation: Formulation,
        C: float,
        keeps_products: bool = True,
        **limits: Any,
    ):
        super().__init__(chains.atoms.dim, weights, formulation, C, **limits)
        self.chains = of = chains
        arrays = of.atoms.arrays
        lengths, count = np.diff(of.bounds), len(of.units)
        bounds, units, truths, rows = (read_only(each) for each in (of.bounds, of.units, of.truths, of.rows))
        factors, every = one_or_each(of.factors)
        self._positions = Positions(bounds, units, truths, rows, read_only(factors), every)
        self._lattice = Lattice(zeros(count + 1, np.int64), zeros(count, np.int64), *_edges(ROOM * count))
        for some in self._stretches():
            self._begin_with_truths(some)
        self._lattice.start[count] = ROOM * count
        squares = lengths**2 if keeps_products else np.zeros_like(lengths)
        cells = int(squares.sum()) if keeps_products else int(lengths.max()) ** 2
        first, known_rows = np.cumsum(squares) - squares, zeros(count, np.bool_)
        self._grams = Grams(first, known_rows, zeros(cells, product_type(of.atoms)), keeps_products)
        self._scratch = FlowScratch.of(int(lengths.max()), arrays.n_labels, arrays.direct, of.atoms.n_features)
        self.average(of.atoms, of.units)
        self._paths: WeightedPaths | None = None  # of the flows as they are now
        self._left: Array | None = None  # w, if it was left to a model

    def _stretches(self) -> Iterator[slice]:
        """Sequences, some after others: what is computed of some at a time takes little memory beside the whole."""
        n = len(self.chains.bounds) - 1
        return (slice(first, min(first + AT_ONCE, n)) for first in range(0, n, AT_ONCE))

    def _begin_with_truths(self, some: slice) -> None:
        """All flow of these sequences goes along their truths."""
        bounds, lattice = self.chains.bounds[some.start : some.stop + 1], self._lattice
        begin, end = int(bounds[0]), int(bounds[-1])
        truths, first = self.chains.truths[begin:end], bounds[:-1] - begin
        lattice.start[begin:end], lattice.filled[begin:end] = np.arange(ROOM * begin, ROOM * end, ROOM), 1
        edges = slice(ROOM * begin, ROOM * end, ROOM)
        before = np.concatenate([[0], truths[:-1]])
        before[first] = 0
        lattice.before[edges], lattice.here[edges] = before, truths
        lattice.flow[edges] = np.repeat(self.cap[some], np.diff(bounds))

    @property
    def alpha_sums(self) -> Array:
        """What flows through a sequence with the truth's, at the position where that is most."""
        start, filled, _, _, flow = self._lattice
        room = np.diff(start)
        used = np.arange(len(flow)) - np.repeat(start[:-1], room) < np.repeat(filled, room)
        through = np.add.reduceat(np.where(used, flow, 0.0), start[:-1])
        return np.asarray(np.maximum.reduceat(through, self.chains.bounds[:-1]))

    # --- who has w

    def leave(self, w: Array | None) -> bool:
        if w is not self.sums or w is not self.w or w is not self._free:
            return False
        self._left = w
        return True

    def _own(self) -> None:
        """Have a w of its own before that is changed."""
        if self._left is self.sums:
            self.sums = self._free = self.w = self.sums.copy()
        self._left = None

    # --- what BCFW does

    def search(self, oracle: Decoder, order: NDArray[np.intp], block: int) -> Report:
        """Every visit sees the newest Σ α a; `block` means nothing here."""
        oracle.searched(len(order), self._largest)
        report = self._visit(order, True, 1)
        self._after_search()
        nonzeros, n_labels = self.chains.atoms.n_entries, self.chains.atoms.arrays.n_labels
        # All scores and links are vector operations.
        work = 0.25 * n_labels * (nonzeros + n_labels * len(self.chains.units)) / self.visit_work
        return report._replace(work=report.work + work * len(order) / self.n)

    def revisit(self, oracle: Decoder, rng: np.random.Generator) -> Report:
        """Visit those again that have just gained, in what is known of their lattice."""
        if not len(self.movers):
            return Report(0.0, 0, 0.0, work=0.0)
        report = self._visit(rng.permutation(self.movers), False, ROUNDS)
        self._after_revisit()
        return report

    def _visit(self, order: NDArray[np.intp], search: bool, rounds: int) -> Report:
        from maxmargin.structures.sequences.compiled.flows import visit_chains

        self._own()
        of, n_labels, report = self.chains, self.chains.atoms.arrays.n_labels, np.zeros(REPORT)
        links = self._clipped(of.atoms.arrays.direct) + of.allowed
        square = n_labels * n_labels
        between = links[:square].reshape(n_labels, n_labels)
        starts, ends = links[square : square + n_labels], links[square + n_labels :]
        problem = FlowProblem(of.atoms.arrays, self._positions, of.cost, self.cap)
        weights = ChainWeights(self._free, self._limits, links, between, starts, ends)
        self._paths = None
        visit_chains(order, search, rounds, problem, self._lattice, self._grams, weights, self._scratch, report)
        self.movers = order[: int(report[MOVED])]
        self.dual += report[GAIN]
        if report[REFUSED]:
            self._make_room()
        work = report[WORK] + VISIT * len(order) + CALL
        return Report(report[PENALTY], self._moved(report[GAIN]), report[GAIN], work=work / self.visit_work)

    def _make_room(self) -> None:
        """For twice as many edges where there is no room left."""
        from maxmargin.structures.sequences.compiled.lattice import move_edges, wider_starts

        start = zeros(len(self._lattice.start), np.int64)
        wider_starts(self._lattice, start)
        new = Lattice(start, self._lattice.filled, *_edges(int(start[-1])))
        move_edges(self._lattice, new)
        self._lattice = new

    @cached_property
    def _largest(self) -> Planes:
        """Three planes: the longest, that of the most positions, and the dearest; every label is wrong."""
        of, bounds, n_labels = self.chains, self.chains.bounds, self.chains.atoms.arrays.n_labels
        largest = [(-np.inf, 0, 0.0)] * 3  # a size, the sequence that has it, and the price of all its positions
        for some in self._stretches():
            first, end = int(bounds[some.start]), int(bounds[some.stop])
            dearest = of.factors[first:end] * of.cost.max(axis=1)[of.rows[first:end]]
            sizes = (of.atoms.lengths[of.units[first:end]], np.ones(end - first), dearest)
            *sums, prices = (np.add.reduceat(size, bounds[some] - first) for size in (*sizes, dearest))
            for k, size in enumerate(sums):
                i = int(np.argmax(size))
                if size[i] > largest[k][0]:
                    largest[k] = (float(size[i]), some.start + i, float(prices[i]))
        chosen, at = np.unique([i for _, i, _ in largest], return_index=True)
        labels = [(of.truths[bounds[i] : bounds[i + 1]] + 1) % n_labels for i in chosen]
        planes = self._planes(np.concatenate(labels), chosen)
        return planes._replace(loss=np.array([largest[k][2] for k in at]))

    def _planes(self, labels: Labels, owners: NDArray[np.int64]) -> Planes:
        """Of labellings of these sequences, one after another."""
        of = self.chains
        lengths = np.diff(of.bounds)[owners]
        ends = np.append(0, np.cumsum(lengths))
        at = np.arange(ends[-1]) + np.repeat(of.bounds[owners] - ends[:-1], lengths)
        truths, rows = of.truths[at], of.rows[at]
        return wrong_labels(of.atoms, True, ends, of.units[at], truths, labels, rows, of.cost, of.factors[at])

    def _in_blocks(self, paths: WeightedPaths) -> Iterator[tuple[slice, AtomRows, Array]]:
        """Rows and losses of some paths after others: those of all at once would take more memory than w."""
        ends = np.cumsum(np.diff(self.chains.bounds)[paths.owners])
        first = top = 0
        while first < len(ends):
            last = max(int(np.searchsorted(ends, top + BLOCK, side="right")), first + 1)
            planes = self._planes(paths.labels[top : ends[last - 1]], paths.owners[first:last])
            yield slice(first, last), AtomRows.of(planes.dpsi), planes.loss
            first, top = last, int(ends[last - 1])

    # --- what follows from the flows

    @property
    def paths(self) -> WeightedPaths:
        """The flows as labellings. They are feasible whatever rounding has done to the flows."""
        if self._paths is None:
            from maxmargin.structures.sequences.compiled.flow_paths import split_flow

            def split(write: bool, count: int, size: int) -> WeightedPaths:
                paths = WeightedPaths(zeros(size, np.int32), zeros(count, np.int64), zeros(count, np.float64))
                np.copyto(rest, self._lattice.flow)
                path = np.empty(len(self._scratch.scores), dtype=np.int64)
                sizes[:] = split_flow(write, self._positions, self.cap, self._lattice, rest, path, *paths)
                return paths

            rest, sizes = zeros(len(self._lattice.flow), np.float64), [0, 0]
            split(False, 0, 0)
            self._paths = split(True, *sizes)
        return self._paths

    def _join(self, paths: WeightedPaths) -> None:
        """Make these the flows; all of their edges are known."""
        from maxmargin.structures.sequences.compiled.flow_paths import join_paths

        self._own()
        join_paths(self._positions, self.cap, self._lattice, *paths)
        self._paths = paths
        losses = np.empty(len(paths.owners))
        self.sums[:] = 0.0
        for some, rows, loss in self._in_blocks(paths):
            rows.add_to(self.sums, paths.weights[some])
            losses[some] = loss
        self._settle()
        self.dual = float(np.dot(paths.weights, losses)) - self._potential()

    def refresh(self) -> None:
        self._join(self.paths)

    def _linear(self) -> float:
        from maxmargin.structures.sequences.compiled.lattice import flow_losses

        return float(flow_losses(self._positions, self.chains.cost, self._lattice))

    def bound(self) -> float:
        """Summed up in the place of w, which is mostly zeros and needs little room meanwhile, if it is no model's."""
        if self._left is self.sums:
            return super().bound()
        with lent(self.sums) as place:
            return self._lowered(self._proof(place))

    def proof(self) -> Proof:
        return self._proof(np.zeros(self.dim))

    def _proof(self, w: Array) -> Proof:
        """Σ α a is summed up in w."""
        paths, entries = self.paths, 0
        alpha, loss, sizes = paths.weights, np.empty(len(paths.owners)), np.empty(len(paths.owners))
        for some, rows, of_some in self._in_blocks(paths):
            rows.add_to(w, alpha[some])
            loss[some] = of_some
            sizes[some] = rows.sizes
            entries += int(rows.indptr[-1])
        sums, used = self._sums(paths), np.unique(paths.owners)
        excess = float(np.max(sums[used] / self.cap[used], initial=1.0)) - 1.0
        most = int(np.bincount(paths.owners, minlength=1).max())
        linear, losses = float(np.dot(alpha, loss)), float(np.dot(alpha, np.abs(loss)))
        # The multiple of α that keeps to its caps has at least this much of the linear part.
        linear -= (excess + gamma(most + 2)) * abs(linear)
        terms = entries + len(alpha) + self.chains.atoms.terms
        mass = float(np.dot(alpha, sizes)) * (1 + gamma(terms))
        # A loss is a sum over positions.
        losses *= 1 + gamma(terms)
        return Proof(linear, losses, w, mass, terms + len(self._scratch.scores), excess=excess)

    def _sums(self, paths: WeightedPaths) -> Array:
        """Σ α of every sequence."""
        return np.bincount(paths.owners, weights=paths.weights, minlength=self.n).astype(float)

    def slacks(self, w: Array, gains: Array | None = None) -> Array:
        """Of the paths that carry flow."""
        paths, slacks = self.paths, np.zeros(self.n)
        heights = np.empty(len(paths.owners))
        for some, rows, loss in self._in_blocks(paths):
            heights[some] = loss - rows @ w
        np.maximum.at(slacks, paths.owners, heights if gains is None else heights - gains[paths.owners])
        return slacks

    def move_to(self, weights: Array, C: float) -> None:
        """By the best multiple of α that keeps to the new caps, of the sequences that still have one."""
        self._know_sums()
        self.weights, self.C, cap = weights, C, caps(weights, C)
        paths = self.paths.take(cap[self.paths.owners] > 0, np.diff(self.chains.bounds))
        self.cap = cap
        losses = self._planes(paths.labels, paths.owners).loss
        factor = self.best_multiple(float(np.dot(paths.weights, losses)), 0.0, self._sums(paths))
        self._join(paths._replace(weights=factor * paths.weights) if factor > 0 else WeightedPaths.none())
        self._after_search()

    # --- all blocks at once (solvers/joint_rounds.py)

    def remembered(self) -> Remembered:
        """The paths that carry flow."""
        paths = self.paths
        planes = self._planes(paths.labels, paths.owners)
        return Remembered(np.arange(len(paths.owners)), paths.owners, AtomRows.of(planes.dpsi), planes.loss)

    def alpha_of(self, planes: Remembered) -> Array:
        return self.paths.weights[planes.slots]

    @property
    def size(self) -> tuple[int, int]:
        owners = self.paths.owners
        return len(owners), len(np.unique(owners))

    @property
    def visit_work(self) -> float:
        """Two labels of everyone, and what else is done at every position, in every visit and call."""
        return 2.0 * self.chains.atoms.n_entries + 15.0 * len(self.chains.units) + VISIT * self.n + CALL


def product_type(atoms: Atoms) -> type[np.float64] | type[np.uint8]:
    """Of products of two units: as a rule, features are there or not, and a byte is as exact as a number."""
    arrays = atoms.arrays
    counts = len(arrays.values) == 1 and not arrays.every and arrays.values[0] == 1.0
    return np.uint8 if counts and atoms.terms <= np.iinfo(np.uint8).max else np.float64


def _edges(count: int) -> tuple[NDArray[np.uint16], NDArray[np.uint16], Array]:
    """MemoryBudget for so many: the labels before and here, and their flow."""
    return zeros(count, np.uint16), zeros(count, np.uint16), zeros(count, np.float64)
