"""maxmargin demo: handwritten digits with and without structure; or small files to try the other commands with."""

from __future__ import annotations

import argparse
from pathlib import Path

PEOPLE = "Ada Lovelace|Alan Turing|Grace Hopper|Emmy Noether|Kurt Gödel|Sofia Kovalevskaya"
TOWNS = "London|New York|Göttingen|Vienna|Saint Petersburg|Paris"
VERBS = "lived in|was born in|came from|studied in|moved to|died in"


def run(settings: argparse.Namespace) -> int:
    """Either of the two."""
    if settings.files is None:
        from maxmargin.demo import main

        main()
        return 0
    folder = Path(settings.files)
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files().items():
        (folder / name).write_text(text, encoding="utf-8")
    print(f"{len(files())} files in {folder}: {', '.join(files())}")
    return 0


def files() -> dict[str, str]:
    """Small files of every kind, made up."""
    rows = [_row(k) for k in range(60)]
    return {
        "train.conll": "".join(_sentence(k, k // 2, k // 3) for k in range(30)),
        "test.conll": "".join(_sentence(k, 3 * k + 1, k + 2) for k in range(5)),
        "train.svm": "".join(rows[:40]),
        "test.svm": "".join(rows[40:]),
        "train.letor": "".join(f"{k % 3} qid:{k // 6} 1:{(k % 3) / 2 + (k % 5) / 10:g} 2:{k % 4}\n" for k in range(60)),
        "trees.mrg": "".join(_tree(k) for k in range(12)),
        "train.conllu": "".join(_arcs(k) for k in range(12)),
    }


def _sentence(a: int, b: int, c: int) -> str:
    """A person, what he or she did, a town: in columns, with BIO labels."""
    lines = []
    for texts, number, kind in ((PEOPLE, a, "PER"), (VERBS, b, ""), (TOWNS, c, "LOC")):
        words = texts.split("|")[number % 6].split()
        labels = [f"{'I' if k else 'B'}-{kind}" if kind else "O" for k in range(len(words))]
        lines += [f"{word} {label}\n" for word, label in zip(words, labels, strict=True)]
    return "".join(lines) + "\n"


def _row(k: int) -> str:
    """One of three classes, each with a feature of its own and two that say nothing."""
    return f"{k % 3} {k % 3 + 1}:{1 + (k % 7) / 10:g} 5:{(k * k) % 11} 6:{(k * 3) % 5}\n"


def _tree(k: int) -> str:
    noun, verb = ("dog", "cat", "bird")[k % 3], ("sees", "likes")[k % 2]
    objects = f"(NP (DT a) (NN {('cat', 'dog')[k % 2]}))"
    return f"(S (NP (DT the) (NN {noun})) (VP (VBZ {verb}) {objects}))\n"


def _arcs(k: int) -> str:
    noun, verb = ("dog", "cat", "bird")[k % 3], ("sleeps", "sings")[k % 2]
    words = [("the", "DET", 2, "det"), (noun, "NOUN", 3, "nsubj"), (verb, "VERB", 0, "root")]
    lines = [f"{m}\t{w}\t{w}\t{tag}\t_\t_\t{head}\t{label}\t_\t_\n" for m, (w, tag, head, label) in enumerate(words, 1)]
    return "".join(lines) + "\n"
