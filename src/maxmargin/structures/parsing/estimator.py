"""Parser: parse trees by a weighted grammar that was trained with a large margin."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any, Unpack

from sklearn.utils.validation import check_is_fitted

from maxmargin.arrays import Array
from maxmargin.solvers import Solver
from maxmargin.structures.parsing.parseval import parseval
from maxmargin.structures.parsing.task import Grammar, tree_of
from maxmargin.structures.parsing.trees import Tree
from maxmargin.task import Task
from maxmargin.trainer import Options, Trainer


class ParsesSentences:
    """What all parsers do with their weights w_ of a grammar task_."""

    task_: Any
    w_: Array

    def predict(self, X: Any) -> list[Tree]:
        """The best tree of every sentence."""
        check_is_fitted(self)
        return self.task_.decode(self.w_, X)

    def decision_function(self, X: Any) -> Array:
        """The score of the best tree of every sentence; -inf where the grammar has none."""
        check_is_fitted(self)
        return self.task_.scores(self.w_, X)

    def predict_nbest(self, X: Any, n: int) -> list[list[tuple[Tree, float]]]:
        """The n best trees of every sentence with their scores, best first; fewer where there are not so many."""
        check_is_fitted(self)
        if isinstance(n, bool) or not isinstance(n, Integral) or n < 1:
            raise ValueError(f"n must be a whole number >= 1, got {n!r}")
        return self.task_.n_best(self.w_, X, int(n))

    def score(self, X: Any, Y: Any) -> float:
        """Labelled F1 over all sentences, as EVALB counts (see metrics.parseval): higher is better."""
        found = self.predict(X)
        if len(found) != len(Y):
            raise ValueError(f"X has {len(found)} sentences but Y has {len(Y)}")
        trees = [tree_of(y, i) for i, y in enumerate(Y)]
        for i, (tree, mine) in enumerate(zip(trees, found, strict=True)):
            if len(tree) != len(mine):
                raise ValueError(f"sentence {i} has {len(mine)} words, but its tree has {len(tree)}")
        # Where sentences are tags, found trees have no words of their own.
        return parseval(trees, [f.with_words(tree.words()) for tree, f in zip(trees, found, strict=True)]).f1

    @property
    def weights_(self) -> dict[str, Any]:
        """The weights by meaning: rules and roots by name, spans by feature, words (F, tags).

        Tags that share their name with a label are in quotes.
        """
        check_is_fitted(self)
        return self.task_.parts(self.w_)

    @property
    def weight_names_(self) -> dict[str, Any]:
        """What the rows and columns of weights_ stand for: rules, values of span features, and (features, tags)."""
        check_is_fitted(self)
        return self.task_.weight_names()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.target_tags.required = True
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        return tags


class Parser(ParsesSentences, Trainer):
    """A weighted context-free grammar: minimise ½‖w‖² + C · mean over sentences of max_z [Δ(y, z) - ⟨w, δΨ(x, y, z)⟩].

    X is a list of sentences and Y a list of their trees: Tree, bracket strings, or nltk trees. The
    grammar consists of the rules that the trees show. tasks.Grammar writes out Ψ and Δ.

    Parameters
    ----------
    measure : "hamming", "f1" or "zero_one"
        What a wrong tree costs: missed and wrong brackets, 1 - F1, or 1. All are searched exactly.
    inputs : "tags", "words" or "features"
        What a sentence is: tags or (word, tag) pairs; words; or what SequenceLabeler takes.
    horizontal : int or None
        How many siblings to the left a rule remembers; None: all. More make rules more precise and rarer.
    vertical : int
        How many generations a label remembers, itself included: 2 tells it by its parent.
    rules : None or strings
        A grammar of your own, like "NP -> DT NN | NNP", instead of the rules in the trees; taken as it is, whatever
        `horizontal` says.
    span_features : "auto" or sequence of names
        Weights of rules by the tags (or words) at the ends of a span and around it and by its length: "first", "last",
        "before", "after", "length", "split_left", "split_right". "auto" takes all where the input is tags or words; ()
        leaves the rules alone, which is the model of the paper.
    f1_words : int
        Sentences with more words are trained with a scaled Hamming loss instead of "f1"; a LossReplaced warning says
        so.
    on_failure : "error" or "flat"
        What predict does with a sentence that has no tree in the grammar: raise tasks.grammar.Unparseable, or put all
        words below one node.
    C : float
        Weight of the mean slack against ½‖w‖².
    The other parameters are those of StructuredSVM.

    Attributes
    ----------
    w_, certificate_, history_, weights_ : rules and roots by name, spans by feature, words.
    """

    def __init__(
        self,
        measure: str = "hamming",
        inputs: str = "tags",
        horizontal: int | None = 0,
        vertical: int = 1,
        rules: Any = None,
        span_features: str | Sequence[str] = "auto",
        f1_words: int = 20,
        on_failure: str = "error",
        C: float = 100.0,
        solver: str | Solver = "bcfw",
        **options: Unpack[Options],
    ):
        self.measure = measure
        self.inputs = inputs
        self.horizontal = horizontal
        self.vertical = vertical
        self.rules = rules
        self.span_features = span_features
        self.f1_words = f1_words
        self.on_failure = on_failure
        super().__init__(C=C, solver=solver, **options)

    def _make_task(self, Y: Any) -> Task:
        return Grammar(
            self.inputs,
            self.measure,
            self.horizontal,
            self.vertical,
            self.rules,
            self.span_features,
            self.f1_words,
            self.on_failure,
        )
