"""Active learning: the F1 of a labeller against the number of labelled words, for several orders of labelling.

A pool of training sentences begins without labels. The first sentences are drawn at random; then, again and again, a
model is trained on all labelled sentences and an order is asked which sentences to label next, until a number of words
is reached, so that every order has labelled the same number of words. All are tested on the same test sentences.
`needed` is the share of the words of the pool after which F1 is at least 95% of that with the whole pool labelled.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from rich.table import Table

from benchmarks.loaders import load_conll2000, load_conll2002_es
from benchmarks.timing import Report

PROBLEMS: dict[str, Callable[[str], Any]] = {
    "active-conll2002-es": load_conll2002_es,
    "active-conll2000": load_conll2000,
}
ORDERS: dict[str, dict[str, Any]] = {
    "random": {},
    "longest first": {},
    "margin": {"by": "margin", "diverse": False},
    "margin, diverse": {"by": "margin"},
    "entropy, diverse": {"by": "entropy"},
    "committee, diverse": {"by": "committee"},
}
C_PER_SENTENCE = 0.1
MEMBERS = 3  # of a committee


def fitted(X: Any, Y: Any, **options: Any) -> Any:
    from maxmargin import SequenceLabeler, TokenTemplates

    features = TokenTemplates.usual(1)
    return SequenceLabeler(C_PER_SENTENCE * len(X), features=features, tol=0.05, random_state=0, **options).fit(X, Y)


def f1(model: Any, X: Any, Y: Any) -> float:
    from maxmargin.metrics import EntityF1

    return 100 * EntityF1()(Y, model.predict(X))


def ordered(name: str, X: Any, Y: Any, labelled: list[int], free: list[int], n: int, rng: np.random.Generator) -> Any:
    """The next n sentences to label, and a model of those that are labelled."""
    from maxmargin.active import next_to_label

    mine, tags = [X[i] for i in labelled], [Y[i] for i in labelled]
    options = ORDERS[name]
    model = fitted(mine, tags, calibrate=2 if options.get("by") == "entropy" else None)
    if name == "random":
        return rng.permutation(free)[:n].tolist(), model
    if name == "longest first":
        return sorted(free, key=lambda i: -len(X[i]))[:n], model
    asked: Any = model
    if options.get("by") == "committee":
        draws = [rng.integers(len(labelled), size=len(labelled)) for _ in range(MEMBERS)]
        asked = [fitted([mine[k] for k in draw], [tags[k] for k in draw]) for draw in draws]
    return [free[k] for k in next_to_label(asked, [X[i] for i in free], n, **options)], model


def curve(name: str, X: Any, Y: Any, test: Any, budgets: list[int], seed: int) -> list[float]:
    """F1 at every number of labelled words."""
    rng = np.random.default_rng(seed)
    free = rng.permutation(len(X)).tolist()
    labelled: list[int] = []
    coming, scores = list(free), []
    for budget in budgets:
        words = sum(len(X[i]) for i in labelled)
        for i in coming:
            if words >= budget:
                break
            labelled.append(i)
            words += len(X[i])
        free = [i for i in free if i not in set(labelled)]
        coming, model = ordered(name, X, Y, labelled, free, 200, rng)
        scores.append(f1(model, *test))
    return scores


def run(name: str, repeat: int, quick: bool, report: Report) -> Table:
    """Every order for `repeat` random starts."""
    load = PROBLEMS[name]
    sizes = (200, 200) if quick else (1000, 1000)
    report("reading the data")
    (X, Y), test = load("train"), load("test")
    chosen = np.random.default_rng(0).permutation([i for i, x in enumerate(X) if len(x) <= 100])[: sizes[0]]
    X, Y = [[token[0] for token in X[i]] for i in chosen], [Y[i] for i in chosen]
    test = [[token[0] for token in x] for x in test[0][: sizes[1]]], test[1][: sizes[1]]
    total = sum(map(len, X))
    budgets = [int(total * share) for share in (0.03, 0.06, 0.12, 0.25, 0.5)]
    budgets = budgets[:3] if quick else budgets
    report("the whole pool")
    full = f1(fitted(X, Y), *test)
    table = Table(
        title=f"{name}: {len(X)} sentences with {total:,} words; F1 with all labels {full:.1f}",
        caption=f"F1 by the share of words that are labelled, mean of {repeat} random starts; only words as features. "
        "needed: the share after which the mean F1 is at least 95% of that with all labels.",
    )
    for heading in ("order", *(f"{budget / total:.0%}" for budget in budgets), "needed"):
        table.add_column(heading, justify="left" if heading == "order" else "right")
    for order in ORDERS:
        each = []
        for seed in range(repeat):
            report(f"{order}, start {seed}")
            each.append(curve(order, X, Y, test, budgets, seed))
        means = np.mean(each, axis=0)
        enough = np.flatnonzero(means >= 0.95 * full)
        needed = f"{budgets[enough[0]] / total:.0%}" if len(enough) else f"> {budgets[-1] / total:.0%}"
        table.add_row(order, *(f"{value:.1f}" for value in means), needed)
    return table
