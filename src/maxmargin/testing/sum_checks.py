"""check_sums: distributions of outputs and smooth risks, compared with enumeration."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.problem.contract.capabilities.descriptions import required
from maxmargin.problem.contract.capabilities.smooth import Smooth
from maxmargin.problem.contract.sums import Sums
from maxmargin.problem.contract.tangents import Softness
from maxmargin.problem.contract.task import Task
from maxmargin.testing.comparisons import check, explicit, length, ready
from maxmargin.testing.problems import Outputs, written_out

SOFTNESSES = (Softness(), Softness(1.0, 1.0), Softness(3.0, 1.0), Softness(0.5, 2.0))
SURE = 6.0  # standard deviations by which a frequency may deviate


def check_sums(
    task: Any,
    X: Any,
    Y: Any,
    seed: int = 0,
    trials: int = 2,
    scale: float = 1.0,
    max_outputs: int = 5000,
    outputs: Outputs | None = None,
    samples: int = 100,
    rtol: float = 1e-9,
) -> None:
    """Check on small data that a task sums over its outputs correctly: its `sums` and the `add_tangents` of its batch.

    Marginals have a form of their own in every task and are not checked; the expectation of Ψ is.

    Parameters
    ----------
    task, X, Y : Task, sequence and sequence
        The task and its data; every example must have at most `max_outputs` outputs.
    seed : int
        The seed of the random weights.
    trials : int
        The number of weight vectors of each kind.
    scale : float
        The scale of the weights, normal and whole numbers. Errors are relative to the largest scores.
    max_outputs : int
        The most outputs of an example.
    outputs : callable or None
        x -> all outputs of x, for a task that has no `outputs`.
    samples : int
        How many outputs are drawn for every x; their frequencies may deviate as chance allows. 0 draws none.
    rtol : float
        The relative tolerance.

    Raises
    ------
    AssertionError, if a check fails.

    See Also
    --------
    check_task : the contract of tasks.
    """
    task = ready(task, X, Y)
    examples = [written_out(task, X[i], Y[i], i, max_outputs, outputs) for i in range(length(X))]
    for i, example in enumerate(examples):
        check(example is not None, f"example {i} has more than {max_outputs} outputs: give smaller examples")
    rng = np.random.default_rng(seed)
    batch, weights = required(task.pack(X, Y), Smooth, "check_sums"), rng.uniform(0.5, 2.0, length(X))
    drawn = [scale * w for _ in range(trials) for w in (rng.standard_normal(task.dim), rng.integers(-2, 3, task.dim))]
    for w in (np.zeros(task.dim), *drawn):
        size = 1 + max(float(np.max(np.abs(each.psi) @ np.abs(w))) for each in examples if each is not None)
        sums = task.sums(w, X)
        check(
            length(sums.log_partitions) == length(X), "the number of log partitions differs from the number of inputs"
        )
        for i, example in enumerate(examples):
            assert example is not None
            p, log_z = _distribution(example.psi @ w)
            near = rtol * size
            _same(sums.log_partitions[i], log_z, near, f"example {i}: log partition")
            _same(sums.entropies[i], -np.dot(p[p > 0], np.log(p[p > 0])), near, f"example {i}: entropy")
            listed = list((outputs or task.outputs)(X[i]))
            z = int(rng.integers(len(listed)))
            _check_one(task, w, X[i], listed[z], float(example.psi[z] @ w) - log_z, near, i)
            if samples:
                _check_samples(task, sums, X[i], i, example.psi, p, rng, samples)
        for softness in SOFTNESSES:
            total = np.zeros(task.dim)
            found = batch.add_tangents(w, weights, softness, total)
            expected = np.zeros(task.dim)
            for i, example in enumerate(examples):
                assert example is not None
                b, raised = softness.sharpness, softness.margin * example.loss - example.margins(w)
                p, log_z = _distribution(b * raised)
                expected += weights[i] * (example.truth - p @ example.psi)
                off = found.errors[i] + 1e-13 * size
                _same(found.slacks[i], log_z / b, off, f"example {i}: its term of the risk at {softness}")
            off = rtol * size * (1 + float(np.max(np.abs(expected))))
            check(
                np.allclose(total, expected, rtol=0, atol=off), f"the expectation of Ψ at softness {softness} is wrong"
            )


def _distribution(scores: Array) -> tuple[Array, float]:
    high = float(np.max(scores))
    masses = np.exp(scores - high)
    return masses / masses.sum(), high + float(np.log(masses.sum()))


def _same(found: float, expected: float, off: float, what: str) -> None:
    check(abs(found - expected) <= off, f"{what} is {found!r}; by enumeration it is {expected!r}")


def _check_one(task: Any, w: Array, x: Any, z: Any, expected: float, near: float, i: int) -> None:
    found = task.sums(w, [x]).log_probabilities([z])
    _same(float(found[0]), expected, near, f"example {i}: the log probability of {z!r}")


def _check_samples(
    task: Task, sums: Sums, x: Any, i: int, psi: Array, p: Array, rng: np.random.Generator, samples: int
) -> None:
    """Check the frequencies of samples; outputs with the same Ψ count as one."""
    _, kinds = np.unique(psi.round(9), axis=0, return_inverse=True)
    kinds = kinds.ravel()
    probability = np.bincount(kinds, p)
    counts = np.zeros(len(probability))
    for z in sums.sample(rng, samples)[i]:
        near = np.max(np.abs(psi - explicit(task.psi(x, z), task.dim, i)), axis=1)
        check(near.min() <= 1e-9, f"example {i}: a sample is not an output: {z!r}")
        counts[kinds[int(np.argmin(near))]] += 1
    off = SURE * np.sqrt(probability * (1 - probability) / samples) + SURE / samples
    check(
        (np.abs(counts / samples - probability) <= off).all(),
        f"example {i}: the frequencies of samples do not match their probabilities",
    )
