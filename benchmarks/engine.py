"""What training costs beside the arithmetic: memory, start-up and compilation, overhead over a plain Python task."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
from rich.table import Table

from benchmarks.loaders import load_mnist
from benchmarks.sequences import PROBLEMS as SEQUENCES
from benchmarks.sequences import MaxmarginContestant
from benchmarks.timing import Report
from maxmargin import MulticlassSVC, StructuredSVM, Task

# --- memory


def memory(name: str, repeat: int, quick: bool, report: Report) -> Table:
    """Peak of what a fit allocates, beside the packed data and the plane cache."""
    table = Table(title="memory of a fit, MB (tracemalloc)")
    headings = ("set", "packed data", "weights w", "plane cache", "peak of fit", "(peak - cache) / packed data")
    for heading in headings:
        table.add_column(heading)
    for label, train in _memory_problems(quick):
        report(label)
        train()  # compile
        tracemalloc.start()
        model = train()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        blocks = model.solution_.memory
        atoms = blocks._atoms.arrays
        packed = atoms.indptr.nbytes + atoms.places.nbytes + atoms.values.nbytes
        cache = blocks.cached_mb * 2**20
        figures = [packed, model.w_.nbytes, cache, peak]
        table.add_row(label, *(f"{figure / 2**20:.0f}" for figure in figures), f"{(peak - cache) / packed:.2f}")
    return table


def _memory_problems(quick: bool) -> list[tuple[str, Callable[[], Any]]]:
    sequences = MaxmarginContestant(SEQUENCES["conll2000"](quick))
    letters = MaxmarginContestant(SEQUENCES["ocr-nine-folds"](quick))
    X, y = load_mnist("train")
    n = 2000 if quick else 20000

    def fit(contestant: MaxmarginContestant) -> Callable[[], Any]:
        return lambda: contestant._fit(contestant.X, contestant.problem.train_tags)

    return [
        ("CoNLL-2000", fit(sequences)),
        ("OCR letters, nine folds", fit(letters)),
        (f"MNIST, {n} rows", lambda: MulticlassSVC(C=0.01 * n, tol=1e-2).fit(X[:n], y[:n])),
    ]


# --- start-up

_FIRST_FIT = """
import time
import sklearn.base, sklearn.utils.validation, scipy.sparse, sklearn.feature_extraction
start = time.process_time()
import maxmargin
imported = time.process_time() - start
from maxmargin.datasets import digit_strings
X, Y, *_ = digit_strings(n_train=60, n_test=5)
start = time.process_time()
maxmargin.SequenceLabeler(C=10).fit(X, Y).predict(X)
first = time.process_time() - start
start = time.process_time()
maxmargin.SequenceLabeler(C=10).fit(X, Y).predict(X)
print(imported, first, time.process_time() - start)
"""


def startup(name: str, repeat: int, quick: bool, report: Report) -> Table:
    """CPU seconds of the first fit in a fresh process, with an empty and with a filled cache of compiled kernels."""
    table = Table(title="start-up, CPU seconds (fastest of the rounds)")
    for heading in ("cache of kernels", "import maxmargin", "first fit and predict", "second fit and predict"):
        table.add_column(heading)
    with tempfile.TemporaryDirectory() as folder:
        for label, rounds in (("empty", 1), ("filled", repeat)):
            report(label)
            runs = [_fresh_process(folder) for _ in range(rounds)]
            table.add_row(label, *(f"{min(figures):.2f}" for figures in zip(*runs, strict=True)))
    return table


def _fresh_process(cache: str) -> list[float]:
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    command = [sys.executable, "-c", _FIRST_FIT]
    printed = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
    return [float(word) for word in printed.split()]


# --- a user's own task


class Tagging(Task):
    """A chain in plain Python, as a user would write it, with a clock around its functions."""

    inside = 0.0

    def setup(self, X: Any, Y: Any) -> None:
        self.labels, self.width = 1 + max(max(y) for y in Y), X[0].shape[1]
        self.dim = self.labels * (self.width + self.labels)

    def psi(self, x: Any, z: Any) -> Any:
        start = time.perf_counter()
        unary, pairs = np.zeros((self.labels, self.width)), np.zeros((self.labels, self.labels))
        np.add.at(unary, z, x)
        np.add.at(pairs, (z[:-1], z[1:]), 1)
        features = np.concatenate([unary.ravel(), pairs.ravel()])
        Tagging.inside += time.perf_counter() - start
        return features

    def loss(self, y: Any, z: Any) -> float:
        start = time.perf_counter()
        wrong = float(np.sum(np.asarray(y) != np.asarray(z)))
        Tagging.inside += time.perf_counter() - start
        return wrong

    def argmax(self, w: Any, x: Any, y: Any = None) -> Any:
        start = time.perf_counter()
        cut = self.labels * self.width
        scores = x @ w[:cut].reshape(self.labels, self.width).T
        if y is not None:
            scores = scores + (np.arange(self.labels) != np.asarray(y)[:, None])
        links, best, back = w[cut:].reshape(self.labels, self.labels), scores[0], []
        for row in scores[1:]:
            total = best[:, None] + links
            back.append(total.argmax(axis=0))
            best = total.max(axis=0) + row
        path = [int(best.argmax())]
        for pointer in reversed(back):
            path.append(int(pointer[path[-1]]))
        Tagging.inside += time.perf_counter() - start
        return path[::-1]


def overhead(name: str, repeat: int, quick: bool, report: Report) -> Table:
    """Time of a fit outside the user's own functions, as a share of the time inside them."""
    from maxmargin.datasets import digit_strings

    X, Y, *_ = digit_strings(n_train=60 if quick else 400, n_test=5)
    StructuredSVM(Tagging(), C=10, max_passes=1).fit(X, Y)  # compile
    table = Table(title="a task in plain Python (chain of digits, Viterbi in numpy)")
    for heading in ("passes", "seconds of the fit", "in the task's own functions", "overhead"):
        table.add_column(heading)
    for _ in range(repeat):
        report("fit")
        Tagging.inside = 0.0
        start = time.perf_counter()
        model = StructuredSVM(Tagging(), C=10).fit(X, Y)
        total, inside = time.perf_counter() - start, Tagging.inside
        row = (
            f"{model.certificate_.passes:.0f}",
            f"{total:.2f}",
            f"{inside:.2f}",
            f"{100 * (total / inside - 1):.0f}%",
        )
        table.add_row(*row)
    return table


PROBLEMS: dict[str, Callable[[str, int, bool, Report], Table]] = {
    "memory": memory,
    "startup": startup,
    "overhead": overhead,
}


def run(name: str, repeat: int, quick: bool, report: Report) -> Table:
    """One of the tables above."""
    return PROBLEMS[name](name, repeat, quick, report)
