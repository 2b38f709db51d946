"""Task: the definition of a structured output. Users write one to train a structure of their own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from maxmargin.base.arrays import Array
from maxmargin.base.errors import TaskError
from maxmargin.base.files.fields import Flag, Member, Whole
from maxmargin.base.files.objects import Dropped, Fields, Sometimes, parameters_of
from maxmargin.base.search import Search
from maxmargin.problem.contract.batch import Batch
from maxmargin.problem.contract.examples import Examples, dot
from maxmargin.problem.contract.listed_sums import ListedSums


class Task(BaseEstimator):
    """A kind of structured output: joint features Ψ(x, z), a loss Δ(y, z), and the search for the best output.

    Write `setup` (which sets `dim`), `psi`, `loss`, and either `argmax` or, if there are few outputs, `outputs`.
    Constructor arguments follow scikit-learn's rules (they are stored unchanged), so clone and GridSearchCV work. A
    fast task also writes `pack`, which returns a Batch of its own, whose `planes` searches many examples in one call. A
    task whose decoder needs weights of some sign sets `bounds_` in `setup`, a pair (low, high) of arrays of length dim
    (or of a number, or None); one that knows good initial weights sets `prior_`, an array: see geometry.py.
    """

    dim: int  # length of psi and of w; set by setup
    search: Search = Search.EXACT  # the guarantee of argmax
    ratio: float | None = None  # undergenerating: argmax attains this share of every maximum >= 0, if known
    latent: bool = False  # True if outputs have parts that labels do not show; `complete` finds them

    saved: ClassVar[Fields] = {
        "dim": Whole(),
        "search": Sometimes(Member(Search)),
        "latent": Sometimes(Flag()),
        "bounds_": Dropped(),  # used in training only
        "prior_": Dropped(),
    }

    @classmethod
    def _saved_parameters(cls) -> Fields:
        return parameters_of(cls)

    def setup(self, X: Sequence[Any], Y: Sequence[Any]) -> None:
        """Learn sizes and label sets from the training data. Runs on a clone of the user's task."""
        raise TaskError(f"{type(self).__name__} must define setup(X, Y), which at least sets self.dim")

    def psi(self, x: Any, z: Any) -> Any:
        """Return the joint features: an array of length dim, or (indices, values) if most are zero."""
        raise TaskError(f"{type(self).__name__} must define psi(x, z)")

    def loss(self, y: Any, z: Any) -> float:
        """Return the cost of predicting z if y is right: never negative, and 0 at the truth."""
        raise TaskError(f"{type(self).__name__} must define loss(y, z)")

    def outputs(self, x: Any) -> Iterable[Any]:
        """Yield all outputs for x: the reference for tests, and the decoder of tasks with few outputs."""
        raise TaskError(f"{type(self).__name__} must define argmax(w, x, y=None) or outputs(x)")

    def argmax(self, w: Array, x: Any, y: Any = None) -> Any:
        """Return the z with the highest ⟨w, Ψ(x, z)⟩, plus Δ(y, z) if y is given: one decoder for both uses."""

        def score(z: Any) -> float:
            return dot(self.psi(x, z), w) + (0.0 if y is None else self.loss(y, z))

        return max(self.outputs(x), key=score)

    def complete(self, w: Array, x: Any, y: Any) -> Any:
        """Return the z with the highest ⟨w, Ψ(x, z)⟩ among those that explain the label y, Δ(y, z) = 0 (latent tasks).

        (Yu and Joachims 2009, Eq. 6.) A latent task that lists its outputs gets it by enumeration.
        """
        if not self.latent:
            return y
        if type(self).outputs is Task.outputs:
            raise TaskError(f"{type(self).__name__} is latent, so it must define complete(w, x, y) or outputs(x)")
        explanations = [z for z in self.outputs(x) if self.loss(y, z) == 0]
        if not explanations:
            raise TaskError(f"no output explains the label {y!r}: every output has a positive loss")
        return max(explanations, key=lambda z: dot(self.psi(x, z), w))

    def guess(self, rng: np.random.Generator, x: Any, y: Any) -> Any:
        """Return a z that explains y before there are weights (latent tasks); by default the best at random ones."""
        return self.complete(rng.standard_normal(self.dim), x, y)

    def label(self, z: Any) -> Any:
        """Return the label that a full output shows (latent tasks)."""
        return z

    def decode(self, w: Array, X: Sequence[Any]) -> list[Any]:
        """Return the best output of every x; a compiled task overrides it with one batched call.

        An overgenerating task must override it, because predictions must be true outputs.
        """
        return [self.argmax(w, x) for x in X]

    def sums(self, w: Array, X: Sequence[Any]) -> Any:
        """Return the distributions p(z | x) ∝ exp ⟨w, Ψ(x, z)⟩ (sums.py), by enumeration if outputs are listed."""
        if type(self).outputs is Task.outputs:
            raise ValueError(
                f"{type(self).__name__} cannot sum over its outputs: it needs outputs(x), which lists them, or its own "
                "sums(w, X), which SequenceLabeler, DependencyParser and GraphLabeler have"
            )
        return ListedSums(self, w, X)

    def pack(self, X: Sequence[Any], Y: Sequence[Any]) -> Batch:
        """Return the training data in a form that can be searched; called once per fit."""
        return Examples(self, X, Y, listed=type(self).outputs is not Task.outputs)

    def searching(self) -> Task:
        """Return the task for searches in other processes, without the parts that only read inputs."""
        return self

    def setup_and_pack(self, X: Sequence[Any], Y: Sequence[Any]) -> Batch:
        """Call `setup` and `pack` for the same data; a task that is slow to read data may read them once for both."""
        self.setup(X, Y)
        return self.pack(X, Y)
