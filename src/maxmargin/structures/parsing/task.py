"""Grammar: parse trees of a weighted context-free grammar, found by CKY."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.arrays import Array
from maxmargin.atoms import AtomRows, Atoms
from maxmargin.batch import Batch
from maxmargin.errors import LossReplaced
from maxmargin.inputs.tokens import SequencePacker
from maxmargin.inputs.words import word_attributes
from maxmargin.objective import Formulation
from maxmargin.planes import Planes
from maxmargin.structures.parsing.charts import BRACKETS, HAMMING, ZERO_ONE, Charts, Loss, Truth, flat
from maxmargin.structures.parsing.derivations import all_derivations
from maxmargin.structures.parsing.productions import Productions, Rows
from maxmargin.structures.parsing.span_features import SPAN, SPLIT, SpanFeatures
from maxmargin.structures.parsing.trees import Tree
from maxmargin.task import Task

INPUTS = ("tags", "words", "features")
MEASURES = ("hamming", "f1", "zero_one")


class Unparseable(ValueError):  # noqa: N818 - what happened is the better name
    """A sentence has no derivation in the grammar."""


class Grammar(Task):
    """Sentences x with a parse tree y; Ψ counts the rules of the tree (Tsochantaridis et al. 2004, sections 2 and 4.5).

        ⟨w, Ψ(x, y)⟩ = Σ_{rules r of y, at words i … j-1} ( w_r + ⟨V_r, f(x, i, j)⟩ ) + w_root + Σ_t ⟨U_tag(t), x_t⟩

    The rules are those of the training trees (tasks.productions: how they become binary), or given. The features f of
    spans are there if asked for, those of words where the input is not a sequence of tags.

        measure      Δ(y, z), with m right labelled brackets among q predicted and g true ones
        "hamming"    g + q - 2m
        "f1"         1 - 2m/(g + q); (g + q - 2m)/2g, which is the same where q = g, for more than f1_words words
        "zero_one"   0 if the trees are equal, else 1

    Brackets are the labelled spans of phrases; tags do not count. The search is exact for all three, with margin and
    with slack rescaling (compiled/cky_counts.py: a table over counts). With "f1" that table grows fast with the length
    of a sentence, hence f1_words.

    inputs : "tags" (x is a list of tags, or of (word, tag) pairs), "words" (a list of words; tasks.words says what is
        used of them), or "features" (what tasks.Chain takes: tokens as attributes or dicts, or a matrix)
    horizontal, vertical : what of its context a rule remembers; see Productions
    rules : None (read them off the training trees) or strings like "NP -> DT NN | NNP", the root in the first one;
        what has no rules of its own is a tag. They are taken as they are: horizontal is not read.
    span_features : any of "first", "last", "before", "after", "length", "split_left", "split_right" (see SpanFeatures),
        () for the rules alone, or "auto": all where the input is tags or words
    on_failure : "error", or "flat": a sentence without derivation gets all words below one node, the most frequent root
    """

    def __init__(
        self,
        inputs: str = "tags",
        measure: str = "hamming",
        horizontal: int | None = 0,
        vertical: int = 1,
        rules: Any = None,
        span_features: str | Sequence[str] = "auto",
        f1_words: int = 20,
        on_failure: str = "error",
    ):
        self.inputs = inputs
        self.measure = measure
        self.horizontal = horizontal
        self.vertical = vertical
        self.rules = rules
        self.span_features = span_features
        self.f1_words = f1_words
        self.on_failure = on_failure

    def setup(self, X: Any, Y: Any) -> None:
        self._check_options()
        productions = Productions(self.horizontal, self.vertical)
        if self.rules is None:
            productions.read(tree_of(y, i) for i, y in enumerate(Y))
        else:
            productions.write(self.rules)
        self.productions_, self.rules_ = productions.sort(), flat(productions)
        self.tags_ = productions.tags
        self.tag_symbols_ = np.array(list(self.tags_.values()), dtype=np.intp)
        self.tag_number_ = np.full(len(self.rules_.label), -1, dtype=np.int32)
        self.tag_number_[self.tag_symbols_] = np.arange(len(self.tag_symbols_))
        self.longest_chain_ = int(np.diff(self.rules_.step).max(initial=0))
        first = self.rules_.productions + len(self.rules_.roots)
        tokens = [] if self.inputs == "features" else [self._read(x, i)[1] for i, x in enumerate(X)]
        names = self.span_features
        if isinstance(names, str) and names == "auto":
            names = () if self.inputs == "features" else (*SPAN, *SPLIT)
        self.spans_ = SpanFeatures(names).fit(tokens, first, self.rules_.productions)
        if self.inputs == "features" and self.spans_.first_:
            raise ValueError("span_features speak of tags or words; with inputs='features' there are none")
        self.first_ = self.dim = self.spans_.end_  # where the weights of words begin
        if self.inputs != "tags":
            self.packer_ = SequencePacker().fit(self._word_features(X))
            self.dim += self.packer_.n_features * len(self.tags_)
        longer = sum(len(Tree.of(y)) > self.f1_words for y in Y) if self.measure == "f1" else 0
        if longer:
            told = f"{longer} of {len(Y)} sentences have more than f1_words={self.f1_words} words"
            instead = "their loss is (missed + wrong brackets) / 2 true brackets instead of 1 - F1"
            warnings.warn(f"{told}: {instead}", LossReplaced, stacklevel=2)

    # --- the plain form: one sentence at a time

    def psi(self, x: Any, z: Any) -> tuple[NDArray[np.int64], Array]:
        batch = self.pack([x], [z])
        row = sparse.coo_array(_rows([batch.examples[0].counted], [], batch.atoms).tocsr())
        return row.coords[1].astype(np.int64), row.data

    def loss(self, y: Any, z: Any) -> float:
        true, found = Tree.of(y), Tree.of(z)
        if self.measure == "zero_one":
            return float(_wordless(true) != _wordless(found))
        left, right = Counter(true.brackets()), Counter(found.brackets())
        m, g, q = (left & right).total(), left.total(), right.total()
        loss = self._loss(len(true), g)
        return float(loss.of(m, q) if loss.kind == BRACKETS else loss.of(0, g + q - 2 * m))

    def argmax(self, w: Array, x: Any, y: Any = None) -> Tree:
        if y is None:
            return self.decode(w, [x])[0]
        batch = self.pack([x], [y])
        found, _ = self._search(w, batch, self._loss_search(w, batch, np.ones(1)))
        return self.productions_.tree(found[0], batch.examples[0].words)

    def outputs(self, x: Any) -> Iterator[Tree]:
        example = self.pack([x]).examples[0]
        tags: Any = example.tags[:, None] if self.inputs == "tags" else [self.tag_symbols_] * len(example.words)
        for rows in all_derivations(self.rules_, tags):
            yield self.productions_.tree(rows, example.words)

    # --- the compiled form: many sentences a call

    def pack(self, X: Any, Y: Any = None) -> GrammarBatch:
        sentences = [self._read(x, i) for i, x in enumerate(X)] if self.inputs != "features" else []
        if self.inputs == "tags":
            atoms, offsets = Atoms.coordinates(self.dim), np.zeros(len(X), dtype=np.int64)
        else:
            packed = self.packer_.pack(self._word_features(X))
            atoms, offsets = Atoms(packed.matrix, len(self.tags_), self.first_), packed.offsets
            if self.inputs == "features":  # without words, trees show their numbers
                sentences = [([str(t) for t in range(n)], [""] * n) for n in np.diff(offsets)]
        examples = []
        for (words, tokens), unit in zip(sentences, offsets, strict=False):
            tags = np.array([self.tags_.get(token, -1) for token in tokens], dtype=np.int32)
            examples.append(Example(words, tokens, tags, self.spans_.tokens(tokens), int(unit)))
        if Y is not None:
            known = enumerate(zip(examples, Y, strict=True))
            examples = [self._told(atoms, example, tree_of(y, i), i) for i, (example, y) in known]
        return GrammarBatch(examples, atoms, np.arange(len(examples)))

    def decode(self, w: Array, X: Any) -> list[Tree]:
        batch = self.pack(X)
        found, sentences = self._search(w, batch, lambda charts, sentence, j: charts.best(w, sentence)[0])
        parts = enumerate(zip(found, sentences, batch.examples, strict=True))
        return [
            self._failed(i, example, sentence) if rows is None else self.productions_.tree(rows, example.words)
            for i, (rows, sentence, example) in parts
        ]

    def scores(self, w: Array, X: Any) -> Array:
        """⟨w, Ψ⟩ of the best tree of every sentence; -inf where there is none."""
        found, _ = self._search(w, self.pack(X), lambda charts, sentence, j: charts.best(w, sentence)[1])
        return np.array(found)

    def n_best(self, w: Array, X: Any, n: int) -> list[list[tuple[Tree, float]]]:
        """The n best trees of every sentence with their scores, best first (fewer where there are not so many)."""
        batch = self.pack(X)
        found, sentences = self._search(w, batch, lambda charts, sentence, j: charts.k_best(w, sentence, n))
        for i, (trees, sentence, example) in enumerate(zip(found, sentences, batch.examples, strict=True)):
            if not trees:
                found[i] = [(self._failed(i, example, sentence), -np.inf)]
            else:
                found[i] = [(self.productions_.tree(rows, example.words), score) for rows, score in trees]
        return found

    def planes(self, w: Array, batch: GrammarBatch, augment: float | Array = 1.0) -> Planes:
        lam = np.broadcast_to(np.asarray(augment, dtype=float), len(batch))
        return self._planes(w, batch, self._loss_search(w, batch, lam))

    def rescaled_planes(self, w: Array, batch: GrammarBatch, formulation: Formulation) -> Planes:
        def search(charts: Charts, sentence: Any, j: int) -> Rows:
            example = batch.example(j)
            score = example.score(w, sentence, self.first_)
            return charts.most_violated(w, sentence, example.truth, example.loss, score, formulation.value)

        return self._planes(w, batch, search)

    def parts(self, w: Array) -> dict[str, Any]:
        """The weights by meaning: rules and roots by name, spans (values, rules) by feature, words (F, tags)."""
        (rules, roots), productions = self.productions_.names(), self.rules_.productions
        return {
            "rules": dict(zip(rules, w[:productions].tolist(), strict=True)),
            "roots": dict(zip(roots, w[productions : productions + len(roots)].tolist(), strict=True)),
            "spans": self.spans_.parts(w),
            "words": w[self.first_ :].reshape(-1, len(self.tags_)),
        }

    def weight_names(self) -> dict[str, Any]:
        """What the rows and columns of `parts` stand for."""
        rules, roots = self.productions_.names()
        words = [] if self.inputs == "tags" else self.packer_.feature_names
        return {"rules": rules, "roots": roots, "spans": self.spans_.names(), "words": (words, list(self.tags_))}

    def _loss_search(self, w: Array, batch: GrammarBatch, lam: Array) -> Search:
        """The search for argmax λΔ + ⟨w, Ψ⟩: labels of spans carry their part of a Hamming loss, others need counts."""

        def search(charts: Charts, sentence: Any, j: int) -> Rows | None:
            if lam[j] == 0:
                return charts.best(w, sentence)[0]
            example = batch.example(j)
            if example.loss.kind == HAMMING:
                bonus = example.truth.bonus(charts.n_labels, lam[j] * example.loss.scale)
                return charts.best(w, sentence, bonus)[0]
            score = example.score(w, sentence, self.first_)
            return charts.most_violated(
                w, sentence, example.truth, example.loss, score, lambda loss, margin: lam[j] * loss - margin
            )

        return search

    def _search(self, w: Array, batch: GrammarBatch, search: Search) -> tuple[list[Any], list[Any]]:
        """What the search finds in every sentence, and the sentences as charts read them."""
        examples = [batch.example(j) for j in range(len(batch))]
        charts = Charts(self.rules_, max((len(example.words) for example in examples), default=1))
        sentences = [self._sentence(w, batch.atoms, example) for example in examples]
        return [search(charts, sentence, j) for j, sentence in enumerate(sentences)], sentences

    def _planes(self, w: Array, batch: GrammarBatch, search: Search) -> Planes:
        found, sentences = self._search(w, batch, search)
        examples = [batch.example(j) for j in range(len(batch))]
        counted = [self._atoms(*each) for each in zip(found, sentences, examples, strict=True)]
        loss = [e.truth.loss(e.loss, rows, self.rules_) for e, rows in zip(examples, found, strict=True)]
        return Planes(_rows([example.counted for example in examples], counted, batch.atoms), np.array(loss))

    def _sentence(self, w: Array, atoms: Atoms, example: Example) -> Any:
        from maxmargin.structures.parsing.compiled.cky import Sentence

        n = len(example.words)
        leaf = np.full((n, len(self.rules_.label)), -np.inf)
        if self.inputs == "tags":
            known = np.flatnonzero(example.tags >= 0)
            leaf[known, example.tags[known]] = 0.0
        else:
            leaf[:, self.tag_symbols_] = atoms.scores(w, np.arange(example.unit, example.unit + n))
        return Sentence(leaf, *self.spans_.places(example.tokens))

    def _atoms(self, rows: Rows, sentence: Any, example: Example) -> NDArray[np.int64]:
        """The atoms that a derivation counts; they may repeat."""
        from maxmargin.structures.parsing.compiled.cky import derivation_atoms

        n, n_tags = len(sentence.leaf), len(self.tags_)
        room = (
            (2 * n - 1) * sentence.places.shape[1] * (1 + self.longest_chain_) + n * (1 + sentence.splits.shape[1]) + 1
        )
        atoms = np.empty(room, dtype=np.int64)
        first = -1 if self.inputs == "tags" else self.first_ + example.unit * n_tags
        return atoms[: derivation_atoms(rows, sentence, self.rules_, self.tag_number_, n_tags, first, atoms)]

    def _told(self, atoms: Atoms, example: Example, tree: Tree, i: int) -> Example:
        """The example with its true derivation."""
        if len(tree) != len(example.words):
            raise ValueError(f"sentence {i} has {len(example.words)} words, but its tree has {len(tree)}")
        if self.inputs == "tags":
            for t, (tag, given) in enumerate(zip(tree.tags(), example.read, strict=True)):
                if tag != given:
                    raise ValueError(f"word {t} of sentence {i} has the tag {given!r}, but {tag!r} in its tree")
        if self.inputs == "words" or (self.inputs == "tags" and example.words != example.read):  # not tags alone
            for t, (word, given) in enumerate(zip(tree.words(), example.words, strict=True)):
                if word != given:
                    found = f"word {t} of sentence {i} is {given!r}, but {word!r} in its tree"
                    raise ValueError(f"{found}; Tree.with_words changes the words of a tree")
        truth = Truth(self.productions_.derivation(tree, f"the tree of sentence {i}"), self.rules_)
        counted = self._atoms(truth.rows, self._sentence(np.zeros(self.dim), atoms, example), example)
        return example._replace(truth=truth, counted=counted, loss=self._loss(len(tree), len(truth.brackets)))

    def _loss(self, n_words: int, n_brackets: int) -> Loss:
        if self.measure == "zero_one":
            return Loss(ZERO_ONE, n_brackets)
        if self.measure == "hamming":
            return Loss(HAMMING, n_brackets)
        if n_words > self.f1_words:
            return Loss(HAMMING, n_brackets, 0.5 / max(n_brackets, 1))
        return Loss(BRACKETS, n_brackets)

    def _failed(self, i: int, example: Example, sentence: Any) -> Tree:
        if self.on_failure == "error":
            unknown = np.flatnonzero(np.isneginf(sentence.leaf).all(axis=1))
            why = "the grammar has no tree for its tags"
            if len(unknown):
                why = f"the tag of word {unknown[0]}, {example.read[unknown[0]]!r}, is not in the grammar"
            raise Unparseable(f"sentence {i}: {why}; on_failure='flat' puts all its words below one node instead")
        symbols, roots = list(self.productions_.symbols), self.productions_.roots.most_common()
        label = next((symbols[s].name for s, _ in roots if symbols[s].kind == "label"), "ROOT")
        tags = example.read
        if self.inputs != "tags":
            tags = [symbols[s].name for s in np.argmax(sentence.leaf, axis=1)]
        return Tree(label, [Tree(tag, [word]) for tag, word in zip(tags, example.words, strict=True)])

    def _read(self, x: Any, i: int) -> tuple[list[str], list[str]]:
        """The words of a sentence, and what spans and leaves see of them: tags, or the words themselves."""
        wanted = "tags or (word, tag) pairs" if self.inputs == "tags" else "words"
        if isinstance(x, str) or not isinstance(x, Collection):
            raise ValueError(f"sentence {i} is {x!r}; expected a list of {wanted}")
        if len(x) == 0:
            raise ValueError(f"sentence {i} is empty; leave out sentences without words")
        pairs = []
        for t, token in enumerate(x):
            pair = token if self.inputs == "tags" and isinstance(token, tuple) else (token, token)
            if len(pair) != 2 or not all(isinstance(part, str) for part in pair):
                raise ValueError(f"word {t} of sentence {i} is {token!r}; expected a list of {wanted}")
            try:
                Tree(pair[1] if self.inputs == "tags" else "X", pair[:1])
            except ValueError as error:  # a blank in a word, for example, which no tree could show
                raise ValueError(f"word {t} of sentence {i}: {error}") from None
            pairs.append(pair)
        return [word for word, _ in pairs], [token for _, token in pairs]

    def _word_features(self, X: Any) -> Any:
        return [word_attributes(x) for x in X] if self.inputs == "words" else X

    def _check_options(self) -> None:
        for name, value, known in (
            ("inputs", self.inputs, INPUTS),
            ("measure", self.measure, MEASURES),
            ("on_failure", self.on_failure, ("error", "flat")),
        ):
            if value not in known:
                raise ValueError(f"{name} must be one of {', '.join(map(repr, known))}, got {value!r}")
        for name, number, least in (
            ("vertical", self.vertical, 1),
            ("f1_words", self.f1_words, 0),
            ("horizontal", 0 if self.horizontal is None else self.horizontal, 0),
        ):
            if isinstance(number, bool) or not isinstance(number, Integral) or number < least:
                raise ValueError(f"{name} must be a whole number >= {least}, got {number!r}")


class Example(NamedTuple):
    """A sentence, and what is known of its true tree."""

    words: list[str]
    read: list[str]  # what spans and leaves see of them: tags, or the words themselves
    tags: NDArray[np.int32]  # symbols; -1 for what the grammar does not know
    tokens: NDArray[np.int64]  # as SpanFeatures numbers them
    unit: int  # where its words begin among the atoms
    truth: Any = None
    counted: Any = None  # the atoms of the truth
    loss: Any = None

    def score(self, w: Array, sentence: Any, first: int) -> float:
        """⟨w, Ψ(x, y)⟩; weights of words begin at `first`."""
        words = self.truth.words
        return float(w[self.counted[self.counted < first]].sum() + sentence.leaf[words[:, 0], words[:, 1]].sum())


class GrammarBatch(Batch):
    """Packed sentences with their derivations."""

    call_cost = 300.0

    def __init__(self, examples: list[Example], atoms: Atoms, ids: NDArray[np.intp]):
        self.examples, self.atoms, self.ids = examples, atoms, ids

    def take(self, index: NDArray[np.intp]) -> GrammarBatch:
        return GrammarBatch(self.examples, self.atoms, self.ids[index])

    def example(self, j: int) -> Example:
        """The j-th of this batch."""
        return self.examples[self.ids[j]]


Search = Callable[[Charts, Any, int], Any]


def _rows(plus: list[NDArray[np.int64]], minus: list[NDArray[np.int64]], atoms: Atoms) -> AtomRows:
    """One row per example: +1 for every atom in plus, -1 for every one in minus; what is in both cancels."""
    parts = plus + minus
    where = np.concatenate([np.full(len(part), j % len(plus)) for j, part in enumerate(parts)])
    signs = np.repeat([1.0, -1.0], [sum(map(len, plus)), sum(map(len, minus))])
    rows = sparse.csr_array((signs, (where, np.concatenate(parts))), shape=(len(plus), atoms.count))
    rows.sum_duplicates()
    rows.eliminate_zeros()
    return AtomRows(atoms, rows.indptr.astype(np.int32), rows.indices.astype(np.int32), rows.data)


def tree_of(y: Any, i: int) -> Tree:
    """What Tree.of makes of it; errors name the sentence."""
    try:
        return Tree.of(y)
    except (TypeError, ValueError) as error:
        raise ValueError(f"the tree of sentence {i}: {error}") from None


def _wordless(tree: Tree) -> Tree:
    return tree.with_words(["_"] * len(tree))
