"""Warn once about all trainings of a search for C."""

from __future__ import annotations

from sklearn.exceptions import ConvergenceWarning

from maxmargin.base.errors import NothingLearnt, TrainingInterrupted, warn_caller
from maxmargin.training.tuning.choice import Tried


def warn_of_search(tried: Tried, best: int, chosen: int, interrupted: bool) -> None:
    """Issue the warnings of a search, each once.

    best : the row with the best mean score by the rule.
    chosen : the row whose model is used, which is another one if the best has learnt nothing.
    interrupted : whether Ctrl-C has ended the search.
    """
    model, C = tried.rows[chosen][0], float(tried.rows[chosen][0].C)
    for category, message in dict.fromkeys(each for row in tried.rows for each in row[0].warnings):
        warn_caller(message, category)
    if interrupted:
        warn_caller(
            f"choosing C was interrupted; the model is the best of the {len(tried)} values of C that were tried, "
            f"C = {C:g} (press Ctrl-C twice to end the program)",
            TrainingInterrupted,
        )
    if model.zero:
        warn_caller(
            "nothing was learnt: training on all data ended at w = 0 for every C that was tried. Try other features, "
            "or larger values (Cs)",
            NothingLearnt,
        )
    elif best != chosen:
        warn_caller(
            f"the best mean score, {tried.means[best]:.4g}, belongs to C = {tried.rows[best][0].C:g}, but training on "
            f"all data ended at w = 0 there: the next best value is used, C = {C:g} with {tried.means[chosen]:.4g}",
            NothingLearnt,
        )
    _warn_of_gaps(tried, model.complains)


def _warn_of_gaps(tried: Tried, chosen_is_open: bool) -> None:
    """Warn of the values of C for which training has stopped above tol."""
    unconverged = [row[0].C for row in tried.rows if any(each.complains for each in row)]
    if not unconverged:
        return
    named = ", ".join(f"{C:.3g}" for C in unconverged)
    which = "the chosen one among them" if chosen_is_open else "not the chosen one"
    warn_caller(
        f"training stopped above tol for {len(unconverged)} of {len(tried)} values of C ({which}): C = {named}. "
        "results_['gap'] has the gaps; raise max_passes, scale the features alike, or try smaller values",
        ConvergenceWarning,
    )
