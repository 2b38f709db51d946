"""Task: what an output is. It is all that a user writes to train a structure of their own."""

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
    """A kind of structured output: joint features Ψ(x, z), the loss Δ(y, z), and how the best output is found.

    Write `setup` (which sets `dim`), `psi`, `loss`, and either `argmax` or, where there are few outputs, `outputs`.
    Constructor arguments follow scikit-learn's rules (stored as they are), so clone and GridSearchCV work.
    A fast task writes `pack`, too: it returns a Batch of its own, whose `planes` searches many examples in one call.
    A task whose decoder needs weights of some sign sets `bounds_` in `setup`, a pair (low, high) of arrays of length
    dim (or of a number, or None); one that knows good weights to begin with sets `prior_`, an array: see geometry.py.
    """

    dim: int  # length of psi and of w; set by setup
    search: Search = Search.EXACT  # what argmax finds
    ratio: float | None = None  # undergenerating: argmax reaches this share of every maximum that is >= 0, where known
    latent: bool = False  # True where outputs have parts that labels do not show: `complete` finds them

    saved: ClassVar[Fields] = {
        "dim": Whole(),
        "search": Sometimes(Member(Search)),
        "latent": Sometimes(Flag()),
        "bounds_": Dropped(),  # of training
        "prior_": Dropped(),
    }

    @classmethod
    def _saved_parameters(cls) -> Fields:
        return parameters_of(cls)

    def setup(self, X: Sequence[Any], Y: Sequence[Any]) -> None:
        """Learn sizes and label sets from the training data. Runs on a clone of the user's task."""
        raise TaskError(f"{type(self).__name__} must define setup(X, Y), which at least sets self.dim")

    def psi(self, x: Any, z: Any) -> Any:
        """Joint features: an array of length dim, or (indices, values) where most are zero."""
        raise TaskError(f"{type(self).__name__} must define psi(x, z)")

    def loss(self, y: Any, z: Any) -> float:
        """Return the cost of predicting z when y is right: never negative, and 0 at the truth."""
        raise TaskError(f"{type(self).__name__} must define loss(y, z)")

    def outputs(self, x: Any) -> Iterable[Any]:
        """All outputs for x: the reference for tests, and the decoder of tasks with few outputs."""
        raise TaskError(f"{type(self).__name__} must define argmax(w, x, y=None) or outputs(x)")

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
            raise TaskError(f"{type(self).__name__} is latent, so it must define complete(w, x, y) or outputs(x)")
        explanations = [z for z in self.outputs(x) if self.loss(y, z) == 0]
        if not explanations:
            raise TaskError(f"no output explains the label {y!r}: every output has a positive loss")
        return max(explanations, key=lambda z: dot(self.psi(x, z), w))

    def guess(self, rng: np.random.Generator, x: Any, y: Any) -> Any:
        """Latent tasks: a z that explains y before there are weights, by default the best one at random weights."""
        return self.complete(rng.standard_normal(self.dim), x, y)

    def label(self, z: Any) -> Any:
        """Latent tasks: the label that a full output shows."""
        return z

    def decode(self, w: Array, X: Sequence[Any]) -> list[Any]:
        """The best output of every x; a compiled task overrides it with one batched call.

        An overgenerating task must: what is predicted are true outputs.
        """
        return [self.argmax(w, x) for x in X]

    def sums(self, w: Array, X: Sequence[Any]) -> Any:
        """The distributions p(z | x) ∝ exp ⟨w, Ψ(x, z)⟩ (sums.py), by enumeration where outputs are listed."""
        if type(self).outputs is Task.outputs:
            raise ValueError(
                f"{type(self).__name__} cannot sum over its outputs: it needs outputs(x), which lists them, or its own "
                "sums(w, X), which SequenceLabeler, DependencyParser and GraphLabeler have"
            )
        return ListedSums(self, w, X)

    def pack(self, X: Sequence[Any], Y: Sequence[Any]) -> Batch:
        """The training data in a form that can be searched, made once per fit."""
        return Examples(self, X, Y, listed=type(self).outputs is not Task.outputs)

    def searching(self) -> Task:
        """Return the task as searches in other processes need it, without what only reads inputs."""
        return self

    def setup_and_pack(self, X: Sequence[Any], Y: Sequence[Any]) -> Batch:
        """`setup` and `pack` of the same data; a task that reads them at some cost may do so once for both."""
        self.setup(X, Y)
        return self.pack(X, Y)
