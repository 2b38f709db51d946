"""Examples: the batch of a task in plain Python, the reference for the tests of compiled batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from itertools import islice
from typing import Any, Self

import numpy as np
from scipy import sparse

from maxmargin.base.arrays import Array, Index, read_only
from maxmargin.base.errors import TaskError
from maxmargin.base.rounding import UNIT, gamma
from maxmargin.base.search import Search
from maxmargin.problem.contract.batch import Batch, Offered
from maxmargin.problem.contract.capabilities.latent import Latent
from maxmargin.problem.contract.capabilities.portable import Portable
from maxmargin.problem.contract.capabilities.rescaled_search import RescaledSearch
from maxmargin.problem.contract.capabilities.smooth import Smooth
from maxmargin.problem.contract.tangents import Softness, Tangents
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.planes.planes import Planes, Rows, bound_by_ratio

MOST_LISTED = 100_000  # the most outputs of one x that are summed over


class Examples(Batch, Latent, Portable, RescaledSearch, Smooth):
    """The user's own objects, searched one by one in Python.

    `listed` is True if the task lists its outputs: rescaled searches and sums enumerate them. Labels have hidden parts
    if the task says so.
    """

    weighs_loss = False  # the user's argmax has a fixed loss, so it is called at w/λ

    def __init__(
        self, task: Any, X: Sequence[Any], Y: Sequence[Any], listed: bool = False, truth: Sequence[Any] | None = None
    ):
        super().__init__(task, len(Y))
        self.X, self.Y, self.listed = X, Y, listed
        self.longest: dict[int, float] = {}  # ‖Ψ‖ of the examples whose outputs have been listed
        self.truth = Y if truth is None else truth  # the output whose Ψ is the target: y, or its latent completion
        self.positions = self.ids  # positions of the examples in X, Y and truth

    def offers(self, capability: type[Offered]) -> Offered | None:
        if capability is Latent and not self.task.latent:
            return None
        if capability in (RescaledSearch, Smooth) and not self.listed:
            return None
        return super().offers(capability)

    def take(self, index: Index) -> Self:
        taken = super().take(index)
        taken.positions = self.positions[index]
        return taken

    def shard(self, index: Index) -> Self:
        taken = self.take(index)
        for name in ("X", "Y", "truth"):
            setattr(taken, name, [getattr(self, name)[i] for i in map(int, taken.positions)])
        taken.positions = np.arange(len(taken))
        return taken

    def __iter__(self) -> Iterator[tuple[int, Any, Any, Any]]:
        """Yield number, x, y and truth of every example."""
        pairs = zip(map(int, self.ids), map(int, self.positions), strict=True)
        return ((i, self.X[j], self.Y[j], self.truth[j]) for i, j in pairs)

    def planes(self, w: Array, augment: float | Array = 1.0) -> Planes:
        task, w = self.task, read_only(w)
        lam = self.loss_weights(augment)

        def decoded(x: Any, y: Any, j: int) -> Any:
            if lam[j] == 0:
                return task.argmax(w, x)
            return task.argmax(w if lam[j] == 1 else w / lam[j], x, y)

        planes = self._planes_of(decoded)
        if task.ratio is None or self.search is not Search.UNDERGENERATING:
            return planes
        truths = np.array([dot(task.psi(x, truth), w) for _, x, _, truth in self])
        return planes._replace(upper=bound_by_ratio(lam * planes.loss - planes.dpsi @ w, truths, task.ratio))

    def rescaled_planes(self, w: Array, formulation: Formulation) -> Planes:
        """Return the most violated planes by enumeration of all outputs."""
        task, w = self.task, read_only(w)
        truths = [truth for _, _, _, truth in self]

        def worst(x: Any, y: Any, j: int) -> Any:
            truth_score = dot(task.psi(x, truths[j]), w)

            def violation(z: Any) -> float:
                return float(formulation.value(task.loss(y, z), truth_score - dot(task.psi(x, z), w)))

            return max(task.outputs(x), key=violation)

        return self._planes_of(worst)

    def add_tangents(self, w: Array, weights: Array, softness: Softness, total: Array) -> Tangents:
        """Add the expectations over outputs, by enumeration of all of them."""
        task, w, (b, margin) = self.task, read_only(w), softness
        slacks, errors, size = np.empty(len(self)), np.empty(len(self)), float(np.linalg.norm(w))
        mass = most = 0.0
        for j, (i, x, y, truth) in enumerate(self):
            try:
                outputs = listed_outputs(task, x, f"example {i}")
                features, right = [task.psi(x, z) for z in outputs], task.psi(x, truth)
                losses = np.array([float(task.loss(y, z)) for z in outputs]) if margin else np.zeros(len(outputs))
            except Exception as error:
                self._name(error, i)
                raise
            for each in (right, *features):
                check_features(each, self.dim, f"psi(x, z) of example {i}")
            scores = np.array([dot(each, w) for each in features])
            exponents = b * (margin * losses + scores - dot(right, w))
            log_z = float(np.logaddexp.reduce(exponents))
            if not np.isfinite(log_z):
                raise TaskError(f"psi(x, z) or loss(y, z) of example {i} has values that are not finite")
            lengths = np.array([length(each) for each in features])
            largest = size * (length(right) + float(lengths.max())) + margin * float(losses.max())
            slacks[j] = log_z / b
            errors[j] = 4 * gamma(self.dim + len(outputs) + 16) * (largest + (1 + abs(log_z)) / b)
            if slacks[j] < -errors[j]:
                raise TaskError(
                    f"the true output of example {i} is not among its listed outputs: its score exceeds the "
                    "sum over all of them"
                )
            p = np.exp(exponents - log_z)
            add_features(total, right, float(weights[j]))
            for share, each in zip(p, features, strict=True):
                add_features(total, each, -float(weights[j] * share))
            mass += weights[j] * (length(right) + float(np.dot(p, lengths)))
            most = max(most, 8 * b * float(errors[j]) / UNIT + 2 * len(outputs))
        return Tangents(slacks, errors, mass, most + 2 * self.dim + len(self))

    def completed(self, w: Array) -> Self:
        w = read_only(w)
        return self._explained_by(lambda x, y: self.task.complete(w, x, y))

    def guessed(self, rng: np.random.Generator) -> Self:
        return self._explained_by(lambda x, y: self.task.guess(rng, x, y))

    def shifts_to(self, after: Self) -> Rows:
        psi = self.task.psi
        pairs = [(psi(x, new), psi(x, old)) for (_, x, _, new), (_, _, _, old) in zip(after, self, strict=True)]
        return differences([new for new, _ in pairs], [old for _, old in pairs], self.dim)

    def _explained_by(self, explain: Callable[[Any, Any], Any]) -> Self:
        """Return the same examples with the truths that `explain` returns for x and y."""
        truth = list(self.truth)
        for position, (i, x, y, _) in zip(map(int, self.positions), self, strict=True):
            try:
                truth[position] = explain(x, y)
            except Exception as error:
                self._name(error, i)
                raise
        completed = copy(self)
        completed.truth = truth
        return completed

    def _planes_of(self, decode: Callable[[Any, Any, int], Any]) -> Planes:
        """Decode the examples one by one and stack the planes; an error names the example."""
        losses = np.empty(len(self))
        truths, found = [], []
        for j, (i, x, y, truth) in enumerate(self):
            try:
                losses[j], features = loss_and_features(self.task, i, x, y, decode(x, y, j))
                truths.append(self.task.psi(x, truth))
                found.append(features)
            except Exception as error:
                self._name(error, i)
                raise
            if not losses[j] >= 0 or losses[j] == np.inf:
                raise TaskError(f"loss(y, z) of example {i} is {losses[j]}; a loss must be a finite number >= 0")
            for features in (truths[-1], found[-1]):
                check_features(features, self.dim, f"psi(x, z) of example {i}")
        pairs = zip(truths, found, strict=True)
        lengths = np.array([self._lengths(i, x, *pair) for (i, x, _, _), pair in zip(self, pairs, strict=True)])
        planes = Planes(differences(truths, found, self.dim), losses, lengths=lengths)
        values: Any = planes.dpsi.data if sparse.issparse(planes.dpsi) else planes.dpsi  # type: ignore[union-attr]
        if not np.isfinite(np.sum(values)) and not np.isfinite(values).all():
            for i, features in zip(self.ids, zip(truths, found, strict=True), strict=True):
                for each in features:
                    if not np.isfinite(each[1] if isinstance(each, tuple) else each).all():
                        raise TaskError(f"psi(x, z) of example {i} contains NaN or infinite values")
        return planes

    def _lengths(self, i: int, x: Any, truth: Any, found: Any) -> float:
        """Return ‖Ψ(x, truth)‖ + the longest ‖Ψ(x, z)‖, over all outputs if they are listed, else of the one found."""
        if not self.listed:
            return length(truth) + length(found)
        if i not in self.longest:
            self.longest[i] = max(length(self.task.psi(x, z)) for z in self.task.outputs(x))
        return length(truth) + self.longest[i]

    def _name(self, error: Exception, i: int) -> None:
        error.add_note(f"maxmargin: raised by {self.name} on training example {i}")


def listed_outputs(task: Any, x: Any, name: str) -> list[Any]:
    """Return all outputs of x, for a sum over them; `name` names x in messages."""
    outputs = list(islice(task.outputs(x), MOST_LISTED + 1))
    if not outputs:
        raise TaskError(f"{name} has no outputs; expected at least one")
    if len(outputs) > MOST_LISTED:
        raise ValueError(
            f"{name} has more than {MOST_LISTED:,} outputs, too many to sum over one by one; sums need smaller "
            "outputs, or a task that has sums(w, X) and a batch with add_tangents of its own"
        )
    return outputs


def add_features(total: Array, features: Any, scale: float) -> None:
    """Add scale · Ψ to total, for both forms of Ψ."""
    if isinstance(features, tuple):
        indices, values = features
        np.add.at(total, indices, scale * np.asarray(values, dtype=float))
    else:
        total += scale * np.asarray(features, dtype=float)


def length(features: Any) -> float:
    """Return ‖Ψ‖, or an upper bound if entries may repeat."""
    return float(np.abs(features[1]).sum() if isinstance(features, tuple) else np.linalg.norm(features))


def loss_and_features(task: Any, i: int, x: Any, y: Any, z: Any) -> tuple[float, Any]:
    """Return Δ(y, z) and Ψ(x, z) of a decoder's result, or raise a TaskError that says what is wrong.

    None may be an output, and outputs may have any length: an invalid output shows when loss or psi fail.
    """
    try:
        return task.loss(y, z), task.psi(x, z)
    except Exception as error:
        lengths = [len(each) if hasattr(each, "__len__") else None for each in (z, y)]
        found, expected = "None", "an output (is a return missing?)"
        if z is not None:
            if None in lengths or lengths[0] == lengths[1]:
                raise
            found, expected = f"an output of length {lengths[0]}", f"one that they take; its y has length {lengths[1]}"
        raise TaskError(
            f"argmax(w, x, y) of example {i} returned {found}, on which loss or psi fails ({type(error).__name__}: "
            f"{error}); expected {expected}"
        ) from error


def dot(features: Any, w: Array) -> float:
    """Return ⟨w, Ψ⟩ for both forms of Ψ."""
    if isinstance(features, tuple):
        indices, values = features
        return float(np.dot(w[indices], values))
    return float(np.dot(features, w))


def check_features(features: Any, dim: int, name: str) -> None:
    """Raise a TaskError unless this is a Ψ of the right length."""
    if isinstance(features, tuple):
        indices, values = features
        if len(indices) != len(values):
            raise TaskError(f"{name} has {len(indices)} indices but {len(values)} values")
        if len(indices) and not (np.min(indices) >= 0 and np.max(indices) < dim):
            raise TaskError(f"{name} has indices from {np.min(indices)} to {np.max(indices)}; expected 0 to {dim - 1}")
        features = values
    elif np.shape(features) != (dim,):
        raise TaskError(f"{name} has shape {np.shape(features)}; expected ({dim},), the task's dim")
    if np.iscomplexobj(features):
        raise TaskError(f"{name} has complex numbers; expected real ones")


def differences(truths: list[Any], found: list[Any], dim: int) -> Rows:
    """Stack Ψ(x, y) - Ψ(x, z): dense when both are dense, CSR otherwise."""
    if not any(isinstance(features, tuple) for features in truths + found):
        return np.asarray(truths, dtype=float).reshape(-1, dim) - np.asarray(found, dtype=float).reshape(-1, dim)
    indices, values, indptr = [], [], [0]
    for pair in zip(truths, found, strict=True):
        for sign, features in zip((1.0, -1.0), pair, strict=True):
            if not isinstance(features, tuple):
                nonzero = np.flatnonzero(features)
                features = nonzero, np.asarray(features)[nonzero]
            indices.append(np.asarray(features[0], dtype=np.int32))
            values.append(sign * np.asarray(features[1], dtype=float))
        indptr.append(indptr[-1] + len(indices[-2]) + len(indices[-1]))
    rows = sparse.csr_array(
        (np.concatenate(values), np.concatenate(indices), np.asarray(indptr, dtype=np.int32)), shape=(len(truths), dim)
    )
    rows.sum_duplicates()
    rows.eliminate_zeros()  # entries that both outputs share; if z is right, all of them
    return rows
