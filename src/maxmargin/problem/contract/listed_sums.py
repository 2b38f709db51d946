"""ListedSums: distributions over outputs that a task lists, one by one in plain Python."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from maxmargin.base.arrays import Array, read_only
from maxmargin.problem.contract.examples import dot, listed_outputs

LEAST = -700.0  # smaller exponents are negligible


class LikelyOutput(NamedTuple):
    """An output with its probability."""

    output: Any
    probability: float


class ListedSums:
    """The distribution p(z | x) ∝ exp ⟨w, Ψ(x, z)⟩ over outputs(x); marginals list all outputs."""

    def __init__(self, task: Any, w: Array, X: Sequence[Any]):
        self.task, self.w, self.X = task, read_only(w), X

    @property
    def log_partitions(self) -> Array:
        return np.array([np.logaddexp.reduce(scores) for _, scores in self._listed])

    @property
    def entropies(self) -> Array:
        return np.array([-float(np.sum(np.exp(logs) * logs)) for logs in self._logs])

    def marginals(self) -> list[list[LikelyOutput]]:
        """Return all outputs of every x, the most probable one first."""
        found = []
        for (outputs, _), logs in zip(self._listed, self._logs, strict=True):
            order = np.argsort(-logs, kind="stable")
            found.append([LikelyOutput(outputs[k], float(np.exp(logs[k]))) for k in order])
        return found

    def log_probabilities(self, Y: Any) -> Array:
        """Return log p(y | x) of every label; with hidden parts, the sum over all outputs that explain the label."""
        if len(Y) != len(self.X):
            raise ValueError(f"X has {len(self.X)} examples but Y has {len(Y)}")
        found = np.empty(len(self.X))
        for j, (x, y, (outputs, scores)) in enumerate(zip(self.X, Y, self._listed, strict=True)):
            if self.task.latent:
                own = scores[np.flatnonzero([self.task.loss(y, z) == 0 for z in outputs])]
            else:
                own = np.array([dot(self.task.psi(x, y), self.w)])
            found[j] = np.logaddexp.reduce(own) - np.logaddexp.reduce(scores) if len(own) else -np.inf
        return np.minimum(found, 0.0)

    def sample(self, rng: np.random.Generator, n: int) -> list[list[Any]]:
        drawn = []
        for (outputs, _), logs in zip(self._listed, self._logs, strict=True):
            p = np.exp(logs)
            drawn.append([outputs[k] for k in rng.choice(len(outputs), n, p=p / p.sum())])
        return drawn

    @cached_property
    def _listed(self) -> list[tuple[list[Any], Array]]:
        """The outputs of every x and their scores."""
        found = []
        for i, x in enumerate(self.X):
            outputs = listed_outputs(self.task, x, f"example {i}")
            found.append((outputs, np.array([dot(self.task.psi(x, z), self.w) for z in outputs])))
        return found

    @property
    def _logs(self) -> list[Array]:
        """The log probabilities of the outputs of every x, at least LEAST each."""
        return [np.maximum(scores - np.logaddexp.reduce(scores), LEAST) for _, scores in self._listed]
