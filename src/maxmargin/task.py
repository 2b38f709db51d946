"""The contract between a structure and the trainers: Task, Batch, Planes.

A task says what an output is: joint features Ψ(x, z), the loss Δ(y, z) and how the best output is found. All that
training needs of it are *planes*: for example i and the output z that the decoder found, the cut

    w  ->  Δ(yᵢ, z) - ⟨w, δΨᵢ(z)⟩,      δΨᵢ(z) = Ψ(xᵢ, yᵢ) - Ψ(xᵢ, z),

whose maximum over z is the structured hinge of the example (Joachims et al. 2009, Eq. 6 and 11).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator

from maxmargin.atoms import AtomRows
from maxmargin.errors import TaskError

if TYPE_CHECKING:
    from maxmargin.kernels.atoms import KernelAtoms
    from maxmargin.objective import Formulation

Array: TypeAlias = NDArray[np.float64]
Rows: TypeAlias = "Array | sparse.csr_array | AtomRows"


SEARCHES = ("exact", "undergenerating", "overgenerating")


class Planes(NamedTuple):
    """Row i is the cut  w -> loss[i] - ⟨dpsi[i], w⟩."""

    dpsi: Rows  # (m, dim): dense, CSR, or rows over shared atoms
    loss: Array  # (m,)
    upper: Array | None = None  # (m,) where the search is not exact: proved bounds on the highest λΔ - ⟨w, δΨ⟩

    def values(self, w: Array) -> Array:
        """The height of every cut at w."""
        return np.asarray(self.loss - self.dpsi @ w)

    @classmethod
    def stack(cls, parts: list[Planes]) -> Planes:
        """One under the other; all parts have AtomRows over the same atoms."""
        rows: list[Any] = [part.dpsi for part in parts]
        return cls(AtomRows.stack(rows), np.concatenate([part.loss for part in parts]))

    def over_atoms(self) -> Planes:
        """The same with AtomRows, whose products depend on single rows only: BLAS rounds by the size of the batch."""
        return self if isinstance(self.dpsi, AtomRows) else Planes(AtomRows.of(self.dpsi), self.loss, self.upper)


class Batch:
    """Examples in the form a task's `planes` wants them; made once per fit by `Task.pack`."""

    ids: NDArray[np.intp]  # the examples' numbers in the training set, for messages
    call_cost: float = 20.0  # of one plane, in visits of cached planes: solvers weigh one against the other
    search: str | None = None  # overrides Task.search where the kind depends on the data, or on what was found so far
    method: str = ""  # how the best output is searched, for the certificate

    @property
    def kernel(self) -> KernelAtoms | None:
        """Where w is a vector of coefficients: what their inner products are."""
        return None

    def __len__(self) -> int:
        return len(self.ids)

    def take(self, index: NDArray[np.intp]) -> Batch:
        """The examples at these positions: a view, cheap enough for one call per block of examples."""
        raise NotImplementedError

    def teaching(self) -> NDArray[np.intp]:
        """Positions of the examples that can teach something; training leaves the others out."""
        return np.arange(len(self))


class Examples(Batch):
    """The batch of a task in plain Python: the user's own objects, one by one."""

    def __init__(
        self,
        X: Sequence[Any],
        Y: Sequence[Any],
        truth: Sequence[Any] | None = None,
        ids: NDArray[np.intp] | None = None,
    ):
        self.X, self.Y = X, Y
        self.truth = Y if truth is None else truth  # the output whose Ψ is the target: y, or its latent completion
        self.ids = np.arange(len(Y)) if ids is None else ids

    def take(self, index: NDArray[np.intp]) -> Examples:
        return Examples(self.X, self.Y, self.truth, self.ids[index])

    def __iter__(self) -> Iterator[tuple[int, Any, Any, Any]]:
        return ((i, self.X[i], self.Y[i], self.truth[i]) for i in map(int, self.ids))

    def completed(self, truth: Sequence[Any]) -> Examples:
        return Examples(self.X, self.Y, truth, self.ids)


class Task(BaseEstimator):
    """A kind of structured output.

    Write `setup` (which sets `dim`), `psi`, `loss`, and either `argmax` or, where there are few outputs, `outputs`.
    Constructor arguments follow scikit-learn's rules (stored as they are), so clone and GridSearchCV work.
    """

    dim: int  # length of psi and of w; set by setup
    # What argmax finds. "exact": the maximum. "undergenerating" (greedy, local search): an output, perhaps not the
    # best. "overgenerating" (relaxations): the best of a larger set, whose members have psi and loss too.
    search: str = "exact"
    ratio: float | None = None  # undergenerating: argmax reaches this share of every maximum that is >= 0, where known
    latent: bool = False  # True where outputs have parts that labels do not show: `complete` finds them

    def setup(self, X: Sequence[Any], Y: Sequence[Any]) -> None:
        """Learn sizes and label sets from the training data. Runs on a clone of the user's task."""
        raise TaskError(f"{type(self).__name__} has no setup(X, Y); it must at least set self.dim")

    def psi(self, x: Any, z: Any) -> Any:
        """Joint features: an array of length dim, or (indices, values) where most are zero."""
        raise TaskError(f"{type(self).__name__} has no psi(x, z)")

    def loss(self, y: Any, z: Any) -> float:
        """What predicting z costs when y is right: never negative, and 0 at the truth."""
        raise TaskError(f"{type(self).__name__} has no loss(y, z)")

    def outputs(self, x: Any) -> Iterable[Any]:
        """All outputs for x: the reference for tests, and the decoder of tasks with few outputs."""
        raise TaskError(f"{type(self).__name__} has neither argmax(w, x, y=None) nor outputs(x): one of them is needed")

    def argmax(self, w: Array, x: Any, y: Any = None) -> Any:
        """The z with the highest ⟨w, Ψ(x, z)⟩, plus Δ(y, z) when y is given: one decoder for both uses."""

        def score(z: Any) -> float:
            return dot(self.psi(x, z), w) + (0.0 if y is None else self.loss(y, z))

        return max(self.outputs(x), key=score)

    def complete(self, w: Array, x: Any, y: Any) -> Any:
        """Latent tasks: the z with the highest ⟨w, Ψ(x, z)⟩ of those that explain the label y, i.e. Δ(y, z) = 0.

        (Yu and Joachims 2009, Eq. 6.) A latent task that lists its outputs gets it by enumeration.
        """
        if not self.latent:
            return y
        if type(self).outputs is Task.outputs:
            raise TaskError(f"{type(self).__name__} is latent and has neither complete(w, x, y) nor outputs(x)")
        explanations = [z for z in self.outputs(x) if self.loss(y, z) == 0]
        if not explanations:
            raise TaskError(f"no output explains the label {y!r}: every one has a loss")
        return max(explanations, key=lambda z: dot(self.psi(x, z), w))

    def guess(self, rng: np.random.Generator, x: Any, y: Any) -> Any:
        """Latent tasks: a z that explains y before there are weights, by default the best one at random weights."""
        return self.complete(rng.standard_normal(self.dim), x, y)

    def label(self, z: Any) -> Any:
        """Latent tasks: the label that a full output shows."""
        return z

    def settled(self, w: Array, batch: Any) -> tuple[Task, Array]:
        """The task and the weights that prediction needs after training on this batch; a kernel keeps its support."""
        return self, w

    def decode(self, w: Array, X: Sequence[Any]) -> list[Any]:
        """The best output of every x; a compiled task overrides it with one batched call.

        An overgenerating task must: what is predicted are true outputs.
        """
        return [self.argmax(w, x) for x in X]

    def pack(self, X: Sequence[Any], Y: Sequence[Any]) -> Batch:
        """Bring the training data into the form that `planes` reads, once per fit."""
        return Examples(X, Y)

    def planes(self, w: Array, batch: Any, augment: float | Array = 1.0) -> Planes:
        """One plane per example, from z = argmax λΔ(y, z) + ⟨w, Ψ(x, z)⟩ with λ = augment (a number, or one each).

        λ = 1 is the loss-augmented search of training, λ = 0 plain prediction; other values serve slack rescaling.
        """
        lam = np.broadcast_to(np.asarray(augment, dtype=float), len(batch))
        planes = self._rows(
            w, batch, lambda x, y, j: self.argmax(w, x) if lam[j] == 0 else self._augmented(w, x, y, lam[j])
        )
        if self.ratio is None or self.search != "undergenerating":
            return planes
        truths = np.array([dot(self.psi(x, truth), w) for _, x, _, truth in batch])
        return planes._replace(upper=bound_by_ratio(lam * planes.loss - planes.dpsi @ w, truths, self.ratio))

    def rescaled_planes(self, w: Array, batch: Any, formulation: Formulation) -> Planes | None:
        """Planes of the z with the highest formulation.value(Δ, ⟨w, δΨ⟩), exactly; None where only `planes` can search.

        Serves slack rescaling and squared slacks, whose violation is not Δ - ⟨w, δΨ⟩. A task that lists its outputs
        gets it by enumeration.
        """
        if type(self).outputs is Task.outputs:
            return None

        def best(x: Any, y: Any, j: int) -> Any:
            truth_score = dot(self.psi(x, truths[j]), w)

            def violation(z: Any) -> float:
                return float(formulation.value(self.loss(y, z), truth_score - dot(self.psi(x, z), w)))

            return max(self.outputs(x), key=violation)

        truths = [truth for _, _, _, truth in batch]
        return self._rows(w, batch, best)

    def completed(self, w: Array, batch: Any) -> Any:
        """Latent tasks: the batch with every truth replaced by `complete` at w."""
        return self._with_truths(batch, lambda x, y: self.complete(w, x, y))

    def guessed(self, rng: np.random.Generator, batch: Any) -> Any:
        """Latent tasks: the batch with every truth replaced by `guess`."""
        return self._with_truths(batch, lambda x, y: self.guess(rng, x, y))

    def shifts(self, before: Any, after: Any) -> Rows:
        """Latent tasks: Ψ(x, truth after) - Ψ(x, truth before) of every example, for two completions of a batch."""
        pairs = [
            (self.psi(x, new), self.psi(x, old)) for (_, x, _, new), (_, _, _, old) in zip(after, before, strict=True)
        ]
        return _differences([new for new, _ in pairs], [old for _, old in pairs], self.dim)

    def _with_truths(self, batch: Any, explain: Callable[[Any, Any], Any]) -> Examples:
        if not isinstance(batch, Examples):
            raise TaskError(
                f"{type(self).__name__} packs a {type(batch).__name__}, so it must have its own completed(w, batch), "
                "guessed(rng, batch) and shifts(before, after)"
            )
        truth = list(batch.truth)
        for i, x, y, _ in batch:
            try:
                truth[i] = explain(x, y)
            except Exception as error:
                error.add_note(f"maxmargin: raised by {type(self).__name__} on training example {i}")
                raise
        return batch.completed(truth)

    def _augmented(self, w: Array, x: Any, y: Any, lam: float) -> Any:
        return self.argmax(w if lam == 1 else w / lam, x, y)

    def _rows(self, w: Array, batch: Examples, decode: Callable[[Any, Any, int], Any]) -> Planes:
        """Decode the examples one by one in the user's Python and stack the planes; name the example in any error."""
        losses = np.empty(len(batch))
        truths, found = [], []
        for j, (i, x, y, truth) in enumerate(batch):
            try:
                z = decode(x, y, j)
                losses[j] = self.loss(y, z)
                truths.append(self.psi(x, truth))
                found.append(self.psi(x, z))
            except Exception as error:
                error.add_note(f"maxmargin: raised by {type(self).__name__} on training example {i}")
                raise
            if not losses[j] >= 0 or losses[j] == np.inf:
                raise TaskError(f"loss(y, z) of example {i} is {losses[j]}; a loss must be a finite number >= 0")
            for features in (truths[-1], found[-1]):
                check_features(features, self.dim, f"psi(x, z) of example {i}")
        planes = Planes(_differences(truths, found, self.dim), losses)
        values: Any = planes.dpsi.data if sparse.issparse(planes.dpsi) else planes.dpsi  # type: ignore[union-attr]
        if not np.isfinite(np.sum(values)) and not np.isfinite(values).all():
            for i, features in zip(batch.ids, zip(truths, found, strict=True), strict=True):
                for each in features:
                    if not np.isfinite(each[1] if isinstance(each, tuple) else each).all():
                        raise TaskError(f"psi(x, z) of example {i} contains NaN or infinite values")
        return planes


def bound_by_ratio(heights: Array, truths: Array, ratio: float) -> Array:
    """Upper bounds on the highest planes, where the search reaches `ratio` of every maximum that is not negative.

    What was found has the value v = height + ⟨w, Ψ(x, truth)⟩, so no output has more than v / ratio (the step in
    Finley and Joachims 2008 that bounds the slack of an undergenerating search). A negative v tells nothing.
    """
    values = heights + truths
    bounds = np.where(values >= 0, values / ratio - truths, np.inf)
    return np.asarray(np.maximum(bounds, np.maximum(heights, 0.0)))  # the truth itself has height 0


def dot(features: Any, w: Array) -> float:
    """⟨w, Ψ⟩ for both spellings of Ψ."""
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
    elif np.shape(features) != (dim,):
        raise TaskError(f"{name} has shape {np.shape(features)}; expected ({dim},), the task's dim")


def _differences(truths: list[Any], found: list[Any], dim: int) -> Rows:
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
    rows.eliminate_zeros()  # what both outputs share, which is all where z is right
    return rows
