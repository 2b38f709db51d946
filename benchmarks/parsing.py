"""Parsing the Penn Treebank sample: Parser against the PCFG of maximum likelihood, and the speed of its searches.

The sentences of at most 15 words, as part-of-speech tags, in ten folds (sentence i in fold i mod 10). Every fold is
tested once; the fold after it chooses C, the other eight train (and are not joined by the ninth afterwards). All folds
together give one score, computed as EVALB does with COLLINS.prm (see maxmargin.metrics.parseval). Sentences without a
derivation get a flat tree and count like all others. Every Parser stands beside the PCFG of the same rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from rich.table import Table

from benchmarks.loaders import load_ptb_sample
from benchmarks.quality import median_best
from benchmarks.timing import Report, cpu_seconds
from maxmargin import PCFG, Parser, Tree
from maxmargin.metrics import parseval
from maxmargin.problem.dual.objective import Formulation

PROBLEMS = ("ptb-parsing", "ptb-parsing-speed")
N_FOLDS = 10


@dataclass
class Contestant:
    """A way to learn a grammar, with the values of C to choose from (none for PCFG)."""

    name: str
    options: dict[str, Any]
    grid: Sequence[float] = ()

    def trained(self, trees: list[Tree]) -> list[tuple[Any, float]]:
        """A model for every C, and the CPU seconds of its training."""
        models = [Parser(C=C, random_state=0, on_failure="flat", **self.options) for C in self.grid]
        done = []
        for model in models or [PCFG(on_failure="flat", **self.options)]:
            done.append((model, cpu_seconds(partial(model.fit, [tree.tokens() for tree in trees], trees))[1]))
        return done


BY_BRACKETS = (30.0, 100.0, 300.0, 1000.0)
BY_SENTENCES = (1000.0,)  # losses of at most 1 need a larger C for the same effect; one value, for these take long
PLAIN: dict[str, Any] = {"horizontal": 1, "span_features": ()}
PARENTS: dict[str, Any] = {"horizontal": 0, "vertical": 2}
CONTESTANTS = (
    Contestant("PCFG, one sibling", {"horizontal": 1}),
    Contestant("Parser, hamming, margin", PLAIN, BY_BRACKETS),
    Contestant("Parser, f1, margin", {"measure": "f1", **PLAIN}, BY_SENTENCES),
    Contestant("Parser, f1, slack", {"measure": "f1", "rescaling": "slack", **PLAIN}, BY_SENTENCES),
    Contestant("Parser, zero_one", {"measure": "zero_one", **PLAIN}, BY_SENTENCES),
    Contestant("PCFG, parents", PARENTS),
    Contestant("Parser, parents, hamming, margin", {"span_features": (), **PARENTS}, (1000.0,)),
    Contestant("PCFG, no siblings", {"horizontal": 0}),
    Contestant("Parser, hamming, margin, span features", {}, BY_BRACKETS),
    Contestant("Parser, f1, margin, span features", {"measure": "f1"}, BY_SENTENCES),
)


def run(name: str, repeat: int, quick: bool, report: Report) -> Table:
    """Quality over folds, or speed; `repeat` is for the speed."""
    report("reading the data")
    trees = load_ptb_sample(max_words=15)
    return quality(trees, quick, report) if name == "ptb-parsing" else speed(trees, repeat, quick, report)


def quality(trees: list[Tree], quick: bool, report: Report) -> Table:
    fold_of = np.arange(len(trees)) % N_FOLDS
    tested = range(2 if quick else N_FOLDS)
    truth = [tree for k in tested for tree, fold in zip(trees, fold_of, strict=True) if fold == k]
    table = Table(
        title=f"ptb-parsing: {len(truth)} of {len(trees)} sentences tested, in {len(tested)} folds",
        caption="In percent. Failed: sentences without derivation. CPU s: of one training, mean over all settings.",
    )
    table.add_column("solver")
    for heading in ("precision", "recall", "F1", "exact match", "failed", "CPU s", "largest gap"):
        table.add_column(heading, justify="right")
    for contestant in CONTESTANTS[::7] if quick else CONTESTANTS:
        found, seconds, gaps, failed = [], [], [0.0], 0
        for k in tested:
            report(f"{contestant.name}: fold {k + 1}")
            ahead = (k + 1) % N_FOLDS
            parts = {part: [t for t, fold in zip(trees, fold_of, strict=True) if fold == part] for part in (k, ahead)}
            rest = [t for t, fold in zip(trees, fold_of, strict=True) if fold not in parts]
            models = contestant.trained(rest)
            seconds += [taken for _, taken in models]
            gaps += [model.certificate_.relative_gap for model, _ in models if contestant.grid]
            marks = [model.score([t.tokens() for t in parts[ahead]], parts[ahead]) for model, _ in models]
            model = models[median_best(marks)][0]
            sentences = [tree.tokens() for tree in parts[k]]
            found += model.predict(sentences)
            failed += np.count_nonzero(np.isinf(model.decision_function(sentences)))
        score = parseval(truth, found)
        table.add_row(
            contestant.name,
            *(f"{100 * value:.2f}" for value in score[:4]),
            str(failed),
            f"{np.mean(seconds):.1f}",
            f"{100 * max(gaps):.2g}%" if contestant.grid else "",
        )
    return table


def speed(trees: list[Tree], repeat: int, quick: bool, report: Report) -> Table:
    """Searches of all training sentences at weights of a trained model, at 0.3 of them, and at 0."""
    table = Table(
        title="ptb-parsing-speed: one search of every sentence",
        caption="CPU s: the fastest of all rounds. Ratio: to plain CKY with the same rules, sentences and weights.",
    )
    for heading in ("search", "words", "rules", "weights", "CPU s", "sentences/s", "ratio"):
        table.add_column(heading, justify="left" if heading in ("search", "rules", "weights") else "right")
    for rules, options in (("one sibling", PLAIN), ("no siblings, span features", {})):
        for longest in (10, 15):
            part = [tree for tree in trees if len(tree) <= longest][: 100 if quick else None]
            sentences = [tree.tokens() for tree in part]
            for measure in ("hamming", "f1", "zero_one"):
                report(f"{measure}, at most {longest} words, {rules}")
                C = 100.0 if measure == "hamming" else 1000.0
                model = Parser(measure=measure, C=C, random_state=0, max_passes=10, **options).fit(sentences, part)
                batch = model.task_.pack(sentences, part)
                for weights, scale in (("trained", 1.0), ("0.3 × trained", 0.3), ("0", 0.0)):
                    w = scale * model.w_
                    searches = {
                        "plain CKY": partial(model.task_.planes, w, batch, augment=0.0),
                        f"{measure}, margin": partial(model.task_.planes, w, batch),
                        f"{measure}, slack": partial(model.task_.rescaled_planes, w, batch, Formulation("slack")),
                    }
                    taken = {name: min(cpu_seconds(s)[1] for _ in range(repeat)) for name, s in searches.items()}
                    for name, seconds in taken.items():
                        if name == "plain CKY" and measure != "hamming":
                            continue
                        cells = f"{seconds:.3f}", f"{len(part) / seconds:.0f}", f"{seconds / taken['plain CKY']:.1f}"
                        table.add_row(name, str(longest), rules, weights, *cells)
    return table
