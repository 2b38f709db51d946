"""Alignment: the task of aligning two sequences, decoded by Gotoh's dynamic programme."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise
from typing import Any, ClassVar, Literal

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.base.checks import check_whole
from maxmargin.base.files.fields import Flag, Part, Text, Whole
from maxmargin.base.files.objects import Dropped, Fields
from maxmargin.base.named_weights import Weights
from maxmargin.problem.contract.examples import check_features
from maxmargin.problem.contract.pieces import Pieces
from maxmargin.problem.contract.task import Task
from maxmargin.structures.alignment.alignment_space import MODES, Mode, TruePairs
from maxmargin.structures.alignment.alignment_sums import AlignmentSums, SummedAlignment
from maxmargin.structures.alignment.alignments import PairwiseAlignment
from maxmargin.structures.alignment.batch import AlignmentBatch
from maxmargin.structures.alignment.columns import RESIDUE, Codes, Columns, read_columns, sides_of
from maxmargin.structures.alignment.compiled.alignment_arrays import ScoredPair
from maxmargin.structures.alignment.encoded import EncodedPair, PreparedWeights, TrueAlignment
from maxmargin.structures.alignment.gaps import Gaps, as_gaps
from maxmargin.structures.alignment.pieces import alignment_pieces
from maxmargin.structures.alignment.scored import ScoredAlignments
from maxmargin.structures.alignment.scored_pairs import BestAlignment, best_alignments
from maxmargin.structures.alignment.substitution import Match, PairFeatures, PairSizes, feature_maps
from maxmargin.structures.alignment.views import Entries

Unknown = Literal["error", "ignore"]


class Alignment(Task):
    """The task of aligning pairs of sequences x = (a, b): Ψ counts features of aligned pairs and of gaps.

        ⟨w, Ψ(x, z)⟩ = Σ_{(i, j) in z} ⟨w, φ(i, j)⟩ + Σ_{residues in gaps} ⟨w, γ⟩
        Δ(y, z)      = 1 - |{trusted (i, j) in y : z aligns i to some j' with |j - j'| <= max_shift}| / |trusted in y|

    (Joachims et al. 2009, section 3.2). φ is made by substitution.py, γ by gaps.py. Δ is a sum over the pairs of z, so
    argmax ⟨w, Ψ⟩ + λΔ is an alignment with lower scores at correct pairs. Between two aligned pairs the skipped
    residues of a form one gap and those of b another one after it.

    A sequence is a string or a dict of columns (columns.py); y is a PairwiseAlignment, a list of pairs, or two gapped
    strings. Pairs that are not trusted belong to Ψ(x, y) but not to Δ; at least one pair must be trusted, because the
    loss would otherwise be 0 / 0.

    Parameters
    ----------
    mode : "global", "overlap" or "local"
        The costs of gaps at the ends: as other gaps, free, or free with only a part of each sequence aligned. With
        "overlap", if both sequences have unaligned residues at the same end, the longer part is free; with "local",
        everything outside the first and the last pair is free. An alignment without pairs scores 0, or as two gaps in
        global mode.
    features : str, PairFeatures, callable or list
        The scores of an aligned pair: "simple" (every column with every column; for strings a substitution matrix),
        "anova2", "tensor", "window", "profile", a map such as tasks.Match("residue", "ss"), a function x -> (n, m, F)
        array, or a list of these. See maxmargin.structures.alignment.substitution.
    gaps : "affine", "linear" or tasks.Gaps
        The scores of skipped residues.
    max_shift : int
        The number of positions by which a pair may miss and still count as right, in training and in `score`: 0 is the
        measure Q, 4 is Q4.
    symmetric : bool
        Both sequences share their weights: substitution matrices are symmetric, gaps cost the same in both.
    alphabet : None, str, list or dict
        The alphabet of the residues, or {column: its alphabet}; None: the letters of the training data.
    unknown : "error" or "ignore"
        The treatment of letters that are not in the alphabet; ignored ones score nothing.
    nonnegative_gaps : bool
        True: no gap may be rewarded; all weights of gaps are kept <= 0.
    """

    saved: ClassVar[Fields] = {
        "mode": Text(*MODES),
        "max_shift": Whole(),
        "symmetric": Flag(),
        "columns_": Part(Columns),
        **dict.fromkeys(("mode_", "gaps_", "maps_", "ends_"), Dropped()),  # derived from parameters and columns
    }

    def __init__(
        self,
        mode: Mode = "overlap",
        features: Any = "simple",
        gaps: Any = "affine",
        max_shift: int = 0,
        symmetric: bool = True,
        alphabet: Any = None,
        unknown: Unknown = "error",
        nonnegative_gaps: bool = False,
    ):
        self.mode = mode
        self.features = features
        self.gaps = gaps
        self.max_shift = max_shift
        self.symmetric = symmetric
        self.alphabet = alphabet
        self.unknown = unknown
        self.nonnegative_gaps = nonnegative_gaps

    def _check_saved(self) -> None:
        dim, self.mode_ = self.dim, MODES.index(self.mode)
        self._lay_out([])
        if self.dim != dim:
            raise ValueError(f"dim is {dim}; expected {self.dim}")

    mode_: int
    columns_: Columns
    gaps_: Gaps
    maps_: list[PairFeatures]
    ends_: list[int]  # w: gaps first, then each map up to here

    def setup(self, X: Sequence[Any], Y: Any = None) -> None:
        if self.mode not in MODES:
            raise ValueError(f"mode must be one of {', '.join(map(repr, MODES))}, got {self.mode!r}")
        check_whole("max_shift", self.max_shift, least=0)
        self.mode_ = MODES.index(self.mode)
        self.columns_ = Columns(self.alphabet, self.unknown).fit(X)
        self._lay_out(X)

    def _lay_out(self, X: Sequence[Any]) -> None:
        """Lay out the weights; part of `setup`. Only functions of features read X."""
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
        self.bounds_ = None
        if self.nonnegative_gaps:  # scores of gaps are minus their costs
            high = np.full(self.dim, np.inf)
            high[: self.gaps_.size] = 0.0
            self.bounds_ = (None, high)

    # --- the plain form: one pair of sequences at a time

    def psi(self, x: Any, z: Any) -> Entries:
        code = self.encode(x)
        return self.features_of(code, PairwiseAlignment.of(z, code.lengths).pairs)

    def pieces(self, x: Any, z: Any) -> Pieces:
        """Return Ψ(x, z) by aligned pairs and skipped residues."""
        return alignment_pieces(self, x, z)

    def loss(self, y: Any, z: Any) -> float:
        lengths = _lengths(y, z)
        truth, found = PairwiseAlignment.of(y, lengths, "y"), PairwiseAlignment.of(z, lengths, "z")
        return 1.0 - found.agreement(truth, self.max_shift)

    def argmax(self, w: Array, x: Any, y: Any = None) -> PairwiseAlignment:
        code = self.encode(x)
        truth = None if y is None else self.truth(code, x, y, 0)
        return code.alignment(self.best(self.prepared(w), code, truth, 0.0 if y is None else 1.0).pairs)

    def outputs(self, x: Any) -> Iterator[PairwiseAlignment]:
        n, m = lengths = self.encode(x).lengths
        for k in range(min(n, m) + 1):
            for rows in combinations(range(n), k):
                for columns in combinations(range(m), k):
                    yield PairwiseAlignment(np.array([rows, columns], dtype=np.int64).T, lengths)

    # --- one example in the form that compiled functions read

    def encode(self, x: Any, i: int = 0) -> EncodedPair:
        """Return example i, ready for scoring."""
        sides = self.columns_.encode(x, i)
        try:
            maps = [each.encode(x, sides) for each in self.maps_]
        except ValueError as error:
            raise ValueError(f"example {i}: {error}") from None
        return EncodedPair((sides[0].length, sides[1].length), maps, self.gaps_.encode(sides))

    def truth(self, code: EncodedPair, x: Any, y: Any, i: int) -> TrueAlignment:
        """Return the true alignment of example i in encoded form."""
        check_letters(x, y, i)
        alignment = PairwiseAlignment.of(y, code.lengths, f"the alignment of example {i}")
        trusted = alignment.pairs[alignment.trusted]
        if not len(trusted):
            raise ValueError(f"the alignment of example {i} has no trusted pair, so its loss is not defined")
        right = TruePairs.of(alignment.pairs, trusted, code.lengths, self.max_shift)
        return TrueAlignment(self.features_of(code, alignment.pairs), right)

    def prepared(self, w: Array) -> PreparedWeights:
        """Return w, ready for the scores of many examples."""
        of_gaps, of_maps = self.split(w)
        return PreparedWeights(w, of_gaps, [each.prepare(part) for each, part in zip(self.maps_, of_maps, strict=True)])

    def split(self, w: Array) -> tuple[Array, list[Array]]:
        """Return the weights of gaps and the weights of every feature map, as views of w."""
        return w[: self.ends_[0]], [w[a:b] for a, b in pairwise(self.ends_)]

    def score_rows(self, weights: PreparedWeights, code: EncodedPair) -> tuple[Array, Codes]:
        """Return the scores of pairs as distinct rows, and the row of every position of a."""
        scored = [
            each.score_rows(prepared, part)
            for each, prepared, part in zip(self.maps_, weights.maps, code.maps, strict=True)
        ]
        for each, found in zip(self.maps_, scored, strict=True):
            if found.shape != code.lengths:  # compiled functions do not check shapes
                raise ValueError(f"{each} has scores of shape {found.shape}; expected {code.lengths}")
        rows, row_of = scored[0]
        if len(scored) > 1:
            rows, row_of = scored[0].full() + scored[1].full(), None
            for more in scored[2:]:
                rows += more.full()
        places = np.arange(len(rows)) if row_of is None else row_of
        # kernels are compiled for arrays of this kind only
        return np.require(rows, np.float64, ["C", "W"]), np.require(places, np.int64, ["C", "W"])

    def gap_scores(self, weights: PreparedWeights, code: EncodedPair) -> tuple[Array, Array]:
        """Return the gap scores, which compiled/alignment.py calls of_a and of_b."""
        return self.gaps_.scores(weights.gaps, code.gaps)

    def best(
        self, weights: PreparedWeights, code: EncodedPair, truth: TrueAlignment | None, lam: float
    ) -> BestAlignment:
        """Return the alignment with the highest ⟨w, Ψ⟩ + λΔ, and that value minus λ, a constant of λΔ."""
        return next(best_alignments([self.scored_pair(weights, code, truth, lam)], self.mode_))

    def scored_pair(
        self, weights: PreparedWeights, code: EncodedPair, truth: TrueAlignment | None, lam: float
    ) -> ScoredPair:
        """Return the arrays of the search for the highest ⟨w, Ψ⟩ + λΔ."""
        right = (code.nothing, code.nothing) if truth is None else (truth.right.low, truth.right.high)
        price = 0.0 if truth is None else lam / truth.right.size
        return ScoredPair(*self.score_rows(weights, code), *right, price, *self.gap_scores(weights, code))

    def summed(
        self, weights: PreparedWeights, code: EncodedPair, truth: TrueAlignment | None, lam: float
    ) -> SummedAlignment:
        """Return the sums over all alignments of exp(⟨w, Ψ⟩ + λΔ), without the constant λ of λΔ."""
        return SummedAlignment(self.scored_pair(weights, code, truth, lam), self.mode_)

    def expected(self, code: EncodedPair, shares: Array, used: tuple[Array, Array]) -> list[Array]:
        """Return E Ψ, separately for gaps and every feature map, from the results of SummedAlignment.spread."""
        of_maps = [each.expected(part, shares) for each, part in zip(self.maps_, code.maps, strict=True)]
        return [self.gaps_.expected(code.gaps, used), *of_maps]

    def sizes(self, w: Array, code: EncodedPair) -> PairSizes:
        """Return bounds on the scores of pairs and features, for rounding errors."""
        _, of_maps = self.split(w)
        parts = [each.sizes(part, its) for each, part, its in zip(self.maps_, of_maps, code.maps, strict=True)]
        score, length, terms = (sum(each[k] for each in parts) for k in range(3))
        return PairSizes(score, length, int(terms))

    def features_of(self, code: EncodedPair, pairs: Codes) -> Entries:
        """Return Ψ of the alignment with these pairs; a feature may occur several times."""
        of_gaps, of_pairs = self.gap_features(code, self.paid_gaps(code, pairs)), self.pair_features(code, pairs)
        return np.concatenate([of_gaps[0], of_pairs[0]]), np.concatenate([of_gaps[1], of_pairs[1]])

    def paid_gaps(self, code: EncodedPair, pairs: Codes) -> Codes:
        """Return the skipped residues that have features, as rows that Gaps.counts takes."""
        from maxmargin.structures.alignment.compiled.alignment import paid_gaps

        n, m = code.lengths
        paid = np.empty((n + m, 4), dtype=np.int64)
        # kernels are compiled for writable arrays
        return paid[: paid_gaps(np.array(pairs, dtype=np.int64), n, m, self.mode_, paid)]

    def gap_features(self, code: EncodedPair, paid: Codes) -> Entries:
        """Return the features of skipped residues."""
        return self.gaps_.counts(code.gaps, paid)

    def pair_features(self, code: EncodedPair, pairs: Codes) -> Entries:
        """Return the features of aligned pairs."""
        pairs = np.array(pairs, dtype=np.int64)
        entries = []
        for each, part, begin in zip(self.maps_, code.maps, self.ends_[:-1], strict=True):
            counts = each.counts(part, pairs)
            if not isinstance(each, Match):
                check_features(counts, each.size, f"{each}.counts")
            if not isinstance(counts, tuple):
                dense = np.asarray(counts, dtype=np.float64)
                counts = np.flatnonzero(dense), dense[dense != 0]
            entries.append((begin + counts[0], counts[1]))
        return np.concatenate([e[0] for e in entries]), np.concatenate([e[1] for e in entries])

    # --- the compiled form: many pairs per call

    def pack(self, X: Sequence[Any], Y: Any) -> AlignmentBatch:
        codes = [self.encode(x, i) for i, x in enumerate(X)]
        truths = [self.truth(code, x, y, i) for i, (code, x, y) in enumerate(zip(codes, X, Y, strict=True))]
        return AlignmentBatch(self, codes, truths)

    def sums(self, w: Array, X: Sequence[Any]) -> AlignmentSums:
        """Return the distributions of the alignments of every pair of sequences."""
        codes, weights = [self.encode(x, i) for i, x in enumerate(X)], self.prepared(w)

        def score(k: int, pairs: Codes) -> float:
            features, values = self.features_of(codes[k], pairs)
            return float(np.dot(w[features], values))

        return AlignmentSums(
            [code.lengths for code in codes], lambda k: self.summed(weights, codes[k], None, 0.0), score
        )

    def scored(self, X: Sequence[Any], Y: Any = None) -> ScoredAlignments:
        """Return the pairs of sequences, with truths if Y is given, ready for scoring and search."""
        if Y is not None:
            return self.pack(X, Y).scored()
        return ScoredAlignments(self, [self.encode(x, i) for i, x in enumerate(X)])

    def decode(self, w: Array, X: Sequence[Any]) -> list[PairwiseAlignment]:
        return [found for found, _ in self.decoded(w, X)]

    def decoded(self, w: Array, X: Sequence[Any]) -> Iterator[tuple[PairwiseAlignment, float]]:
        """Yield the best alignment of every pair, and its score."""
        weights = self.prepared(w)
        for i, x in enumerate(X):
            code = self.encode(x, i)
            found = self.best(weights, code, None, 0.0)
            yield code.alignment(found.pairs), found.score

    def named_weights(self, w: Array) -> dict[str, Weights]:
        """Return the named weights of gaps, then of every feature map; duplicate names get a mark."""
        of_gaps, of_maps = self.split(w)
        named = self.gaps_.named_weights(of_gaps)
        for each, part in zip(self.maps_, of_maps, strict=True):
            for name, weights in each.named_weights(part).items():
                while name in named:
                    name += "'"
                named[name] = weights
        return named


def _lengths(y: Any, z: Any) -> tuple[int, int]:
    for each in (y, z):
        if isinstance(each, PairwiseAlignment):
            return each.lengths
        if isinstance(each, list | tuple) and len(each) == 2 and all(isinstance(row, str) for row in each):
            return PairwiseAlignment.from_gapped(*each).lengths
    raise ValueError("the lengths of the sequences are unknown; give one of the two alignments as a PairwiseAlignment")


def check_letters(x: Any, y: Any, i: int) -> None:
    """Raise a ValueError if gapped strings differ from the sequences, if these are strings as well."""
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
