"""What estimators are worth as they come: the score of all defaults beside that of a C chosen by Tuned, three folds.

The sets are those of tuned.py and others, small parts of each, so that all run in some minutes; tests are on rows that
no choice sees. A default counts as good where its score is no more than 1% below that of the chosen C.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rich.table import Table
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from benchmarks.decisions import drawn
from benchmarks.loaders import load_horses, load_letor, load_optdigits, load_prefab4, load_ud_ewt, prefab4_split
from benchmarks.timing import Report
from benchmarks.tuned import SETS, Choice, Part, documents, some
from maxmargin import (
    Aligner,
    CostLearner,
    GraphLabeler,
    MulticlassSVC,
    Ranker,
    SequenceLabeler,
    Tuned,
)
from maxmargin.optimisers import GridPath

PROBLEMS = ("defaults",)
FOLDS = 3
GOOD = 0.01  # of the score


def digits() -> Choice:
    return Choice(MulticlassSVC(), some(*load_optdigits("train"), 500), some(*load_optdigits("test"), 1500))


def tags() -> Choice:
    def part(name: str, n: int) -> Part:
        drawn_ones = some(load_ud_ewt(name), [0] * 2000, n).X
        X = [[[f"w={t[0]}", f"s={t[0][-3:]}", f"s={t[0][-2:]}", "b"] for t in s.tokens] for s in drawn_ones]
        return Part(X, [[t[1] for t in s.tokens] for s in drawn_ones])

    return Choice(SequenceLabeler(), part("train", 300), part("test", 300))


def proteins() -> Choice:
    pairs, (train, _, test) = load_prefab4(), prefab4_split()

    def part(index: Any, n: int) -> Part:
        short = [i for i in index if max(len(pairs[i].a), len(pairs[i].b)) <= 200][:n]
        return Part([(pairs[i].a, pairs[i].b) for i in short], [pairs[i].alignment for i in short])

    return Choice(Aligner(unknown="ignore"), part(train, 40), part(test, 100))


def horses() -> Choice:
    parts = [load_horses(name) for name in ("train", "test")]
    return Choice(GraphLabeler(), *(Part(part.X[:n], part.Y[:n]) for part, n in zip(parts, (30, 60), strict=True)))


def routes() -> Choice:
    data = drawn(40, 4, 500, 1000)
    return Choice(CostLearner(GridPath(5, 5)), Part(*(each[:300] for each in data.training)), Part(*data.test))


def web_documents() -> Choice:
    parts = []
    for split in ("train", "test"):
        X, y, qid = load_letor("mq2008", 1, split)
        parts.append(Part(X, y, {"qid": qid}))
    return Choice(Ranker("ndcg"), *parts, '"ndcg"')


MORE: dict[str, Callable[[], Choice]] = {
    "optdigits, 500": digits,
    "ud english, tags, 300": tags,
    "prefab4, 40 pairs": proteins,
    "horses, 30": horses,
    "grid paths, degree 4, 300": routes,
    "ohsumed, NDCG": lambda: documents("ndcg"),
    "mq2008, NDCG": web_documents,
}


def run(name: str, repeat: int, quick: bool, report: Report) -> Table:
    """Once, whatever `repeat` says: nothing is timed."""
    table = Table(title="defaults: scores on other data, in percent, compared with those of a chosen C")
    for heading in ("data", "estimator", "default C", "score", "chosen C", "score", "default within 1%"):
        table.add_column(heading, justify="left" if heading in ("data", "estimator") else "right")
    good, sets = 0, {**SETS, **MORE}
    for data, make in list(sets.items())[: 3 if quick else None]:
        report(f"{data}: reading")
        choice = make()
        train, test = choice.train, choice.test
        last = choice.model[-1] if isinstance(choice.model, Pipeline) else choice.model
        report(f"{data}: default")
        usual = clone(choice.model).fit(train.X, train.Y, **train.others)
        report(f"{data}: choosing C")
        tuned = Tuned(choice.model, cv=FOLDS, n_jobs=1).fit(train.X, train.Y, **train.others)
        scores = [100 * model.score(test.X, test.Y, **test.others) for model in (usual, tuned)]
        fine = scores[0] >= scores[1] - GOOD * abs(scores[1])
        good += fine
        cells = (f"{last.C:g}", f"{scores[0]:.2f}", f"{tuned.best_C_:.3g}", f"{scores[1]:.2f}", "yes" if fine else "no")
        report(f"{data}: {', '.join(cells)}")
        table.add_row(data, type(last).__name__ + (f"({choice.settings})" if choice.settings else ""), *cells)
    table.caption = f"{good} of {len(table.rows)} defaults are within 1% of the chosen C."
    return table
