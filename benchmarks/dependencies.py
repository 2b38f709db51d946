"""Dependency parsing of UD English EWT: DependencyParser beside neighbours as heads, and beside heads without a tree.

Words come with the tags (UPOS and XPOS) of the annotators, which a parser of plain text would have to guess. C is
chosen by the LAS of the development part; scores are those of the test part, over all words and without punctuation.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from rich.table import Table

from benchmarks.loaders import load_ud_ewt
from benchmarks.timing import Report, cpu_seconds
from maxmargin import DependencyParser
from maxmargin.formats import ConlluSentence
from maxmargin.metrics import attachment_scores
from maxmargin.structures.dependencies.heads import first_crossing

FEW = 1500
TOL = 0.03
Way = tuple[str, int | None, tuple[float, ...], bool]  # a name, how many sentences, values of C, whether projective
WAYS: dict[str, list[Way]] = {
    "dependencies": [
        ("DependencyParser", FEW, (30.0, 100.0), False),
        ("DependencyParser, projective", FEW, (30.0,), True),
        ("DependencyParser", None, (30.0, 100.0), False),
    ],
    "dependencies-all": [
        ("DependencyParser", None, (300.0,), False),
        ("DependencyParser, projective", None, (300.0,), True),
    ],
}
PROBLEMS = tuple(WAYS)
Trees = list[list[Any]]


def run(name: str, repeat: int, quick: bool, report: Report) -> Table:
    """One training for every C; `repeat` is for the time of a search of all training sentences."""
    report("reading the data")
    train, dev, test = map(load_ud_ewt, ("train", "dev", "test"))
    truth = [sentence.arcs for sentence in test]
    table = Table(
        title=f"{name}: UD English EWT, {len(test)} test sentences",
        caption=f"In percent; C by the LAS of the development part where there is a choice. Trained to a gap of "
        f"{TOL:.0%}. CPU s: training at this C. Pass s: all training sentences scored and searched once.",
    )
    columns = ("solver", "sentences", "C", "UAS", "LAS", "UAS, no punct", "LAS, no punct", "CPU s", "gap", "pass s")
    for heading in columns:
        table.add_column(heading, justify="left" if heading == "solver" else "right")

    def row(solver: str, n: str, C: str, found: Trees, *rest: str) -> None:
        every, words = attachment_scores(truth, found), attachment_scores(truth, found, punctuation={"punct"})
        shares = (every.uas, every.las, words.uas, words.las)
        cells = ["" if share is None else f"{100 * share:.1f}" for share in shares]
        table.add_row(solver, n, C, *cells, *rest, *[""] * (3 - len(rest)))

    row("the word before is the head", "", "", [list(range(len(sentence))) for sentence in test])
    row("the word after is the head", "", "", [[*range(2, len(sentence) + 1), 0] for sentence in test])
    for solver, n, grid, projective in WAYS[name][: 1 if quick else None]:
        part = train[: 50 if quick else n]
        if projective:
            part = [sentence for sentence in part if first_crossing(sentence.heads) is None]
        models = []
        for C in grid[:1] if quick else grid:
            report(f"{solver}, {len(part)} sentences, C={C:g}")
            model = DependencyParser(projective, C=C, tol=TOL, random_state=0)
            seconds = cpu_seconds(partial(model.fit, part, [sentence.arcs for sentence in part]))[1]
            marks = attachment_scores([sentence.arcs for sentence in dev], model.predict(dev))
            models.append((marks.las or 0.0, model, seconds))
        _, model, seconds = max(models, key=lambda each: each[0])
        batch = model.task_.pack(part, [sentence.arcs for sentence in part])
        once = min(cpu_seconds(partial(batch.found, model.w_))[1] for _ in range(repeat))
        told = (f"{seconds:.0f}", f"{100 * model.certificate_.relative_gap:.1f}%", f"{once:.2f}")
        row(solver, str(len(part)), f"{model.C:g}", model.predict(test), *told)
        if solver == "DependencyParser":
            row("the same weights, every word its best head", str(len(part)), f"{model.C:g}", best_heads(model, test))
    return table


def best_heads(model: Any, sentences: Sequence[ConlluSentence]) -> Trees:
    """The best head and label of every word by itself, whether all are a tree or not."""
    batch = model.task_.pack(sentences)
    scored, found = batch.arcs.scored(model.w_, batch.ids), []
    for j, sentence in enumerate(sentences):
        n, own = len(sentence), scored.alone(j)
        heads = own.scores.reshape(n + 1, n + 1)[:, 1:].argmax(axis=0)
        labels = own.labels.reshape(n + 1, n + 1)[heads, np.arange(1, n + 1)]
        found.append([(int(head), model.classes_[label]) for head, label in zip(heads, labels, strict=True)])
    return found
