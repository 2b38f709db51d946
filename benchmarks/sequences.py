"""Sequence labelling: CRFsuite's trainers against SequenceLabeler, on the same features.

Every set is given as attribute strings, the form that CRFsuite takes (Okazaki, "CRFsuite: a fast
implementation of Conditional Random Fields", 2007); maxmargin gets the same attributes as a matrix, numbered
by a vocabulary of the training part, as scikit-learn's DictVectorizer would. Both are put into that form
outside the clock. The models differ in two points: CRFsuite leaves out the pairs of attribute and label that never
occur together in training, and maxmargin is told that chunk tags are BIO (CRFsuite has no such option).

CRFsuite runs with its defaults, and L-BFGS also with the settings of python-crfsuite's tutorial. The peer
with the best *test* score is marked and is the one to beat, which favours the peers: C of maxmargin was
chosen without the test part (see ``PROBLEMS``). In single runs the best were L-BFGS with defaults on
CoNLL-2000, with the tutorial's settings on the small OCR split, and passive-aggressive on the large one.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table
from scipy import sparse

from benchmarks.loaders import chunk_features, load_conll2000, load_ocr_letters
from benchmarks.timing import Report, Timing, cpu_seconds, race
from maxmargin.inputs.tokens.tokens import SequencePacker
from maxmargin.metrics import chunk_f1
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.tasks import Sequences

Attributes = list[list[list[str]]]  # sequence, token, attribute
Tags = list[list[str]]

# --- data sets


@dataclass
class Problem:
    """One training and test part, with maxmargin's C per training sequence."""

    train: Attributes
    train_tags: Tags
    test: Attributes
    test_tags: Tags
    c: float
    chunks: bool = False  # scored by chunks (F1) as well as by tokens
    dense: bool = False  # whether a user of maxmargin would hold the features as a dense matrix


def conll2000(quick: bool, c: float) -> Problem:
    """Chunking: 8936 training and 2012 test sentences, 27 attributes a token, 370,019 in all."""
    sentences, tags = load_conll2000("train")
    test_sentences, test_tags = load_conll2000("test")
    n_train, n_test = (500, 200) if quick else (len(sentences), len(test_sentences))
    return Problem(
        [chunk_features(sentence) for sentence in sentences[:n_train]],
        tags[:n_train],
        [chunk_features(sentence) for sentence in test_sentences[:n_test]],
        test_tags[:n_test],
        c,
        chunks=True,
    )


def ocr_letters(quick: bool, c: float, train_on_fold_0: bool) -> Problem:
    """Handwritten words: an attribute for every pixel that is on, and one for the bias."""
    X, Y, folds = load_ocr_letters()
    is_train = (folds == 0) == train_on_fold_0
    attributes = [[["bias", *(f"pixel{j}" for j in np.flatnonzero(row))] for row in x] for x in X]
    train, test = np.flatnonzero(is_train), np.flatnonzero(~is_train)
    if quick:
        # The words are sorted, so the first ones alone would be all the same.
        train, test = train[:: len(train) // 300], test[:: len(test) // 300]
    return Problem(
        [attributes[i] for i in train],
        [Y[i] for i in train],
        [attributes[i] for i in test],
        [Y[i] for i in test],
        c,
        dense=True,
    )


# c is C per training sequence in maxmargin's 1/2 ||w||² + C · mean structured hinge, so that quick runs solve
# problems of the same kind. For CoNLL-2000 and the one fold C was the best among powers of ten and their triples on a
# random fifth of the training part that was held out, by token error (and, for CoNLL-2000, by F1 too): 1000 and 100.
# The nine folds have the same C per sequence as the one.
PROBLEMS: dict[str, Callable[[bool], Problem]] = {
    "conll2000": partial(conll2000, c=1000 / 8936),
    "ocr-one-fold": partial(ocr_letters, c=100 / 626, train_on_fold_0=True),
    "ocr-nine-folds": partial(ocr_letters, c=1000 / 6251, train_on_fold_0=False),
}


# --- solvers

PEERS: list[tuple[str, str, dict[str, Any]]] = [
    ("CRFsuite L-BFGS, defaults (c1=0, c2=1)", "lbfgs", {}),
    (
        "CRFsuite L-BFGS, tutorial (c1=1, c2=0.001, 50 iterations)",
        "lbfgs",
        {"c1": 1.0, "c2": 1e-3, "max_iterations": 50, "feature.possible_transitions": True},
    ),
    ("CRFsuite averaged perceptron, defaults", "ap", {}),
    ("CRFsuite passive-aggressive, defaults", "pa", {}),
]


class CrfsuiteContestant:
    def __init__(self, name: str, algorithm: str, params: dict[str, Any], problem: Problem, folder: Path):
        self.name, self.algorithm, self.params, self.problem = name, algorithm, params, problem
        self.model = folder / f"{name}.crfsuite"

    def warm_up(self) -> None:
        """Nothing to do: it is compiled."""

    def prepare(self) -> None:
        import pycrfsuite

        self.trainer = pycrfsuite.Trainer(algorithm=self.algorithm, params=self.params, verbose=False)
        for sequence, tags in zip(self.problem.train, self.problem.train_tags, strict=True):
            self.trainer.append(pycrfsuite.ItemSequence(sequence), tags)

    def train(self) -> None:
        self.trainer.train(str(self.model))

    def tagging(self) -> Callable[[], Tags]:
        """What is timed as tagging: strings in, labels out (the look-up cannot be taken apart)."""
        import pycrfsuite

        tagger = pycrfsuite.Tagger()
        tagger.open(str(self.model))
        sequences = [pycrfsuite.ItemSequence(sequence) for sequence in self.problem.test]
        return lambda: [tagger.tag(sequence) for sequence in sequences]


class MaxmarginContestant:
    name = "maxmargin SequenceLabeler"

    def __init__(self, problem: Problem):
        self.problem = problem
        self.packer = SequencePacker().fit(problem.train)
        self.X = self._pack(problem.train)

    def _pack(self, sequences: Attributes) -> Sequences:
        """The matrix that SequenceLabeler itself makes of attribute strings, dense where the problem is."""
        packed = self.packer.pack(sequences)
        if not self.problem.dense:
            return packed
        return Sequences(sparse.csr_array(packed.matrix).toarray(), packed.offsets)

    def _fit(self, X: Sequences, Y: Tags) -> Any:
        from maxmargin import SequenceLabeler

        forbidden = "BIO" if self.problem.chunks else ()
        return SequenceLabeler(C=self.problem.c * len(Y), forbidden=forbidden, tol=0.01, random_state=0).fit(X, Y)

    def warm_up(self) -> None:
        few = 20
        X = self._pack(self.problem.train[:few])
        self._fit(X, self.problem.train_tags[:few]).predict(X)

    def prepare(self) -> None:
        """Packed already."""

    def train(self) -> None:
        self.model = self._fit(self.X, self.problem.train_tags)

    def tagging(self) -> Callable[[], Tags]:
        """Strings in, labels out, as for CRFsuite; where features are dense, users have a matrix."""
        if self.problem.dense:
            return self.tagging_packed()
        return lambda: self.model.predict(self._pack(self.problem.test))

    def tagging_packed(self) -> Callable[[], Tags]:
        """Matrix in, labels out."""
        X = self._pack(self.problem.test)
        return lambda: self.model.predict(X)


# --- what is measured


def one_pass_seconds(model: Any, X: Any, Y: Tags) -> float:
    """CPU seconds of one loss-augmented pass over the training set, the fastest of five.

    Training time divided by this is the number of effective passes. The weights are the trained ones: at w = 0 most
    labels are wrong and the planes longer, and the slower pass would flatter the solver.
    """
    oracle = Oracle(model.task_.pack(X, Y))
    return min(cpu_seconds(lambda: oracle.risk(model.w_))[1] for _ in range(5))


@dataclass
class Scores:
    """What a trained model does on the test part."""

    token_error: float
    f1: float | None  # where the problem has chunks
    tokens_per_second: float

    @property
    def rank(self) -> float:
        """Higher is better: F1 where there are chunks, else the share of right tokens."""
        return 1 - self.token_error if self.f1 is None else self.f1


def score(problem: Problem, tagging: Callable[[], Tags], repeat: int) -> Scores:
    """Tag the test part, keep the fastest time, and compare with the truth."""
    seconds = []
    for _ in range(repeat):
        predicted, taken = cpu_seconds(tagging)
        seconds.append(taken)
    tokens = list(chain.from_iterable(problem.test_tags))
    wrong = sum(a != b for a, b in zip(tokens, chain.from_iterable(predicted), strict=True))
    f1 = chunk_f1(problem.test_tags, predicted).f1 if problem.chunks else None
    return Scores(wrong / len(tokens), f1, len(tokens) / min(seconds))


def run(name: str, repeat: int, quick: bool, report: Report) -> Table:
    """Race all solvers on one problem."""
    report("reading the data")
    problem = PROBLEMS[name](quick)
    with tempfile.TemporaryDirectory() as folder:
        peers = [CrfsuiteContestant(*peer, problem, Path(folder)) for peer in PEERS]
        own = MaxmarginContestant(problem)
        contestants: list[MaxmarginContestant | CrfsuiteContestant] = [own, *peers]
        timings = race(contestants, repeat, report)
        scores = []
        for contestant in contestants:
            report(f"{contestant.name}: tagging")
            scores.append(score(problem, contestant.tagging(), repeat))
    best_peer = max(range(1, len(contestants)), key=lambda i: scores[i].rank)
    names = [contestant.name + (" *" if i == best_peer else "") for i, contestant in enumerate(contestants)]
    table = _table(name, problem, names, timings, scores)
    report("one loss-augmented pass")
    table.caption = _caption(own, timings[0], repeat)
    return table


def _table(
    name: str,
    problem: Problem,
    names: list[str],
    timings: list[Timing],
    scores: list[Scores],
) -> Table:
    table = Table(title=f"{name}: {len(problem.train)} training, {len(problem.test)} test sequences")
    table.add_column("solver")
    for heading in (
        "training CPU s\nmin / median",
        "compiling\nCPU s",
        "token\nerror %",
        "chunk\nF1 %",
        "tagging\ntokens/s",
        "training time\n/ maxmargin's",
        "token error\n/ maxmargin's",
        "tagging speed\n/ maxmargin's",
    ):
        table.add_column(heading, justify="right")
    for label, timing, found in zip(names, timings, scores, strict=True):
        table.add_row(
            label,
            f"{timing.minimum:.2f} / {timing.median:.2f}",
            f"{timing.warm_up:.2f}",
            f"{100 * found.token_error:.2f}",
            "" if found.f1 is None else f"{100 * found.f1:.2f}",
            f"{found.tokens_per_second:,.0f}",
            f"{timing.minimum / timings[0].minimum:.2f}",
            f"{found.token_error / scores[0].token_error:.3f}" if scores[0].token_error else "",
            f"{found.tokens_per_second / scores[0].tokens_per_second:.2f}",
        )
    return table


def _caption(own: MaxmarginContestant, timing: Timing, repeat: int) -> str:
    """How maxmargin came to its end, and how fast it tags what is packed already."""
    end = own.model.certificate_
    C = own.problem.c * len(own.problem.train)
    packed = score(own.problem, own.tagging_packed(), repeat).tokens_per_second
    one_pass = one_pass_seconds(own.model, own.X, own.problem.train_tags)
    parts = [
        "* the peer with the best test score. Ratios are of minima. "
        f"maxmargin at C = {C:g}: {end.stop_reason}, relative gap {end.relative_gap:.2g}",
        f"{end.passes:.1f} passes",
        f"{packed:,.0f} tokens/s tagged from packed features",
    ]
    parts.append(
        f"one loss-augmented pass takes {one_pass:.4f} CPU s, "
        f"so training took {timing.minimum / one_pass:.1f} effective passes"
    )
    return ", ".join(parts) + "."
