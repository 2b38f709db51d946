"""Alignment: which positions of two sequences belong together, found by Gotoh's dynamic programme."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.arrays import Array
from maxmargin.batch import Batch
from maxmargin.examples import check_features
from maxmargin.objective import Formulation
from maxmargin.planes import Planes
from maxmargin.structures.alignment.alignments import PairwiseAlignment
from maxmargin.structures.alignment.columns import RESIDUE, Codes, Columns, read_columns, sides_of
from maxmargin.structures.alignment.gaps import Gaps, as_gaps
from maxmargin.structures.alignment.substitution import Match, PairFeatures, feature_maps
from maxmargin.structures.alignment.views import Entries
from maxmargin.task import Task

MODES = ("global", "overlap", "local")  # in the order of compiled/alignment.py
LOSS_TABLE = 4_000_000  # entries of the table (n × m × losses) up to which slack rescaling is exact


class Alignment(Task):
    """Pairs of sequences x = (a, b), aligned: Ψ counts features of aligned pairs and of gaps.

        ⟨w, Ψ(x, z)⟩ = Σ_{(i, j) in z} ⟨w, φ(i, j)⟩ + Σ_{residues in gaps} ⟨w, γ⟩
        Δ(y, z)      = 1 - |{trusted (i, j) in y : z aligns i to some j' with |j - j'| <= tolerance}| / |trusted in y|

    (Joachims et al. 2009, section 3.2). φ is made by substitution.py, γ by gaps.py. Δ is a sum over the
    pairs of z, so that argmax ⟨w, Ψ⟩ + λΔ is an alignment with φ's scores lowered at right pairs. Between two aligned
    pairs the skipped residues of a form one gap and those of b another, which stands after it.

    A sequence is a string or a dict of columns (columns.py); y is a PairwiseAlignment, a list of pairs, or two
    gapped strings. Pairs that are not trusted belong to Ψ(x, y) but not to Δ; at least one pair must be trusted, or
    the loss would be 0 / 0.

    mode : "global" (gaps at the ends cost as others do), "overlap" (they are free; where both sequences have
        unaligned residues at the same end, the longer part is free), or "local" (whatever is outside the first and
        the last pair is free). An alignment without pairs scores 0, or as two gaps in global mode.
    features : a model ("simple", "anova2", "tensor", "window", "profile"), a PairFeatures such as Match, a function
        x -> (n, m, F) array, or a list of these.
    gaps : "affine", "linear" or Gaps(...).
    tolerance : by how many positions a pair may miss and still be right: 0 is Q, 4 is Q4.
    symmetric : a and b share their weights: substitution matrices are symmetric, gaps cost the same in both.
    letters : the alphabet of the residues, or {column: alphabet}, where the training data may not show all of it.
    unknown_features : "error" or "ignore" (a letter of no alphabet has no features: a wildcard).
    """

    def __init__(
        self,
        mode: str = "overlap",
        features: Any = "simple",
        gaps: Any = "affine",
        tolerance: int = 0,
        symmetric: bool = True,
        letters: Any = None,
        unknown_features: str = "error",
    ):
        self.mode = mode
        self.features = features
        self.gaps = gaps
        self.tolerance = tolerance
        self.symmetric = symmetric
        self.letters = letters
        self.unknown_features = unknown_features

    mode_: int
    columns_: Columns
    gaps_: Gaps
    maps_: list[PairFeatures]
    ends_: list[int]  # w: gaps first, then each map up to here

    def setup(self, X: Sequence[Any], Y: Any = None) -> None:
        if self.mode not in MODES:
            raise ValueError(f"mode must be one of {', '.join(map(repr, MODES))}, got {self.mode!r}")
        if isinstance(self.tolerance, bool) or not isinstance(self.tolerance, Integral) or self.tolerance < 0:
            raise ValueError(f"tolerance must be a whole number of positions >= 0, got {self.tolerance!r}")
        self.mode_ = MODES.index(self.mode)
        self.columns_ = Columns(self.letters, self.unknown_features).fit(X)
        if self.symmetric and set(self.columns_.names[0]) != set(self.columns_.names[1]):
            first, second = (", ".join(names) for names in self.columns_.names)
            raise ValueError(
                f"a symmetric model needs the same columns in both sequences, which have {first} and {second}; "
                "use symmetric=False"
            )
        self.gaps_ = as_gaps(self.gaps)
        self.gaps_.fit(self.columns_, bool(self.symmetric))
        self.maps_ = feature_maps(self.features, self.columns_, bool(self.symmetric))
        ends = [self.gaps_.size]
        for each in self.maps_:
            each.fit(X, self.columns_, bool(self.symmetric))
            ends.append(ends[-1] + each.size)
        self.ends_ = ends
        self.dim = ends[-1]

    # --- the plain form: one pair of sequences at a time

    def psi(self, x: Any, z: Any) -> Entries:
        code = self.encode(x)
        return self.features_of(code, PairwiseAlignment.of(z, code.lengths).pairs)

    def loss(self, y: Any, z: Any) -> float:
        lengths = _lengths(y, z)
        truth, found = PairwiseAlignment.of(y, lengths, "y"), PairwiseAlignment.of(z, lengths, "z")
        return 1.0 - found.agreement(truth, self.tolerance)

    def argmax(self, w: Array, x: Any, y: Any = None) -> PairwiseAlignment:
        code = self.encode(x)
        truth = None if y is None else self.truth(code, x, y, 0)
        return code.alignment(self.best(self.weights(w), code, truth, 0.0 if y is None else 1.0).pairs)

    def outputs(self, x: Any) -> Iterator[PairwiseAlignment]:
        n, m = lengths = self.encode(x).lengths
        for k in range(min(n, m) + 1):
            for rows in combinations(range(n), k):
                for columns in combinations(range(m), k):
                    yield PairwiseAlignment(np.array([rows, columns], dtype=np.int64).T, lengths)

    # --- one example in the form of the kernels

    def encode(self, x: Any, i: int = 0) -> Code:
        """Example i, ready for scores."""
        sides = self.columns_.encode(x, i)
        try:
            maps = [each.encode(x, sides) for each in self.maps_]
        except ValueError as error:
            raise ValueError(f"example {i}: {error}") from None
        return Code((sides[0].length, sides[1].length), maps, self.gaps_.encode(sides))

    def truth(self, code: Code, x: Any, y: Any, i: int) -> Truth:
        """What is right in example i."""
        check_letters(x, y, i)
        alignment = PairwiseAlignment.of(y, code.lengths, f"the alignment of example {i}")
        trusted = alignment.pairs[alignment.trusted]
        if not len(trusted):
            raise ValueError(f"the alignment of example {i} has no trusted pair, so that no loss can be counted")
        low, high = (np.zeros(code.lengths[0], dtype=np.int64) for _ in range(2))
        low[trusted[:, 0]] = np.maximum(trusted[:, 1] - self.tolerance, 0)
        high[trusted[:, 0]] = np.minimum(trusted[:, 1] + self.tolerance + 1, code.lengths[1])
        return Truth(self.features_of(code, alignment.pairs), low, high, len(trusted))

    def weights(self, w: Array) -> Weights:
        """w, ready for the scores of many examples."""
        parts = zip(self.maps_, self.ends_[:-1], self.ends_[1:], strict=True)
        return Weights(w, [each.prepare(w[begin:end]) for each, begin, end in parts])

    def score_rows(self, weights: Weights, code: Code) -> tuple[Array, Codes]:
        """The scores of pairs as their different rows, and which row every position of a has."""
        scored = [
            each.score_rows(prepared, part)
            for each, prepared, part in zip(self.maps_, weights.maps, code.maps, strict=True)
        ]
        for each, found in zip(self.maps_, scored, strict=True):
            if found.shape != code.lengths:  # which a kernel would not notice
                raise ValueError(f"{each} has scores of shape {found.shape}; expected {code.lengths}")
        rows, row_of = scored[0]
        if len(scored) > 1:
            rows, row_of = scored[0].full() + scored[1].full(), None
            for more in scored[2:]:
                rows += more.full()
        places = np.arange(len(rows)) if row_of is None else row_of
        # kernels are compiled for arrays of this kind only
        return np.require(rows, np.float64, ["C", "W"]), np.require(places, np.int64, ["C", "W"])

    def best(self, weights: Weights, code: Code, truth: Truth | None, lam: float) -> Best:
        """The alignment with the highest ⟨w, Ψ⟩ + λΔ, and that value (without λ, which Δ has as a constant)."""
        from maxmargin.structures.alignment.compiled import alignment

        n, m = code.lengths
        low, high = (code.nothing, code.nothing) if truth is None else (truth.low, truth.high)
        pairs = np.empty((min(n, m), 2), dtype=np.int64)
        score, count = alignment.best_alignment(
            *self.score_rows(weights, code),
            low,
            high,
            0.0 if truth is None else lam / truth.size,
            *self.gaps_.scores(weights.w[: self.ends_[0]], code.gaps),
            self.mode_,
            np.empty((n, m), dtype=np.uint8),
            np.empty((alignment.ROWS, m + 1)),
            np.empty(m),
            np.empty(m, dtype=np.int64),
            pairs,
        )
        return Best(score, pairs[len(pairs) - count :])

    def features_of(self, code: Code, pairs: Codes) -> Entries:
        """Ψ of the alignment with these pairs; a feature may stand there several times."""
        from maxmargin.structures.alignment.compiled.alignment import paid_gaps

        n, m = code.lengths
        pairs = np.array(pairs, dtype=np.int64)  # kernels are compiled for arrays that may be written to
        paid = np.empty((n + m, 4), dtype=np.int64)
        paid = paid[: paid_gaps(pairs, n, m, self.mode_, paid)]
        entries = [self.gaps_.counts(code.gaps, paid)]
        for each, part, begin in zip(self.maps_, code.maps, self.ends_[:-1], strict=True):
            counts = each.counts(part, pairs)
            if not isinstance(each, Match):
                check_features(counts, each.size, f"{each}.counts")
            if not isinstance(counts, tuple):
                dense = np.asarray(counts, dtype=np.float64)
                counts = np.flatnonzero(dense), dense[dense != 0]
            entries.append((begin + counts[0], counts[1]))
        return np.concatenate([e[0] for e in entries]), np.concatenate([e[1] for e in entries])

    # --- the compiled form: many pairs a call

    def pack(self, X: Sequence[Any], Y: Any) -> AlignmentBatch:
        codes = [self.encode(x, i) for i, x in enumerate(X)]
        truths = [self.truth(code, x, y, i) for i, (code, x, y) in enumerate(zip(codes, X, Y, strict=True))]
        sizes = [np.prod(code.lengths) * (truth.size + 1) for code, truth in zip(codes, truths, strict=True)]
        return AlignmentBatch(codes, truths, bool(max(sizes, default=0) <= LOSS_TABLE), np.arange(len(codes)))

    def decode(self, w: Array, X: Sequence[Any]) -> list[PairwiseAlignment]:
        return [found for found, _ in self.decoded(w, X)]

    def decoded(self, w: Array, X: Sequence[Any]) -> Iterator[tuple[PairwiseAlignment, float]]:
        """The best alignment of every pair, and its score."""
        weights = self.weights(w)
        for i, x in enumerate(X):
            code = self.encode(x, i)
            found = self.best(weights, code, None, 0.0)
            yield code.alignment(found.pairs), found.score

    def planes(self, w: Array, batch: AlignmentBatch, augment: float | Array = 1.0) -> Planes:
        lam = np.broadcast_to(np.asarray(augment, dtype=float), len(batch))
        weights = self.weights(w)
        found = [self.best(weights, code, truth, each).pairs for (code, truth), each in zip(batch, lam, strict=True)]
        return self._planes(batch, found)

    def rescaled_planes(self, w: Array, batch: AlignmentBatch, formulation: Formulation) -> Planes | None:
        """Exact where sequences are short enough to keep the best score of every possible number of right pairs."""
        if not batch.countable:
            return None
        weights = self.weights(w)
        return self._planes(batch, [self._most_violated(weights, code, truth, formulation) for code, truth in batch])

    def parts(self, w: Array) -> dict[str, Any]:
        """The weights by name: those of gaps, then of every feature map."""
        found = self.gaps_.parts(w[: self.ends_[0]])
        for each, begin, end in zip(self.maps_, self.ends_[:-1], self.ends_[1:], strict=True):
            for name, weights in each.parts(w[begin:end]).items():
                while name in found:
                    name += "'"
                found[name] = weights
        return found

    def part_names(self) -> dict[str, tuple[list[Any], list[Any]]]:
        """What the rows and columns of those parts stand for that are matrices."""
        return {str(each): each.names() for each in self.maps_ if isinstance(each, Match)}

    def _most_violated(self, weights: Weights, code: Code, truth: Truth, formulation: Formulation) -> Codes:
        """The pairs with the highest violation, through a table over all losses."""
        from maxmargin.structures.alignment.compiled import alignment

        n, m = code.lengths
        table, best = np.empty((3, n, m, truth.size + 1)), np.empty(truth.size + 1)
        gaps = self.gaps_.scores(weights.w[: self.ends_[0]], code.gaps)
        alignment.best_per_right(*self.score_rows(weights, code), truth.low, truth.high, *gaps, self.mode_, table, best)
        possible = np.flatnonzero(np.isfinite(best))
        losses = 1.0 - possible / truth.size
        margins = float(np.dot(weights.w[truth.psi[0]], truth.psi[1])) - best[possible]
        right = possible[np.argmax(formulation.value(losses, margins))]
        pairs = np.empty((min(n, m), 2), dtype=np.int64)
        count = alignment.trace_right(truth.low, truth.high, *gaps, self.mode_, table, right, pairs)
        return pairs[len(pairs) - count :]

    def _planes(self, batch: AlignmentBatch, found: list[Codes]) -> Planes:
        loss, rows = np.empty(len(batch)), []
        for k, ((code, truth), pairs) in enumerate(zip(batch, found, strict=True)):
            i, j = pairs[:, 0], pairs[:, 1]
            loss[k] = 1.0 - np.count_nonzero((truth.low[i] <= j) & (j < truth.high[i])) / truth.size
            rows.append(difference(truth.psi, self.features_of(code, pairs)))
        return Planes(stacked(rows, self.dim), loss)


class Code(NamedTuple):
    """A pair of sequences in the form of the kernels."""

    lengths: tuple[int, int]
    maps: list[Any]  # one entry per feature map
    gaps: list[Any]

    @property
    def nothing(self) -> Codes:
        """No pair of any row is right."""
        return np.zeros(self.lengths[0], dtype=np.int64)

    def alignment(self, pairs: Codes) -> PairwiseAlignment:
        return PairwiseAlignment._found(pairs.copy(), self.lengths)


class Weights(NamedTuple):
    """The weights, and what every feature map has made of its part."""

    w: Array
    maps: list[Any]


class Truth(NamedTuple):
    """A reference alignment: Ψ, and for every position of a which partners are right (low <= j < high)."""

    psi: Entries
    low: Codes
    high: Codes
    size: int  # number of trusted pairs


class Best(NamedTuple):
    """The best alignment of one pair of sequences."""

    score: float
    pairs: Codes


class AlignmentBatch(Batch):
    """Encoded pairs of sequences and their true alignments."""

    call_cost = 100.0  # the table of an alignment is large against a plane

    def __init__(self, codes: list[Code], truths: list[Truth], countable: bool, ids: NDArray[np.intp]):
        self.codes, self.truths, self.ids = codes, truths, ids
        self.countable = countable  # slack rescaling can be exact

    def take(self, index: NDArray[np.intp]) -> AlignmentBatch:
        return AlignmentBatch(self.codes, self.truths, self.countable, self.ids[index])

    def __iter__(self) -> Iterator[tuple[Code, Truth]]:
        return ((self.codes[i], self.truths[i]) for i in self.ids)


def difference(truth: Entries, found: Entries) -> Entries:
    """Ψ(x, y) - Ψ(x, z), every feature once and only where it is not 0."""
    places, number = np.unique(np.concatenate([truth[0], found[0]]), return_inverse=True)
    values: Any = np.bincount(number, weights=np.concatenate([truth[1], -found[1]]), minlength=len(places))
    used = np.flatnonzero(values)
    return places[used], values[used]


def stacked(rows: list[Entries], dim: int) -> sparse.csr_array:
    """Rows of which each has every feature at most once, as one matrix."""
    ends = np.cumsum([0, *(len(places) for places, _ in rows)]).astype(np.int32)
    flat = np.concatenate([np.zeros(0, dtype=np.int64), *(places for places, _ in rows)]).astype(np.int32)
    return sparse.csr_array(
        (np.concatenate([np.zeros(0), *(values for _, values in rows)]), flat, ends), (len(rows), dim)
    )


def _lengths(y: Any, z: Any) -> tuple[int, int]:
    for each in (y, z):
        if isinstance(each, PairwiseAlignment):
            return each.lengths
        if isinstance(each, list | tuple) and len(each) == 2 and all(isinstance(row, str) for row in each):
            return PairwiseAlignment.from_gapped(*each).lengths
    raise ValueError("neither alignment says how long the sequences are; give one of them as a PairwiseAlignment")


def check_letters(x: Any, y: Any, i: int) -> None:
    """Gapped strings must be those of the sequences, where these are strings, too."""
    if not (isinstance(y, list | tuple) and len(y) == 2 and all(isinstance(row, str) for row in y)):
        return
    for side, row, which in zip(sides_of(x, i), y, ("first", "second"), strict=True):
        sequence = read_columns(side, f"example {i}").get(RESIDUE)
        letters = row.replace("-", "").replace(".", "")
        if isinstance(sequence, str) and len(letters) == len(sequence) and letters.upper() != sequence.upper():
            p = next(p for p, (a, b) in enumerate(zip(letters.upper(), sequence.upper(), strict=True)) if a != b)
            raise ValueError(
                f"the {which} row of the alignment of example {i} has {letters[p]!r} as residue {p}, "
                f"the sequence {sequence[p]!r}"
            )
