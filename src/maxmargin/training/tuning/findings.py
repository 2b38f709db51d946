"""The section of a report about the choice of C."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.report.charts import Series, chart, fitted_axis
from maxmargin.report.findings import Section, note
from maxmargin.report.html import Element
from maxmargin.report.sections import table


def choice_section(tuned: Any) -> Section:
    """Return a section with the mean score over folds for every C that was tried, and its standard error."""
    results = tuned.results_
    C, scores, errors = results["C"], results["mean_score"], np.nan_to_num(results["standard_error"])
    chosen = int(tuned.best_index_)
    series = [
        Series(C, scores - errors, style="faint", other=scores + errors),
        Series(C, scores, "mean score of the folds"),
        Series(C[[chosen]], scores[[chosen]], "chosen", "points", "c", sizes=np.array([5.0])),
    ]
    axes = fitted_axis("C", C, log=True), fitted_axis("score", np.concatenate([scores - errors, scores + errors]))
    rows = [
        [
            Element("strong", f"{C[k]:.4g}") if k == chosen else f"{C[k]:.4g}",
            f"{scores[k]:.4g}",
            f"{results['standard_error'][k]:.2g}",
            f"{results['training_loss'][k]:.4g}",
            f"{100 * results['gap'][k]:.2g}%",
        ]
        for k in range(len(C))
    ]
    n_folds = sum(name.startswith("fold_") for name in results)
    said = (
        f"C = {tuned.best_C_:.4g} was chosen by the rule {tuned.rule!r} from {len(C)} values in {n_folds} folds, whose "
        f"mean score is {tuned.best_score_:.4g}. The band is one standard error to either side."
    )
    head = ["C", "mean score", "standard error", "training loss", "largest gap"]
    return Section(
        "How C was chosen",
        [
            Element("p", said),
            chart(series, *axes, "score against C"),
            table(head, rows, range(5)),
            note("The score of a fold is measured on data that its model has not seen."),
        ],
    )
