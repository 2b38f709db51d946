"""Checks of a user's task before training, for mistakes that would otherwise lead to a useless model.

Nothing enforces the contract of tasks in plain Python. A few calls on the first examples detect a missing dim, features
of the wrong length, a loss that is not zero at the truth, inputs that are changed, and a decoder that ignores the loss.
Long dense features that are mostly zeros are allowed, but cause a warning.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from itertools import islice
from typing import Any

import numpy as np
from scipy import sparse

from maxmargin.base.arrays import read_only
from maxmargin.base.errors import DenseFeatures, TaskError, warn_caller
from maxmargin.base.search import Search
from maxmargin.problem.contract.examples import Examples, check_features, dot, loss_and_features
from maxmargin.problem.contract.task import Task
from maxmargin.problem.dual.geometry import Geometry

LONG, FULL = 2**18, 0.1  # the length from which features count as long, and the share of non-zeros that justifies it
LOOK_AT = 3  # the number of examples with all checks; planes are checked throughout training anyway


def check_promises(task: Task, batch: Examples, geometry: Geometry | None = None) -> None:
    """Raise a TaskError that names the example and the fault; warn about features that waste memory.

    The weights with which the decoder is called satisfy the bounds of `geometry`.
    """
    name = type(task).__name__
    if not isinstance(getattr(task, "dim", None), int | np.integer) or task.dim < 1:
        raise TaskError(f"{name}.setup must set self.dim to the length of psi; it is {getattr(task, 'dim', 'missing')}")
    if "y" not in inspect.signature(task.argmax).parameters:
        raise TaskError(f"{name}.argmax must take a third argument y (None for prediction): argmax(w, x, y=None)")
    if type(task).complete is not Task.complete and not task.latent and "latent" not in vars(task):
        raise TaskError(
            f"{name} has complete(w, x, y) but does not declare that it is latent; set latent = True, or let setup "
            "set self.latent if that depends on the data"
        )
    if task.search not in list(Search):
        known = ", ".join(f"Search.{kind.name}" for kind in Search)
        raise TaskError(f"{name}.search is {task.search!r}; expected one of {known}")
    if task.search == Search.OVERGENERATING and type(task).decode is Task.decode:
        raise TaskError(
            f"{name} is overgenerating, so argmax may return something other than an output: it must define its own "
            "decode(w, X), which returns outputs"
        )
    if task.ratio is not None and not 0 < task.ratio <= 1:
        raise TaskError(f"{name}.ratio is {task.ratio!r}; expected a number in (0, 1], or None if it is unknown")
    rng = np.random.default_rng(0)
    wasteful = ""
    for i, x, y, truth in list(batch)[:LOOK_AT]:
        before, fault = content((x, y)), None
        try:
            found = _look_at(task, i, x, y, truth, rng, geometry)
            wasteful = wasteful or found
        except Exception as error:
            error.add_note(f"maxmargin: raised by {name} on training example {i}")
            fault = error
        if content((x, y)) != before:  # this may be the cause of another failure
            raise TaskError(
                f"{name} changed its input: x or y of example {i} changed during psi, loss or argmax"
            ) from fault
        if fault is not None:
            raise fault
    _check_losses_at_truth(task, batch)
    if wasteful:
        warn_caller(wasteful, DenseFeatures)


def _check_losses_at_truth(task: Task, batch: Examples) -> None:
    """Raise a TaskError if the loss of a later example is not 0 at its truth; this is cheap enough for all examples."""
    if task.latent:  # guesses may be expensive, and completions are checked throughout training
        return
    for i, _, y, truth in islice(batch, LOOK_AT, None):
        try:
            _check_at_truth(task.loss(y, truth), "loss(y, y)", i)
        except TaskError:
            raise
        except Exception as error:
            error.add_note(f"maxmargin: raised by {type(task).__name__} on training example {i}")
            raise


def _check_at_truth(loss: Any, what: str, i: int) -> None:
    if loss != 0:
        raise TaskError(f"{what} of example {i} is {loss}; the loss must be 0 at the truth")


def _look_at(
    task: Task, i: int, x: Any, y: Any, truth: Any, rng: np.random.Generator, geometry: Geometry | None
) -> str:
    """Raise a TaskError if an example shows a fault; return a warning if its features waste memory."""
    name, zero = type(task).__name__, np.zeros(task.dim)
    if task.latent:
        truth = task.guess(rng, x, y)
    features = task.psi(x, truth)
    check_features(features, task.dim, f"psi(x, y) of example {i}")
    wasteful = _wasteful(features, i)
    _check_at_truth(task.loss(y, truth), "loss(y, guess(rng, x, y))" if task.latent else "loss(y, y)", i)
    if task.search != Search.EXACT:
        return wasteful
    # At each weight vector, the output found there must score at least as much as the outputs found elsewhere. Besides
    # zero and ordinary weights there are tiny ones, for which the loss decides: these expose a decoder that ignores y.
    kinds = rng.standard_normal((2, task.dim)) * [[1.0], [1e-3]]
    drawn = (zero, *kinds, *-kinds)
    weights = [read_only(w if geometry is None else geometry.allowed(w)) for w in drawn]
    found = [task.argmax(w, x, y) for w in weights]
    judgements = [loss_and_features(task, i, x, y, z) for z in found + [task.argmax(w, x) for w in weights]]
    rivals = [(psi, loss) for loss, psi in judgements]
    for psi, loss in rivals:
        check_features(psi, task.dim, f"psi(x, z) of example {i}")
        if not 0 <= loss < np.inf:
            raise TaskError(f"loss(y, z) of example {i} is {loss}; a loss must be a finite number >= 0")
    if task.latent:
        _look_at_completions(task, i, x, y, weights, [truth, *found])
    for k, w in enumerate(weights):
        values = [dot(psi, w) + loss for psi, loss in rivals]
        if max(values) > values[k] + 1e-7 * (1 + max(map(abs, values))):
            raise TaskError(
                f"{name}.argmax(w, x, y) ignores y or misses the maximum: on example {i} it returned an output with "
                f"⟨w, psi⟩ + loss = {values[k]:.6g}, but there is one with {max(values):.6g}"
            )
    return wasteful


def _wasteful(features: Any, i: int) -> str:
    """Return a warning for a Ψ that is a long array of mostly zeros, and "" for all others."""
    if isinstance(features, tuple) or len(features) < LONG:
        return ""
    used = int(np.count_nonzero(features))
    if used >= FULL * len(features):
        return ""
    return (
        f"psi(x, y) of example {i} is an array of {len(features):,} numbers, of which {used:,} are not zero: every "
        "plane of training takes as much memory. psi may return (indices, values), two arrays with the non-zeros only"
    )


def _look_at_completions(task: Task, i: int, x: Any, y: Any, weights: list[Any], seen: list[Any]) -> None:
    """Check that complete(w, x, y) explains y, and that no other known explanation has a higher score at w."""
    name = type(task).__name__
    completions = [task.complete(w, x, y) for w in weights]
    for z in completions:
        if task.loss(y, z) != 0:
            raise TaskError(
                f"{name}.complete(w, x, y) of example {i} returned {z!r}, which does not explain the label {y!r}: its "
                f"loss is {task.loss(y, z)}, not 0"
            )
    rivals = [task.psi(x, z) for z in completions + [z for z in seen if task.loss(y, z) == 0]]
    for k, w in enumerate(weights):
        scores = [dot(psi, w) for psi in rivals]
        if max(scores) > scores[k] + 1e-7 * (1 + max(map(abs, scores))):
            raise TaskError(
                f"{name}.complete(w, x, y) misses the maximum: on example {i} it returned an output with ⟨w, psi⟩ = "
                f"{scores[k]:.6g}, but there is one without loss that has {max(scores):.6g}"
            )


def content(value: Any) -> Any:
    """Return the content of a value, to detect changes; caches of objects are ignored."""
    if sparse.issparse(value):
        entries = value.tocoo(copy=True)
        entries.sum_duplicates()
        return entries.shape, entries.data.tobytes(), [places.tobytes() for places in entries.nonzero()]
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, Mapping):
        return [(key, content(entry)) for key, entry in value.items()]
    if isinstance(value, list | tuple | np.ndarray):
        return [content(entry) for entry in value]
    if is_dataclass(value) and not isinstance(value, type):
        return [content(getattr(value, field.name)) for field in fields(value)]
    if isinstance(value, set | frozenset):
        return sorted(map(repr, value))
    return repr(value) if isinstance(value, str | bytes | int | float | complex | np.generic) else type(value).__name__
