"""WordArcs: features of arcs from the forms and tags of words, extracted and scored by kernels.

The features are binary: a feature is a key, and kernels recompute keys whenever they are needed. For training
sentences, which are searched many times, the coordinates of the weights of all arcs are stored if memory permits.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.base.arrays import Array, Index
from maxmargin.base.files.fields import NumberArray, OneOf, Part, Whole
from maxmargin.base.files.objects import Dropped, Fields
from maxmargin.problem.planes.atoms import Atoms
from maxmargin.structures.dependencies.compiled.arc_arrays import (
    ArcLayout,
    ArcScratch,
    CodedSentences,
    KeyTable,
    KnownPlaces,
    LabelScores,
)
from maxmargin.structures.dependencies.lexicon import Codes, Lexicon, Token
from maxmargin.structures.dependencies.scored_arcs import ArcSizes, ArcTables, FoundTrees, ScoredArcs

SPARE_BITS = 4  # for hashed features: one bucket in 16 has a weight for every label
MAX_BYTES = 2**30  # bytes for the weight positions of all arcs of training sentences
ARCS_AT_A_TIME = 100_000
Keys = NDArray[np.uint64]


class WordArcs:
    """The features of arcs between words, and the coordinates of their weights.

    Each feature of the true training arcs has its own weight. With hash_bits, all features have weights: features of
    arcs share 2^hash_bits buckets with one weight each, and features of labelled arcs share 2^(hash_bits - 4) buckets
    with a weight for every label.
    """

    saved: ClassVar[Fields] = {
        "min_count": Whole(1),
        "hash_bits": OneOf(None, Whole(1, 30)),
        "lexicon": Part(Lexicon),
        "n_labels": Whole(0, 2**20),
        "keys": NumberArray(np.uint64, None, least=1),
        "label_keys": NumberArray(np.uint64, None, least=1),
        **dict.fromkeys(("layout", "first", "dim"), Dropped()),  # computed from the others
    }

    def __init__(self, min_count: int, hash_bits: int | None):
        self.min_count, self.hash_bits = min_count, hash_bits

    def _check_saved(self) -> None:
        if any(np.any(keys[1:] <= keys[:-1]) for keys in (self.keys, self.label_keys)):
            raise ValueError("keys are not in order")
        if self.hash_bits is not None and (len(self.keys) or len(self.label_keys)):
            raise ValueError("hashed features have no keys")
        self._lay_out()

    def fit(self, sentences: list[list[Token]], heads: Codes, labels: Codes, n_labels: int) -> WordArcs:
        """Learn the features of the true arcs of these sentences.

        heads, labels : the heads and labels of all words, concatenated, with an entry for the root before each sentence
        """
        self.lexicon, self.n_labels = Lexicon(sentences, self.min_count), n_labels
        coded = self.coded(sentences, heads, labels)
        self.keys = self.label_keys = np.zeros(0, dtype=np.uint64)
        if self.hash_bits is None:
            self.keys = self._true_keys(coded, False)
            self.label_keys = self._true_keys(coded, True) if n_labels else self.label_keys
        self._lay_out()
        return self

    def _lay_out(self) -> None:
        """Set the positions of the weights in w."""
        bits = None if self.hash_bits is None else max(self.hash_bits - SPARE_BITS, 1)
        self.first = len(self.keys) if self.hash_bits is None else 2**self.hash_bits
        table, label_table = self._table(self.keys, self.hash_bits), self._table(self.label_keys, bits)
        self.layout = ArcLayout(table, self.first, self.n_labels, label_table)
        rows = len(self.label_keys) if bits is None else 2**bits
        self.dim = self.first + rows * self.n_labels

    def coded(self, sentences: list[list[Token]], heads: Codes, labels: Codes) -> CodedSentences:
        """Return the sentences as kernels read them."""
        lengths = np.array([len(tokens) for tokens in sentences], dtype=np.int64)
        starts = np.append(0, np.cumsum(lengths + 1))[:-1]
        return CodedSentences(*self.lexicon.coded(sentences), starts, lengths, heads, labels)

    def packed(self, sentences: list[list[Token]], heads: Codes, labels: Codes, max_bytes: int = 0) -> PackedWordArcs:
        """Pack sentences, with at most max_bytes of memory for data that searches of the same sentences share."""
        return PackedWordArcs(self, self.coded(sentences, heads, labels), max_bytes)

    def _true_keys(self, coded: CodedSentences, of_labels: bool) -> Keys:
        """Return the keys of the features of true arcs, in order."""
        from maxmargin.structures.dependencies.compiled.arc_keys import DEPENDENT_KEYS, HEAD_KEYS, MOST_KEYS, PAIR_KEYS
        from maxmargin.structures.dependencies.compiled.arc_scores import true_keys

        most = DEPENDENT_KEYS + HEAD_KEYS + PAIR_KEYS if of_labels else MOST_KEYS
        found = np.empty(int(coded.lengths.sum()) * most, dtype=np.uint64)
        count = true_keys(coded, of_labels, *_scratch(), found)
        return np.unique(found[:count])

    def _table(self, keys: Keys, bits: int | None) -> KeyTable:
        from maxmargin.structures.dependencies.compiled.key_places import fill_slots

        if bits is not None:
            return KeyTable(np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.int32), bits)
        bits = len(keys).bit_length() + 1  # a quarter to half of the slots are in use
        slots, numbers = np.zeros(2**bits, dtype=np.uint64), np.zeros(2**bits, dtype=np.int32)
        fill_slots(keys, bits, slots, numbers)
        return KeyTable(slots, numbers, bits)


class PackedWordArcs:
    """Sentences whose arcs can be scored."""

    def __init__(self, model: WordArcs, sentences: CodedSentences, max_bytes: int = 0):
        self.model, self.sentences = model, sentences
        self.known = self._known(max_bytes)

    @property
    def plane_atoms(self) -> Atoms:
        """The atoms of the rows that `rows` returns."""
        return Atoms.coordinates(self.model.dim)

    def scored(self, w: Array, ids: Index) -> ScoredArcs:
        from maxmargin.structures.dependencies.compiled.arc_keys import DEPENDENT_KEYS, MOST_KEYS
        from maxmargin.structures.dependencies.compiled.arc_scores import score_sentences

        tables = ArcTables.of(self.sentences.lengths, ids)
        scores, right = np.empty(tables.arcs[-1]), np.empty(tables.words[-1])
        labels = np.full(tables.arcs[-1], -1, dtype=np.int32)
        arcs = ArcScratch(*_scratch(), np.empty(MOST_KEYS, dtype=np.uint32))
        scratch = LabelScores.of(tables.longest, self.model.n_labels, DEPENDENT_KEYS)
        own = self.sentences, self.known, self.model.layout
        score_sentences(w, tables, *own, arcs, scratch, scores, labels, right)
        return ScoredArcs(tables, self.sentences, scores, labels, right)

    def all_scores(self, w: Array, i: int) -> Array:
        """Return (n + 1, n, L): the scores of all arcs of sentence i with all labels; L = 1 without labels."""
        from maxmargin.structures.dependencies.compiled.arc_shares import all_scores

        n = int(self.sentences.lengths[i])
        scores = np.empty((n + 1, n, max(self.model.n_labels, 1)))
        all_scores(w, i, *self._arc_arguments(n), scores)
        return scores

    def add_shares(self, total: Array, i: int, scale: float, shares: Array) -> None:
        """Add scale · Σ shares · the features of these arcs with these labels to total."""
        from maxmargin.structures.dependencies.compiled.arc_shares import add_shares

        add_shares(float(scale), i, *self._arc_arguments(len(shares) - 1), shares, total)

    def sizes(self, w: Array) -> ArcSizes:
        from maxmargin.structures.dependencies.compiled.arc_keys import DEPENDENT_KEYS, HEAD_KEYS, MOST_KEYS, PAIR_KEYS

        most = MOST_KEYS + (DEPENDENT_KEYS + HEAD_KEYS + PAIR_KEYS if self.model.n_labels else 0)
        return ArcSizes(most * float(np.max(np.abs(w), initial=0.0)), most, most)  # entries in the same bucket add up

    def _arc_arguments(self, n: int) -> tuple[CodedSentences, KnownPlaces, ArcLayout, ArcScratch, LabelScores]:
        """Return the arguments of kernels in compiled/arc_shares.py for sentences of n words."""
        from maxmargin.structures.dependencies.compiled.arc_keys import DEPENDENT_KEYS, MOST_KEYS, PAIR_KEYS

        arcs = ArcScratch(*_scratch(), np.empty(MOST_KEYS + PAIR_KEYS, dtype=np.uint32))
        scratch = LabelScores.of(n, self.model.n_labels, DEPENDENT_KEYS)
        return self.sentences, self.known, self.model.layout, arcs, scratch

    def _known(self, max_bytes: int) -> KnownPlaces:
        """Return the weight positions of all arcs, or empty arrays if these take more than `max_bytes` bytes."""
        from maxmargin.structures.dependencies.compiled.arc_keys import MOST_KEYS, PAIR_KEYS
        from maxmargin.structures.dependencies.compiled.arc_scores import all_places

        lengths = self.sentences.lengths
        first_arcs = np.append(0, np.cumsum(lengths * (lengths + 1)))
        n_arcs = int(first_arcs[-1])
        empty, rows = np.zeros(0, dtype=np.uint32), np.zeros(0, dtype=np.uint8)
        none = KnownPlaces(empty, empty, rows, np.zeros(0, dtype=np.int64))
        taken, blocks = 5 * n_arcs, []  # bytes for the beginning of each arc's coordinates, and the number of labels
        if taken > max_bytes:
            return none
        begins, n_rows = np.zeros(n_arcs + 1, dtype=np.uint32), np.zeros(n_arcs, dtype=np.uint8)
        for some in np.array_split(np.arange(len(lengths)), max(1, n_arcs // ARCS_AT_A_TIME)):
            arcs = slice(first_arcs[some[0]], first_arcs[some[-1] + 1])
            own = begins[arcs.start + 1 : arcs.stop + 1]
            places = np.empty(len(own) * (MOST_KEYS + PAIR_KEYS), dtype=np.uint32)
            scratch = ArcScratch(*_scratch(), places)
            all_places(some, self.sentences, self.model.layout, scratch, own, n_rows[arcs])
            blocks.append(places[: own[-1]].copy())
            own += begins[arcs.start]
            taken += blocks[-1].nbytes
            if taken > max_bytes:
                return none
        return KnownPlaces(np.concatenate(blocks), begins, n_rows, first_arcs)

    def rows(self, ids: Index, found: FoundTrees) -> sparse.csr_array:
        """Return Ψ(x, y) - Ψ(x, z) of every sentence."""
        from maxmargin.structures.dependencies.compiled.arc_keys import DEPENDENT_KEYS, HEAD_KEYS, MOST_KEYS, PAIR_KEYS
        from maxmargin.structures.dependencies.compiled.arc_scores import plane_entries

        most = 2 * (MOST_KEYS + DEPENDENT_KEYS + HEAD_KEYS + PAIR_KEYS) * len(found.heads)
        places, values = np.empty(most, dtype=np.int32), np.empty(most)
        ends = np.zeros(len(ids) + 1, dtype=np.int32)
        arcs = ArcScratch(*_scratch(), places)
        plane_entries(ids, found, self.sentences, self.model.layout, arcs, values, ends[1:])
        size = ends[-1]
        rows = sparse.csr_array((values[:size].copy(), places[:size].copy(), ends), shape=(len(ids), self.model.dim))
        rows.sum_duplicates()  # entries that both arcs of a word share cancel
        rows.eliminate_zeros()
        return rows


def _scratch() -> tuple[Codes, Keys]:
    from maxmargin.structures.dependencies.compiled.arc_keys import MOST_BETWEEN, MOST_KEYS

    return np.empty(MOST_BETWEEN, dtype=np.int64), np.empty(MOST_KEYS, dtype=np.uint64)
