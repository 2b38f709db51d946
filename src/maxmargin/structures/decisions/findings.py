"""The findings of a report on decisions: their regret, and the parts that were decided wrongly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from maxmargin.report.findings import Findings, counted, note
from maxmargin.report.html import Element
from maxmargin.report.intervals import mean_of, share_of
from maxmargin.report.sections import table
from maxmargin.structures.decisions.answers import Optimisers
from maxmargin.structures.decisions.measures import best_decisions

MOST_PARTS = 40


def decision_findings(model: Any, X: Any, Y: Any, optimisers: Sequence[Any] | None = None) -> Findings:
    """Measure the regret if true costs are known, and the share of parts that are decided as is best."""
    found = [np.asarray(z, dtype=float) for z in model.predict(X, optimisers)]
    given = [np.asarray(y, dtype=float) for y in Y]
    if len(found) != len(given):
        raise ValueError(f"X has {len(found)} examples but y has {len(given)}; expected one label per example")
    costs = [np.asarray(c, dtype=float) for c in model.predict_costs(X)]
    regrets = model.measure == "regret"
    checked = Optimisers(model.optimiser if optimisers is None else optimisers, model.sense)
    best = best_decisions(checked, given) if regrets else given
    known = [~np.isnan(y) for y in best]
    wrong = np.array([int(np.sum((z != y) & k)) for z, y, k in zip(found, best, known, strict=True)])
    parts = np.array([int(k.sum()) for k in known])
    measures = [
        share_of("parts decided as is best", parts - wrong, parts),
        mean_of("decisions without a mistake", wrong == 0),
    ]
    wrongness = wrong.astype(float)
    if regrets:
        lost = checked.sign * np.array([c @ (z - b) for c, z, b in zip(given, found, best, strict=True)])
        total = np.abs(np.array([c @ b for c, b in zip(given, best, strict=True)]))
        lost = np.where(np.abs(lost) <= 1e-12 * (1 + total), 0.0, lost)
        worst = float(lost.sum() / total.sum()) if total.sum() > 0 else 1.0
        measures.insert(0, share_of("normalised regret", lost, total, best=0.0, worst=max(1.0, worst)))
        wrongness = np.maximum(lost, 0.0)

    def said(i: int) -> str:
        lead = f"costs {lost[i]:.4g} more than the best one, which costs {total[i]:.4g}; " if regrets else ""
        return f"{lead}{wrong[i]} of {parts[i]} parts are decided otherwise"

    return Findings(
        unit="example",
        measures=measures,
        wrongness=wrongness,
        said=said,
        drawn=lambda i: _drawn(costs[i], given[i] if regrets else None, found[i], best[i]),
        legend=note("Parts that were decided otherwise than is best come first; z is how much of a part is taken."),
    )


def _drawn(costs: Any, true: Any, found: Any, best: Any) -> Any:
    wrong = ~np.isnan(best) & (found != best)
    order = np.argsort(~wrong, kind="stable")
    shown = [p for p in order[:MOST_PARTS] if wrong[p] or found[p] or best[p]]
    rows = []
    for p in shown:
        mark = Element("span", f"{found[p]:g}", class_="bad" if wrong[p] else "good")
        rows.append([p, mark, f"{best[p]:g}", f"{costs[p]:.4g}", *([] if true is None else [f"{true[p]:.4g}"])])
    head = ["part", "z", "best z", "predicted cost", *([] if true is None else ["true cost"])]
    left = len(costs) - len(shown)
    said = f"{counted(left, 'part')} that neither takes, or above the first {MOST_PARTS}, are left out."
    return [table(head, rows, numbers=range(len(head))), note(said) if left else None]
