"""Dependencies: a head for every word of a sentence, such that the arcs form a tree."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import product
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.base.checks import check_whole, is_whole
from maxmargin.base.files.fields import Flag, LabelList, OneOf, Part
from maxmargin.base.files.objects import Derived, Fields
from maxmargin.inputs.labels.labels import in_order, label_numbers
from maxmargin.problem.contract.pieces import Pieces
from maxmargin.problem.contract.task import Task
from maxmargin.structures.dependencies.arc_space import TreeRules
from maxmargin.structures.dependencies.batch import DependencyBatch
from maxmargin.structures.dependencies.given_arcs import GivenArcs
from maxmargin.structures.dependencies.heads import HeadsOfWords, check_tree, read_heads
from maxmargin.structures.dependencies.lexicon import Codes, read_tokens
from maxmargin.structures.dependencies.pieces import arc_pieces
from maxmargin.structures.dependencies.scored import ScoredDependencies
from maxmargin.structures.dependencies.scored_arcs import as_trees
from maxmargin.structures.dependencies.tree_sums import DependencySums
from maxmargin.structures.dependencies.word_arcs import MAX_BYTES, WordArcs

ArcMeasure = Literal["hamming", "share"]

MEASURES = get_args(ArcMeasure)
MOST_BITS = 28


class Dependencies(Task):
    """The task of dependency parsing: trees of arcs away from the root 0 over words 1 … n, with labels if Y has them.

        ⟨w, Ψ(x, z)⟩ = Σ_m ⟨w, f(h_m, m)⟩ + ⟨w_l(m), g(h_m, m)⟩,          h_m the head of word m, l(m) its label     (1)
        Δ(y, z)      = number of words whose head, or label, is wrong      ("share": divided by n)                   (2)

    The best label of an arc does not depend on other arcs, so every arc has the score of its best label. The best tree
    is a maximum arborescence (compiled/arborescence.py; O(n²)) or, for projective trees, is found by spans
    (compiled/eisner.py; O(n³)). Both (1) and (2) are sums over words, so the loss-augmented search is exact as well.
    Slack rescaling and squared slacks use branch and bound over arcs, as Parts does.

    x is a list of tokens (form, tag), or of dicts with "form" and "tag"; y a list of heads, or of (head, label).

    Parameters
    ----------
    projective : bool
        True: only trees without crossing arcs, by Eisner's algorithm; False: all trees, by the algorithm of Chu, Liu
        and Edmonds, which is faster.
    single_root : bool
        True: exactly one word has the head 0, as in Universal Dependencies.
    measure : "hamming" or "share"
        The loss of a wrong tree: the number of words whose head or label is wrong, or their share.
    features : None or function
        None: features of forms and tags (docs/howto/dependencies.md lists them). Or features(x) -> a matrix, dense or
        sparse, with a row for every arc of x, that from h to m of n words in row h·n + m - 1; x may then be anything
        with a length.
    min_count : int
        For the built-in features: forms that occur less often in training are treated as unknown, like new forms in
        predictions. Forms are compared in lower case.
    hash_bits : None or int
        For the built-in features. None: every feature of the true training arcs has a weight of its own, others have
        none. b: features of all arcs, right and wrong ones, have the weights of 2^b buckets (and 2^(b - 4) with a
        weight for every label); different features may share a bucket, and weights have no names.
    most_decodes : int
        The most searches for one sentence if losses are rescaled (rescaling="slack", slack="l2").
    """

    saved: ClassVar[Fields] = {
        "projective": Flag(),
        "single_root": Flag(),
        "features": OneOf(None),
        "classes_": OneOf(None, LabelList(least=1)),
        "arcs_": Part(WordArcs),
        "dim": Derived(lambda task: task.arcs_.dim),
    }

    def __init__(
        self,
        projective: bool = False,
        single_root: bool = True,
        measure: ArcMeasure = "hamming",
        features: Callable[[Any], Any] | None = None,
        min_count: int = 1,
        hash_bits: int | None = None,
        most_decodes: int = 200,
    ):
        self.projective = projective
        self.single_root = single_root
        self.measure = measure
        self.features = features
        self.min_count = min_count
        self.hash_bits = hash_bits
        self.most_decodes = most_decodes

    def _check_saved(self) -> None:
        if self.arcs_.n_labels != len(self.classes_ or ()):
            raise ValueError(
                f"arcs have {self.arcs_.n_labels} labels; expected {len(self.classes_ or ())}, one per class"
            )

    def setup(self, X: Sequence[Any], Y: Sequence[Any]) -> None:
        self._check_options()
        if len(X) == 0:
            raise ValueError("no sentences given: X is empty")
        trees = [read_heads(y, f"the tree of sentence {i}") for i, y in enumerate(Y)]
        labelled = [tree.labels is not None for tree in trees]
        if any(labelled) and not all(labelled):
            with_, without = labelled.index(True), labelled.index(False)
            raise ValueError(
                f"the tree of sentence {with_} has labels, but the tree of sentence {without} has none; expected "
                "labels in all trees or in none"
            )
        self.classes_: list[Hashable] | None = None
        if labelled[0]:
            self.classes_ = in_order(label for tree in trees for label in tree.labels or ())
        tokens, lengths = self._read(X)
        heads, labels = self._truths(trees, lengths)
        n_labels = len(self.classes_ or ())
        if self.features is None:
            self.arcs_: Any = WordArcs(self.min_count, self.hash_bits).fit(tokens, heads, labels, n_labels)
        else:
            self.arcs_ = GivenArcs(self.features).fit(X, lengths, n_labels)
        self.dim = self.arcs_.dim

    # --- the plain form: one sentence at a time

    def psi(self, x: Any, z: Any) -> tuple[NDArray[np.int64], Array]:
        return self.pieces(x, z).psi()

    def pieces(self, x: Any, z: Any) -> Pieces:
        """Return Ψ(x, z) by arcs."""
        return arc_pieces(self, x, z)

    def loss(self, y: Any, z: Any) -> float:
        true, found = read_heads(y, "y"), read_heads(z, "z")
        if len(true.heads) != len(found.heads):
            raise ValueError(f"y has {len(true.heads)} heads but z has {len(found.heads)}")
        wrong = sum(a != b for a, b in zip(true.as_given(), found.as_given(), strict=True))
        return wrong * self._price(len(true.heads))

    def argmax(self, w: Array, x: Any, y: Any = None) -> list[Any]:
        scored = self.scored([x], None if y is None else [y])
        found = scored.searched(scored.scored_arcs(w), 0.0 if y is None else 1.0)
        return as_trees(found, self.classes_)[0]

    def outputs(self, x: Any) -> Iterator[list[Any]]:
        _, (n,) = self._read([x])
        for heads in product(range(n + 1), repeat=n):
            try:
                check_tree(heads, n, "a candidate", self.single_root, self.projective)
            except ValueError:
                continue
            for labels in [None] if self.classes_ is None else product(self.classes_, repeat=n):
                yield HeadsOfWords(list(heads), None if labels is None else list(labels)).as_given()

    # --- the compiled form: many sentences per call

    def pack(self, X: Sequence[Any], Y: Sequence[Any]) -> DependencyBatch:
        """Return the sentences with their trees, ready for training."""
        tokens, lengths = self._read(X)
        trees = [read_heads(y, f"the tree of sentence {i}") for i, y in enumerate(Y)]
        arcs = self._arcs(X, tokens, lengths, *self._truths(trees, lengths), MAX_BYTES)
        return DependencyBatch(self, arcs, np.array([self._price(n) for n in lengths.tolist()]))

    def scored(self, X: Sequence[Any], Y: Sequence[Any] | None = None) -> ScoredDependencies:
        """Return the sentences, with their trees if Y is given, ready for scoring and search."""
        if Y is not None:
            return self.pack(X, Y).scored()
        tokens, lengths = self._read(X)
        unknown = np.full(int((lengths + 1).sum()), -1, dtype=np.int64)
        return ScoredDependencies(
            self._arcs(X, tokens, lengths, unknown, unknown, 0), np.arange(len(lengths)), self.rules
        )

    def _arcs(self, X: Any, tokens: Any, lengths: Codes, heads: Codes, labels: Codes, max_bytes: int) -> Any:
        """Return the arcs of all sentences, as PackedWordArcs or PackedGivenArcs."""
        if self.features is None:
            return self.arcs_.packed(tokens, heads, labels, max_bytes)
        return self.arcs_.packed(X, lengths, heads, labels)

    @property
    def rules(self) -> TreeRules:
        """The trees that are outputs, and the labels of their arcs."""
        return TreeRules(bool(self.single_root), bool(self.projective), self.classes_)

    def decode(self, w: Array, X: Sequence[Any]) -> list[list[Any]]:
        if len(X) == 0:
            return []
        scored = self.scored(X)
        return as_trees(scored.searched(scored.scored_arcs(w)), self.classes_)

    def sums(self, w: Array, X: Sequence[Any]) -> DependencySums:
        """Return the distributions of the trees of every sentence."""
        arcs = self.scored(X).arcs
        return DependencySums(self.rules, arcs.sentences.lengths, lambda i: arcs.all_scores(w, i))

    # --- helpers

    def _read(self, X: Sequence[Any]) -> tuple[Any, Codes]:
        """Return the tokens, if they are needed, and the number of words of every sentence."""
        if self.features is None:
            tokens = read_tokens(X)
            return tokens, np.array([len(each) for each in tokens], dtype=np.int64)
        for i, x in enumerate(X):
            if not hasattr(x, "__len__") or len(x) == 0:
                raise ValueError(f"sentence {i} is {x!r}; expected something with a length of at least 1, its words")
        return None, np.array([len(x) for x in X], dtype=np.int64)

    def _truths(self, trees: Sequence[HeadsOfWords], lengths: Codes) -> tuple[Codes, Codes]:
        """Return checked heads and numbers of labels, with an entry for the root before every sentence."""
        numbers = None if self.classes_ is None else {label: k for k, label in enumerate(self.classes_)}
        heads, labels = [], []
        for i, (tree, n) in enumerate(zip(trees, lengths.tolist(), strict=True)):
            name = f"the tree of sentence {i}"
            check_tree(tree.heads, n, name, self.single_root, self.projective)
            if (tree.labels is None) != (numbers is None):
                raise ValueError(
                    f"{name} has {'no ' if tree.labels is None else ''}labels; expected "
                    f"{'pairs (head, label)' if numbers else 'heads alone'}, as in training"
                )
            heads += [-1, *tree.heads]
            if numbers is None or tree.labels is None:
                labels += [-1] * (n + 1)
                continue
            try:
                labels += [-1, *label_numbers(tree.labels, numbers).tolist()]
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from None
        return np.array(heads, dtype=np.int64), np.array(labels, dtype=np.int64)

    def _price(self, n: int) -> float:
        return 1.0 / n if self.measure == "share" else 1.0

    def _check_options(self) -> None:
        if self.measure not in MEASURES:
            raise ValueError(f"measure must be one of {', '.join(map(repr, MEASURES))}, got {self.measure!r}")
        if self.features is not None and not callable(self.features):
            raise TypeError(f"features must be None or a function features(x) -> matrix, got {self.features!r}")
        check_whole("min_count", self.min_count, least=1)
        check_whole("most_decodes", self.most_decodes, least=1)
        if self.hash_bits is not None and not (is_whole(self.hash_bits) and 1 <= self.hash_bits <= MOST_BITS):
            raise ValueError(f"hash_bits must be None or a whole number from 1 to {MOST_BITS}, got {self.hash_bits!r}")
