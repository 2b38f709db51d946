"""The dual point of chains: a flow through the lattice of every sequence's labels, instead of weights of labellings.

    maximise  D(α) = Σ α Δ - ½‖w‖²,   w = Σ α (Ψ(x, y) - Ψ(x, z))   subject to α >= 0, Σ_z αᵢ(z) <= capᵢ = C vᵢ / n

Ψ and Δ are sums over positions and links, so D depends on α only through the weight of each label and of each pair of
neighbouring labels: a flow of capᵢ through the lattice of sequence i, in which few edges carry flow (the marginals of
Taskar, Guestrin, Koller, NIPS 2003). Parts that labellings share are stored once, and combinations of old labellings
are searched without the oracle. A visit moves flow from the worst path that carries any to the best path (of all paths,
or of those in the lattice), exactly, and separately in every stretch in which the two differ.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array, read_only
from maxmargin.base.files.objects import Fields
from maxmargin.base.memory_budget import MemoryBudget
from maxmargin.base.rounding import gamma
from maxmargin.inputs.labels.labelling import wrong_labels
from maxmargin.inputs.labels.labels import Labels
from maxmargin.problem.dual.block_dual import CALL, BlockDual, Decoder, Report, count_moved
from maxmargin.problem.dual.caps import largest_multiple
from maxmargin.problem.dual.dual_problem import DualProblem
from maxmargin.problem.dual.known_planes import JointSize, KnownPlanes
from maxmargin.problem.dual.proof import Proof
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

FIRST_EDGES = 4  # edges per position for which memory is allocated at first
VISIT = 100.0  # multiplications that take as long as the other work of a visit
ROUNDS = 2  # rounds of a visit without a search
BLOCK = 2**16  # positions of paths whose rows are written at once
AT_ONCE = 2**12  # sequences that are processed together
MOST_LABELS = 2**16  # the most labels that 16 bits can number


class LabelledChains(NamedTuple):
    """Concatenated sequences with one label per position; sequence i has the positions bounds[i] : bounds[i + 1]."""

    atoms: Atoms  # the features of units
    allowed: Array  # for each link: 0, or -inf if it is forbidden
    cost: Array  # (rows, K): the table of costs
    bounds: NDArray[np.int64]  # (n + 1,): where each sequence begins
    units: NDArray[np.int64]  # the unit of every position
    truths: Labels  # the true label of every position
    rows: Labels  # rows of the table of costs
    factors: Array  # factors of these costs


class ChainFlows(BlockDual):
    """The BlockDual of chains, for plain slacks under a finite C: the flows of all sequences."""

    learnt: ClassVar[Fields] = {"_lattice": LearntLattice(), "_paths": LearntPaths()}

    def __init__(self, chains: LabelledChains, problem: DualProblem, keeps_products: bool = True):
        super().__init__(chains.atoms.dim, problem)
        self.chains = of = chains
        arrays, memory = of.atoms.arrays, problem.limits.memory
        lengths, count = np.diff(of.bounds), len(of.units)
        bounds, units, truths, rows = (read_only(each) for each in (of.bounds, of.units, of.truths, of.rows))
        factors, every = one_or_each(of.factors)
        self._positions = Positions(bounds, units, truths, rows, read_only(factors), every)
        edges = _edges(FIRST_EDGES * count, memory)
        self._lattice = Lattice(memory.zeros(count + 1, np.int64), memory.zeros(count, np.int64), *edges)
        for some in self._stretches():
            self._begin_with_truths(some)
        self._lattice.start[count] = FIRST_EDGES * count
        squares = lengths**2 if keeps_products else np.zeros_like(lengths)
        cells = int(squares.sum()) if keeps_products else int(lengths.max()) ** 2
        first, known_rows = np.cumsum(squares) - squares, memory.zeros(count, np.bool_)
        self._grams = Grams(first, known_rows, memory.zeros(cells, product_type(of.atoms)), keeps_products)
        self._scratch = FlowScratch.of(int(lengths.max()), arrays.n_labels, arrays.direct, of.atoms.n_features)
        self.vectors.average_if_cheap(of.atoms, of.units)
        self._paths: WeightedPaths | None = None  # the paths of the current flows

    def _stretches(self) -> Iterator[slice]:
        """Yield ranges of sequences, so that temporary arrays stay small."""
        n = len(self.chains.bounds) - 1
        return (slice(first, min(first + AT_ONCE, n)) for first in range(0, n, AT_ONCE))

    def _begin_with_truths(self, some: slice) -> None:
        """Send all flow of these sequences along their truths."""
        bounds, lattice = self.chains.bounds[some.start : some.stop + 1], self._lattice
        begin, end = int(bounds[0]), int(bounds[-1])
        truths, first = self.chains.truths[begin:end], bounds[:-1] - begin
        lattice.start[begin:end], lattice.filled[begin:end] = FIRST_EDGES * np.arange(begin, end), 1
        edges = slice(FIRST_EDGES * begin, FIRST_EDGES * end, FIRST_EDGES)
        before = np.concatenate([[0], truths[:-1]])
        before[first] = 0
        lattice.before[edges], lattice.here[edges] = before, truths
        lattice.flow[edges] = np.repeat(self.cap[some], np.diff(bounds))

    @property
    def lattice(self) -> Lattice:
        """The known edges between labels of every sequence, and the flow along them."""
        return self._lattice

    @property
    def alpha_sums(self) -> Array:
        """The flow through every sequence, including the truth's share, at the position where it is largest."""
        start, filled, _, _, flow = self._lattice
        capacity = np.diff(start)
        used = np.arange(len(flow)) - np.repeat(start[:-1], capacity) < np.repeat(filled, capacity)
        through = np.add.reduceat(np.where(used, flow, 0.0), start[:-1])
        return np.asarray(np.maximum.reduceat(through, self.chains.bounds[:-1]))

    # --- the steps of BCFW

    def search(self, oracle: Decoder, order: NDArray[np.intp], block: int) -> Report:
        """Visit these sequences; each visit sees the newest Σ α a, so `block` is not used."""
        oracle.searched(len(order), self._largest)
        report = self._visit(order, True, 1)
        self.vectors.begin_mean()
        nonzeros, n_labels = self.chains.atoms.n_entries, self.chains.atoms.arrays.n_labels
        # Scores and links are vector operations.
        work = 0.25 * n_labels * (nonzeros + n_labels * len(self.chains.units)) / self.visit_work
        return report._replace(work=report.work + work * len(order) / self.n)

    def revisit(self, oracle: Decoder, rng: np.random.Generator) -> Report:
        """Visit the sequences that gained in the last visits again, within their lattices."""
        if not len(self.movers):
            return Report(0.0, 0, 0.0, work=0.0)
        report = self._visit(rng.permutation(self.movers), False, ROUNDS)
        self.vectors.extend_mean()
        return report

    def _visit(self, order: NDArray[np.intp], search: bool, rounds: int) -> Report:
        from maxmargin.structures.sequences.compiled.flows import visit_chains

        self.vectors.keep_own()
        of, n_labels, report = self.chains, self.chains.atoms.arrays.n_labels, np.zeros(REPORT)
        links = self.vectors.clipped(of.atoms.arrays.direct) + of.allowed
        square = n_labels * n_labels
        between = links[:square].reshape(n_labels, n_labels)
        starts, ends = links[square : square + n_labels], links[square + n_labels :]
        problem = FlowProblem(of.atoms.arrays, self._positions, of.cost, self.cap)
        weights = ChainWeights(self.vectors.free, self.vectors.bounds, links, between, starts, ends)
        self._paths = None
        visit_chains(order, search, rounds, problem, self._lattice, self._grams, weights, self._scratch, report)
        self.movers = order[: int(report[MOVED])]
        self.dual += report[GAIN]
        if report[REFUSED]:
            self._add_capacity()
        work = report[WORK] + VISIT * len(order) + CALL
        moved = count_moved(self.movers, report[GAIN], self.dual)
        return Report(report[PENALTY], moved, report[GAIN], work=work / self.visit_work)

    def _add_capacity(self) -> None:
        """Double the memory for edges at the positions that are full."""
        from maxmargin.structures.sequences.compiled.lattice import move_edges, wider_starts

        memory = self.problem.limits.memory
        start = memory.zeros(len(self._lattice.start), np.int64)
        wider_starts(self._lattice, start)
        new = Lattice(start, self._lattice.filled, *_edges(int(start[-1]), memory))
        move_edges(self._lattice, new)
        self._lattice = new

    @cached_property
    def _largest(self) -> Planes:
        """Three planes whose labels are all wrong: the longest, one with the most positions, and the costliest."""
        of, bounds, n_labels = self.chains, self.chains.bounds, self.chains.atoms.arrays.n_labels
        largest = [(-np.inf, 0, 0.0)] * 3  # a size, its sequence, and the cost of all positions
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
        """Return the planes of labellings of these sequences, which follow each other in `labels`."""
        of = self.chains
        lengths = np.diff(of.bounds)[owners]
        ends = np.append(0, np.cumsum(lengths))
        at = np.arange(ends[-1]) + np.repeat(of.bounds[owners] - ends[:-1], lengths)
        truths, rows = of.truths[at], of.rows[at]
        return wrong_labels(of.atoms, True, ends, of.units[at], truths, labels, rows, of.cost, of.factors[at])

    def _in_blocks(self, paths: WeightedPaths) -> Iterator[tuple[slice, AtomRows, Array]]:
        """Yield rows and losses of a few paths at a time, because all of them would take more memory than w."""
        ends = np.cumsum(np.diff(self.chains.bounds)[paths.owners])
        first = top = 0
        while first < len(ends):
            last = max(int(np.searchsorted(ends, top + BLOCK, side="right")), first + 1)
            planes = self._planes(paths.labels[top : ends[last - 1]], paths.owners[first:last])
            yield slice(first, last), AtomRows.of(planes.dpsi), planes.loss
            first, top = last, int(ends[last - 1])

    # --- results computed from the flows

    @property
    def paths(self) -> WeightedPaths:
        """The flows as weighted labellings, which are feasible whatever rounding has done to the flows."""
        if self._paths is None:
            from maxmargin.structures.sequences.compiled.flow_paths import split_flow

            zeros = self.problem.limits.memory.zeros

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
        """Replace the flows by these paths, whose edges are all known, and compute w and D."""
        from maxmargin.structures.sequences.compiled.flow_paths import join_paths

        self.vectors.keep_own()
        join_paths(self._positions, self.cap, self._lattice, *paths)
        self._paths = paths
        losses, sums = np.empty(len(paths.owners)), self.vectors.sums
        sums[:] = 0.0
        for some, rows, loss in self._in_blocks(paths):
            rows.add_to(sums, paths.weights[some])
            losses[some] = loss
        self.dual = float(np.dot(paths.weights, losses)) - self.vectors.settle()

    def refresh(self) -> None:
        self._join(self.paths)

    def _linear(self) -> float:
        from maxmargin.structures.sequences.compiled.lattice import flow_losses

        return float(flow_losses(self._positions, self.chains.cost, self._lattice))

    def take_weights(self) -> Array:
        return self.vectors.take()

    def proof(self) -> Proof:
        w = np.zeros(self.dim)
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
        # The multiple of α that respects its caps has at least this linear part.
        linear -= (excess + gamma(most + 2)) * abs(linear)
        terms = entries + len(alpha) + self.chains.atoms.terms
        mass = float(np.dot(alpha, sizes)) * (1 + gamma(terms))
        # A loss is a sum over positions.
        losses *= 1 + gamma(terms)
        return Proof(linear, losses, w, mass, terms + len(self._scratch.scores), excess=excess)

    def _sums(self, paths: WeightedPaths) -> Array:
        """Return Σ α of every sequence."""
        return np.bincount(paths.owners, weights=paths.weights, minlength=self.n).astype(float)

    def slacks(self, w: Array, gains: Array | None = None) -> Array:
        """Return the height at w of the highest path of every sequence that carries flow, or 0."""
        paths, slacks = self.paths, np.zeros(self.n)
        heights = np.empty(len(paths.owners))
        for some, rows, loss in self._in_blocks(paths):
            heights[some] = loss - rows @ w
        np.maximum.at(slacks, paths.owners, heights if gains is None else heights - gains[paths.owners])
        return slacks

    def move_to(self, problem: DualProblem) -> None:
        if self.vectors.behind:
            self.refresh()
        cap = problem.caps
        paths = self.paths.take(cap[self.paths.owners] > 0, np.diff(self.chains.bounds))
        self.problem, self.cap = problem, cap
        losses = self._planes(paths.labels, paths.owners).loss
        limit = largest_multiple(self._sums(paths), cap)
        factor = self.vectors.best_multiple(float(np.dot(paths.weights, losses)), 0.0, limit)
        self.vectors.set_geometry(problem.geometry)
        self._join(paths._replace(weights=factor * paths.weights) if factor > 0 else WeightedPaths.none())
        self.vectors.begin_mean()

    # --- all blocks at once (solvers/joint_rounds.py)

    def known_planes(self) -> KnownPlanes:
        """Return the paths that carry flow."""
        paths = self.paths
        planes, slots = self._planes(paths.labels, paths.owners), np.arange(len(paths.owners))
        return KnownPlanes(slots, paths.owners, AtomRows.of(planes.dpsi), planes.loss, paths.weights[slots])

    @property
    def joint_size(self) -> JointSize:
        owners = self.paths.owners
        return JointSize(len(owners), len(np.unique(owners)))

    @property
    def visit_work(self) -> float:
        # Two labels and some other work at every position, in every visit and call.
        return 2.0 * self.chains.atoms.n_entries + 15.0 * len(self.chains.units) + VISIT * self.n + CALL


def product_type(atoms: Atoms) -> type[np.float64] | type[np.uint8]:
    """Return the type of products of two units: if features are 0 or 1, a byte is exact."""
    arrays = atoms.arrays
    counts = len(arrays.values) == 1 and not arrays.every and arrays.values[0] == 1.0
    return np.uint8 if counts and atoms.terms <= np.iinfo(np.uint8).max else np.float64


def _edges(count: int, memory: MemoryBudget) -> tuple[NDArray[np.uint16], NDArray[np.uint16], Array]:
    """Return arrays for this many edges: the label before, the label at the position, and the flow."""
    return memory.zeros(count, np.uint16), memory.zeros(count, np.uint16), memory.zeros(count, np.float64)
