"""check_task: the contract of tasks, compared with enumeration."""

from __future__ import annotations

import pickle
from collections.abc import Iterable
from typing import Any

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.base.search import Search
from maxmargin.problem.contract.batch import Batch
from maxmargin.problem.contract.capabilities.latent import latent_of
from maxmargin.problem.contract.capabilities.rescaled_search import RescaledSearch
from maxmargin.problem.contract.examples import dot
from maxmargin.problem.contract.task import Task
from maxmargin.problem.dual.objective import Formulation
from maxmargin.testing.comparisons import below, check, check_same_rows, dense, length, ready
from maxmargin.testing.latent_checks import check_completions
from maxmargin.testing.problems import Outputs, WrittenOut, written_out
from maxmargin.training.preflight import content

SEARCHED = (Formulation("slack", "l1"), Formulation("margin", "l2"), Formulation("slack", "l2"))


def check_task(
    task: Task,
    X: Any,
    Y: Any,
    seed: int = 0,
    trials: int = 3,
    max_outputs: int = 5000,
    outputs: Outputs | None = None,
) -> None:
    """Check on small data that a task satisfies the contract of `maxmargin.Task`.

    The truth of a latent task, relative to which planes are measured, is the completion of the labels at some weights.

    Parameters
    ----------
    task : Task
        The task; a clone of it is set up on X and Y.
    X, Y : array-like
        The data.
    seed : int
        The seed of the random weights.
    trials : int
        How many weight vectors of each kind (integers, so that ties occur; normal; large) are tried besides w = 0.
    max_outputs : int
        Examples with more outputs are only checked where no enumeration is needed. At least one example must have
        fewer.
    outputs : callable or None
        x -> all outputs of x, for a task that has its own argmax and no `outputs`.

    Raises
    ------
    AssertionError, if a check fails.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.tasks import Multiclass
    >>> from maxmargin.testing import check_task
    >>> check_task(Multiclass(), np.eye(3), ["a", "b", "c"], outputs=lambda x: ["a", "b", "c"])

    See Also
    --------
    check_solver, check_executor : the same for solvers and executors.
    """
    task = ready(task, X, Y)
    n = length(X)
    before = [content((X[i], Y[i])) for i in range(n)]
    at = np.random.default_rng(seed).standard_normal(task.dim)
    examples = [written_out(task, X[i], Y[i], i, max_outputs, outputs, at) for i in range(n)]
    check(
        any(example is not None for example in examples),
        f"no example has at most {max_outputs} outputs, so there is nothing to compare with: give smaller examples",
    )
    batch = _packed(task, X, Y, at)
    check(len(batch) == n, f"pack(X, Y) made a batch of {len(batch)} examples from {n}")
    try:
        for w in _weights(task.dim, np.random.default_rng(seed), trials):
            mark = w.copy()
            _check_argmax(task, X, Y, examples, w)
            _check_planes(task, batch, examples, w, np.random.default_rng(seed))
            _check_rescaled(task, batch, examples, w)
            _check_decode(task, X, examples, w)
            if task.latent:
                check_completions(task, X, Y, batch, examples, w, np.random.default_rng(seed))
            check(np.array_equal(w, mark), "the weights w were changed")
    finally:  # a changed input may be the reason of another failure
        for i in range(n):
            check(content((X[i], Y[i])) == before[i], f"x or y of example {i} was changed")
    _check_copies(task, X, Y, at)


def _packed(task: Task, X: Any, Y: Any, completed_at: Array) -> Batch:
    batch = task.pack(X, Y)
    return latent_of(batch).completed(completed_at) if task.latent else batch


def _weights(dim: int, rng: np.random.Generator, trials: int) -> Iterable[Array]:
    yield np.zeros(dim)
    for _ in range(trials):
        yield rng.integers(-2, 3, dim).astype(float)
        yield rng.standard_normal(dim)
        yield 1e3 * rng.standard_normal(dim)


def _check_argmax(task: Task, X: Any, Y: Any, examples: list[WrittenOut | None], w: Array) -> None:
    for i, example in enumerate(examples):
        if example is None:
            continue
        scores = example.psi @ w
        for y, added, what in ((None, 0.0, "⟨w, psi⟩"), (Y[i], example.loss, "⟨w, psi⟩ + loss")):
            z = task.argmax(w, X[i]) if y is None else task.argmax(w, X[i], y)
            found = dot(task.psi(X[i], z), w) + (0.0 if y is None else task.loss(y, z))
            best = float(np.max(scores + added))
            check(
                (task.search == Search.OVERGENERATING or below(found, best))
                and (task.search == Search.UNDERGENERATING or below(best, found)),
                f"example {i}: argmax returned {z!r} with {what} = {found!r}, but the best output has {best!r}",
            )


def _check_planes(
    task: Task, batch: Batch, examples: list[WrittenOut | None], w: Array, rng: np.random.Generator
) -> None:
    n = len(examples)
    mixed = rng.choice([0.0, 0.25, 1.0, 3.0], n)
    for augment in (1.0, 0.0, 0.5, mixed):
        planes = batch.planes(w, augment)
        rows = dense(planes.dpsi)
        check(rows.shape == (n, task.dim), f"planes has rows of shape {rows.shape}; expected ({n}, {task.dim})")
        check(np.shape(planes.loss) == (n,), f"planes has losses of shape {np.shape(planes.loss)}; expected ({n},)")
        lam = np.broadcast_to(augment, n)
        for i, example in enumerate(examples):
            height = lam[i] * planes.loss[i] - rows[i] @ w
            valid = task.search != Search.EXACT or below(0.0, height, rows[i], w)
            check(valid, f"example {i}, augment={lam[i]}: its plane has height {height!r} < 0")
            upper = None if planes.upper is None else float(planes.upper[i])
            valid = upper is None or below(height, upper, rows[i], w)
            check(
                valid, f"example {i}, augment={lam[i]}: its plane has height {height!r} above the upper bound {upper!r}"
            )
            if example is not None:
                _check_one_plane(task, example, i, w, lam[i], rows[i], planes.loss[i], upper)
        if task.search == Search.OVERGENERATING:  # remembered search states may change an answer within its tolerance
            continue
        order = rng.permutation(n)
        shuffled = batch.take(order).planes(w, lam[order])
        check_same_rows(shuffled, planes, order, "planes of a permuted batch are not the permuted planes")
        for i in range(n):
            single = batch.take(np.array([i])).planes(w, float(lam[i]))
            check_same_rows(single, planes, np.array([i]), f"example {i} alone has another plane than in a batch")


def _check_one_plane(
    task: Task, example: WrittenOut, i: int, w: Array, lam: float, row: Array, loss: float, upper: float | None
) -> None:
    best, height = float(np.max(lam * example.loss - example.margins(w))), float(lam * loss - row @ w)
    what = f"example {i}, augment={lam}:"
    check(
        upper is None or below(best, upper, row, w),
        f"{what} the upper bound {upper!r} is below the best output's {best!r}",
    )
    if task.search == Search.OVERGENERATING:
        good = upper is not None or below(best, height, row, w)
        check(good, f"{what} its plane has height {height!r}, below the best output's {best!r}")
        return
    good = below(height, best, row, w) and (task.search != Search.EXACT or below(best, height, row, w))
    check(good, f"{what} its plane has height {height!r}, but the best output has {best!r}")
    away = np.abs(example.truth - example.psi - row).max(axis=1) + np.abs(example.loss - loss)
    size = 1 + np.abs(example.psi).max() + abs(loss)
    check(float(away.min()) <= 1e-9 * size, f"example {i}, augment={lam}: its plane belongs to none of its outputs")


def _check_rescaled(task: Task, batch: Batch, examples: list[WrittenOut | None], w: Array) -> None:
    rescaled = batch.offers(RescaledSearch)
    if rescaled is None:
        return
    for formulation in SEARCHED:
        planes = rescaled.rescaled_planes(w, formulation)
        found = formulation.value(planes.loss, dense(planes.dpsi) @ w)
        for i, example in enumerate(examples):
            if example is not None:
                best = float(np.max(formulation.value(example.loss, example.margins(w))))
                check(
                    below(best, found[i]) and (task.search == Search.OVERGENERATING or below(found[i], best)),
                    f"example {i}, {formulation}: rescaled_planes found the violation {found[i]!r}, not {best!r}",
                )


def _check_decode(task: Task, X: Any, examples: list[WrittenOut | None], w: Array) -> None:
    decoded = task.decode(w, X)
    check(len(decoded) == len(examples), f"decode returned {len(decoded)} outputs for {len(examples)} examples")
    for i, (example, z) in enumerate(zip(examples, decoded, strict=True)):
        score, alone = dot(task.psi(X[i], z), w), dot(task.psi(X[i], task.argmax(w, X[i])), w)
        if task.search == Search.EXACT:
            same = below(score, alone) and below(alone, score)
            check(same, f"example {i}: decode returned {z!r} of score {score!r}, argmax an output of score {alone!r}")
        if example is not None:
            best = float(np.max(example.psi @ w))
            good = below(score, best) and (task.search != Search.EXACT or below(best, score))
            check(good, f"example {i}: decode returned {z!r} of score {score!r}, but the best output has {best!r}")


def _check_copies(task: Task, X: Any, Y: Any, completed_at: Array) -> None:
    """Check that a task survives pickling after `setup`, and its parameters survive clone."""
    try:
        copy = pickle.loads(pickle.dumps(task))
    except Exception as error:
        raise AssertionError(f"{type(task).__name__} cannot be pickled after setup: {error}") from error
    w = np.random.default_rng(0).standard_normal(task.dim)
    index = np.arange(length(X))
    check(copy.dim == task.dim, f"dim is {copy.dim} after pickling; it was {task.dim}")
    if task.search == Search.OVERGENERATING:
        return
    planes = _packed(task, X, Y, completed_at).planes(w)
    for other, what in ((copy, "pickled"), (ready(task, X, Y), "cloned")):
        found = _packed(other, X, Y, completed_at).planes(w)
        check_same_rows(found, planes, index, f"the {what} task has other planes")
