"""The section of a report about training: the certificate in words, and the curves of its bounds."""

from __future__ import annotations

from math import floor, log10
from typing import Any

import numpy as np

from maxmargin.problem.dual.objective import relative_gap
from maxmargin.report.charts import Axis, Series, chart, fitted_axis, thinned
from maxmargin.report.figures.gap import GapDisplay
from maxmargin.report.figures.rounds import RoundsDisplay
from maxmargin.report.findings import Section, note
from maxmargin.report.html import Element


def training_section(model: Any) -> Section:
    """Return a section that states in words what is proved, with the curve of training if there is one."""
    content: list[Any] = [Element("p", sentence) for sentence in model._proved()]
    if getattr(model, "rounds_", None):
        content.append(rounds_chart(RoundsDisplay.from_estimator(model)))
    elif getattr(model, "history_", None):
        found = GapDisplay.from_estimator(model)
        content.append(gap_chart(found) or bounds_chart(found))
    return Section("Certificate", content)


def gap_chart(found: GapDisplay) -> list[Any] | None:
    """Return a chart of the relative duality gap on a logarithmic scale; None if there is no lower bound."""
    gap, estimate = found.relative_gap, found.estimated_gap
    measured = np.isfinite(found.primal) & np.isfinite(gap) & (gap > 0)
    if not measured.any():
        return None
    guessed = ~np.isfinite(found.primal) & np.isfinite(estimate) & (estimate > 0)
    lowest = min(float(gap[measured].min()), float(estimate[guessed].min(initial=1.0)), 0.1)
    y = Axis("relative gap", 10.0 ** floor(log10(lowest)), 1.0, log=True, percent=True)  # no gap is above 100%
    x = fitted_axis("passes over the data", found.passes, from_zero=True)
    series = [
        Series(found.passes[measured], gap[measured], "measured gap", "line", "a"),
        Series(found.passes[measured], gap[measured], kind="points", style="a"),
    ]
    if guessed.any():
        series.insert(0, Series(found.passes[guessed], estimate[guessed], "estimate of the solver", "points", "faint"))
    said = (
        "The relative gap is the share of the objective that better weights could save at most; the scale is "
        f"logarithmic. It was measured {times(int(np.isfinite(found.primal).sum()))} in {found.passes[-1]:.1f} passes."
    )
    if np.any(np.isfinite(found.primal) & (gap <= 0)):
        said += " A gap of 0 cannot be drawn on this scale."
    return [chart(series, x, y, "relative duality gap during training, on a logarithmic scale"), note(said)]


def times(n: int) -> str:
    """Return a number of times in words."""
    return "once" if n == 1 else f"{n} times"


def bounds_chart(found: GapDisplay) -> list[Any]:
    """Return a chart of objective and lower bound over passes; the optimum lies between them."""
    known = np.isfinite(found.dual)
    final = float(found.dual[known][-1]) if known.any() else np.nan
    kept = np.isfinite(found.best)
    values = np.concatenate([found.best[kept], found.dual[known], [0.0]])
    y = fitted_axis("objective", values, from_zero=True)
    outside = ""
    if (
        known.any() and final > 0 and y.high > 4 * max(final, float(found.best[-1]))
    ):  # untrained weights may be a hundred times worse
        y = Axis("objective", y.low, max(2.5 * final, 1.1 * float(found.best[-1])))
        outside = " Values above the frame are not drawn."
    series = [
        Series(found.passes, found.dual, "lower bound on every objective", "steps", "b"),
        Series(found.passes, found.best, "objective of the weights", "steps", "a"),
        Series(found.passes, np.where(np.isfinite(found.primal), found.primal, np.nan), kind="points", style="a"),
    ]
    if known.any() and (known & kept).any():
        series.insert(0, Series(found.passes, found.dual, kind="steps", style="faint", other=found.best))
    x = fitted_axis("passes over the data", found.passes, from_zero=True)
    said = f"Measured {times(int(np.isfinite(found.primal).sum()))} in {found.passes[-1]:.1f} passes.{outside}"
    if len(found.passes) > len(thinned(found.passes)[0]):
        said += f" {len(thinned(found.passes)[0])} of {len(found.passes):,} steps are drawn."
    return [chart(series, x, y, "objective and lower bound during training"), note(said)]


def rounds_chart(found: RoundsDisplay) -> list[Any]:
    """Return a chart of latent training: the objective after every round, and the bound of its convex problem."""
    runs = np.unique(found.restart)
    series = []
    for run in sorted(runs, key=lambda run: run == found.best):  # the best run is drawn on top
        own = found.restart == run
        x, kept = np.arange(1.0, own.sum() + 1), run == found.best
        if kept:
            name = "lower bound for the hidden parts of the round"
            series.append(Series(x, found.bound[own], name, "points", "b"))
        name = "objective" if kept else "other runs" if run == max(set(runs) - {found.best}) else ""
        series.append(Series(x, found.objective[own], name, "line", "a" if kept else "faint"))
        series.append(Series(x, found.objective[own], "", "points", "a" if kept else "faint"))
    axes = (
        fitted_axis("round", np.arange(0, max(np.bincount(found.restart)) + 1)),
        fitted_axis("objective", np.concatenate([found.objective, found.bound]), from_zero=True),
    )
    drawn = chart(series, *axes, "objective after every round of training")
    return [drawn, note(f"{len(found.objective)} rounds in {len(runs)} run{'' if len(runs) == 1 else 's'}.")]


def small_gap(model: Any) -> Element | None:
    """Return a chart of the relative gap on a logarithmic scale, for a card; None if it is unknown."""
    if getattr(model, "rounds_", None):
        rounds = RoundsDisplay.from_estimator(model)
        own = rounds.restart == rounds.best
        gap = np.array([relative_gap(p, d) for p, d in zip(rounds.objective[own], rounds.bound[own], strict=True)])
        x, over = np.arange(len(gap), dtype=float), "rounds"
    elif getattr(model, "history_", None):
        found = GapDisplay.from_estimator(model)
        gap, x, over = found.relative_gap, found.passes, "passes"
    else:
        return None
    known = np.isfinite(gap) & (gap > 0)
    if np.count_nonzero(known) < 2:
        return None
    logs, x = thinned(np.log10(gap[known]), x[known])
    top, low = max(0.0, float(logs.max())), float(logs.min())
    u = 4 + 152 * (x - x[0]) / ((x[-1] - x[0]) or 1.0)
    v = 4 + 32 * (top - logs) / ((top - low) or 1.0)
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(u, v, strict=True))
    line = Element("polyline", points=points, fill="none", stroke="currentColor")
    said = f"relative duality gap over {over}, on a logarithmic scale, down to {100 * 10 ** logs[-1]:.2g}%"
    return Element(
        "p",
        Element("svg", line, view_box="0 0 160 40", width=160, height=40, role="img", aria_label=said),
        " ",
        Element("small", said),
    )
