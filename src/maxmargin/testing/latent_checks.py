"""The checks of check_task for latent tasks: completions and guesses explain the labels, and shifts are correct.

A batch does not expose its truths, so they are reconstructed through `shifts_to`: the Ψ of the known truths, plus the
shift to another completion of the batch, must be the Ψ of an output that explains the label.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.base.search import Search
from maxmargin.problem.contract.batch import Batch
from maxmargin.problem.contract.capabilities.latent import latent_of
from maxmargin.problem.contract.examples import dot
from maxmargin.problem.contract.task import Task
from maxmargin.testing.comparisons import below, check, check_same_rows, close, dense
from maxmargin.testing.problems import WrittenOut


def check_completions(
    task: Task,
    X: Any,
    Y: Any,
    batch: Batch,
    examples: list[WrittenOut | None],
    w: Array,
    rng: np.random.Generator,
) -> None:
    """Check completions at the weights w; `examples` are written out with the truths of the batch."""
    before = batch.planes(w)
    for i, example in enumerate(examples):
        _check_one(task, X[i], Y[i], i, example, w, rng)
    latent = latent_of(batch)
    completed, guessed = latent.completed(w), latent.guessed(rng)
    for other, what, best in ((completed, "completed(w)", True), (guessed, "guessed(rng)", False)):
        check(len(other) == len(batch), f"{what} has {len(other)} examples; the batch has {len(batch)}")
        _check_truths(task, dense(latent.shifts_to(other)), examples, what, w if best else None)
    _check_shifts(batch, completed, guessed, rng)
    after = batch.planes(w)
    check_same_rows(after, before, np.arange(len(batch)), "completing or guessing changed the batch that it began with")


def _check_one(
    task: Task, x: Any, y: Any, i: int, example: WrittenOut | None, w: Array, rng: np.random.Generator
) -> None:
    """Check the methods of the task for one example."""
    found, guess = task.complete(w, x, y), task.guess(rng, x, y)
    for z, what in ((found, "complete(w, x, y)"), (guess, "guess(rng, x, y)")):
        loss = task.loss(y, z)
        check(loss == 0, f"example {i}: {what} returned {z!r}, which does not explain {y!r}: its loss is {loss}")
    if example is not None:
        score, best = dot(task.psi(x, found), w), example.best_explanation(w)
        check(
            below(score, best) and (task.search != Search.EXACT or below(best, score)),
            f"example {i}: complete(w, x, y) returned {found!r} of score {score!r}, but the best output without loss "
            f"has {best!r}",
        )


def _check_truths(task: Task, rows: Array, examples: list[WrittenOut | None], what: str, w: Array | None) -> None:
    """Check that the truths after these shifts explain the labels and, if w is given, that they have the best score."""
    shape = (len(examples), task.dim)
    check(rows.shape == shape, f"the shifts to {what} have shape {rows.shape}; expected {shape}")
    for i, example in enumerate(examples):
        if example is None:
            continue
        truth, size = example.truth + rows[i], 1 + np.abs(example.psi).max()
        away = np.abs(example.psi[example.explaining] - truth).max(axis=1)
        check(
            away.min() <= 1e-9 * size,
            f"example {i}: after {what} its truth, reconstructed from the shifts, is not an output that "
            "explains the label",
        )
        if w is not None:
            score, best = float(truth @ w), example.best_explanation(w)
            check(
                below(score, best, truth, w) and (task.search != Search.EXACT or below(best, score, truth, w)),
                f"example {i}: after {what} its truth, reconstructed from the shifts, has the score {score!r}, "
                f"but the best output without loss has {best!r}",
            )


def _check_shifts(batch: Batch, completed: Batch, guessed: Batch, rng: np.random.Generator) -> None:
    """Check that shifts are differences: zero from a batch to itself, opposite in reverse, and additive."""
    there, back = _shifts(batch, completed), _shifts(completed, batch)
    check(not _shifts(completed, completed).any(), "batch.shifts_to(batch) is not zero")
    check(close(there, -back), "before.shifts_to(after) is not -after.shifts_to(before)")
    check(
        close(there + _shifts(completed, guessed), _shifts(batch, guessed)),
        "the shifts by way of another completion do not add up to those without it",
    )
    order = rng.permutation(len(batch))
    taken = _shifts(batch.take(order), completed.take(order))
    check(close(taken, there[order]), "take(index) does not keep the truths of a completed batch")


def _shifts(before: Batch, after: Batch) -> Array:
    """Return the changes of Ψ from one completion to another, as a dense array."""
    return dense(latent_of(before).shifts_to(after))
