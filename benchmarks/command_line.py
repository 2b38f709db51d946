"""The command line: how long its parts take beside what people use otherwise, and what its usual templates do."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from rich.table import Table

import maxmargin as mm
from benchmarks.loaders import chunk_features, load_conll2000, load_letor
from benchmarks.timing import Report, cpu_seconds
from maxmargin.formats import iterate_conll, read_svmlight, write_conll
from maxmargin.metrics import chunk_f1

PROBLEMS = ("command-line",)
QUICK = 300
COPIES = 5  # of the training sentences, to read
C = 0.1  # per sentence, as in the benchmark of sequences
SCRIPT = Path(__file__).with_name("crfsuite_script.py")


def run(name: str, repeat: int, quick: bool, report: Report) -> Table:
    """CPU seconds of whole processes; the fastest of rounds that alternate counts."""
    few = slice(QUICK if quick else None)
    (X, Y), (X_test, Y_test) = ((x[few], y[few]) for x, y in map(load_conll2000, ("train", "test")))
    rounds = max(repeat, 3)
    table = Table(title=f"{name}: CoNLL-2000, {sum(map(len, X_test)):,} tokens to label; LETOR MQ2008 to read")
    for heading in ("", "maxmargin", "others", ""):
        table.add_column(heading, justify="left" if not heading else "right")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        _add_readers(table, folder, X, Y, rounds, report)
        report(f"{name}: templates")
        model = mm.SequenceLabeler(C=C * len(X), forbidden="BIO", features=mm.TokenTemplates.usual(2)).fit(X, Y)
        report(f"{name}: chunk_features")
        other = mm.SequenceLabeler(C=C * len(X), forbidden="BIO").fit(_attributes(X), Y)
        ours, theirs = chunk_f1(Y_test, model.predict(X_test)), chunk_f1(Y_test, other.predict(_attributes(X_test)))
        table.add_row(
            "F1 of chunks", f"{100 * ours.f1:.2f}", f"{100 * theirs.f1:.2f}", "usual templates, chunk_features"
        )
        _add_processes(table, folder, model, X, Y, X_test, rounds, report)
    return table


def _attributes(X: Any) -> list[Any]:
    return [chunk_features(x) for x in X]


def _add_readers(table: Table, folder: Path, X: Any, Y: Any, rounds: int, report: Report) -> None:
    report("reading")
    path = folder / "large.conll"
    write_conll(path, X * COPIES, Y * COPIES)
    tokens = COPIES * sum(map(len, X))

    def read_columns() -> int:
        return sum(len(sentence.tokens) for sentence in iterate_conll(path))

    before = _memory()
    seconds = min(cpu_seconds(read_columns)[1] for _ in range(rounds))
    grown = (_memory() - before) / 1024
    table.add_row("tokens of columns read per second", f"{tokens / seconds:,.0f}", "", f"{grown:.0f} MB more in use")

    from sklearn.datasets import dump_svmlight_file, load_svmlight_file

    rows = folder / "letor.txt"
    features, relevance, queries = load_letor("mq2008", 1, "train")
    dump_svmlight_file(features, relevance, str(rows), zero_based=False, query_id=queries)
    times = [
        (
            cpu_seconds(lambda: read_svmlight(rows))[1],
            cpu_seconds(lambda: load_svmlight_file(str(rows), query_id=True))[1],
        )
        for _ in range(rounds)
    ]
    mine, theirs = map(min, zip(*times, strict=True))
    table.add_row("svmlight rows, CPU s", f"{mine:.2f}", f"{theirs:.2f}", "scikit-learn's loader")


def _add_processes(
    table: Table, folder: Path, model: Any, X: Any, Y: Any, X_test: Any, rounds: int, report: Report
) -> None:
    write_conll(folder / "train.conll", X, Y)
    write_conll(folder / "test.conll", X_test)
    model.save(folder / "model.mm")
    report("training CRFsuite")
    script = [sys.executable, str(SCRIPT)]
    subprocess.run([*script, "train", "train.conll", "model.crf"], cwd=folder, check=True)
    command = [sys.executable, "-m", "maxmargin"]
    report("processes")
    times = [
        (
            _of_process([*command, "--help"], folder),
            _of_process([*command, "predict", "model.mm", "test.conll", "-q", "-o", "ours.conll"], folder),
            _of_process([*script, "tag", "model.crf", "test.conll", "theirs.conll"], folder),
        )
        for _ in range(rounds)
    ]
    shown, mine, theirs = map(min, zip(*times, strict=True))
    table.add_row("maxmargin --help, CPU s", f"{shown:.2f}", "", "")
    table.add_row(
        "label all tokens from a file to a file, CPU s", f"{mine:.2f}", f"{theirs:.2f}", "python-crfsuite script"
    )


def _of_process(command: list[str], folder: Path) -> float:
    """CPU seconds, start included; from compiled sources, as pip installs them."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _memory() -> int:
    """The most that this process has used, in kB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
