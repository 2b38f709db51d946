"""The report of any task that has no report of its own: losses, and outputs as text."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.report.drawings import both
from maxmargin.report.findings import Findings, note
from maxmargin.report.intervals import mean_of
from maxmargin.report.scoring.scorer import equal_outputs


def task_findings(model: Any, decoded: list[Any], Y: Any) -> Findings:
    """Return the findings about the outputs that a model predicts: their losses, and their texts as Python has them."""
    if len(decoded) != len(Y):
        raise ValueError(f"X has {len(decoded)} examples but Y has {len(Y)}")
    losses = np.array([model.task_.loss(y, z) for y, z in zip(Y, decoded, strict=True)], dtype=float)
    shown = [model.task_.label(z) for z in decoded]
    exact = [equal_outputs(y, z) for y, z in zip(Y, shown, strict=True)]
    worst = float(losses.max(initial=0.0)) or 1.0
    return Findings(
        unit="example",
        measures=[mean_of("mean loss", losses, best=0.0, worst=worst), mean_of("outputs that are wholly right", exact)],
        wrongness=losses,
        said=lambda i: f"a loss of {losses[i]:.4g}",
        drawn=lambda i: both(_text(Y[i]), _text(shown[i])),
        legend=note("Outputs are shown as Python writes them."),
    )


def _text(output: Any) -> str:
    return output if isinstance(output, str) else repr(output)
