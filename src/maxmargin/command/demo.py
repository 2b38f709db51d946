"""maxmargin demo: train on handwritten digits with and without structure, or write small example files."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from maxmargin.base.files.drafts import write_file
from maxmargin.command.errors import UsageError

PEOPLE = "Ada Lovelace|Alan Turing|Grace Hopper|Emmy Noether|Kurt Gödel|Sofia Kovalevskaya"
TOWNS = "London|New York|Göttingen|Vienna|Saint Petersburg|Paris"
VERBS = "lived in|was born in|came from|studied in|moved to|died in"


def run(settings: argparse.Namespace) -> int:
    """Run the demonstration, or write the example files."""
    if settings.files is None:
        from maxmargin.demo import main

        main()
        return 0
    folder = Path(settings.files)
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file; expected a folder for the example files")
    folder.mkdir(parents=True, exist_ok=True)
    contents = {folder / name: text.encode() for name, text in files().items()}
    for path, content in contents.items():
        if path.exists() and (not path.is_file() or path.read_bytes() != content):
            raise UsageError(f"{path} exists and is no example file of this command: give another folder")
    for path, content in contents.items():
        write_file(path, content)
    print(f"{len(files())} example files were written to {folder}: train.conll, graphs.jsonl, …")
    return 0


def files() -> dict[str, str]:
    """Return the names and contents of small artificial files of every kind."""
    rows = [_row(k) for k in range(60)]
    return {
        "train.conll": "".join(_sentence(k, k // 2, k // 3) for k in range(30)),
        "test.conll": "".join(_sentence(k, 3 * k + 1, k + 2 + k // 2) for k in range(5)),  # none is in train.conll
        "train.svm": "".join(rows[:40]),
        "test.svm": "".join(rows[40:]),
        "train.letor": "".join(f"{k % 3} qid:{k // 6} 1:{(k % 3) / 2 + (k % 5) / 10:g} 2:{k % 4}\n" for k in range(60)),
        "fruit.csv": "label,size,red,long\n" + "".join(_fruit(k) for k in range(30)),
        "fruit.tree": "apple\tround\npear\tround\nbanana\tlong\nround\tfruit\nlong\tfruit\n",
        "songs.arff": ARFF + "".join(_song(k) for k in range(30)),
        "songs.xml": '<labels><label name="calm"/><label name="glad"/></labels>\n',
        "trees.mrg": "".join(_tree(k) for k in range(12)),
        "train.conllu": "".join(_arcs(k) for k in range(12)),
        "pairs.fasta": "".join(_pair(k) for k in range(12)),
        "sites.fasta": "".join(f">site{k}\n{_string(k, True)}\n" for k in range(20)),
        "others.fasta": "".join(f">other{k}\n{_string(k + 20, False)}\n" for k in range(20)),
        "graphs.jsonl": _lines(_graph(k) for k in range(12)),
        "clusters.jsonl": _lines(_clusters(k) for k in range(8)),
        "assignments.jsonl": _lines(_assignment(k) for k in range(8)),
        "documents.jsonl": _lines(_documents(k) for k in range(8)),
        "homologs.jsonl": _lines(_homolog(k) for k in range(8)),
    }


def _sentence(a: int, b: int, c: int) -> str:
    """Return a sentence with a person, a verb and a town, in columns with BIO labels."""
    lines = []
    for texts, number, kind in ((PEOPLE, a, "PER"), (VERBS, b, ""), (TOWNS, c, "LOC")):
        words = texts.split("|")[number % 6].split()
        labels = [f"{'I' if k else 'B'}-{kind}" if kind else "O" for k in range(len(words))]
        lines += [f"{word} {label}\n" for word, label in zip(words, labels, strict=True)]
    return "".join(lines) + "\n"


def _row(k: int) -> str:
    """Return a row of one of three classes, with an informative feature and two that are not."""
    return f"{k % 3} {k % 3 + 1}:{1 + (k % 7) / 10:g} 5:{(k * k) % 11} 6:{(k * 3) % 5}\n"


def _tree(k: int) -> str:
    """Return a tree; subjects in a park and things seen with a telescope have the same words but different trees."""
    noun, verb = ("dog", "cat", "bird")[k % 3], ("sees", "likes")[k % 2]
    subject, thing = f"(NP (DT the) (NN {noun}))", f"(NP (DT a) (NN {('cat', 'dog')[k % 2]}))"
    if k % 4 == 3:
        subject = f"(NP {subject} (PP (IN in) (NP (DT the) (NN park))))"
    tool = " (PP (IN with) (NP (DT a) (NN telescope)))" if k % 4 == 2 else ""
    return f"(S {subject} (VP (VBZ {verb}) {thing}{tool}))\n"


def _arcs(k: int) -> str:
    noun, verb = ("dog", "cat", "bird")[k % 3], ("sleeps", "sings")[k % 2]
    words = [("the", "DET", 2, "det"), (noun, "NOUN", 3, "nsubj"), (verb, "VERB", 0, "root")]
    lines = [f"{m}\t{w}\t{w}\t{tag}\t_\t_\t{head}\t{label}\t_\t_\n" for m, (w, tag, head, label) in enumerate(words, 1)]
    return "".join(lines) + "\n"


ARFF = """\
@relation songs
@attribute pace numeric
@attribute loud numeric
@attribute key {major, minor}
@attribute calm {0,1}
@attribute glad {0,1}
@data
"""


def _song(k: int) -> str:
    """Return a song: slow songs are calm, and those in a major key are glad."""
    pace, key = (k * 7) % 10, ("major", "minor")[k % 3 == 0]
    return f"{pace},{(k * 3) % 8},{key},{int(pace < 5)},{int(key == 'major')}\n"


def _fruit(k: int) -> str:
    name, size, red, long = (("apple", 7, 1, 0), ("pear", 7, 0, 0), ("banana", 6, 0, 1))[k % 3]
    return f"{name},{size + (k * k) % 5 / 2:g},{red},{long}\n"


def _pair(k: int) -> str:
    """Return two aligned strings of DNA; the second has one letter replaced and two deleted."""
    first = _string(3 * k, False)[:24]
    gap, other = 4 + k % 7, 14 + k % 8
    changed = {"A": "G", "C": "T", "G": "A", "T": "C"}[first[other]]
    second = f"{first[:gap]}--{first[gap + 2 : other]}{changed}{first[other + 1 :]}"
    return f">a{k}\n{first}\n>b{k}\n{second}\n"


def _string(k: int, motif: bool) -> str:
    """Return forty letters, with TATAAT among them if `motif` is true."""
    state, letters = 7919 * k + 17, ""
    for _ in range(40):
        state = (1103515245 * state + 12345) % 2**31
        letters += "ACGT"[state >> 16 & 3]
    place = 3 + (5 * k) % 28
    letters = letters.replace("TATAAT", "TACGAT")
    return f"{letters[:place]}TATAAT{letters[place + 6 :]}" if motif else letters


def _lines(records: Iterable[dict[str, Any]]) -> str:
    return "".join(f"{json.dumps(record)}\n" for record in records)


def _graph(k: int) -> dict[str, Any]:
    """Return six nodes in a row, the first of which are low; the observation of one node is wrong."""
    labels = ["low" if node < 2 + k % 3 else "high" for node in range(6)]
    seen = [[1.0, -1.0 if label == "low" else 1.0] for label in labels]
    seen[(3 * k) % 6][1] *= -0.2
    return {"nodes": seen, "edges": [[node, node + 1] for node in range(5)], "labels": labels}


def _clusters(k: int) -> dict[str, Any]:
    """Return five items with a number each; items with close numbers form a cluster."""
    numbers = [0.0, 0.3 + k / 20, 5.0, 5.2, 9.0 + k % 2]
    pairs = [[i, j] for j in range(5) for i in range(j)]
    features = [[abs(numbers[i] - numbers[j])] for i, j in pairs]
    return {"items": 5, "pairs": pairs, "features": features, "clusters": [0, 0, 1, 1, 2]}


def _assignment(k: int) -> dict[str, Any]:
    """Return three objects in one frame, two of which are in the next frame at slightly different positions."""
    places, later = [0.0, 4.0 + k % 3, 10.0], [10.5, 0.5]
    return {"pairs": [[[-abs(a - b)] for b in later] for a in places], "assignment": [1, -1, 0]}


def _documents(k: int) -> dict[str, Any]:
    """Return documents, half of them about one subtopic and the others about one each, with matching words."""
    words = ("cat", "car", "guitar", "film", "game", "rocket")
    topics = [words[(k + max(0, t - 5)) % 6] for t in range(11)]
    texts = [f"jaguar {topic} {topic}s {'old' if t % 2 else 'new'} page{t}" for t, topic in enumerate(topics)]
    return {"documents": texts, "subtopics": [[topic] for topic in topics]}


def _homolog(k: int) -> dict[str, Any]:
    """Return a string and three candidates, the second of which is the string with a letter deleted."""
    native = _string(5 * k, False)[:16]
    relative = native[:5] + native[6:]
    rows = [native, f"{native[:5]}-{native[6:]}"]
    others = [_string(5 * k + step, False)[:15] for step in (1, 2)]
    return {"native": native, "candidates": [others[0], relative, others[1]], "homolog": 1, "alignment": rows}
