"""Chain: label sequences whose neighbours have weights, decoded by Viterbi."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from copy import copy
from itertools import pairwise, product
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.base.arrays import Array
from maxmargin.base.checks import check_memory, check_whole
from maxmargin.base.files.fields import Each, LabelList, NumberArray, OneOf, Part, afford
from maxmargin.base.files.objects import Derived, Dropped, Fields, Sometimes
from maxmargin.inputs.labels.labels import cost_matrix, label_numbers, label_set
from maxmargin.inputs.packed.packed_rows import packed_atoms
from maxmargin.inputs.tokens.token_templates import TokenTemplates
from maxmargin.inputs.tokens.tokens import SequencePacker, Sequences
from maxmargin.inputs.tokens.transitions import allowed_transitions, warn_of_other_labels
from maxmargin.inputs.tokens.vocabulary import Vocabulary
from maxmargin.kernels.units import UnitTask
from maxmargin.problem.contract.pieces import Pieces
from maxmargin.problem.contract.scored import BestOutputs
from maxmargin.problem.planes.atoms import Atoms
from maxmargin.structures.sequences.batch import ChainBatch, whole_losses
from maxmargin.structures.sequences.chain_sums import ChainSums
from maxmargin.structures.sequences.compiled.step_arrays import PairRows
from maxmargin.structures.sequences.earlier_model import check_known_labels, check_same_features
from maxmargin.structures.sequences.forbidden_labels import SeenRuns, TransitionRules, deny_impossible
from maxmargin.structures.sequences.given_labels import Invalid, LabelReader, check_invalid, split_costs
from maxmargin.structures.sequences.histories import (
    Codes,
    Histories,
    all_ngrams,
    check_ngrams,
    observed_ngrams,
    with_earlier_ngrams,
)
from maxmargin.structures.sequences.history_batch import HistoryBatch
from maxmargin.structures.sequences.history_scored import ScoredHistories
from maxmargin.structures.sequences.label_names import LabelNames
from maxmargin.structures.sequences.links import ChainLinks, cut_links, link_count
from maxmargin.structures.sequences.packed_sequences import PackedSequences
from maxmargin.structures.sequences.partial_labels import Choices, LabelPositions, is_partial, named_labels
from maxmargin.structures.sequences.pieces import chain_pieces
from maxmargin.structures.sequences.scored import ScoredChains
from maxmargin.structures.sequences.transition_features import chosen_features, pair_rows

Ngrams = Literal["all", "observed"]
Unknown = Literal["ignore", "error"]

NGRAMS = get_args(Ngrams)
REMEDY = "choose fewer transition_features, or give ngrams='observed'"


class Chain(UnitTask):
    """The task of labelling sequences x = (x_1 … x_T), with weights for features at labels and for neighbouring labels.

        ⟨w, Ψ(x, y)⟩ = s[y_1] + Σ_t ⟨U[:, y_t], x_t⟩ + Σ_t T[y_t, y_{t+1}] + f[y_T],    w = (T, s, f, U)
        Δ(y, z)      = Σ_t c_t · cost[y_t, z_t]      (Hamming; all costs 1 unless given)

    Both are sums over positions and neighbours, so one Viterbi pass finds argmax ⟨w, Ψ⟩ + λΔ (Tsochantaridis et al.
    2004, section 4.3). With order > 1, longer runs of labels have weights as well: see histories.py.

    A position whose label is not known has None, or the set of labels that it may have. Its label is a hidden part of
    the output: Δ ignores None and counts the cheapest mistake for a set, and training completes it. The task is latent
    if the training data have such positions; sequences without any label are ignored.

    Parameters
    ----------
    classes : sequence or None
        The label set, if the training data may not contain all labels.
    costs : None, dict or array
        None, {label: cost of missing it}, or a (K, K) matrix cost[true, predicted] in the order of `classes`. Costs of
        single positions come with the data: y = Weighted(labels, costs).
    forbidden : "BIO", "BILOU", "IOBES" or list of (before, after)
        Transitions that are never predicted; None in a pair stands for the start or the end. "BIO" forbids I-x except
        after B-x or I-x; "BILOU" and "IOBES" forbid transitions that break their chunks.
    unknown : "ignore" or "error"
        The treatment of features that training has not seen; ignored ones have no weight.
    kernel : None, str, callable or Kernel
        None, or a kernel of positions (maxmargin.kernels), whose features replace x_t.
    invalid : "error", "repair" or "drop"
        The treatment of training labels with a forbidden transition. "repair" reads chunks as conlleval does and writes
        them in valid labels (for BIO, an I-X that cannot follow becomes B-X), except in sequences with missing labels.
        "drop" leaves the sequence out. Both warn, with the number of labels or sequences.
    min_count : int
        Features of fewer training tokens than this get no weight, as if unseen; for partial_fit, the tokens of its
        first call count.
    hash_bits : int or None
        b: features are mapped to 2**b numbers by a hash of their names, which are not stored. partial_fit then learns
        new features in constant memory; different features may share their weights. None stores all names.
    earlier : Chain or None
        None, or a Chain that is set up, whose labels and features of tokens this one has as well.
    order : int
        The number of labels before a position that affect its score: with 2, runs of three labels have weights besides
        the pairs, with 3 also runs of four. The start and the end may be part of a run.
    ngrams : "all" or "observed"
        The runs of order + 1 labels that may be predicted: all that `forbidden` permits, or only those in the training
        labels (a missing label counts as all that it may be). Search and certificate are exact over these.
    transition_features : None, True or list
        Features of a position that also have a weight for each allowed pair of labels, the one before and its own: all
        features, column numbers, or prefixes of feature names.
    features : None or TokenTemplates
        Templates for the features of tokens: X is then lists of tuples of columns, as formats.read_conll returns them.
    """

    saved: ClassVar[Fields] = {
        "earlier": Dropped(),  # used in setup only
        "packer_": Part(SequencePacker),
        "classes_": LabelList(least=1),
        "numbers_": Derived(lambda task: {label: k for k, label in enumerate(task.classes_)}),
        "n_labels_": Derived(lambda task: len(task.classes_)),
        "cost_": NumberArray(float, "n_labels_", "n_labels_", least=0),
        "ruled_": Derived(lambda task: allowed_transitions(task.forbidden, task.numbers_)),
        "allowed_": NumberArray(float, "n_links_", finite=False, only=(0.0, -np.inf)),
        "pruned_": Derived(lambda task: task.ngrams == "observed"),
        "chosen_": Sometimes(NumberArray(np.int64, None, least=0, below="packer_.n_features")),
        "ngrams_": Sometimes(OneOf(None, Each(NumberArray(np.int64, None)))),
        "histories_": Derived(lambda task: task._restored_histories()),
        "first_": Derived(lambda task: task._first_feature()),
    }
    classes_: list[Hashable]
    chosen_: NDArray[np.int64] = np.zeros(0, dtype=np.int64)  # columns with weights for pairs of labels
    ngrams_: list[Codes] | None = None  # allowed n-grams, with order > 1 or such columns

    def __init__(
        self,
        classes: Sequence[Hashable] | None = None,
        costs: Any = None,
        forbidden: str | Sequence[tuple[Hashable, Hashable]] = (),
        unknown: Unknown = "ignore",
        kernel: Any = None,
        invalid: Invalid = "error",
        min_count: int = 1,
        hash_bits: int | None = None,
        earlier: Chain | None = None,
        order: int = 1,
        ngrams: Ngrams = "all",
        transition_features: Any = None,
        features: TokenTemplates | None = None,
    ):
        self.classes = classes
        self.costs = costs
        self.forbidden = forbidden
        self.invalid = invalid
        self.unknown = unknown
        self.min_count = min_count
        self.hash_bits = hash_bits
        self.earlier = earlier
        self.features = features
        self.kernel = kernel
        self.order = order
        self.ngrams = ngrams
        self.transition_features = transition_features

    def _check_saved(self) -> None:
        if (np.diff(self.chosen_) <= 0).any():
            raise ValueError("columns of pairs are not in order")
        self._check_length(self.packer_.n_features, self.n_labels_, self.first_)

    def setup(self, X: Any, Y: Any) -> None:
        check_invalid(self.invalid, self.forbidden)
        self.packer_ = self._packer().fit(X)
        if self.packer_.n_features == 0:
            raise ValueError(
                "no position of any sequence has a feature, so that there is nothing to learn from; give every "
                'position at least one, such as the attribute "bias"'
            )
        reader = LabelReader(self.forbidden, self.invalid)
        self._set_labels(reader.mentioned(Y))
        self._set_runs(lambda: reader.positions(Y, self.numbers_))
        units = (
            self.packer_.pack(X).matrix if self.kernel is not None else sparse.csr_array((0, self.packer_.n_features))
        )
        self._set_dim(units, self.n_labels_, self.first_)

    def _set_labels(self, labels: list[Any]) -> None:
        """Set the classes, their costs and the allowed transitions, from all labels and sets of labels of the data.

        Part of `setup`. Sets: latent, classes_, numbers_, n_labels_, cost_, ruled_, allowed_.
        """
        self.latent = any(map(is_partial, labels))
        if self.latent and all(label is None for label in labels):
            raise ValueError("no position of any sequence has a label: there is nothing to learn from")
        earlier = [] if self.earlier is None else self.earlier.classes_
        if self.earlier is not None:
            check_same_features(self.packer_, self.earlier.packer_)
            check_known_labels(self.classes, earlier)
        self.classes_ = label_set(self.classes, [*named_labels(labels), *earlier])
        self.numbers_ = {label: k for k, label in enumerate(self.classes_)}
        self.n_labels_ = len(self.classes_)
        self.cost_ = cost_matrix(self.costs, self.classes_)
        self.ruled_ = allowed_transitions(self.forbidden, self.numbers_)
        warn_of_other_labels(self.forbidden, self.classes_)
        self.allowed_ = self.ruled_.copy()  # _set_runs removes pairs that training has not seen

    def _set_runs(self, positions: Callable[[], LabelPositions]) -> None:
        """Set the runs of labels that are allowed and have weights.

        Part of `setup`, after `_set_labels`. Sets: chosen_, pruned_, ngrams_, histories_, first_, and allowed_ if the
        model remembers pairs of labels only.
        """
        order = check_whole("order", self.order, least=1)
        if self.ngrams not in NGRAMS:
            raise ValueError(f"ngrams must be one of {', '.join(map(repr, NGRAMS))}, got {self.ngrams!r}")
        if self.kernel is not None and self.transition_features is not None:
            raise ValueError("transition_features need weights of features, which a model with a kernel does not have")
        self.chosen_ = chosen_features(self.transition_features, self.packer_)
        self.pruned_, self.histories_, self.ngrams_ = self.ngrams == "observed", None, None
        self.first_ = self._first_feature()
        if order == 1 and not self.pruned_ and len(self.chosen_) == 0:
            return
        T = np.isfinite(self.cut(self.allowed_)[0])
        ngrams = self._observed(positions(), T) if self.pruned_ else all_ngrams(T, order, positions)
        if order == 1 and len(self.chosen_) == 0:  # other pairs are forbidden
            T, s, _ = self.cut(self.allowed_)
            T.ravel()[np.setdiff1d(np.arange(T.size), ngrams[1])] = -np.inf
            s[np.setdiff1d(np.arange(len(s)), ngrams[0])] = -np.inf
            return
        self.ngrams_ = ngrams
        self.histories_ = self._histories()
        self.first_ = self._first_feature()
        check_memory(f"a model of {self.first_:,} weights of neighbouring labels", 24.0 * self.first_, REMEDY)

    def _histories(self) -> Histories | None:
        """Return the histories of ngrams_, or None if the model remembers pairs of labels only."""
        if self.ngrams_ is None:
            return None
        _, s, f = (np.isfinite(each) for each in self.cut(self.allowed_))
        return Histories(self.n_labels_, self.ngrams_, s, f)

    def _restored_histories(self) -> Histories | None:
        """Check n-grams that were read from a file, and return their histories."""
        if self.ngrams_ is not None:
            check_ngrams(self.ngrams_, np.isfinite(self.cut(self.allowed_)[0]))
            afford(len(self.ngrams_[-2]) * self.n_labels_, "steps between histories")
        return self._histories()

    def _first_feature(self) -> int:
        """Return the number of weights of neighbouring labels, which come before U."""
        if self.histories_ is None:
            return self.n_links_
        return self.histories_.dim + len(self.chosen_) * len(self.histories_.pairs)

    def _observed(self, positions: LabelPositions, allowed: NDArray[np.bool_]) -> list[Codes]:
        """Return the n-grams of the training labels and of the earlier task."""
        found = observed_ngrams(positions, allowed, self.order)
        if self.earlier is None or self.earlier.order != self.order:
            return found
        numbers = np.array([self.numbers_[label] for label in self.earlier.classes_])
        return with_earlier_ngrams(found, self.earlier.allowed_ngrams(), numbers, allowed)

    def allowed_ngrams(self) -> list[Codes]:
        """Return the n-grams of n = 1 … order + 1 labels that may be predicted."""
        if self.histories_ is not None:
            return self.histories_.ngrams
        T, s, _ = self.cut(self.allowed_)
        return [np.flatnonzero(np.isfinite(s)) if self.pruned_ else np.arange(len(s)), np.flatnonzero(np.isfinite(T))]

    def setup_and_pack(self, X: Any, Y: Any) -> ChainBatch:
        """Set up and pack, reading the tokens once for both; packed sequences need no reading."""
        if isinstance(X, PackedSequences):
            return self._setup_packed(X)
        X = self._packer().read_once(X)
        self.setup(X, Y)
        return self.pack(X, Y)

    def _setup_packed(self, X: PackedSequences) -> ChainBatch:
        check_invalid(self.invalid, self.forbidden)
        self.packer_ = X.packer_for(self)
        X.verify()
        self._set_labels([*X.labels, *X.choices])
        self._set_runs(lambda: X.positions(self.numbers_))
        self._set_dim(sparse.csr_array((0, self.packer_.n_features)), self.n_labels_, self.first_)
        return self._pack_packed(X)

    def _pack_packed(self, X: PackedSequences) -> ChainBatch:
        X.check_features(self.packer_)
        X.verify()
        atoms = packed_atoms(X.folder, self.packer_.n_features, self.n_labels_, self.first_)
        return self._labelled(atoms, X.positions(self.numbers_), X.factors, None)

    def searching(self) -> Chain:
        task = copy(self)
        task.__dict__.pop("packer_", None)
        return task

    def _packer(self) -> SequencePacker:
        vocabulary = None if self.earlier is None else self.earlier.packer_.vocabulary
        known = vocabulary if isinstance(vocabulary, Vocabulary) else None
        if self.features is not None and self.kernel is not None:
            raise ValueError("features=TokenTemplates(…) are for linear scores; with a kernel, give features of tokens")
        return SequencePacker(self.unknown, self.min_count, self.hash_bits, known, self.features)

    # --- the plain form: one sequence at a time

    def psi(self, x: Any, z: Sequence[Hashable]) -> tuple[NDArray[np.int64], Array]:
        return self.pieces(x, z).psi()

    def pieces(self, x: Any, z: Sequence[Hashable]) -> Pieces:
        """Return Ψ(x, z) by positions and transitions."""
        self._refuse_kernel("psi(x, z)")
        return chain_pieces(self, x, z)

    def loss(self, y: Any, z: Any) -> float:
        (truth, factors), found = split_costs(y), split_costs(z)[0]
        if len(truth) != len(found):
            raise ValueError(f"there are {len(truth)} true but {len(found)} predicted labels")
        choices = Choices(self.numbers_)
        rows = choices.read_any(truth)
        price = choices.prices(self.cost_)[rows, label_numbers(found, self.numbers_)]
        return float(np.dot(price, np.ones(len(price)) if factors is None else factors))

    def argmax(self, w: Array, x: Any, y: Any = None) -> list[Hashable]:
        scored = self.scored([x], None if y is None else [y])
        return self.names.named(scored.best(scored.scores(w), 0.0 if y is None else 1.0).found)

    def outputs(self, x: Any) -> Iterator[list[Hashable]]:
        length = self.packer_.pack([x]).matrix.shape[0]
        rules = self.cut(self.allowed_) if self.histories_ is None else self.histories_
        for labels in product(range(self.n_labels_), repeat=length):
            if rules.allows(labels):
                yield [self.classes_[k] for k in labels]

    # --- the compiled form: many sequences per call

    def pack(self, X: Any, Y: Any = None) -> ChainBatch:
        """Return the sequences with their labels, ready for training; packed sequences contain their labels."""
        if isinstance(X, PackedSequences):
            return self._pack_packed(X)
        packed, choices = self.packer_.pack(X), Choices(self.numbers_)
        reader = LabelReader(self.forbidden, self.invalid)
        rows, factors, repaired = reader.numbered(Y, choices, packed.offsets)
        reader.warn_repaired(repaired)
        given = LabelPositions(rows, packed.offsets, choices)
        return self._labelled(self._atoms(packed), given, factors, packed.matrix)

    def _labelled(self, atoms: Atoms, given: LabelPositions, factors: Array, matrix: Any) -> ChainBatch:
        """Return the batch of units with these labels; units of a packed folder have no matrix."""
        rows = TransitionRules(self.cut(self.ruled_), self.classes_, self.forbidden, self.invalid).kept(given)
        offsets, choices = given.offsets, given.choices
        if self.pruned_:
            SeenRuns(self.cut(self.allowed_), self.histories_, self.order, self.classes_).check(rows, offsets)
        cost = choices.prices(self.cost_)
        whole = whole_losses(cost, factors, offsets)
        parts = (self, atoms, offsets, rows, factors, choices.allowed, cost, whole)
        batch = ChainBatch(*parts) if self.histories_ is None else HistoryBatch(*parts, pairs=self._pair_rows(matrix))
        return batch if batch.known.all() else batch.completed(np.zeros(atoms.dim))

    def _atoms(self, packed: Sequences) -> Atoms:
        lengths = np.diff(packed.offsets) if self.kernel_ is not None else ()  # the kernel cache needs the owners
        return self._unit_atoms(packed.matrix, self.n_labels_, self.first_, np.repeat(np.arange(len(lengths)), lengths))

    def _pair_rows(self, matrix: Any) -> PairRows:
        return pair_rows(matrix, self.chosen_, 0 if self.histories_ is None else len(self.histories_.pairs))

    def scored(self, X: Any, Y: Any = None) -> ScoredChains | ScoredHistories:
        """Return the sequences, with truths if Y is given, ready for scoring and search; others may be empty."""
        if Y is not None or isinstance(X, PackedSequences):
            return self.pack(X, Y).scored()
        packed = self.packer_.pack(X, may_be_empty=True)
        atoms, units = self._atoms(packed), np.arange(packed.matrix.shape[0])
        if self.histories_ is None:
            return ScoredChains(atoms, units, self.allowed_, packed.offsets, self.names)
        pairs = self._pair_rows(packed.matrix)
        return ScoredHistories(atoms, units, self.histories_, pairs, self.first_, packed.offsets, self.names)

    @property
    def names(self) -> LabelNames:
        """The labels by name and by number."""
        return LabelNames(self.classes_, self.numbers_)

    def cut_out(self) -> Chain:
        """Return the same task for stretches cut out of sequences, which may begin and end with any label."""
        task = copy(self)
        task.allowed_ = self.allowed_.copy()
        task.allowed_[self.n_labels_**2 :] = 0
        task.histories_ = None if self.histories_ is None else self.histories_.freed()
        return task

    def complete(self, w: Array, x: Any, y: Any) -> list[Hashable]:
        return self.names.named(self.pack([x], [y]).completed(w).labels)

    def decode(self, w: Array, X: Any) -> list[list[Hashable]]:
        scored, best = self._decoded(w, X)
        names = self.names.named(best.found)
        return [names[a:b] for a, b in pairwise(scored.bounds.tolist())]

    def scores(self, w: Array, X: Any) -> Array:
        """Return ⟨w, Ψ⟩ of the best labels of every sequence; 0 for an empty one."""
        return self._decoded(w, X)[1].values

    def _decoded(self, w: Array, X: Any) -> tuple[ScoredChains | ScoredHistories, BestOutputs]:
        scored = self.scored(X)
        best = scored.best_of_own(scored.scores(w))
        deny_impossible(best.values, self.pruned_)
        return scored, best

    def sums(self, w: Array, X: Any) -> ChainSums:
        """Return the distributions of the label sequences of every x. An empty x has one output, the empty one."""
        scored = self.scored(X)
        sums = scored.sums(scored.scores(w))
        deny_impossible(sums.log_partitions, self.pruned_)
        return sums

    def n_best(self, w: Array, x: Any, n: int) -> list[tuple[list[Hashable], float]]:
        """Return the n best label sequences with their scores, best first; there may be fewer."""
        scored = self.scored([x])
        length = int(scored.bounds[-1])
        if length == 0:
            return [([], 0.0)]
        found, best = scored.n_best(scored.scores(w), min(n, self.n_labels_**length))
        return [(self.names.named(labels), float(score)) for labels, score in zip(found, best, strict=True)]

    def parts(self, w: Array) -> dict[str, Array]:
        """Return the weights by name: transitions (K, K), start (K,), end (K,) and, without a kernel, features (F, K).

        With order > 1 also ngrams, in the order of Histories.names; with transition_features these (chosen, pairs).
        """
        parts = dict(zip(("transitions", "start", "end"), self.cut(w), strict=True))
        if self.histories_ is not None:
            top, pairs = self.histories_.dim, self.histories_.pairs
            if top > self.n_links_:
                parts["ngrams"] = w[self.n_links_ : top]
            if len(self.chosen_):
                parts["transition_features"] = w[top : self.first_].reshape(len(self.chosen_), len(pairs))
        return parts if self.kernel is not None else {**parts, "features": w[self.first_ :].reshape(-1, self.n_labels_)}

    @property
    def n_links_(self) -> int:
        """The number of weights of T, s and f."""
        return link_count(self.n_labels_)

    def links(self, w: Array) -> ChainLinks:
        """Return T, s and f, with -inf for forbidden transitions."""
        return self.cut(w[: self.n_links_] + self.allowed_)

    def cut(self, w: Array) -> ChainLinks:
        """Return views of T, s and f in w."""
        return cut_links(w, self.n_labels_)
