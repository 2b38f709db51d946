"""SemiMarkov: semi-Markov chains, which score whole segments."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from itertools import pairwise
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.base.checks import check_whole
from maxmargin.base.errors import InvalidLabels, LossReplaced, warn_caller
from maxmargin.base.files.fields import Flag, LabelList, OneOf, Part, Whole
from maxmargin.base.files.objects import Derived, Fields
from maxmargin.inputs.labels.labels import label_set
from maxmargin.inputs.tokens.token_templates import TokenTemplates
from maxmargin.inputs.tokens.tokens import SequencePacker, Sequences
from maxmargin.problem.contract.pieces import Pieces
from maxmargin.problem.contract.task import Task
from maxmargin.problem.planes.atoms import Atoms
from maxmargin.structures.segments.batch import SegmentBatch
from maxmargin.structures.segments.losses import MOST_TRUE, F1Loss, Segmented, SegmentMeasure, make_loss
from maxmargin.structures.segments.pieces import segment_pieces
from maxmargin.structures.segments.scored import ScoredSegments
from maxmargin.structures.segments.segment_features import FeatureTable, SegmentFeatures
from maxmargin.structures.segments.segment_names import SegmentNames
from maxmargin.structures.segments.segment_sums import SegmentSums
from maxmargin.structures.segments.segment_text import SegmentText
from maxmargin.structures.segments.spans import (
    OUTSIDE,
    Segmentation,
    codes_of,
    given_as_spans,
    read_segmentation,
    read_segmentations,
)

Unknown = Literal["ignore", "error"]


class SegmentWeights(NamedTuple):
    """Named parts of w, as views. Tokens outside of segments have label 0."""

    transitions: Array  # (K, K): weights of neighbouring labels
    start: Array  # (K,): weights of the first label
    end: Array  # (K,): weights of the last label
    lengths: Array  # (L, types): weights of the lengths of segments
    segments: Array  # (features of segments, types): weights of features of whole segments
    outside: Array  # (features of tokens,): weights of features of tokens outside
    features: Array  # (features of tokens, types, 3): for any, for the first and for the last token of a segment


class SemiMarkov(Task):
    """Segmentation of sequences of tokens by a semi-Markov model (Sarawagi and Cohen 2004).

    An output z consists of labelled segments and tokens outside of them:

        ⟨w, Ψ(x, z)⟩ = Σ_{segments b:e of type k} ( Σ_{b<=t<e} ⟨U_k, x_t⟩ + ⟨F_k, x_b⟩ + ⟨E_k, x_{e-1}⟩ + l[e-b, k]
                       + ⟨V_k, g(x, b, e)⟩ ) + Σ_{t outside} ⟨O, x_t⟩ + Σ_pieces A[before, after] + s[first] + f[last]

    A piece is a segment of at most max_length tokens, or a single token outside. g are features of whole segments;
    without them, this is a chain whose labels mark the first and the last token of a segment. losses.py defines Δ. The
    search is exact.

    Y are lists of tags ("O", "B-x", "I-x"), one per token, or lists of spans (begin, end, label).

    Parameters
    ----------
    measure : "tokens", "segments" or "f1"
        The loss of a wrong segmentation: the number of tokens with a wrong tag; the number of missed plus wrong
        segments; or 1 - F1 of the sequence, searched exactly in a table over counts.
    costs : None, dict or array
        For "tokens" as in tasks.Chain, for the labels "O" and classes; for "segments" {label: price of a missed or
        wrong segment}.
    max_length : int or None
        The length of the longest segment that is predicted; None: as in the training data, `max_length_`.
    segment_features : None or function
        segment_features(tokens, begin, end) -> a list of attributes or a dict, as for tokens. It is called for every
        stretch of at most max_length tokens; features of true segments in the training data get weights.
        tasks.SegmentText is such a function for text.
    classes : sequence or None
        The labels of segments, if the training data may not contain all of them.
    unknown : "ignore" or "error"
        What to do with features of tokens that do not occur in training; ignored ones have no weight.
    min_count : int
        Features that occur in fewer training tokens, or true segments, get no weight.
    features : None or TokenTemplates
        Templates that make the features of tokens: X then is lists of tuples of columns, as formats.read_conll returns.

    See Also
    --------
    maxmargin.SegmentLabeler : The estimator.
    Chain : One label per token.

    Examples
    --------
    >>> from maxmargin import tasks
    >>> task, X, Y = tasks.SemiMarkov("segments"), [[["New"], ["York"], ["sleeps"]]], [["B-LOC", "I-LOC", "O"]]
    >>> task.setup(X, Y)
    >>> task.loss(Y[0], ["O", "B-LOC", "O"])  # one segment is missed and one is wrong
    2.0
    """

    features: TokenTemplates | None = None  # older model files do not have it

    saved: ClassVar[Fields] = {
        "segment_features": OneOf(None, Part(SegmentText)),
        "packer_": Part(SequencePacker),
        "as_spans_": Flag(),
        "classes_": LabelList(least=1),
        "numbers_": Derived(lambda task: {label: k for k, label in enumerate(task.classes_)}),
        "n_types_": Derived(lambda task: len(task.classes_)),
        "tags_": Derived(lambda task: task._tags()),
        "max_length_": Whole(1),
        "outside_": Flag(),
        "loss_": Derived(lambda task: make_loss(task.measure, task.costs, task.classes_)),
        "segments_": Part(SegmentFeatures),
        "first_": Derived(lambda task: task._first()),
    }

    def __init__(
        self,
        measure: SegmentMeasure = "tokens",
        costs: Any = None,
        max_length: int | None = None,
        segment_features: Any = None,
        classes: Sequence[Hashable] | None = None,
        unknown: Unknown = "ignore",
        min_count: int = 1,
        features: TokenTemplates | None = None,
    ):
        self.measure = measure
        self.costs = costs
        self.max_length = max_length
        self.segment_features = segment_features
        self.classes = classes
        self.unknown = unknown
        self.min_count = min_count
        self.features = features

    def _check_saved(self) -> None:
        expected = self.first_ + self.packer_.n_features * (1 + 3 * self.n_types_)
        if self.dim != expected:
            raise ValueError(f"dim is {self.dim}; expected {expected} for its labels and features")

    def setup(self, X: Any, Y: Any) -> None:
        self._set_up(X, self._packer().read_once(X), Y)

    def setup_and_pack(self, X: Any, Y: Any) -> SegmentBatch:
        """Set up and pack, reading the tokens once."""
        tokens = self._packer().read_once(X)
        return self._labelled(X, *self._set_up(X, tokens, Y))

    def _packer(self) -> SequencePacker:
        return SequencePacker(self.unknown, self.min_count, templates=self.features)

    def _set_up(self, X: Any, tokens: Any, Y: Any) -> tuple[Sequences, list[Segmentation]]:
        """Set up from X, whose tokens have been read, and Y; return packed tokens and segmentations."""
        self.packer_ = self._packer().fit(tokens)
        if self.packer_.n_features == 0:
            raise ValueError(
                "no token of any sequence has a feature, so there is nothing to learn from; give every token at "
                'least one, such as the attribute "bias"'
            )
        packed = self.packer_.pack(tokens)
        self.as_spans_ = given_as_spans(Y)
        truths = read_segmentations(Y, packed.offsets)
        self._warn_of_repairs(truths)
        self._set_labels([label for truth in truths for _, _, label in truth.spans])
        self.max_length_ = self._longest(truths)
        inside = [sum(end - begin for begin, end, _ in truth.spans) for truth in truths]
        self.outside_ = inside != np.diff(packed.offsets).tolist()
        self.loss_ = make_loss(self.measure, self.costs, self.classes_)
        self._warn_of_replaced_losses(truths)
        self.segments_ = SegmentFeatures(self.segment_features, self.min_count).fit(X, [t.spans for t in truths])
        self.first_ = self._first()
        self.dim = self.first_ + self.packer_.n_features * (1 + 3 * self.n_types_)
        return packed, truths

    def _set_labels(self, labels: list[Hashable]) -> None:
        if not labels and self.classes is None:
            raise ValueError("no sequence has a segment: there is nothing to learn from; expected at least one segment")
        self.classes_ = label_set(self.classes, labels, least=1)
        if OUTSIDE in self.classes_:
            raise ValueError(f"classes contains {OUTSIDE!r}, which is reserved for tokens outside of segments")
        if not self.as_spans_ and not all(isinstance(label, str) for label in self.classes_):
            raise ValueError("classes must be strings if Y consists of tags")
        self.numbers_ = {label: k for k, label in enumerate(self.classes_)}
        self.n_types_ = len(self.classes_)
        self.tags_ = self._tags()

    def _tags(self) -> list[str]:
        """Return the tag of every code."""
        return [OUTSIDE, *(f"{letter}-{label}" for label in self.classes_ for letter in "BI")]

    def _first(self) -> int:
        """Return the position in w of the first weight of tokens."""
        m, K = self.n_types_, self.n_types_ + 1
        return K * K + 2 * K + (self.max_length_ + len(self.segments_)) * m

    def _longest(self, truths: list[Segmentation]) -> int:
        found = max((end - begin for truth in truths for begin, end, _ in truth.spans), default=1)
        return found if self.max_length is None else check_whole("max_length", self.max_length, least=1)

    # --- the plain form: one sequence at a time

    def psi(self, x: Any, z: Any) -> tuple[NDArray[np.int64], Array]:
        return self.pieces(x, z).psi()

    def pieces(self, x: Any, z: Any) -> Pieces:
        """Return Ψ(x, z) by segments, tokens outside and transitions."""
        return segment_pieces(self, x, z)

    def loss(self, y: Any, z: Any) -> float:
        truth, found = (read_segmentation(each, None, what).spans for each, what in ((y, "y"), (z, "z")))
        for _, _, label in (*truth, *found):
            if label not in self.numbers_:
                raise ValueError(f"the label {label!r} is not one of the classes {self.classes_}")
        length = max((end for _, end, _ in (*truth, *found)), default=1)
        bounds = np.array([0, length])
        one, other = (Segmented.of(codes_of(each, self.numbers_, length), bounds) for each in (truth, found))
        return float(self.loss_.of(one, other)[0])

    def argmax(self, w: Array, x: Any, y: Any = None) -> Any:
        scored = self.scored([x], None if y is None else [y])
        return self.names.named(scored.best(scored.scores(w), 0.0 if y is None else 1.0).found)

    def outputs(self, x: Any) -> Iterator[Any]:
        length = self.packer_.pack([x]).matrix.shape[0]
        yield from (self.names.named(np.array(codes, dtype=np.int32)) for codes in self._segmentations(length))

    def _segmentations(self, length: int) -> Iterator[list[int]]:
        """Enumerate the codes of all segmentations of `length` tokens."""
        if length == 0:
            yield []
            return
        if self.outside_:
            yield from ([0, *rest] for rest in self._segmentations(length - 1))
        for size in range(1, min(length, self.max_length_) + 1):
            for rest in self._segmentations(length - size):
                for k in range(self.n_types_):
                    yield [2 * k + 1, *[2 * k + 2] * (size - 1), *rest]

    # --- the compiled form: many sequences a call

    def pack(self, X: Any, Y: Any) -> SegmentBatch:
        """Return the sequences with their segmentations, ready for training."""
        packed = self.packer_.pack(X)
        return self._labelled(X, packed, read_segmentations(Y, packed.offsets))

    def _labelled(self, X: Any, packed: Sequences, truths: list[Segmentation]) -> SegmentBatch:
        codes = self.names.codes(truths, packed.offsets)
        return SegmentBatch(self, self._atoms(packed), self._table(X, packed), packed.offsets, codes, self.loss_)

    def _atoms(self, packed: Sequences) -> Atoms:
        return Atoms(packed.matrix, 1 + 3 * self.n_types_, self.first_)

    def _table(self, X: Any, packed: Sequences) -> FeatureTable:
        return self.segments_.table(X, packed.offsets, self.max_length_)

    def scored(self, X: Any, Y: Any = None) -> ScoredSegments:
        """Return the score space of the sequences, with truths if Y is given; without Y, sequences may be empty."""
        if Y is not None:
            return self.pack(X, Y).scored()
        packed = self.packer_.pack(X, may_be_empty=True)
        units = np.arange(packed.matrix.shape[0])
        return ScoredSegments(self, self._atoms(packed), self._table(X, packed), units, packed.offsets)

    def decode(self, w: Array, X: Any) -> list[Any]:
        scored = self.scored(X)
        codes, names = scored.best(scored.scores(w)).found, self.names
        return [names.named(codes[a:b]) for a, b in pairwise(scored.bounds)]

    def scores(self, w: Array, X: Any) -> Array:
        """Return ⟨w, Ψ⟩ of the best segmentation of every sequence; 0 for an empty one."""
        scored = self.scored(X)
        return scored.best(scored.scores(w)).values

    def sums(self, w: Array, X: Any) -> SegmentSums:
        """Return the distributions of the segmentations of every x; an empty x has one (empty) segmentation."""
        scored = self.scored(X)
        return scored.sums(scored.scores(w))

    def n_best(self, w: Array, x: Any, n: int) -> list[tuple[Any, float]]:
        """Return the n best segmentations (or all, if there are fewer) with their scores, best first."""
        scored = self.scored([x])
        length, names = int(scored.bounds[-1]), self.names
        if length == 0:
            return [([], 0.0)]
        codes, best = scored.n_best(scored.scores(w), min(n, (2 * self.n_types_ + 1) ** min(length, 40)))
        return [(names.named(own), float(score)) for own, score in zip(codes, best, strict=True)]

    def split_weights(self, w: Array) -> SegmentWeights:
        """Split w into its named parts, as views."""
        m = self.n_types_
        K, L, F = m + 1, self.max_length_, len(self.segments_)
        sizes = np.cumsum([0, K * K, K, K, L * m, F * m])
        A, s, f, lengths, segments = (w[a:b] for a, b in pairwise(sizes))
        tokens = w[self.first_ :].reshape(-1, 1 + 3 * m)
        return SegmentWeights(
            A.reshape(K, K),
            s,
            f,
            lengths.reshape(L, m),
            segments.reshape(F, m),
            tokens[:, 0],
            tokens[:, 1:].reshape(-1, m, 3),
        )

    @property
    def names(self) -> SegmentNames:
        """The types of segments, and the form and the limits of segmentations."""
        tags = None if self.as_spans_ else self.tags_
        return SegmentNames(self.classes_, self.numbers_, self.max_length_, self.outside_, tags)

    # --- segmentations as they are given

    def _warn_of_repairs(self, truths: list[Segmentation]) -> None:
        repaired = [truth.repaired for truth in truths]
        if any(repaired):
            found = np.flatnonzero(repaired)
            warn_caller(
                f"{sum(repaired)} segments in {len(found)} of {len(repaired)} sequences begin with 'I-' (the first: "
                f"sequence {found[0]}); they are read as segments, as conlleval does, and predicted with 'B-'",
                InvalidLabels,
            )

    def _warn_of_replaced_losses(self, truths: list[Segmentation]) -> None:
        """Warn of sequences that have too many segments for the measure "f1"."""
        more = sum(len(truth.spans) > MOST_TRUE for truth in truths) if isinstance(self.loss_, F1Loss) else 0
        if more:
            which = f"{more} of {len(truths)} sequences have more than {MOST_TRUE} true segments"
            instead = "their loss is (missed + wrong segments) / 2 true segments instead of 1 - F1"
            warn_caller(f"{which}: {instead}", LossReplaced)
