"""Longer memories of labels, and words at pairs of labels, beside first-order chains: chunking and parts of speech.

Every way has the C of the best score on data that its training did not see: a random fifth of the training part of
CoNLL-2000 (chunk F1; then it is trained on all of it), the development part of UD English EWT (right tags). Features of
tags are the word, its two neighbours and its spelling; those of chunks are `loaders.chunk_features`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from rich.table import Table

from benchmarks.loaders import chunk_features, load_conll2000, load_ud_ewt
from benchmarks.timing import Report, cpu_seconds
from maxmargin import SequenceLabeler
from maxmargin.formats import ConlluSentence
from maxmargin.inputs.tokens.words import spelling
from maxmargin.metrics import chunk_f1
from maxmargin.tasks import Chain

WORD = ["w[0]="]
WAYS: dict[str, dict[str, Any]] = {
    "order 1": {},
    "order 2": {"order": 2},
    "order 2, observed": {"order": 2, "ngrams": "observed"},
    "order 3, observed": {"order": 3, "ngrams": "observed"},
    "order 1, words at observed pairs": {"ngrams": "observed", "transition_features": WORD},
}


class Part(NamedTuple):
    """Sentences as attributes, and their labels."""

    X: list[list[list[str]]]
    Y: list[list[str]]

    def take(self, index: Sequence[int]) -> Part:
        """Some of them."""
        return Part([self.X[i] for i in index], [self.Y[i] for i in index])


@dataclass
class Problem:
    """What C is chosen with, what is trained on then (None: the models of the choice are kept), and the test part."""

    seen: Part
    unseen: Part
    train: Part | None
    test: Part
    options: dict[str, Any]
    Cs: tuple[float, ...]  # to choose among
    chunks: bool = False
    without: tuple[str, ...] = ()  # ways that are left out

    def mark(self, model: Any, part: Part) -> float:
        """Chunk F1, or the share of right labels."""
        return chunk_f1(part.Y, model.predict(part.X)).f1 if self.chunks else model.score(part.X, part.Y)


def conll2000(quick: bool) -> Problem:
    """Chunking with 22 labels, all of them allowed by BIO."""
    sentences, test = (Part(*load_conll2000(part)) for part in ("train", "test"))
    train, test = (Part(list(map(chunk_features, part.X)), part.Y) for part in (sentences, test))
    train = train.take(range(400)) if quick else train
    order = np.random.default_rng(0).permutation(len(train.X)).tolist()
    cut, Cs = len(order) * 4 // 5, (100.0, 300.0, 1000.0, 3000.0)
    return Problem(train.take(order[:cut]), train.take(order[cut:]), train, test, {"forbidden": "BIO"}, Cs, chunks=True)


def ud(quick: bool) -> Problem:
    """Universal parts of speech, 17 of them."""
    train, dev, test = (_tagged(load_ud_ewt(part)) for part in ("train", "dev", "test"))
    Cs = (1000.0, 3000.0, 10000.0)
    # Runs of four tags are so many that they would take longer than all else together.
    return Problem(train.take(range(400)) if quick else train, dev, None, test, {}, Cs, without=("order 3, observed",))


def _tagged(sentences: Sequence[ConlluSentence]) -> Part:
    tags = [[row[2] for row in sentence.rows] for sentence in sentences]
    return Part([tag_features(sentence.forms) for sentence in sentences], tags)


def tag_features(words: Sequence[str]) -> list[list[str]]:
    """The word, its neighbours, and its spelling."""
    padded = ["<s>", *words, "</s>"]
    return [
        ["bias", f"w[-1]={padded[t]}", f"w[0]={word}", f"w[1]={padded[t + 2]}", *spelling(word)]
        for t, word in enumerate(words)
    ]


PROBLEMS: dict[str, Callable[[bool], Problem]] = {"order-conll2000": conll2000, "order-ud": ud}


class Trained(NamedTuple):
    """One way: its model, its mark on unseen data, what training took, and a search of all sentences."""

    model: Any
    mark: float
    seconds: float
    setup: float
    search: Callable[[], Any]


def run(name: str, repeat: int, quick: bool, report: Report) -> Table:
    """One path of C for every way, one training at the best; `repeat` is for the time of a search."""
    report("reading the data")
    problem = PROBLEMS[name](quick)
    train, test = problem.train or problem.seen, problem.test
    what = "chunk F1" if problem.chunks else "right tags"
    table = Table(
        title=f"{name}: {len(train.X)} training, {len(test.X)} test sentences",
        caption=f"In percent. C: the best of {', '.join(f'{C:g}' for C in problem.Cs)} on data that training did not "
        f"see, by {what}. Steps: runs of labels that are searched. Fit: one training to a gap of 1%, in CPU s with "
        "the reading of tokens. Pass of a fit: CPU s without that, by the number of passes. Search: all training "
        f"sentences once, with the loss, fastest of {repeat}. In brackets: how many times that of order 1.",
    )
    headings = ("model", "steps", "C", "unseen", "test", "test, labels", "fit", "passes", "pass of a fit", "search")
    for heading in headings:
        table.add_column(heading, justify="left" if heading == "model" else "right")
    found = {way: trained(way, problem, quick, report) for way in WAYS if way not in problem.without}
    times = dict.fromkeys(found, np.inf)
    for _ in range(repeat):
        for way, each in found.items():
            times[way] = min(times[way], cpu_seconds(each.search)[1])
    passes = {way: (each.seconds - each.setup) / each.model.certificate_.passes for way, each in found.items()}
    for way, (model, mark, seconds, _, _) in found.items():
        marks = [f"{100 * share:.2f}" for share in (mark, problem.mark(model, test), model.score(*test))]
        memory, first = model.task_.histories_, "order 1"
        steps = len(memory.steps.source) if memory is not None else int(np.isfinite(model.task_.allowed_).sum())
        costs = [f"{each[way]:.3f} ({each[way] / each[first]:.1f})" for each in (passes, times)]
        table.add_row(
            way, f"{steps}", f"{model.C:g}", *marks, f"{seconds:.1f}", f"{model.certificate_.passes:.0f}", *costs
        )
    return table


def trained(way: str, problem: Problem, quick: bool, report: Report) -> Trained:
    """The model of the best C, and the time of a training at that C alone."""
    options, train = {**problem.options, **WAYS[way]}, problem.train or problem.seen
    tiny = problem.seen.take(range(5))
    SequenceLabeler(C=1.0, **options).fit(*tiny)  # compiles
    report(f"{way}: choosing C")
    models = SequenceLabeler(**options).fit_path(*problem.seen, problem.Cs[: 2 if quick else None])
    marks = [problem.mark(model, problem.unseen) for model in models]
    report(f"{way}: " + ", ".join(f"{m.C:g}: {100 * mark:.2f}" for m, mark in zip(models, marks, strict=True)))
    C = models[int(np.argmax(marks))].C
    model, seconds = cpu_seconds(partial(SequenceLabeler(C=C, **options).fit, *train))
    task = Chain(**options)
    batch, setup = cpu_seconds(partial(task.setup_and_pack, *train))
    return Trained(model, max(marks), seconds, setup, partial(batch.planes, model.w_))
