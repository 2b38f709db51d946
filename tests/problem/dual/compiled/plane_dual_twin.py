"""The block dual with everything written out, and one block ascent in plain loops."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.problem.planes.atoms import AtomRows


class Block(NamedTuple):
    """What one example owns."""

    rows: np.ndarray  # (planes, dim)
    offset: np.ndarray
    alpha: np.ndarray
    gram: np.ndarray  # as it is stored


def read(blocks):
    """Every example's block of a PlaneDual, from its tables."""
    tables = blocks._tables
    found = []
    for i in range(blocks.n):
        slots = range(tables.base[i], tables.base[i] + tables.filled[i])
        parts = (np.arange(tables.start[s], tables.start[s] + tables.length[s]) for s in slots)
        entries = np.concatenate([np.arange(0), *parts])
        indptr = np.concatenate([[0], np.cumsum(tables.length[slots])]).astype(np.int32)
        rows = AtomRows(blocks._atoms, indptr, tables.indices[entries], tables.values[entries]).toarray()
        corner = np.arange(tables.filled[i])
        cells = tables.gram_base[i] + corner[:, None] * tables.capacity[i] + corner[None, :]
        found.append(Block(rows, tables.offset[slots], tables.alpha[slots], tables.gram[cells]))
    return found


def weights(found, dim):
    """w = Σ α a."""
    w = np.zeros(dim)
    for block in found:
        for weight, row in zip(block.alpha, block.rows, strict=True):
            w += weight * row
    return w


def grams(found):
    """The products of all planes of an example with each other."""
    return [
        [[sum(p * q for p, q in zip(a, b, strict=True)) for b in block.rows] for a in block.rows] for block in found
    ]


def shifted(found, moves, rescaling):
    """Every plane s(Ψ(truth) - Ψ(z)), b after the Ψ of example i's truth moved by moves[i]; s is 1, or b itself."""
    after = []
    for block, move in zip(found, moves, strict=True):
        rows = [
            row + (offset if rescaling == "slack" else 1.0) * move
            for row, offset in zip(block.rows, block.offset, strict=True)
        ]
        after.append(block._replace(rows=np.array(rows).reshape(block.rows.shape)))
    return after


def dual(found, cap, squared, dim):
    """D(α) from its definition."""
    w = weights(found, dim)
    value = -0.5 * w @ w
    for i, block in enumerate(found):
        value += block.alpha @ block.offset
        total = block.alpha.sum()
        if squared and total > 0:
            value -= total**2 / (2 * cap[i])
    return value


def best_multiple(found, cap, squared, dim):
    """The highest D(tα) over all feasible t >= 0, a parabola in t: its top, or the last t that is feasible."""
    sums = [block.alpha.sum() for block in found]
    limit = np.inf if squared else min([cap[i] / total for i, total in enumerate(sums) if total > 0], default=0.0)

    def value(t):
        return dual([block._replace(alpha=t * block.alpha) for block in found], cap, squared, dim)

    slope, curvature = value(1) * 2 - value(2) / 2, value(2) - 2 * value(1)  # of a parabola through 0
    top = -slope / curvature if curvature < 0 else (np.inf if slope > 0 else 0.0)
    best = min(limit, max(top, 0.0))
    return value(best if np.isfinite(best) else 1.0)


def ascend(rows, offset, alpha, w, cap, squared, steps=20_000):
    """Maximise D over the α of one example, all others fixed: exact steps between pairs; the truth is a zero plane."""
    rows = np.vstack([rows, np.zeros(rows.shape[1])])
    offset = np.append(offset, 0.0)
    alpha = np.append(alpha, np.inf if squared else cap - alpha.sum())  # the truth's weight
    ridge = np.append(np.full(len(rows) - 1, 1 / cap if squared else 0.0), 0.0)
    w = w.copy()
    for _ in range(steps):
        heights = offset - rows @ w - ridge * alpha[:-1].sum()
        up = int(np.argmax(heights))
        down = min((s for s in range(len(rows)) if alpha[s] > 0), key=lambda s: heights[s])
        difference = heights[up] - heights[down]
        if difference <= 1e-13 * (1 + np.abs(heights).max()):
            break
        direction = rows[up] - rows[down]
        with_truth = up == len(rows) - 1 or down == len(rows) - 1  # only then the total, and with it the ridge, changes
        curvature = direction @ direction + (ridge[0] if with_truth else 0.0)
        step = min(alpha[down], difference / curvature if curvature > 0 else np.inf)
        alpha[up] += step
        alpha[down] -= step
        w += step * direction
    return alpha[:-1], w
