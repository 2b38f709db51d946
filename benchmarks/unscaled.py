"""Data as they come: features of very different sizes, a large C, few long examples. Who certifies a gap of 1%?"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from rich.table import Table
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning

from benchmarks.timing import Report, cpu_seconds
from maxmargin import Aligner, GraphLabeler, MulticlassSVC, OrdinalSVC, SequenceLabeler
from maxmargin.datasets import mutated_pairs

SOLVERS = ("bcfw", "n_slack", "one_slack", "bundle")  # those with a bound worth the name
LIMIT = 30.0  # CPU seconds of a fit

Problem = tuple[Any, Any, Any]  # an estimator, X, Y


def breast_cancer() -> Problem:
    return MulticlassSVC(), *load_breast_cancer(return_X_y=True)


def wine() -> Problem:
    return MulticlassSVC(), *load_wine(return_X_y=True)


def diabetes() -> Problem:
    """Five ordered classes of the progression of a disease, from features in their own units."""
    X, y = load_diabetes(return_X_y=True, scaled=False)
    return OrdinalSVC(), X, np.digitize(y, np.quantile(y, [0.2, 0.4, 0.6, 0.8]))


def sequences() -> Problem:
    """A hundred generated sequences of 15 tokens, 5 labels, 12 features whose scales are from 0.1 to 1000."""
    rng = np.random.default_rng(0)
    labels, width, length = 5, 12, 15
    centres, shift = rng.normal(size=(labels, width)), rng.normal(size=width)
    transitions = rng.dirichlet(np.full(labels, 0.7), size=labels)
    X, Y = [], []
    for _ in range(100):
        y = [int(rng.integers(labels))]
        for _ in range(length - 1):
            y.append(int(rng.choice(labels, p=transitions[y[-1]])))
        tokens = centres[y] + 1.2 * rng.normal(size=(length, width)) + shift
        X.append(tokens * np.geomspace(0.1, 1000, width))
        Y.append(y)
    return SequenceLabeler(), X, Y


def one_node_graphs() -> Problem:
    X, y = load_iris(return_X_y=True)
    return GraphLabeler(C=1000), [(row[None], np.zeros((0, 2), dtype=int)) for row in X], [[int(label)] for label in y]


def digits_times_1000() -> Problem:
    X, y = load_digits(return_X_y=True)
    return MulticlassSVC(), 1000 * X, y


def long_alignments() -> Problem:
    """Two generated pairs of 2,000 residues."""
    return Aligner(), *mutated_pairs(2, length=2000, alphabet="ACDEFGHIKLMNPQRSTVWY")


def huge_features() -> Problem:
    """Breast cancer times a million, with a C as large."""
    X, y = load_breast_cancer(return_X_y=True)
    return MulticlassSVC(C=1e6), 1e6 * X, y


PROBLEMS: dict[str, Callable[[], Problem]] = {
    "breast-cancer-unscaled": breast_cancer,
    "wine-unscaled": wine,
    "diabetes-unscaled": diabetes,
    "sequences-unscaled": sequences,
    "one-node-graphs": one_node_graphs,
    "digits-times-1000": digits_times_1000,
    "long-alignments": long_alignments,
    "huge-features": huge_features,
}


def run(name: str, repeat: int, quick: bool, report: Report) -> Table:
    """CPU seconds and passes to a gap of 1%, or the gap that was left when a fit was stopped."""
    table = Table(title=f"{name}: a gap of 1%")
    for heading in ("solver", "CPU s", "passes", "gap", "ended", ""):
        table.add_column(heading)
    rows = []
    for solver in SOLVERS:
        model, X, Y = PROBLEMS[name]()
        model.set_params(solver=solver, tol=1e-2, random_state=0, max_passes=20 if quick else 10_000)
        _fit(model, X, Y, 3.0)  # compile
        found = []
        for k in range(1 if quick else repeat):
            report(f"{solver}: round {k + 1} of {repeat}")
            found.append(cpu_seconds(partial(_fit, model, X, Y, LIMIT))[1])
            if not model.certificate_.converged:
                break  # it takes as long as it may
        rows.append((solver, min(found), model.certificate_))
    done = [seconds for _, seconds, certificate in rows if certificate.converged]
    for solver, seconds, certificate in rows:
        won = "first" if certificate.converged and seconds == min(done) else ""
        gap = f"{100 * certificate.relative_gap:.2g}%"
        table.add_row(solver, f"{seconds:.2f}", f"{certificate.passes:.0f}", gap, certificate.stop_reason, won)
    return table


def _fit(model: Any, X: Any, Y: Any, seconds: float) -> None:
    """Fit for at most so many CPU seconds, and the pass that is running then."""
    began = time.process_time()
    model.set_params(callback=lambda record: time.process_time() - began > seconds)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the table says so
        model.fit(X, Y)
