"""Memory of training: sentences in lists and in packed folders, each in a process of its own (memory_run.py).

``memory-growth`` has made-up sentences, n, 2n and 4n of them: rows of 40 hashed features with values, five labels. They
come from matrices in memory, and from a packed folder with a limit. ``memory-rows`` has the tokens of such sentences as
rows of their own: with classes, for a measure, and in queries. ``memory-conll2000`` has real ones: attribute
strings in lists against the same in a packed folder. ``memory-3gb`` packs and trains in 500 MB what takes 3 GB; it runs
for minutes, and only if it is named. A first run of each kind, which may have to compile, does not count.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from rich.table import Table

from benchmarks.timing import Report

PROBLEMS = ("memory-growth", "memory-rows", "memory-conll2000")
SIZES = (5_000, 10_000, 20_000)  # sentences
ROWS = (50_000, 100_000, 200_000)
QUICK = (500, 1000, 2000)
OF_ROWS = {
    "classes": {"C": 100, "tol": 0.1},
    "measure": {"C": 100, "tol": 0.1, "train_for": "measure"},
    "ranking": {"C": 100, "tol": 0.1},
}
LARGE = 330_000
LIMIT = 500  # megabytes, beside maps of files
HEADINGS = (
    "data",
    "{examples}",
    "packed, MB",
    "peak in use, MB",
    "of it not files', MB",
    "with nothing but an\nempty fit, MB",
    "CPU s",
    "relative gap, passes",
)


def measured(what: str, **settings: Any) -> dict[str, Any]:
    """One run in a process of its own."""
    arguments = ["--pandas"] * settings.pop("pandas", False)
    arguments += [f"--{name}={json.dumps(each) if name == 'options' else each}" for name, each in settings.items()]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}  # each thread of it asks for memory
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.memory_run", what, *arguments],
        capture_output=True, text=True, env=environment,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(done.stderr)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def run(name: str, repeat: int, quick: bool, report: Report) -> Table:
    """One run each: memory does not vary as times do."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TMPDIR"] = folder
        try:
            report("compiling")
            measured("nothing")
            measured("pack", n=100, folder=Path(folder) / "few")
            measured("packed", folder=Path(folder) / "few", options={"max_passes": 3, "memory_mb": 100})
            problems = {"memory-growth": growing, "memory-rows": of_rows, "memory-conll2000": chunking}
            return {**problems, "memory-3gb": large}[name](Path(folder), quick, report)
        finally:
            del os.environ["TMPDIR"]


def table_of(title: str, examples: str = "sentences") -> Table:
    table = Table(title=title)
    for heading in HEADINGS:
        table.add_column(heading.format(examples=examples), justify="left" if heading == "data" else "right")
    return table


def add(table: Table, what: str, n: int, size: float, found: dict[str, Any], empty: dict[str, Any]) -> None:
    certificate = found.get("certificate", "").partition("relative gap ")[2].partition(",")[0].replace(" (", ", ")
    table.add_row(
        what, f"{n:,}", f"{size:,.0f}", f"{found['peak']:,.0f}", f"{found['peak_anonymous']:,.0f}",
        f"{empty['peak']:,.0f}, {empty['peak_anonymous']:,.0f}", f"{found['cpu_seconds']:.1f}", certificate,
    )  # fmt: skip


def growing(folder: Path, quick: bool, report: Report) -> Table:
    """n, 2n and 4n made-up sentences."""
    table, empty = (
        table_of("memory-growth: made-up sentences of 20 tokens, C=100, tol=0.1, memory_mb=100"),
        measured("nothing"),
    )
    options = {"C": 100, "tol": 0.1}
    for n in QUICK if quick else SIZES:
        report(f"{n} sentences")
        packed = measured("pack", n=n, folder=folder / str(n))
        add(table, "packing", n, packed["folder"], packed, empty)
        found = measured("packed", folder=folder / str(n), limit=LIMIT, options={**options, "memory_mb": 100})
        add(table, f"the folder, in {LIMIT} MB", n, packed["folder"], found, empty)
        add(table, "matrices", n, packed["folder"], measured("matrices", n=n, options=options), empty)
    return table


def of_rows(folder: Path, quick: bool, report: Report) -> Table:
    """n, 2n and 4n made-up rows, of three kinds."""
    table, empty = (
        table_of("memory-rows: made-up rows of 40 features, C=100, tol=0.1, memory_mb=100", "rows"),
        measured("nothing"),
    )
    for kind, options in OF_ROWS.items():
        measured("matrices", data=kind, n=1000, options=options)  # which may have to compile
        for n in QUICK if quick else ROWS:
            report(f"{kind}: {n} rows")
            where = folder / f"{kind}-{n}"
            packed = measured("pack", data=kind, n=n, folder=where)
            add(table, f"{kind}: packing", n, packed["folder"], packed, empty)
            found = measured("packed", data=kind, folder=where, limit=LIMIT, options={**options, "memory_mb": 100})
            add(table, f"{kind}: the folder, in {LIMIT} MB", n, packed["folder"], found, empty)
            whole = measured("matrices", data=kind, n=n, options=options)
            add(table, f"{kind}: a matrix", n, packed["folder"], whole, empty)
            if found["w"] != whole["w"]:
                raise AssertionError(f"{kind}: the weights of the folder are not those of the matrix")
    return table


def chunking(folder: Path, quick: bool, report: Report) -> Table:
    """CoNLL-2000 with the attributes of `loaders.chunk_features`."""
    table, empty = table_of("memory-conll2000: C=1000, forbidden='BIO'"), measured("nothing")
    n, options = (500 if quick else 8936), {"C": 1000, "forbidden": "BIO"}
    report("packing")
    packed = measured("pack", data="conll2000", n=n, folder=folder / "chunks")
    add(table, "packing from an iterator", n, packed["folder"], packed, empty)
    ways = {"the folder": ("packed", options), "the folder, memory_mb=400": ("packed", {**options, "memory_mb": 400})}
    for way, (what, given) in {**ways, "lists of attributes": ("lists", options)}.items():
        report(way)
        found = measured(what, data="conll2000", n=n, folder=folder / "chunks", options=given)
        add(table, way, n, packed["folder"], found, empty)
    report("with pandas")
    empty, found = (
        measured(what, data="conll2000", n=n, options=options, pandas=True) for what in ("nothing", "lists")
    )
    add(table, "lists, pandas loaded", n, packed["folder"], found, empty)
    return table


def large(folder: Path, quick: bool, report: Report) -> Table:
    """More data than memory: RLIMIT_DATA is 500 MB for packing and training."""
    n = QUICK[-1] if quick else LARGE
    table, empty = table_of("memory-3gb: made-up sentences, C=300, tol=0.2, memory_mb=120"), measured("nothing")
    report("packing")
    packed = measured("pack", n=n, folder=folder / "large", limit=LIMIT)
    add(table, f"packing, in {LIMIT} MB", n, packed["folder"], packed, empty)
    report("training")
    options = {"C": 300, "tol": 0.2, "memory_mb": 120}
    found = measured("packed", folder=folder / "large", limit=LIMIT, options=options)
    add(table, f"the folder, in {LIMIT} MB", n, packed["folder"], found, empty)
    return table
