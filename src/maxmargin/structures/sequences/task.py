"""Chain: label sequences whose neighbours have weights, decoded by Viterbi."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from copy import copy
from itertools import chain, pairwise, product
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.base.arrays import Array
from maxmargin.base.checks import check_memory, check_whole
from maxmargin.base.errors import InvalidLabels, warn_caller
from maxmargin.base.files.fields import Each, LabelList, NumberArray, OneOf, Part, afford
from maxmargin.base.files.objects import Derived, Dropped, Fields, Sometimes
from maxmargin.inputs.labels.labels import Labels, cost_matrix, label_numbers, label_set
from maxmargin.inputs.labels.weighted import Weighted
from maxmargin.inputs.packed.packed_rows import packed_atoms
from maxmargin.inputs.tokens.chunk_schemes import SCHEMES
from maxmargin.inputs.tokens.token_templates import TokenTemplates
from maxmargin.inputs.tokens.tokens import SequencePacker, Sequences
from maxmargin.inputs.tokens.transitions import allowed_transitions, chunk_scheme
from maxmargin.inputs.tokens.vocabulary import Vocabulary
from maxmargin.kernels.units import UnitTask
from maxmargin.problem.planes.atoms import Atoms
from maxmargin.structures.sequences.batch import ChainBatch, DecodedSequences, whole_losses
from maxmargin.structures.sequences.chain_sums import ChainSums
from maxmargin.structures.sequences.compiled.step_arrays import PairRows
from maxmargin.structures.sequences.histories import (
    Codes,
    Histories,
    all_ngrams,
    check_ngrams,
    observed_ngrams,
    renumbered,
    with_allowed_neighbours,
)
from maxmargin.structures.sequences.history_batch import HistoryBatch
from maxmargin.structures.sequences.packed_sequences import PackedSequences
from maxmargin.structures.sequences.partial_labels import (
    Choices,
    LabelPositions,
    as_choice,
    different,
    is_partial,
    named_labels,
)
from maxmargin.structures.sequences.transition_features import chosen_features, pair_rows

INVALID = ("error", "repair", "drop")
NGRAMS = ("all", "observed")
AT_ONCE = 2**14  # sequences whose labels are looked at together
REMEDY = "choose fewer transition_features, or give ngrams='observed'"


class Chain(UnitTask):
    """Sequences x = (x_1 … x_T) with one label per position; Ψ counts labels with features and neighbouring labels.

        ⟨w, Ψ(x, y)⟩ = s[y_1] + Σ_t ⟨U[:, y_t], x_t⟩ + Σ_t T[y_t, y_{t+1}] + f[y_T],    w = (T, s, f, U)
        Δ(y, z)      = Σ_t c_t · cost[y_t, z_t]      (Hamming; all costs 1 unless given)

    Both are sums over positions and neighbours, so one Viterbi pass finds argmax ⟨w, Ψ⟩ + λΔ (Tsochantaridis et al.
    2004, section 4.3). With order > 1, longer runs of labels have weights, too: see histories.py.

    A position whose label is not known has None, or the set of labels that it may have. What stands there is a hidden
    part of the output: Δ does not count it (of a set, it counts the cheapest mistake), and training completes it. The
    task is latent if the training data have such positions; sequences without any label tell nothing.

    costs : None, {label: cost of missing it}, or a (K, K) matrix cost[true, predicted] in the order of `classes`.
        Costs of single positions come with the data: y = Weighted(labels, costs).
    forbidden : pairs (before, after) that may not follow each other; None stands for the start or the end.
        "BIO" forbids I-x except after B-x or I-x; "BILOU" and "IOBES" forbid what breaks their chunks.
    invalid : what to do with training labels that have a forbidden transition: "error"; "repair" (write the chunks that
        conlleval would read in right labels; sequences with missing labels are left as they are); or "drop" (leave the
        sequence out).
    classes : the label set, where the training data may not show all of it.
    unknown : "ignore" (a feature of a token that training has not seen has no weight) or "error".
    min_count : a feature of fewer training tokens than that has no weight.
    hash_bits : None, or b: features of tokens have one of 2**b numbers each, a hash of their names, instead of names.
    order : how many labels before a position matter for its own. With k, every run of 3 … k + 1 neighbouring labels
        has a weight as well, also with the start or the end as one of them.
    ngrams : which runs of order + 1 labels may be predicted: "all" that `forbidden` leaves, or "observed", those that
        stand somewhere in the training labels.
    transition_features : features of a position with a weight for every allowed pair of labels, the one before and its
        own: None, True (all), a list of numbers of columns, or a list of strings with which the names begin.
    earlier : None, or a Chain that is set up: this one has its labels and its features of tokens, too.
    kernel : None, or a kernel of positions (maxmargin.kernels), whose features take the place of x_t.
    features : None, or TokenTemplates, which make the features of tokens that are tuples of columns.
    """

    saved: ClassVar[Fields] = {
        "earlier": Dropped(),  # of setting it up
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
    chosen_: NDArray[np.int64] = np.zeros(0, dtype=np.int64)  # columns that have weights for pairs of labels
    ngrams_: list[Codes] | None = None  # with a longer memory or such columns: what is allowed

    def __init__(
        self,
        classes: Sequence[Hashable] | None = None,
        costs: Any = None,
        forbidden: str | Sequence[tuple[Hashable, Hashable]] = (),
        unknown: str = "ignore",
        kernel: Any = None,
        invalid: str = "error",
        min_count: int = 1,
        hash_bits: int | None = None,
        earlier: Chain | None = None,
        order: int = 1,
        ngrams: str = "all",
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
        self._check_invalid()
        self.packer_ = self._packer().fit(X)
        if self.packer_.n_features == 0:
            raise ValueError(
                "no position of any sequence has a feature, so that nothing could be told apart; give every position "
                'at least one, such as the attribute "bias"'
            )
        given = (
            chain.from_iterable(Y)
            if self._as_given(Y)
            else (n for i, y in enumerate(Y) for n in self._read(y, i).names)
        )
        self._set_labels(different(list(given)))
        self._set_memory(lambda: self._positions(Y))
        units = (
            self.packer_.pack(X).matrix if self.kernel is not None else sparse.csr_array((0, self.packer_.n_features))
        )
        self._set_dim(units, self.n_labels_, self.first_)

    def _set_labels(self, labels: list[Any]) -> None:
        """From all labels and choices of the data: part of `setup`."""
        self.latent = any(map(is_partial, labels))
        if self.latent and all(label is None for label in labels):
            raise ValueError("no position of any sequence has a label: there is nothing to learn from")
        self.classes_ = label_set(self.classes, [*named_labels(labels), *self._earlier_labels()])
        self.numbers_ = {label: k for k, label in enumerate(self.classes_)}
        self.n_labels_ = len(self.classes_)
        self.cost_ = cost_matrix(self.costs, self.classes_)
        self.ruled_ = allowed_transitions(self.forbidden, self.numbers_)
        self.allowed_ = self.ruled_.copy()  # of which unseen pairs are taken, where that is asked for

    def _set_memory(self, positions: Callable[[], LabelPositions]) -> None:
        """Which runs of labels are allowed, and how long a memory they need: part of `setup`."""
        order = check_whole("order", self.order, least=1)
        if self.ngrams not in NGRAMS:
            raise ValueError(f"ngrams must be one of {', '.join(map(repr, NGRAMS))}, got {self.ngrams!r}")
        if self.kernel is not None and self.transition_features is not None:
            raise ValueError("transition_features are weights of features: with a kernel there are none")
        self.chosen_ = chosen_features(self.transition_features, self.packer_)
        self.pruned_, self.histories_, self.ngrams_ = self.ngrams == "observed", None, None
        self.first_ = self._first_feature()
        if order == 1 and not self.pruned_ and len(self.chosen_) == 0:
            return
        T = np.isfinite(self.cut(self.allowed_)[0])
        ngrams = self._observed(positions(), T, order) if self.pruned_ else all_ngrams(T, order)
        if order == 1 and len(self.chosen_) == 0:  # as if the other pairs were forbidden
            T, s, _ = self.cut(self.allowed_)
            T.ravel()[np.setdiff1d(np.arange(T.size), ngrams[1])] = -np.inf
            s[np.setdiff1d(np.arange(len(s)), ngrams[0])] = -np.inf
            return
        self.ngrams_ = ngrams
        self.histories_ = self._histories()
        self.first_ = self._first_feature()
        check_memory(f"a model of {self.first_:,} weights of neighbouring labels", 24.0 * self.first_, REMEDY)

    def _histories(self) -> Histories | None:
        if self.ngrams_ is None:
            return None
        _, s, f = (np.isfinite(each) for each in self.cut(self.allowed_))
        return Histories(self.n_labels_, self.ngrams_, s, f)

    def _restored_histories(self) -> Histories | None:
        """Of n-grams from a file."""
        if self.ngrams_ is not None:
            check_ngrams(self.ngrams_, np.isfinite(self.cut(self.allowed_)[0]))
            afford(len(self.ngrams_[-2]) * self.n_labels_, "steps between histories")
        return self._histories()

    def _first_feature(self) -> int:
        """Where U begins."""
        if self.histories_ is None:
            return self.n_links_
        return self.histories_.dim + len(self.chosen_) * len(self.histories_.pairs)

    def _positions(self, Y: Any) -> LabelPositions:
        offsets = np.concatenate([[0], np.cumsum([len(_checked(y, i)[0]) for i, y in enumerate(Y)], dtype=np.int64)])
        choices = Choices(self.numbers_)
        rows, _, _ = self._numbered(Y, choices, offsets)
        return LabelPositions(rows, offsets, choices)

    def _observed(self, positions: LabelPositions, allowed: NDArray[np.bool_], order: int) -> list[Codes]:
        """The n-grams of the training labels, and those of the earlier task."""
        rows, offsets, choices = positions
        filled = offsets[np.append(True, np.diff(offsets) > 0)]
        ngrams = observed_ngrams(rows, filled, choices.allowed, allowed, order)
        if self.earlier is None or self.earlier.order != order:
            return ngrams
        its, places = self.earlier, np.array([self.numbers_[label] for label in self.earlier.classes_])
        for n, known in enumerate(its.allowed_ngrams(), start=1):
            also = renumbered(known, n, its.n_labels_, places, self.n_labels_)
            ngrams[n - 1] = np.union1d(ngrams[n - 1], with_allowed_neighbours(also, n, allowed))
        return ngrams

    def allowed_ngrams(self) -> list[Codes]:
        """Of n = 1 … order + 1, the n-grams that may be predicted."""
        if self.histories_ is not None:
            return self.histories_.ngrams
        T, s, _ = self.cut(self.allowed_)
        return [np.flatnonzero(np.isfinite(s)) if self.pruned_ else np.arange(len(s)), np.flatnonzero(np.isfinite(T))]

    def setup_and_pack(self, X: Any, Y: Any) -> ChainBatch:
        """Read the tokens once for both; packed ones have been read before."""
        if isinstance(X, PackedSequences):
            return self._setup_packed(X)
        X = self._packer().read_once(X)
        self.setup(X, Y)
        return self.pack(X, Y)

    def _setup_packed(self, X: PackedSequences) -> ChainBatch:
        self._check_invalid()
        self.packer_ = X.packer_for(self)
        X.verify()
        self._set_labels([*X.labels, *X.choices])
        self._set_memory(lambda: X.positions(self.numbers_))
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
            raise ValueError("features=TokenTemplates(…) are for linear scores: with a kernel, give features of tokens")
        return SequencePacker(self.unknown, self.min_count, self.hash_bits, known, self.features)

    def _earlier_labels(self) -> list[Hashable]:
        """Those of the earlier task, whose features must be of the same kind."""
        if self.earlier is None:
            return []
        mine, its = self.packer_, self.earlier.packer_
        if type(mine.vocabulary) is not type(its.vocabulary):
            raise ValueError(
                f"the earlier model has {_kind_of_features(its)}, the sequences have {_kind_of_features(mine)}; "
                "expected the same kind of features"
            )
        if not isinstance(mine.vocabulary, Vocabulary) and mine.n_features != its.n_features:
            raise ValueError(f"there are {mine.n_features} features; expected {its.n_features} as in the earlier model")
        if isinstance(mine.feature_names, list) and mine.vocabulary is None and mine.feature_names != its.feature_names:
            raise ValueError("the columns have other names, or another order, than those of the earlier model")
        if self.classes is not None:
            missing = [label for label in self.earlier.classes_ if label not in set(self.classes)]
            if missing:
                raise ValueError(f"classes leaves out {missing[0]!r}, which the earlier model knows")
        return self.earlier.classes_

    def carried_over(self, earlier: Chain, w: Array) -> Array:
        """Weights of the earlier task as those of this one: 0 where it has none."""
        if earlier.order > self.order:
            raise ValueError(
                f"the earlier model has order={earlier.order}; expected at most {self.order}, that of this one"
            )
        weights, places = np.zeros(self.dim), np.array([self.numbers_[label] for label in earlier.classes_])
        (T, s, f), (its_T, its_s, its_f) = self.cut(weights), earlier.cut(w)
        T[np.ix_(places, places)], s[places], f[places] = its_T, its_s, its_f
        its_U = earlier.parts(w)["features"]
        self.parts(weights)["features"][: len(its_U), places] = its_U
        if earlier.histories_ is not None:
            self._carry_memory(earlier, earlier.histories_, w, weights, places)
        return weights

    def _carry_memory(
        self, earlier: Chain, its: Histories, w: Array, weights: Array, places: NDArray[np.int64]
    ) -> None:
        """What `carried_over` does with runs of labels and with features of pairs."""
        mine, K, its_K = self.histories_, self.n_labels_, earlier.n_labels_
        missing = np.setdiff1d(earlier.chosen_, self.chosen_)
        if mine is None or len(missing):
            raise ValueError(
                "the earlier model has transition_features that this one has not; give the same, or more of them"
            )
        for n, start, end in its.kinds:
            codes = its.ngrams[n - 1]
            new = renumbered(codes, n, its_K, places, K)
            known = np.isin(new, mine.ngrams[n - 1])
            weights[mine.place(new[known], n, start, end)] = w[its.place(codes[known], n, start, end)]
        if len(earlier.chosen_):
            new = renumbered(its.pairs, 2, its_K, places, K)
            known = np.isin(new, mine.pairs)
            rows, columns = np.searchsorted(self.chosen_, earlier.chosen_), np.searchsorted(mine.pairs, new[known])
            of_pairs = earlier.parts(w)["transition_features"]
            self.parts(weights)["transition_features"][np.ix_(rows, columns)] = of_pairs[:, known]

    # --- the plain form: one sequence at a time

    def psi(self, x: Any, z: Sequence[Hashable]) -> tuple[NDArray[np.int64], Array]:
        self._refuse_kernel("psi(x, z)")
        rows = sparse.coo_array(self.packer_.pack([x]).matrix)
        n_labels = self.n_labels_
        labels = label_numbers(_split(z)[0], self.numbers_)
        features = self.first_ + rows.col.astype(np.int64) * n_labels + labels[rows.row]
        if self.histories_ is not None:
            windows = self.histories_.windows(labels.tolist())
            pairs = np.searchsorted(self.histories_.pairs, labels[:-1].astype(np.int64) * n_labels + labels[1:])
            paired = np.isin(rows.col, self.chosen_) & (rows.row > 0)
            at, places = rows.row[paired], np.searchsorted(self.chosen_, rows.col[paired])
            of_pairs = self.histories_.dim + places * len(self.histories_.pairs) + pairs[at - 1]
            numbers = np.concatenate([np.ones(len(windows)), rows.data[paired], rows.data])
            return np.concatenate([windows, of_pairs, features]).astype(np.int64), numbers
        start, end = n_labels**2 + labels[0], n_labels**2 + n_labels + labels[-1]
        links = labels[:-1].astype(np.int64) * n_labels + labels[1:]
        return np.concatenate([[start, end], links, features]), np.concatenate([np.ones(2 + len(links)), rows.data])

    def loss(self, y: Any, z: Any) -> float:
        (truth, factors), found = _split(y), _split(z)[0]
        if len(truth) != len(found):
            raise ValueError(f"{len(truth)} true labels cannot be compared with {len(found)} others")
        choices = Choices(self.numbers_)
        rows = choices.read_any(truth)
        price = choices.prices(self.cost_)[rows, label_numbers(found, self.numbers_)]
        return float(np.dot(price, np.ones(len(price)) if factors is None else factors))

    def argmax(self, w: Array, x: Any, y: Any = None) -> list[Hashable]:
        batch = self.pack([x], None if y is None else [y])
        return self.named(batch.decoded(w, 0.0 if y is None else 1.0).labels)

    def outputs(self, x: Any) -> Iterator[list[Hashable]]:
        length = self.packer_.pack([x]).matrix.shape[0]
        for labels in product(range(self.n_labels_), repeat=length):
            if self._allows(labels):
                yield [self.classes_[k] for k in labels]

    def _allows(self, labels: Sequence[int]) -> bool:
        if self.histories_ is not None:
            return self.histories_.allows(labels)
        T, s, f = self.cut(self.allowed_)
        return bool(np.isfinite(s[labels[0]] + f[labels[-1]] + sum(T[a, b] for a, b in pairwise(labels))))

    # --- the compiled form: many sequences a call

    def pack(self, X: Any, Y: Any = None) -> ChainBatch:
        if isinstance(X, PackedSequences):
            return self._pack_packed(X)
        return self._made(self.packer_.pack(X), Y)

    def _made(self, packed: Sequences, Y: Any = None) -> ChainBatch:
        n_units, choices = packed.matrix.shape[0], Choices(self.numbers_)
        rows, factors = np.zeros(n_units, dtype=np.int32), np.ones(n_units)
        if Y is not None:
            rows, factors, repaired = self._numbered(Y, choices, packed.offsets)
            self._say_repaired(repaired)
        owner = np.repeat(np.arange(len(packed)), np.diff(packed.offsets))
        atoms = self._unit_atoms(packed.matrix, self.n_labels_, self.first_, owner)
        known = LabelPositions(rows, packed.offsets, choices)
        return self._labelled(atoms, known, factors, packed.matrix, trains=Y is not None)

    def _labelled(
        self, atoms: Atoms, known: LabelPositions, factors: Array, matrix: Any, trains: bool = True
    ) -> ChainBatch:
        """The batch of these units; those of a folder have no matrix."""
        rows, offsets, choices = known
        if trains:
            rows = self._without_forbidden(choices, rows, offsets)
            self._refuse_unseen(rows, offsets)
        cost = choices.prices(self.cost_)
        whole = trains and whole_losses(cost, factors, offsets)
        parts = (self, atoms, offsets, rows, factors, choices.allowed, cost, whole)
        batch = ChainBatch(*parts) if self.histories_ is None else HistoryBatch(*parts, pairs=self._pair_rows(matrix))
        return batch if batch.known.all() else batch.completed(np.zeros(atoms.dim))

    def _pair_rows(self, matrix: Any) -> PairRows:
        return pair_rows(matrix, self.chosen_, 0 if self.histories_ is None else len(self.histories_.pairs))

    def cut_out(self) -> Chain:
        """The same task for stretches cut out of sequences, which may begin and end with any label."""
        task = copy(self)
        task.allowed_ = self.allowed_.copy()
        task.allowed_[self.n_labels_**2 :] = 0
        task.histories_ = None if self.histories_ is None else self.histories_.freed()
        return task

    def complete(self, w: Array, x: Any, y: Any) -> list[Hashable]:
        return self.named(self.pack([x], [y]).completed(w).labels)

    def decode(self, w: Array, X: Any) -> list[list[Hashable]]:
        offsets, found = self._decoded(w, X)
        names = self.named(found.labels)
        return [names[a:b] for a, b in pairwise(offsets)]

    def scores(self, w: Array, X: Any) -> Array:
        """⟨w, Ψ⟩ of the best labels of every sequence; 0 of an empty one."""
        offsets, found = self._decoded(w, X)
        scores = np.zeros(len(offsets) - 1)
        scores[np.diff(offsets) > 0] = found.best
        return scores

    def _decoded(self, w: Array, X: Any) -> tuple[NDArray[np.int64], DecodedSequences]:
        """Where every sequence begins, and the best labels of those that are not empty."""
        offsets, batch = self.unlabelled(X)
        found = batch.decoded(w, 0.0)
        self._deny_impossible(found.best, np.flatnonzero(np.diff(offsets)))
        return offsets, found

    def unlabelled(self, X: Any) -> tuple[NDArray[np.int64], ChainBatch]:
        """Where every sequence begins, and those that are not empty."""
        packed = self.packer_.pack(X, may_be_empty=True)
        return packed.offsets, self._made(Sequences(packed.matrix, np.unique(packed.offsets)))

    def sums(self, w: Array, X: Any) -> ChainSums:
        """The distribution of the label sequences of every x; an empty one has one, which is empty."""
        offsets, batch = self.unlabelled(X)
        sums = batch.sums(w, offsets)
        self._deny_impossible(sums.log_partitions, np.arange(len(offsets) - 1))
        return sums

    def allowed_labels(self, Y: Any, offsets: NDArray[np.int64]) -> NDArray[np.bool_]:
        """(positions, K): whether Y leaves it open that the position has this label; none where it has a new one."""
        if len(Y) != len(offsets) - 1:
            raise ValueError(f"there are {len(offsets) - 1} sequences of features but {len(Y)} of labels")
        rows, choices = np.zeros(offsets[-1], dtype=np.int32), Choices(self.numbers_)
        for i, y in enumerate(Y):
            names, _ = _checked(y, i)
            if len(names) != offsets[i + 1] - offsets[i]:
                raise ValueError(f"sequence {i} has {offsets[i + 1] - offsets[i]} positions but {len(names)} labels")
            rows[offsets[i] : offsets[i + 1]] = choices.read_any(names)
        return np.asarray(choices.allowed[rows])

    def n_best(self, w: Array, x: Any, n: int) -> list[tuple[list[Hashable], float]]:
        """The n best label sequences with their scores, best first (fewer where there are not so many)."""
        packed = self.packer_.pack([x], may_be_empty=True)
        length = packed.matrix.shape[0]
        if length == 0:
            return [([], 0.0)]
        found, best = self._made(packed).n_best(w, min(n, self.n_labels_**length))
        return [(self.named(labels), float(score)) for labels, score in zip(found, best, strict=True)]

    def parts(self, w: Array) -> dict[str, Array]:
        """The weights by meaning: transitions (K, K), start (K,), end (K,) and, without a kernel, features (F, K).

        With a longer memory also ngrams, in the order of Histories.names; with transition_features, these (chosen,
        pairs).
        """
        parts = dict(zip(("transitions", "start", "end"), self.cut(w), strict=True))
        if self.histories_ is not None:
            top, pairs = self.histories_.dim, self.histories_.pairs
            if top > self.n_links_:
                parts["ngrams"] = w[self.n_links_ : top]
            if len(self.chosen_):
                parts["transition_features"] = w[top : self.first_].reshape(-1, len(pairs))
        return parts if self.kernel is not None else {**parts, "features": w[self.first_ :].reshape(-1, self.n_labels_)}

    @property
    def n_links_(self) -> int:
        """How many weights T, s and f are."""
        return self.n_labels_**2 + 2 * self.n_labels_

    def links(self, w: Array) -> tuple[Array, Array, Array]:
        """T, s and f with -inf where a transition is forbidden."""
        return self.cut(w[: self.n_links_] + self.allowed_)

    def cut(self, w: Array) -> tuple[Array, Array, Array]:
        """T, s and f."""
        n = self.n_labels_
        return w[: n * n].reshape(n, n), w[n * n : n * n + n], w[n * n + n : n * n + 2 * n]

    def named(self, labels: Labels) -> list[Hashable]:
        """Labels by their numbers."""
        classes = self.classes_
        return [classes[k] for k in labels.tolist()]

    def _deny_impossible(self, scores: Array, sequences: NDArray[np.intp]) -> None:
        """Raise where no label sequence has a finite score."""
        impossible = sequences[~np.isfinite(scores)]
        if len(impossible):
            what = "every label sequence of its length contains a forbidden transition"
            if self.pruned_:
                what += ", or a run of labels that training has not seen; ngrams='all' allows such runs"
            raise ValueError(f"sequence {impossible[0]}: {what}")

    # --- labels as they are given

    def _check_invalid(self) -> None:
        if self.invalid not in INVALID:
            raise ValueError(f"invalid must be one of {', '.join(map(repr, INVALID))}, got {self.invalid!r}")
        if self.invalid == "repair" and chunk_scheme(self.forbidden) is None:
            raise ValueError(
                f"invalid='repair' needs a scheme of chunks, forbidden={' or '.join(map(repr, SCHEMES))}; what else is "
                "forbidden can only be dropped, by invalid='drop'"
            )

    def _read(self, y: Any, i: int) -> GivenLabels:
        """Labels and costs of sequence i, repaired if that is asked for."""
        names, costs = _checked(y, i)
        scheme = chunk_scheme(self.forbidden) if self.invalid == "repair" else None
        if scheme is None or any(map(is_partial, names)):
            return GivenLabels(names, costs, 0)
        right = scheme.repaired([as_choice(name) for name in names])
        changed = sum(bool(a != b) for a, b in zip(right, map(as_choice, names), strict=True))
        return GivenLabels(right, costs, changed) if changed else GivenLabels(names, costs, 0)

    def _as_given(self, Y: Any) -> bool:
        """Whether all labels are in lists, without costs, and none is to be repaired."""
        return self.invalid != "repair" and set(map(type, Y)) <= {list, tuple}

    def _all_at_once(self, Y: Any, choices: Choices, offsets: NDArray[np.int64]) -> Labels | None:
        """What `_fill` writes down of all sequences, where each position has one label; else None."""
        if not self._as_given(Y) or list(map(len, Y)) != np.diff(offsets).tolist():
            return None
        return choices.read_single(chain.from_iterable(Y), int(offsets[-1]))

    def _numbered(self, Y: Any, choices: Choices, offsets: NDArray[np.int64]) -> tuple[Labels, Array, list[int]]:
        """What may stand at every position, what mistakes cost there, and how many labels of each y were repaired."""
        rows, factors = np.zeros(offsets[-1], dtype=np.int32), np.ones(offsets[-1])
        found = self._all_at_once(Y, choices, offsets)
        if found is not None:
            return found, factors, []
        return rows, factors, [self._fill(i, y, choices, rows, factors, offsets) for i, y in enumerate(Y)]

    def _fill(self, i: int, y: Any, choices: Choices, rows: Labels, factors: Array, offsets: NDArray[np.int64]) -> int:
        """Write down the labels and costs of sequence i; returns how many labels were repaired."""
        names, costs, changed = self._read(y, i)
        begin, end = offsets[i], offsets[i + 1]
        if len(names) != end - begin:
            raise ValueError(f"sequence {i} has {end - begin} positions but {len(names)} labels")
        try:
            rows[begin:end] = choices.read(names)
        except ValueError as error:
            raise ValueError(f"sequence {i}: {error}") from None
        if costs is not None:
            if len(costs) != end - begin:
                raise ValueError(f"sequence {i} has {end - begin} positions but {len(costs)} costs")
            factors[begin:end] = costs
            if not (np.isfinite(factors[begin:end]).all() and (factors[begin:end] >= 0).all()):
                raise ValueError(f"sequence {i}: position costs must be finite and >= 0")
        return changed

    def _say_repaired(self, repaired: list[int]) -> None:
        if any(repaired):
            sequences = np.flatnonzero(repaired)
            warn_caller(
                f"{sum(repaired)} labels in {len(sequences)} of {len(repaired)} sequences were repaired, because they "
                f"break the rules of {self.forbidden} (the first: sequence {sequences[0]})",
                InvalidLabels,
            )

    def _without_forbidden(self, choices: Choices, rows: Labels, offsets: NDArray[np.int64]) -> Labels:
        """Refuse, or drop, sequences with a forbidden transition; a sequence without labels is one that is dropped.

        Where labels are missing, whether some fit shows when they are completed.
        """
        if not np.isinf(self.ruled_).any():
            return rows
        places, bad = self._forbidden(rows, offsets)
        if len(places) == 0:
            return rows
        t = int(places[0])
        owner = np.searchsorted(offsets, places, side="right") - 1
        position, what = t - offsets[owner[0]], "come last"
        if bad[0, 0]:
            what = f"follow {self.classes_[rows[t - 1]]!r}" if position else "come first"
        place = f"sequence {owner[0]}, position {position}: {self.classes_[rows[t]]!r} may not {what}"
        in_chunks = chunk_scheme(self.forbidden) is not None
        place += f" in {self.forbidden}" if in_chunks else ", as forbidden says"
        if self.invalid != "drop":
            remedy = "leave out such sequences with invalid='drop'"
            if in_chunks and self.invalid == "error":
                remedy = f"repair such labels with invalid='repair', or {remedy}"
            raise ValueError(f"{place}; {remedy}")
        dropped, rows = np.unique(owner), rows.copy()
        for i in dropped:
            rows[offsets[i] : offsets[i + 1]] = choices.read([None])[0]
        warn_caller(
            f"{len(dropped)} of {len(offsets) - 1} sequences were left out, because their labels have a forbidden "
            f"transition (the first: {place})",
            InvalidLabels,
        )
        return rows

    def _forbidden(self, rows: Labels, offsets: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Positions that may not follow the one before, or may not end; which of the two it is."""
        T, s, f = self.cut(self.ruled_)
        places, kinds = [np.zeros(0, dtype=np.intp)], [np.zeros((0, 2), dtype=bool)]
        for k in range(0, len(offsets) - 1, AT_ONCE):  # which takes little memory beside the whole
            bounds = offsets[k : k + AT_ONCE + 1]
            some = rows[bounds[0] : bounds[-1]]
            known = some < self.n_labels_
            labels, first, last = np.where(known, some, 0), bounds[:-1] - bounds[0], bounds[1:] - 1 - bounds[0]
            bad = np.zeros((len(some), 2), dtype=bool)
            bad[1:, 0] = np.isinf(T[labels[:-1], labels[1:]]) & known[:-1] & known[1:]
            bad[first, 0] = np.isinf(s[labels[first]]) & known[first]
            bad[last, 1] = np.isinf(f[labels[last]]) & known[last]
            places.append(np.flatnonzero(bad.any(axis=1)) + bounds[0])
            kinds.append(bad[bad.any(axis=1)])
        return np.concatenate(places), np.concatenate(kinds)

    def _refuse_unseen(self, rows: Labels, offsets: NDArray[np.int64]) -> None:
        """Raise where labels that are given now are no output, because training had no such run of labels."""
        if not self.pruned_:
            return
        if self.histories_ is not None:
            from maxmargin.structures.sequences.compiled.histories import first_refused

            t = int(first_refused(self.histories_.steps, self.n_labels_, offsets, rows))
        else:
            known, (T, s, _) = rows < self.n_labels_, self.cut(self.allowed_)
            labels, unseen = np.where(known, rows, 0), np.zeros(len(rows), dtype=bool)
            unseen[1:] = np.isinf(T[labels[:-1], labels[1:]]) & known[:-1] & known[1:]
            unseen[offsets[:-1]] = np.isinf(s[labels[offsets[:-1]]]) & known[offsets[:-1]]
            t = int(np.argmax(unseen)) if unseen.any() else -1
        if t < 0:
            return
        i = int(np.searchsorted(offsets, t, side="right")) - 1
        run = tuple(self.named(rows[max(t - self.order, int(offsets[i])) : t + 1]))
        raise ValueError(
            f"sequence {i}, position {t - offsets[i]}: the labels {run!r} stand nowhere in what training saw first, "
            "and ngrams='observed' allows no others; give ngrams='all'"
        )


class GivenLabels(NamedTuple):
    """What a user says of one sequence."""

    names: Sequence[Hashable]
    costs: Sequence[float] | None
    repaired: int  # labels


def _kind_of_features(packer: SequencePacker) -> str:
    if packer.vocabulary is None:
        return "columns of matrices"
    return "hashed features of tokens" if packer.hashed is not None else "named features of tokens"


def _split(y: Any) -> tuple[Sequence[Hashable], Sequence[float] | None]:
    return (y.labels, y.costs) if isinstance(y, Weighted) else (y, None)


def _checked(y: Any, i: int) -> tuple[Sequence[Hashable], Sequence[float] | None]:
    if not hasattr(_split(y)[0], "__len__"):
        raise ValueError(f"Y[{i}] is {y!r}; expected the list of labels of sequence {i}, one per position")
    return _split(y)
