"""Dependency parsing of UD English EWT: DependencyParser beside neighbours as heads, and beside heads without a tree.

Words come with the tags (UPOS and XPOS) of the annotators, which a parser of plain text would have to guess. C and
whether trees must be projective are chosen by the UAS of the development part; scores are those of the test part, over
all words and without punctuation.
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
from maxmargin.tasks import Dependencies

TOL = 0.03
CS = (30.0, 100.0, 300.0, 1000.0)
SENTENCES: dict[str, int | None] = {"dependencies": 1500, "dependencies-all": None}  # to train on; None: all
WAYS = (("DependencyParser", False), ("DependencyParser, projective", True))
PASS = "dependencies-pass"
PROBLEMS = (*SENTENCES, PASS)
Trees = list[list[Any]]


def run(name: str, repeat: int, quick: bool, report: Report) -> Table:
    """One path of trainings over all C; `repeat` is for the time of a search of all training sentences."""
    if name == PASS:
        return one_pass(repeat, quick, report)
    report("reading the data")
    train, dev, test = map(load_ud_ewt, ("train", "dev", "test"))
    truth = [sentence.arcs for sentence in test]
    table = Table(
        title=f"{name}: UD English EWT, {len(test)} test sentences",
        caption="In percent. Each way has the C of the best UAS on the development part; that with the better UAS "
        f"there is the choice. Trained on a path of C = {', '.join(f'{C:g}' for C in CS)}, each to a gap of {TOL:.0%}, "
        "not 1%; gap: what was reached. CPU s: the whole path. Pass s: all training sentences searched once.",
    )
    headings = ("solver", "sentences", "C", "dev UAS", "UAS", "LAS", "UAS, no punct", "LAS, no punct")
    for heading in (*headings, "CPU s", "gap", "pass s"):
        table.add_column(heading, justify="left" if heading == "solver" else "right")

    def row(solver: str, found: Trees, told: Sequence[str] = ("", "", ""), rest: Sequence[str] = ("", "", "")) -> None:
        every, words = attachment_scores(truth, found), attachment_scores(truth, found, punctuation={"punct"})
        shares = (every.uas, every.las, words.uas, words.las)
        cells = ["" if share is None else f"{100 * share:.1f}" for share in shares]
        table.add_row(solver, *told, *cells, *rest)

    row("the word before is the head", [list(range(len(sentence))) for sentence in test])
    row("the word after is the head", [[*range(2, len(sentence) + 1), 0] for sentence in test])
    chosen = []
    for solver, projective in WAYS[: 1 if quick else None]:
        part = train[: 50 if quick else SENTENCES[name]]
        if projective:
            part = [sentence for sentence in part if first_crossing(sentence.heads) is None]
        arcs = [sentence.arcs for sentence in part]
        report(f"{solver}, {len(part)} sentences")
        parser = DependencyParser(projective, tol=TOL, random_state=0)
        models, seconds = cpu_seconds(partial(parser.fit_path, part, arcs, CS[: 1 if quick else None]))
        marks = [model.score(dev, [sentence.arcs for sentence in dev]) for model in models]
        report(
            f"{solver}: dev UAS "
            + ", ".join(f"{m.C:g}: {100 * mark:.2f}" for m, mark in zip(models, marks, strict=True))
        )
        model = models[int(np.argmax(marks))]
        batch = model.task_.pack(part, arcs)
        once = min(cpu_seconds(partial(batch.found, model.w_))[1] for _ in range(repeat))
        rest = (f"{seconds:.0f}", f"{100 * model.certificate_.relative_gap:.1f}%", f"{once:.2f}")
        chosen.append((max(marks), solver, model, len(part), rest))
    best = max(mark for mark, *_ in chosen)
    for mark, solver, model, size, rest in chosen:
        told = (str(size), f"{model.C:g}", f"{100 * mark:.1f}")
        row(solver + (", chosen" if mark == best else ""), model.predict(test), told, rest)
        if not model.projective:
            row("the same weights, every word its best head", best_heads(model, test), (*told[:2], ""))
    return table


def one_pass(repeat: int, quick: bool, report: Report) -> Table:
    """What a search of the sentences of the first problem costs, at weights that were drawn."""
    report("reading the data")
    train = load_ud_ewt("train")[: 50 if quick else SENTENCES["dependencies"]]
    table = Table(
        title=f"{PASS}: {len(train)} sentences of UD English EWT",
        caption="CPU s, fastest of the rounds. Setup: features, and the places of their weights in all arcs, once for "
        "a training. Scores: of all arcs with their best labels. Trees, projective ones: the best of all sentences.",
    )
    for heading in ("arcs", "weights", "setup", "places, MB", "scores", "trees", "projective"):
        table.add_column(heading, justify="left" if heading == "arcs" else "right")
    for arcs, truth in (
        ("heads", [sentence.heads for sentence in train]),
        ("heads and labels", [sentence.arcs for sentence in train]),
    ):
        report(arcs)
        task = Dependencies()
        task.setup_and_pack(train[:3], truth[:3]).planes(np.zeros(task.dim))  # compiles
        batch, setup = cpu_seconds(partial(task.setup_and_pack, train, truth))
        w = np.random.default_rng(0).standard_normal(task.dim)
        scored, _ = cpu_seconds(partial(batch.arcs.scored, w, batch.ids))
        calls = [partial(batch.arcs.scored, w, batch.ids)]
        calls += [partial(scored.best, batch.price, True, projective) for projective in (False, True)]
        times = [min(cpu_seconds(call)[1] for _ in range(repeat)) for call in calls]
        size = sum(each.nbytes for each in batch.arcs.known) / 1e6
        table.add_row(arcs, f"{task.dim}", f"{setup:.1f}", f"{size:.0f}", *(f"{each:.3f}" for each in times))
    return table


def best_heads(model: Any, sentences: Sequence[ConlluSentence]) -> Trees:
    """The best head and label of every word by itself, whether all are a tree or not."""
    scored, found = model.task_.scored(sentences).scored_arcs(model.w_), []
    for j, sentence in enumerate(sentences):
        n, own = len(sentence), scored.alone(j)
        heads = own.scores.reshape(n + 1, n + 1)[:, 1:].argmax(axis=0)
        labels = own.labels.reshape(n + 1, n + 1)[heads, np.arange(1, n + 1)]
        found.append([(int(head), model.classes_[label]) for head, label in zip(heads, labels, strict=True)])
    return found
