"""Model files: how long saving and loading take, and how large files are beside the weights that are not zero."""

from __future__ import annotations

import pickle
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

import maxmargin as mm
from benchmarks.loaders import chunk_features, load_conll2000
from benchmarks.timing import Report, cpu_seconds
from maxmargin.base.files.container import read

PROBLEMS = ("model-files",)
QUICK = 500


def run(name: str, repeat: int, quick: bool, report: Report) -> Table:
    """A SequenceLabeler of CoNLL-2000; the fastest round counts."""
    report(f"{name}: training")
    sentences, tags = load_conll2000("train")
    few = slice(QUICK if quick else None)
    model: Any = mm.SequenceLabeler(C=1000, forbidden="BIO", invalid="repair")
    model.fit([chunk_features(s) for s in sentences[few]], tags[few])
    weights = 8 * np.count_nonzero(model.w_)
    table = Table(title=f"{name}: {len(model.w_):,} weights, {np.count_nonzero(model.w_):,} of them not 0")
    for heading in ("file", "MB", "MB / weights that are not 0", "to write, CPU s", "to read, CPU s"):
        table.add_column(heading, justify="left" if heading == "file" else "right")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        ways = {
            "save and load": (lambda: model.save(path), lambda: mm.load(path)),
            "pickle": (lambda: path.write_bytes(pickle.dumps(model)), lambda: pickle.loads(path.read_bytes())),
        }
        for way, (write, read) in ways.items():
            report(f"{name}: {way}")
            times = [(cpu_seconds(write)[1], cpu_seconds(read)[1]) for _ in range(max(repeat, 2))]
            size = path.stat().st_size
            fastest = [f"{min(each):.2f}" for each in zip(*times, strict=True)]
            table.add_row(way, f"{size / 1e6:.2f}", f"{size / weights:.2f}", *fastest)
            if way == "save and load":
                for what, part in _parts(path).items():
                    table.add_row(f"of it {what}", f"{part / 1e6:.2f}", f"{part / weights:.2f}", "", "")
    return table


def _parts(path: Path) -> dict[str, int]:
    """The bytes of what takes most of a file of such a model."""
    description, tensors = read(path)
    parts = {entry["class"]: entry["fields"] for entry in description["parts"]}
    w, names = parts["SequenceLabeler"]["w_"], parts["Vocabulary"]["text"]["bytes"]
    return {
        what: tensors[entry["packed"]].nbytes
        for what, entry in (("weights", w["values"]), ("names of features", names), ("places of weights", w["steps"]))
    }
