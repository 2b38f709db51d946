"""check_scored: score space, by enumeration."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.base.search import Search
from maxmargin.problem.contract.scored import BestOutputs, Scored, Summable, arrays_of, inner
from maxmargin.testing.comparisons import below, check, dense, length, ready
from maxmargin.testing.problems import Outputs, WrittenOut, written_out

SCALES = (1.0, 1e-3, 1e3)


def check_scored(
    task: Any,
    X: Any,
    Y: Any,
    seed: int = 0,
    max_outputs: int = 5000,
    outputs: Outputs | None = None,
    rtol: float = 1e-9,
) -> None:
    """Prove on small data that a task keeps the contract of score space (problem/contract/scored.py).

    Scores are linear in w; the best output has the value that enumeration finds, which agrees with its indicator and
    its loss; planes agree with psi and loss; sums are sums over all outputs; and inputs without labels have the same
    best outputs.

    task : a task with `scored`; a clone of it is set up on X and Y.
    max_outputs : the largest number of outputs of an example.
    outputs : x -> all outputs of x, for a task that has no `outputs`.
    """
    task = ready(task, X, Y)
    listed = [written_out(task, X[i], Y[i], i, max_outputs, outputs) for i in range(length(X))]
    for i, example in enumerate(listed):
        check(example is not None, f"example {i} has more than {max_outputs} outputs: give smaller examples")
    examples = [example for example in listed if example is not None]
    rng = np.random.default_rng(seed)
    scored, bare = task.scored(X, Y), task.scored(X)
    check(isinstance(scored, Scored), f"{type(scored).__name__} lacks a method of Scored")
    check(len(scored) == len(bare) == len(examples), f"there are {len(scored)} inputs; expected {len(examples)}")
    check(bare.truth is None, "inputs without labels have truths")
    _check_linear(scored, rng, task.dim, rtol)
    near_zero = np.abs(scored.losses(scored.truth)).max() <= rtol
    check(near_zero, f"the losses of the truths are {scored.losses(scored.truth)}; expected 0")
    weights = [np.zeros(task.dim), *(scale * rng.standard_normal(task.dim) for scale in SCALES)]
    for w in (*weights, rng.integers(-2, 3, task.dim).astype(float)):
        scores = scored.scores(w)
        before = [each.copy() for each in arrays_of(scores)]
        for augment in (0.0, 1.0, 0.5, rng.choice([0.0, 0.25, 1.0, 3.0], len(examples))):
            best = scored.best(scores, augment)
            lam = np.broadcast_to(np.asarray(augment, dtype=float), len(examples))
            _check_best(scored, task.search, scores, best, lam, examples, w)
        _check_bare(bare, bare.scores(w), scored.best(scores).values, task.search)
        if isinstance(scored, Summable):
            _check_sums(scored.sums(scores), examples, w, rtol)
        same = all(map(np.array_equal, before, arrays_of(scores)))
        check(same, "a method changed the scores that it was given")


def _check_linear(scored: Scored, rng: np.random.Generator, dim: int, rtol: float) -> None:
    v, w = rng.standard_normal((2, dim))
    for one, other, both in zip(*(arrays_of(scored.scores(each)) for each in (v, w, 2.0 * v - 0.5 * w)), strict=True):
        open_ = np.isfinite(one)
        check((np.isfinite(other) == open_).all(), "which scores are finite depends on w")
        expected = 2.0 * one[open_] - 0.5 * other[open_]
        size = 1 + float(np.max(np.abs(expected), initial=0.0))
        check(np.allclose(both[open_], expected, rtol=0, atol=rtol * size), "scores are not linear in w")


def _check_best(
    scored: Scored, search: Search, scores: Any, best: BestOutputs, lam: Array, examples: list[WrittenOut], w: Array
) -> None:
    """Compare values with enumeration, and with indicators, losses and planes of the found outputs."""
    losses, planes, each = scored.losses(best.found), scored.planes_of(best.found), np.eye(len(examples))
    rows = dense(planes.dpsi)
    for i, example in enumerate(examples):
        value, what = float(best.values[i]), f"example {i}, augment={lam[i]}:"
        size = np.abs(example.psi).max(axis=0), np.abs(w)
        score = inner(scored.indicator(best.found, each[i]), scores)
        truth = inner(scored.indicator(scored.truth, each[i]), scores)
        _same(value, score + lam[i] * losses[i], size, f"{what} value, and ⟨indicator, scores⟩ + augment · loss")
        _same(float(rows[i] @ w), truth - score, size, f"{what} ⟨w, δΨ⟩, and the difference of the indicators' scores")
        _same(float(planes.loss[i]), float(losses[i]), size, f"{what} loss of the plane, and of the output")
        highest = float(np.max(example.psi @ w + lam[i] * example.loss))
        upper = value if best.upper is None else float(best.upper[i])
        check(below(highest, upper, *size) or search is Search.UNDERGENERATING, f"{what} {upper!r} < {highest!r}")
        if search is Search.OVERGENERATING:
            continue
        check(below(value, highest, *size), f"{what} the value {value!r} is above all outputs, at most {highest!r}")
        away = np.abs(example.truth - example.psi - rows[i]).max(axis=1) + np.abs(example.loss - losses[i])
        near = 1e-9 * (1 + np.abs(example.psi).max() + abs(losses[i]))
        check(float(away.min()) <= near, f"{what} the found output is not one of the outputs")
    total, score = float(best.values.sum()), inner(scored.indicator(best.found), scores)
    size = sum(np.abs(each.psi).max(axis=0) for each in examples), np.abs(w)
    _same(total, score + float(np.dot(lam, losses)), size, "the sum of all values, and ⟨indicator, scores⟩ + losses")


def _check_bare(bare: Scored, scores: Any, values: Array, search: Search) -> None:
    found = bare.best(scores).values
    same = search is Search.OVERGENERATING or np.allclose(found, values, rtol=1e-9, atol=1e-9)
    check(same, f"without labels the best outputs have the values {found}, with labels {values}")
    try:
        bare.best(scores, 1.0)
    except ValueError:
        return
    raise AssertionError("a loss-augmented search without truths must raise a ValueError")


def _check_sums(sums: Any, examples: list[WrittenOut], w: Array, rtol: float) -> None:
    for i, example in enumerate(examples):
        scores = example.psi @ w
        size = rtol * (1 + float(np.max(np.abs(example.psi) @ np.abs(w))))
        log_z = float(np.logaddexp.reduce(scores))
        p = np.exp(scores - log_z)
        entropy = -float(np.dot(p[p > 0], np.log(p[p > 0])))
        for found, expected, what in (
            (sums.log_partitions[i], log_z, "log partition"),
            (sums.entropies[i], entropy, "entropy"),
        ):
            check(abs(found - expected) <= size, f"example {i}: {what} is {found!r}; by enumeration {expected!r}")


def _same(a: float, b: float, size: tuple[Array, Array], what: str) -> None:
    check(below(a, b, *size) and below(b, a, *size), f"{what} differ: {a!r} and {b!r}")
