"""JointFeatures: the features Ψ of a grammar and the order of their weights.

    w = (rules, roots, rules at the values of span features, features of words at their tags)

The first part has one weight for every production, the second part one for every root. Every value of a span feature
has a weight for every production, too. `SpanFeatures` lays out the third part, and a `Reader` the last one. All but the
last part are the scores of productions and roots (TreeScores.productions).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

from maxmargin.base.files.fields import Part
from maxmargin.base.files.objects import Dropped, Fields
from maxmargin.structures.parsing.chart_rules import ChartGrammar
from maxmargin.structures.parsing.sentences import Reader
from maxmargin.structures.parsing.span_features import SpanFeatures


class JointFeatures:
    """The features Ψ of the rules of a grammar over the sentences of a reader.

    Parameters
    ----------
    grammar : ChartGrammar
        The grammar.
    reader : Reader
        Reads sentences, and knows the features of words.
    span_features : names of span features, or "auto"
        The features of spans; "auto" stands for all that the reader's sentences can have.
    """

    saved: ClassVar[Fields] = {
        "spans": Part(SpanFeatures),
        "reader": Part(Reader),
        "grammar": Dropped(),  # see `restore`
    }

    def __init__(self, grammar: ChartGrammar, reader: Reader, span_features: str | Sequence[str]):
        automatic = isinstance(span_features, str) and span_features == "auto"
        self.grammar, self.reader = grammar, reader
        self.spans = SpanFeatures(reader.span_features if automatic else span_features)
        if (self.spans.of_spans or self.spans.of_splits) and not reader.span_features:
            raise ValueError("span_features are computed from tags or words, which inputs='features' does not have")

    @property
    def rules(self) -> Any:
        """The rules of the grammar, as compiled.cky.Rules."""
        return self.grammar.rules

    @property
    def n_anchored(self) -> int:
        """The number of values of span features, each of which has a weight for every production."""
        weights = self.reader.first_ - self.grammar.first_anchored
        return weights // self.grammar.block if self.grammar.block else 0

    def restore(self, grammar: ChartGrammar, reader: Reader) -> None:
        """Set the attributes that a model file does not contain: the grammar, and the order of the weights."""
        if type(reader) is not type(self.reader) or (
            not reader.span_features and (self.spans.of_spans or self.spans.of_splits)
        ):
            raise ValueError("its features belong to another kind of inputs")
        if hasattr(self.reader, "packer_"):
            reader.packer_ = self.reader.packer_  # type: ignore[attr-defined]
        self.grammar, self.reader = grammar, reader
        self._lay_out()

    def _lay_out(self) -> None:
        """Compute where the weights of spans and of words begin and end."""
        self.spans.lay_out(self.grammar.first_anchored, self.grammar.block)
        self.reader.lay_out(self.spans.end_)

    def fit(self, X: Any) -> Self:
        """Learn the values of all features from the training sentences."""
        self.spans.fit(self.reader.span_tokens(X), self.grammar.first_anchored, self.grammar.block)
        self.reader.fit(X, self.spans.end_)
        return self

    @property
    def dim(self) -> int:
        """The number of weights."""
        return self.reader.end_
