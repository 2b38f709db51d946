"""Which pairs of proteins are related, and splits that keep related ones together.

Benchmarks of alignment compare the same proteins, and proteins of the same family, in many pairs. A split by pairs
would ask at test time for what was seen in training; one by families does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from benchmarks.loaders.alignments import Pair, load_prefab4, load_prefab4_homologs
from maxmargin.structures.alignment.formats.fasta import SequenceRecord

Index = NDArray[np.intp]

# Two sequences are related if this share of the words of this length in one of them occurs in the other. Differences
# that are spread evenly leave it at 63 % identity; unrelated proteins share hardly any word of five residues.
WORD_LENGTH, SHARED = 5, 0.1


class Split(NamedTuple):
    """Numbers of the examples in each part, increasing."""

    train: Index
    validation: Index
    test: Index


def families(
    pairs: Sequence[Pair],
    homologs: Sequence[Mapping[str, Iterable[SequenceRecord]]] | None = None,
) -> Index:
    """A number for every pair, equal where pairs are linked, directly or through others; 0, 1, ... as they appear.

    Two pairs are linked if they have a protein in common, by name; if sequences of theirs are so similar that a tenth
    of the words of five residues in one occurs in the other; and, where the homologs are given (one mapping for each
    pair), if these have a name in common: a homolog of two proteins shows them related when their own sequences do not.
    """
    if homologs is not None and len(homologs) != len(pairs):
        raise ValueError(f"got homologs of {len(homologs)} pairs; expected one mapping for each of {len(pairs)} pairs")
    found: dict[tuple[str, str], int] = {}  # proteins, sequences and homologs: nodes beside those of the pairs
    links: list[tuple[int, int]] = []
    for i, pair in enumerate(pairs):
        has = [("protein", name) for name in pair.proteins]
        has += [("sequence", sequence) for sequence in (pair.a, pair.b)]
        if homologs is not None:
            has += [("homolog", record.name) for records in homologs[i].values() for record in records]
        links += [(i, len(pairs) + found.setdefault(each, len(found))) for each in has]
    sequences = {text: len(pairs) + node for (kind, text), node in found.items() if kind == "sequence"}
    nodes = list(sequences.values())
    links += [(nodes[i], nodes[j]) for i, j in _similar(list(sequences))]
    n = len(pairs) + len(found)
    ends = np.array(links, dtype=np.intp).reshape(-1, 2).T
    graph = sparse.coo_array((np.ones(ends.shape[1]), (ends[0], ends[1])), shape=(n, n))
    labels = connected_components(graph, directed=False)[1][: len(pairs)]
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse].astype(np.intp)


def split_families(family: Sequence[int] | Index, shares: Sequence[float]) -> list[Index]:
    """The examples in parts of about these shares, no family in two of them.

    Families are placed from the largest to the smallest (of equal ones, that which appears first), each in the part
    that lacks most examples, of those that have room for it and of which it is a quarter or less: no family shall
    decide alone what is measured on a small part. Where there is no such part, it goes to the largest one with room,
    and where none has room, to the one that lacks most. No chance is involved.
    """
    family = np.asarray(family)
    if family.ndim != 1 or not len(shares) or min(shares) <= 0:
        raise ValueError(
            f"got shares {list(shares)} and families of shape {family.shape}; expected shares > 0, one axis"
        )
    size = np.asarray(shares, dtype=float) / sum(shares) * len(family)
    missing = size.copy()
    part = np.empty(len(family), dtype=np.intp)
    names, first, counts = np.unique(family, return_index=True, return_counts=True)
    for k in np.lexsort((first, -counts)):
        room = missing >= counts[k]
        calm = room & (counts[k] <= size / 4)
        if calm.any():
            wanted = np.where(calm, missing, -np.inf)
        elif room.any():
            wanted = np.where(room, size, -np.inf)
        else:
            wanted = missing
        chosen = int(np.argmax(wanted))
        part[family == names[k]] = chosen
        missing[chosen] -= counts[k]
    return [np.flatnonzero(part == p) for p in range(len(shares))]


def prefab4_split() -> Split:
    """PREFAB 4 in three parts of which no two share a family: half to train, 20 % to validate, 30 % to test with.

    The same for everybody: 841, 336 and 504 of the pairs of `load_prefab4`, from 102, 101 and 104 of their 307 families
    (see `families`; homologs are used). The two largest families, 291 and 262 pairs, are in the training part.
    """
    return Split(*split_families(families(load_prefab4(), load_prefab4_homologs()), (0.5, 0.2, 0.3)))


def _similar(sequences: Sequence[str]) -> NDArray[np.intp]:
    """Pairs of positions of similar sequences, (pairs, 2)."""
    number: dict[str, int] = {}
    words = [
        {number.setdefault(text[i : i + WORD_LENGTH], len(number)) for i in range(len(text) - WORD_LENGTH + 1)}
        for text in sequences
    ]
    counts = np.array([len(each) for each in words], dtype=np.intp)
    columns = np.fromiter((word for each in words for word in each), dtype=np.intp, count=counts.sum())
    rows = np.repeat(np.arange(len(words)), counts)
    holds = sparse.csr_array((np.ones(len(columns)), (rows, columns)), shape=(len(words), max(len(number), 1)))
    common = sparse.triu(holds @ holds.T, k=1).tocoo()
    i, j = common.coords
    return np.column_stack([i, j])[common.data >= SHARED * np.minimum(counts[i], counts[j])]
