"""JointFeatures: the Ψ of a grammar: what every weight is for, and which features a derivation counts.

    w = (rules, roots, rules at the values of span features, features of words at their tags)

The first part has one weight for every production, the second one for every root, and each value of a span feature has
again one for every production. `SpanFeatures` places the third part, a `Reader` the last.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.base.files.fields import Part
from maxmargin.base.files.objects import Dropped, Fields
from maxmargin.problem.planes.atoms import Atoms
from maxmargin.structures.parsing.charts import longest_chain
from maxmargin.structures.parsing.productions import Rows
from maxmargin.structures.parsing.sentences import Reader, ReadSentence
from maxmargin.structures.parsing.span_features import SpanFeatures


class JointFeatures:
    """Ψ of the rules of a grammar (compiled.cky.Rules) over the sentences of a reader.

    span_features : names of span features, or "auto" for all that the reader's sentences can have
    """

    saved: ClassVar[Fields] = {
        "spans": Part(SpanFeatures),
        "reader": Part(Reader),
        "rules": Dropped(),  # this and the next: see `restore`
        "longest_chain": Dropped(),
    }

    def __init__(self, rules: Any, reader: Reader, span_features: str | Sequence[str]):
        automatic = isinstance(span_features, str) and span_features == "auto"
        self.rules, self.reader = rules, reader
        self.spans = SpanFeatures(reader.span_features if automatic else span_features)
        if (self.spans.of_spans or self.spans.of_splits) and not reader.span_features:
            raise ValueError("span_features are computed from tags or words, which inputs='features' does not have")
        self.longest_chain = longest_chain(rules)

    def restore(self, rules: Any, reader: Reader) -> None:
        """Of a grammar from a file: what its rules and a new reader of its kind say of the weights."""
        if type(reader) is not type(self.reader) or (
            not reader.span_features and (self.spans.of_spans or self.spans.of_splits)
        ):
            raise ValueError("its features belong to another kind of inputs")
        if hasattr(self.reader, "packer_"):
            reader.packer_ = self.reader.packer_  # type: ignore[attr-defined]
        self.rules, self.reader, self.longest_chain = rules, reader, longest_chain(rules)
        self._lay_out()

    def _lay_out(self) -> None:
        """Where the weights of spans and of words are."""
        n_productions = self.rules.productions
        self.spans.lay_out(n_productions + len(self.rules.roots), n_productions)
        self.reader.lay_out(self.spans.end_)

    def fit(self, X: Any) -> Self:
        """Learn the values of all features from the training sentences."""
        n_productions = self.rules.productions
        self.spans.fit(self.reader.span_tokens(X), n_productions + len(self.rules.roots), n_productions)
        self.reader.fit(X, self.spans.end_)
        return self

    @property
    def dim(self) -> int:
        """The number of weights."""
        return self.reader.end_

    def scored(self, w: Array, atoms: Atoms, sentence: ReadSentence, token_numbers: NDArray[np.int64]) -> Any:
        """The sentence as compiled.cky.Sentence: the scores of its tags, and the places in w of its span features."""
        from maxmargin.structures.parsing.compiled.cky import Sentence

        return Sentence(self.reader.leaf_scores(w, atoms, sentence), *self.spans.places(token_numbers))

    def counted_atoms(self, rows: Rows, scored: Any, sentence: ReadSentence) -> NDArray[np.int64]:
        """The atoms that a derivation counts; one that it counts twice is there twice."""
        from maxmargin.structures.parsing.compiled.cky import derivation_atoms

        n, reader = len(scored.leaf), self.reader
        of_spans = (2 * n - 1) * scored.places.shape[1] * (1 + self.longest_chain)
        of_words_and_splits = n * (1 + scored.splits.shape[1])
        atoms = np.empty(of_spans + of_words_and_splits + 1, dtype=np.int64)  # 1 is the root
        first_atom = reader.first_atom(sentence)
        count = derivation_atoms(rows, scored, self.rules, reader.tag_numbers, len(reader.tags), first_atom, atoms)
        return atoms[:count]
