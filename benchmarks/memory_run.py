"""One training in a process of its own, and the memory that it took: ``python -m benchmarks.memory_run …`` prints JSON.

scikit-learn loads pandas where it finds it, though training does not need it: here only if that is asked for.

The limit is RLIMIT_DATA: memory that is not the map of a file, whether it is in use or only asked for. Peaks are those
of /proc/self/status, which has the memory that is in use: all of it, and that which is no file's.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from threading import Event, Thread
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

COLUMNS = 2**18
ENTRIES = 40  # of a token
LENGTH = 20  # tokens of a sentence
LABELS = 5
AT_ONCE = 500  # sentences that are made together
EVERY = 0.02  # seconds between looks at the memory


def status(name: str) -> int:
    """A line of /proc/self/status, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise ValueError(f"the system does not say {name}")


class Watch:
    """The most memory that was in use, beside files, while something was done."""

    def __init__(self) -> None:
        self.peak, self.end = 0, Event()
        self.thread = Thread(target=self._look, daemon=True)

    def _look(self) -> None:
        while not self.end.wait(EVERY):
            self.peak = max(self.peak, status("RssAnon"))

    def __enter__(self) -> Watch:
        self.began, self.cpu_began = time.perf_counter(), time.process_time()
        self.thread.start()
        return self

    def __exit__(self, *error: Any) -> None:
        self.end.set()
        self.thread.join()
        self.peak = max(self.peak, status("RssAnon"))

    def said(self) -> dict[str, float]:
        return {
            "peak": status("VmHWM") / 2**20,
            "peak_anonymous": self.peak / 2**20,
            "seconds": time.perf_counter() - self.began,
            "cpu_seconds": time.process_time() - self.cpu_began,
        }


def sentences(n: int, seed: int = 0) -> Iterator[tuple[sparse.csr_array, NDArray[np.int64]]]:
    """Made-up sentences: rows of hashed features with values; labels follow features and the label before."""
    rng, truth = np.random.default_rng(seed), np.random.default_rng(1).normal(size=(COLUMNS, LABELS))
    for first in range(0, n, AT_ONCE):
        some = min(AT_ONCE, n - first)
        tokens = some * LENGTH
        steps = rng.integers(1, 2 * COLUMNS // ENTRIES - 1, size=(tokens, ENTRIES))
        columns = np.minimum(np.cumsum(steps, axis=1), COLUMNS - ENTRIES - 1) + np.arange(ENTRIES)
        values = np.round(rng.normal(size=(tokens, ENTRIES)), 3)
        scores = np.einsum("te,tek->tk", values, truth[columns]).reshape(some, LENGTH, LABELS)
        ends = np.arange(0, LENGTH * ENTRIES + 1, ENTRIES)
        for j in range(some):
            labels = np.argmax(scores[j], axis=1)
            again = rng.random(LENGTH) < 0.2
            labels[1:][again[1:]] = labels[:-1][again[1:]]
            at = slice(j * LENGTH, (j + 1) * LENGTH)
            parts = (values[at].ravel(), columns[at].ravel(), ends)
            yield sparse.csr_array(parts, shape=(LENGTH, COLUMNS)), labels


def rows(n: int, seed: int = 0) -> Iterator[tuple[sparse.csr_array, NDArray[np.int64], NDArray[np.int64]]]:
    """The tokens of the same as rows of their own, some at a time, each with a class and the number of a query."""
    tokens = (n + LENGTH - 1) // LENGTH
    for first, (matrix, labels) in enumerate(sentences(tokens, seed)):
        yield matrix, labels, np.full(LENGTH, first)


def chunking(n: int) -> Iterator[tuple[Any, list[str]]]:
    """Sentences of CoNLL-2000, made of what is read one by one."""
    from benchmarks.loaders import chunk_features, iterate_conll2000

    return ((chunk_features(tokens), labels) for tokens, labels in islice(iterate_conll2000("train"), n))


def run(what: str, data: str, n: int, folder: str, options: dict[str, Any]) -> dict[str, Any]:
    """Pack, or train; returns what is said of it."""
    import maxmargin as mm

    if data in OF_ROWS:
        return run_rows(what, data, n, folder, options)
    found: dict[str, Any] = {}
    with Watch() as watch:
        if what == "nothing":
            few: Any = ([[["a"], ["b"]]], [["x", "y"]])
            mm.SequenceLabeler(max_passes=2).fit(*few)
        elif what == "pack":
            packed = mm.pack(chunking(n) if data == "conll2000" else sentences(n), folder, "sequences")
            found["folder"] = sum(file.stat().st_size for file in Path(folder).iterdir()) / 2**20
            found["tokens"] = packed.n_tokens
        else:
            if what == "packed":
                examples: Any = (mm.open_packed(folder),)
            else:
                examples = tuple(map(list, zip(*(chunking(n) if what == "lists" else sentences(n)), strict=True)))
            model = mm.SequenceLabeler(**options).fit(*examples)
            found["certificate"], found["passes"] = str(model.certificate_), model.certificate_.passes
            found["w"] = float(np.linalg.norm(model.w_))
    return {**found, **watch.said()}


def run_rows(what: str, kind: str, n: int, folder: str, options: dict[str, Any]) -> dict[str, Any]:
    """The same of rows: of all fields of their blocks, the kind takes some."""
    import maxmargin as mm

    estimator, fields = OF_ROWS[kind]
    found: dict[str, Any] = {}
    with Watch() as watch:
        blocks = ((X, *(values(y, q) for values in fields)) for X, y, q in rows(n))
        if what == "pack":
            mm.pack(blocks, folder, kind)
            found["folder"] = sum(file.stat().st_size for file in Path(folder).iterdir()) / 2**20
        else:
            if what == "packed":
                examples: Any = (mm.open_packed(folder),)
            else:
                X, *others = zip(*blocks, strict=True)
                examples = (sparse.vstack(X, format="csr"), *map(np.concatenate, others))
                del X
            model = getattr(mm, estimator)(**options).fit(*examples)
            found["certificate"], found["passes"] = str(model.certificate_), model.certificate_.passes
            found["w"] = float(np.linalg.norm(model.w_))
    return {**found, **watch.said()}


# Of kinds of rows, the estimator, and what it takes beside X, made of the label and of the query.
OF_ROWS: dict[str, tuple[str, list[Any]]] = {
    "classes": ("MulticlassSVC", [lambda y, q: y]),
    "measure": ("MeasureSVC", [lambda y, q: (y == 0).astype(int)]),
    "ranking": ("Ranker", [lambda y, q: (y == 0).astype(float), lambda y, q: q]),
}


def main() -> None:
    """Options are those of the estimator, as JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=("nothing", "pack", "packed", "lists", "matrices"))
    parser.add_argument("--data", choices=("conll2000", "made-up", *OF_ROWS), default="made-up")
    parser.add_argument("--n", type=int, default=1000, help="sentences, or rows")
    parser.add_argument("--folder", default="")
    parser.add_argument("--limit", type=float, help="megabytes of memory, beside maps of files")
    parser.add_argument("--options", type=json.loads, default={})
    parser.add_argument("--pandas", action="store_true", help="scikit-learn finds it, if it is installed")
    settings = parser.parse_args()
    if not settings.pandas:
        sys.modules["pandas"] = None  # type: ignore[assignment]  # cannot be imported
    if settings.limit is not None:
        resource.setrlimit(resource.RLIMIT_DATA, (int(settings.limit * 2**20), resource.RLIM_INFINITY))
    said = run(settings.what, settings.data, settings.n, settings.folder, settings.options)
    json.dump(said, sys.stdout)


if __name__ == "__main__":
    main()
