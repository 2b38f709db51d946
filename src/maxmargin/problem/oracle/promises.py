"""The errors of decoders that break the promises of their tasks."""

from __future__ import annotations

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.base.errors import TaskError
from maxmargin.base.rounding import gamma
from maxmargin.base.search import Search
from maxmargin.problem.contract.batch import Batch
from maxmargin.problem.planes.atoms import AtomRows
from maxmargin.problem.planes.planes import Planes

REMEDY = "It must maximise that sum (or the task must declare search = Search.UNDERGENERATING)"


def promise_broken_on(batch: Batch, position: int) -> str:
    """Return the beginning of a message about the example at this position."""
    return f"{batch.name} broke its promise on example {batch.ids[position]}"


def missed_output(batch: Batch, position: int, missed: float) -> TaskError:
    """Return the error of a decoder that found a better output of this example earlier."""
    return TaskError(
        f"{promise_broken_on(batch, position)}: argmax(w, x, y) returned an output with ⟨w, psi⟩ + loss lower by "
        f"{missed:.6g} than the value of an output that it returned earlier, at other weights. {REMEDY}"
    )


def check_above_truth(batch: Batch, planes: Planes, heights: Array, w: Array, scale: float = 1.0) -> None:
    """Raise a TaskError if an exact decoder returned an output lower than the truth, whose height is 0."""
    if heights.min(initial=0.0) >= 0:  # the usual case; False for NaN
        return
    if np.isnan(heights).any():
        i = batch.ids[int(np.flatnonzero(np.isnan(heights))[0])]
        raise TaskError(f"the plane of example {i} is NaN: psi or loss is not finite, or the weights overflowed")
    if batch.search is not Search.EXACT:
        return
    allowed = -1e-7 * (1 + 2 * np.abs(planes.loss) + np.abs(heights))
    if (heights < allowed).any():
        # Scores of large features may cancel; their rounding errors are not the decoder's fault. Rarely needed.
        rows = AtomRows.of(planes.dpsi)
        terms = rows.atoms.terms + max(int(np.max(np.diff(rows.indptr))), 64) + 8
        lengths = rows.sizes if planes.lengths is None else np.maximum(rows.sizes, planes.lengths)
        allowed -= 4 * gamma(terms) * scale * lengths * rows.atoms.size_of(w)
    if (heights < allowed).any():
        j = int(np.argmin(heights - allowed))
        raise TaskError(
            f"{promise_broken_on(batch, j)}: argmax(w, x, y) returned an output with ⟨w, psi⟩ + loss lower than the "
            f"truth's by {-heights[j]:.6g}. {REMEDY}"
        )
