"""Grammar: parse trees of a weighted context-free grammar, found by CKY."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.base.checks import check_whole
from maxmargin.base.errors import LossReplaced, warn_caller
from maxmargin.base.files.fields import Part, Text
from maxmargin.base.files.objects import Fields
from maxmargin.problem.contract.pieces import Pieces
from maxmargin.problem.contract.task import Task
from maxmargin.structures.parsing.batch import GrammarBatch
from maxmargin.structures.parsing.chart_rules import ChartGrammar
from maxmargin.structures.parsing.compiled.kinds import BRACKETS
from maxmargin.structures.parsing.derivations import all_derivations
from maxmargin.structures.parsing.joint_features import JointFeatures
from maxmargin.structures.parsing.losses import Loss, TreeMeasure, check_measure
from maxmargin.structures.parsing.pieces import phrase_pieces
from maxmargin.structures.parsing.productions import Productions
from maxmargin.structures.parsing.scored import ParseExample, ScoredTrees
from maxmargin.structures.parsing.sentences import READERS, tree_of_sentence
from maxmargin.structures.parsing.tree_sums import TreeSums
from maxmargin.structures.parsing.trees import Tree

OnFailure = Literal["error", "flat"]
Inputs = Literal["tags", "words", "features"]


class Grammar(Task):
    """Parse trees of sentences, with features that count the rules of a tree (Tsochantaridis et al. 2004).

        ⟨w, Ψ(x, y)⟩ = Σ_{rules r of y, at words i … j-1} ( w_r + ⟨V_r, f(x, i, j)⟩ ) + w_root + Σ_t ⟨U_tag(t), x_t⟩

    The rules are read off the training trees, or given; productions.py makes them binary. f(x, i, j) are the features
    of a span, if there are any (span_features). x_t are the features of a word, unless the tags of words are given.

        measure      Δ(y, z), if m of the q labelled brackets of z are among the g brackets of y
        "hamming"    g + q - 2m
        "f1"         1 - 2m/(g + q); with more than f1_words words (g + q - 2m)/2g, which is the same where q = g
        "zero_one"   0 if the trees are equal, else 1

    Brackets are the labelled spans of phrases; tags do not count. The search is exact for all three measures, with
    margin and with slack rescaling (compiled/cky_counts.py keeps a table over counts). With "f1" that table grows fast
    with the length of a sentence, and f1_words limits it.

    Parameters
    ----------
    inputs : "tags", "words" or "features"
        The form of a sentence: a list of tags or of (word, tag) pairs; a list of words; or as for SequenceLabeler.
    measure : "hamming", "f1" or "zero_one"
        The loss of a wrong tree: the number of missed and wrong brackets, 1 - F1, or 1. The search is exact for all.
    horizontal : int or None
        The number of siblings to the left that a rule remembers; None: all. The more it remembers, the more precise
        and the rarer it is.
    vertical : int
        The number of generations that a label remembers, including itself. With 2, labels with different parents
        differ.
    rules : None or strings
        A grammar of your own, like "NP -> DT NN | NNP", instead of the rules of the trees. It is used as it is,
        whatever `horizontal` is. The parent of the first rule is the root, and whatever has no rule of its own is a
        tag.
    span_features : "auto" or sequence of names
        Gives rules weights by the tags (or words) at the ends of their span, around it and on both sides of its split,
        and by its length: "first", "last", "before", "after", "length", "split_left", "split_right". "auto" means all
        if sentences are tags or words; () has weights of rules alone, which is the model of the paper.
    f1_words : int
        With "f1", sentences with more words are trained with a scaled Hamming loss; a LossReplaced warning says how
        many there are.
    on_failure : "error" or "flat"
        What `predict` does with a sentence that has no tree in the grammar: raise an error (Unparseable, which is a
        ValueError), or put all its words below one node, whose label is the most frequent root.

    See Also
    --------
    maxmargin.Parser : The estimator with this task.
    maxmargin.tasks.TreeSpace : Parse trees with scores from elsewhere.

    Examples
    --------
    >>> from maxmargin.tasks import Grammar
    >>> task = Grammar(span_features=())
    >>> task.setup([["N", "V"]], ["(S (N Rex) (V barks))"])
    >>> task.weight_names()["rules"]
    ['S → N V']
    """

    saved: ClassVar[Fields] = {
        "inputs": Text(*READERS),
        "on_failure": Text("error", "flat"),
        "productions_": Part(Productions),
        "features_": Part(JointFeatures),
    }

    def __init__(
        self,
        inputs: Inputs = "tags",
        measure: TreeMeasure = "hamming",
        horizontal: int | None = 0,
        vertical: int = 1,
        rules: Any = None,
        span_features: str | Sequence[str] = "auto",
        f1_words: int = 20,
        on_failure: OnFailure = "error",
    ):
        self.inputs = inputs
        self.measure = measure
        self.horizontal = horizontal
        self.vertical = vertical
        self.rules = rules
        self.span_features = span_features
        self.f1_words = f1_words
        self.on_failure = on_failure

    def _check_saved(self) -> None:
        productions, dim = self.productions_, self.dim
        reader = READERS[self.inputs](productions.tags, len(productions.symbols))
        self.features_.restore(ChartGrammar.of(productions), reader)
        if self.features_.dim != dim:
            raise ValueError(f"dim is {dim}; expected {self.features_.dim}")

    def setup(self, X: Any, Y: Any) -> None:
        self._check_options()
        productions = Productions(self.horizontal, self.vertical)
        if self.rules is None:
            productions.read(tree_of_sentence(y, i) for i, y in enumerate(Y))
        else:
            productions.read_rules(self.rules)
        self.productions_ = productions.sort()
        reader = READERS[self.inputs](productions.tags, len(productions.symbols))
        self.features_ = JointFeatures(ChartGrammar.of(productions), reader, self.span_features).fit(X)
        self.dim = self.features_.dim
        self._warn_of_replaced_losses(Y)

    # --- the plain form: one sentence at a time

    def psi(self, x: Any, z: Any) -> tuple[NDArray[np.int64], Array]:
        return self.pieces(x, z).psi()

    def pieces(self, x: Any, z: Any) -> Pieces:
        """Return Ψ(x, z) by phrases."""
        return phrase_pieces(self, x, z)

    def loss(self, y: Any, z: Any) -> float:
        true, found = Tree.of(y), Tree.of(z)
        if self.measure == "zero_one":
            return float(_without_words(true) != _without_words(found))
        true_brackets, found_brackets = Counter(true.brackets()), Counter(found.brackets())
        m, g, q = (true_brackets & found_brackets).total(), true_brackets.total(), found_brackets.total()
        loss = Loss.of_measure(self.measure, len(true), g, self.f1_words)
        return float(loss.of(m, q) if loss.kind == BRACKETS else loss.of(0, g + q - 2 * m))

    def argmax(self, w: Array, x: Any, y: Any = None) -> Tree:
        if y is None:
            return self.decode(w, [x])[0]
        scored = self.scored([x], [y])
        return scored.tree(0, scored.best(scored.scores(w), 1.0).found[0])

    def outputs(self, x: Any) -> Iterator[Tree]:
        scored = self.scored([x])
        tags = self.features_.reader.possible_tags(scored.examples[0].sentence)
        for rows in all_derivations(self.features_.rules, tags):
            yield scored.tree(0, rows)

    # --- the compiled form: many sentences per call

    def pack(self, X: Any, Y: Any) -> GrammarBatch:
        """Return the sentences with their trees, ready for training."""
        bare = self.scored(X)
        pairs = zip(range(len(bare)), Y, strict=True)
        examples = [bare.with_truth(j, y, self.measure, self.f1_words) for j, y in pairs]
        return GrammarBatch(self, examples, bare.atoms)

    def scored(self, X: Any, Y: Any = None) -> ScoredTrees:
        """Return the sentences, with their trees if Y is given, ready to be scored and searched."""
        if Y is not None:
            return self.pack(X, Y).scored()
        sentences, atoms = self.features_.reader.read(X)
        examples = [ParseExample(each, self.features_.spans.tokens(each.tokens)) for each in sentences]
        return ScoredTrees(self.features_, atoms, examples, self.on_failure)

    def decode(self, w: Array, X: Any) -> list[Tree]:
        scored = self.scored(X)
        scores = scored.scores(w)
        found = enumerate(scored.best(scores).found)
        return [scored.failed(j, scores) if rows is None else scored.tree(j, rows) for j, rows in found]

    def scores(self, w: Array, X: Any) -> Array:
        """Return the score ⟨w, Ψ⟩ of the best tree of every sentence, or -inf if there is none."""
        scored = self.scored(X)
        return scored.best(scored.scores(w)).values

    def n_best(self, w: Array, X: Any, n: int) -> list[list[tuple[Tree, float]]]:
        """Return the n best trees of every sentence with their scores, best first; fewer if there are fewer trees."""
        scored = self.scored(X)
        scores = scored.scores(w)
        return [
            [(scored.tree(j, rows), score) for rows, score in found] or [(scored.failed(j, scores), -np.inf)]
            for j, found in enumerate(scored.best_lists(scores, n))
        ]

    def sums(self, w: Array, X: Any) -> TreeSums:
        """Return the distribution of the trees of every sentence; if it has none, its log partition is -inf."""
        scored = self.scored(X)
        return scored.sums(scored.scores(w))

    def parts(self, w: Array) -> dict[str, Any]:
        """Return the weights by meaning: rules and roots by name, spans (values, rules) by feature, words and tags."""
        (rules, roots), n_productions = self.productions_.names(), self.features_.rules.productions
        return {
            "rules": dict(zip(rules, w[:n_productions].tolist(), strict=True)),
            "roots": dict(zip(roots, w[n_productions : n_productions + len(roots)].tolist(), strict=True)),
            "spans": self.features_.spans.parts(w),
            "words": self.features_.reader.weights(w),
        }

    def weight_names(self) -> dict[str, Any]:
        """Return the names of the rows and columns of `parts`."""
        rules, roots = self.productions_.names()
        words = self.features_.reader.feature_names(), list(self.productions_.tags)
        return {"rules": rules, "roots": roots, "spans": self.features_.spans.names(), "words": words}

    # --- inside

    def _check_options(self) -> None:
        for name, value, known in (
            ("inputs", self.inputs, tuple(READERS)),
            ("on_failure", self.on_failure, ("error", "flat")),
        ):
            if value not in known:
                raise ValueError(f"{name} must be one of {', '.join(map(repr, known))}, got {value!r}")
        check_measure(self.measure)
        for name, number, least in (
            ("vertical", self.vertical, 1),
            ("f1_words", self.f1_words, 0),
            ("horizontal", 0 if self.horizontal is None else self.horizontal, 0),
        ):
            check_whole(name, number, least)

    def _warn_of_replaced_losses(self, Y: Any) -> None:
        """Warn if sentences are too long for the measure "f1"."""
        longer = sum(len(Tree.of(y)) > self.f1_words for y in Y) if self.measure == "f1" else 0
        if longer:
            which = f"{longer} of {len(Y)} sentences have more than f1_words={self.f1_words} words"
            instead = "their loss is (missed + wrong brackets) / 2 true brackets instead of 1 - F1"
            warn_caller(f"{which}: {instead}", LossReplaced)


def _without_words(tree: Tree) -> Tree:
    """Return the tree with the same word everywhere, so that equality does not depend on words."""
    return tree.with_words(["_"] * len(tree))
