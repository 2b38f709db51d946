"""Readers of sentences, which are tags, words, or features of words. There is one reader for each of these.

    inputs        a sentence is                  the tags of its words are    Ψ of a word counts
    "tags"        tags, or (word, tag) pairs     given                        nothing
    "words"       words                          part of the output           its spelling and neighbours, by tag
    "features"    what SequenceLabeler takes     part of the output           its features, by tag

A reader is made for the tags of a grammar. `fit` learns the features of words from the training sentences, and `read`
brings any sentences into the form that the other methods take.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.base.files.fields import Part
from maxmargin.base.files.objects import Dropped, Fields
from maxmargin.inputs.tokens.tokens import SequencePacker, Sequences
from maxmargin.inputs.tokens.words import word_attributes
from maxmargin.problem.planes.atoms import Atoms
from maxmargin.structures.parsing.span_features import SPAN, SPLIT
from maxmargin.structures.parsing.trees import Tree, tree_of


class ReadSentence(NamedTuple):
    """A sentence in the form that all readers make."""

    words: list[str]  # as trees show them
    tokens: list[str]  # the words as span features see them: tags, or the words themselves
    first_unit: int  # the number of its first word among the units of the atoms


class Reader:
    """The interface of the readers of sentences.

    Order of calls: `span_tokens` and `fit` with the training sentences, or `lay_out` for a model from a file; then
    `read` with any sentences, and the other methods with what it returns.

    Parameters
    ----------
    tags : dict
        The symbol of every tag of the grammar.
    n_symbols : int
        The number of symbols of the grammar: tags, labels and parts.

    Attributes
    ----------
    first_, end_ : int
        The weights of words are w[first_:end_]; nothing follows them.
    """

    span_features: ClassVar[tuple[str, ...]]  # those that can be computed from such sentences

    first_: int
    end_: int

    def __init__(self, tags: dict[str, int], n_symbols: int):
        self.tags, self.n_symbols = tags, n_symbols
        self.tag_symbols = np.array(list(tags.values()), dtype=np.intp)
        self.tag_numbers = np.full(n_symbols, -1, dtype=np.int32)  # the tag of every symbol; -1 if it is not a tag
        self.tag_numbers[self.tag_symbols] = np.arange(len(tags))

    saved: ClassVar[Fields] = dict.fromkeys(
        ("tags", "n_symbols", "tag_symbols", "tag_numbers", "first_", "end_"), Dropped()
    )

    def lay_out(self, first: int) -> None:
        """Compute where the weights of words begin and end."""
        self.first_ = self.end_ = first

    def span_tokens(self, X: Any) -> list[list[str]]:
        """Return the words of every sentence as span features see them, or nothing if there are no such features."""
        raise NotImplementedError

    def fit(self, X: Any, first: int) -> Self:
        """Learn the features of words from the training sentences; their weights begin at `first`."""
        raise NotImplementedError

    def read(self, X: Any) -> tuple[list[ReadSentence], Atoms]:
        """Return the sentences, and the atoms of Ψ: coordinates of w up to first_, then words as units at all tags."""
        raise NotImplementedError

    def check_tree(self, sentence: ReadSentence, tree: Tree, i: int) -> None:
        """Raise a ValueError if this cannot be the tree of sentence i."""
        check_length(len(sentence.words), tree, i)

    def possible_tags(self, sentence: ReadSentence) -> Sequence[Any]:
        """Return the symbols of the tags that each word may have."""
        raise NotImplementedError

    def tag_scores(self, w: Array, atoms: Atoms, sentences: Sequence[ReadSentence]) -> Array:
        """Return the score (words, tags) of every tag for all words of these sentences; -inf where it is impossible."""
        raise NotImplementedError

    def first_atom(self, sentence: ReadSentence) -> int:
        """Return the atom of the first word at the first tag, which others follow; -1 if words have no features."""
        raise NotImplementedError

    def best_tags(self, sentence: ReadSentence, tag_scores: Array) -> list[str]:
        """Return the tag with the highest score for every word of a sentence, whatever the tree."""
        raise NotImplementedError

    def weights(self, w: Array) -> Array:
        """Return the weights (features, tags) of words."""
        return w[self.first_ :].reshape(-1, len(self.tags))

    def feature_names(self) -> list[str] | None:
        """Return the names of the features of words, or None if these are columns of matrices."""
        raise NotImplementedError


class TagReader(Reader):
    """A reader of tags, or of (word, tag) pairs, of which only the tags are used."""

    span_features = (*SPAN, *SPLIT)

    def span_tokens(self, X: Any) -> list[list[str]]:
        return [[tag for _, tag in self._pairs(x, i)] for i, x in enumerate(X)]

    def fit(self, X: Any, first: int) -> Self:
        self.lay_out(first)
        return self

    def read(self, X: Any) -> tuple[list[ReadSentence], Atoms]:
        sentences = []
        for i, x in enumerate(X):
            words, tags = map(list, zip(*self._pairs(x, i), strict=True))
            sentences.append(ReadSentence(words, tags, first_unit=0))
        return sentences, Atoms.coordinates(self.end_)

    def check_tree(self, sentence: ReadSentence, tree: Tree, i: int) -> None:
        super().check_tree(sentence, tree, i)
        for t, (true, given) in enumerate(zip(tree.tags(), sentence.tokens, strict=True)):
            if true != given:
                raise ValueError(f"word {t} of sentence {i} has the tag {given!r}, but {true!r} in its tree")
        if sentence.words != sentence.tokens:  # if they are equal, the sentence has tags alone
            _check_words(sentence, tree, i)

    def possible_tags(self, sentence: ReadSentence) -> Sequence[Any]:
        return [[symbol] for symbol in self._symbols([sentence])]

    def tag_scores(self, w: Array, atoms: Atoms, sentences: Sequence[ReadSentence]) -> Array:
        symbols = self._symbols(sentences)
        scores, known = np.full((len(symbols), len(self.tags)), -np.inf), np.flatnonzero(symbols >= 0)
        scores[known, self.tag_numbers[symbols[known]]] = 0.0
        return scores

    def first_atom(self, sentence: ReadSentence) -> int:
        return -1

    def best_tags(self, sentence: ReadSentence, tag_scores: Array) -> list[str]:
        return sentence.tokens

    def feature_names(self) -> list[str] | None:
        return []

    def _pairs(self, x: Any, i: int) -> list[tuple[str, str]]:
        """Return the (word, tag) pairs of sentence i; a tag without a word is used as the word, too."""
        return _checked_pairs(
            x, i, "tags or (word, tag) pairs", lambda token: token if isinstance(token, tuple) else (token, token)
        )

    def _symbols(self, sentences: Sequence[ReadSentence]) -> NDArray[np.int32]:
        """Return the symbols of the tags of all words; -1 for tags that the grammar does not have."""
        return np.array([self.tags.get(tag, -1) for each in sentences for tag in each.tokens], dtype=np.int32)


class _TaggingReader(Reader):
    """A reader of sentences whose tags are part of the output; features of words have a weight for every tag."""

    packer_: SequencePacker

    saved: ClassVar[Fields] = {"packer_": Part(SequencePacker)}

    def fit(self, X: Any, first: int) -> Self:
        self.packer_ = SequencePacker().fit(self.word_features(X))
        self.lay_out(first)
        return self

    def lay_out(self, first: int) -> None:
        self.first_, self.end_ = first, first + self.packer_.n_features * len(self.tags)

    def word_features(self, X: Any) -> Any:
        """Return the features of all words, as SequencePacker takes them."""
        raise NotImplementedError

    def possible_tags(self, sentence: ReadSentence) -> Sequence[Any]:
        return [self.tag_symbols] * len(sentence.words)

    def tag_scores(self, w: Array, atoms: Atoms, sentences: Sequence[ReadSentence]) -> Array:
        each = [np.arange(one.first_unit, one.first_unit + len(one.words)) for one in sentences]
        return atoms.scores(w, np.concatenate([np.zeros(0, dtype=np.int64), *each]))

    def first_atom(self, sentence: ReadSentence) -> int:
        return self.first_ + sentence.first_unit * len(self.tags)

    def best_tags(self, sentence: ReadSentence, tag_scores: Array) -> list[str]:
        names = list(self.tags)
        return [names[k] for k in np.argmax(tag_scores, axis=1)]

    def feature_names(self) -> list[str] | None:
        return self.packer_.feature_names

    def _with_units(
        self, words: list[list[str]], tokens: list[list[str]], packed: Sequences
    ) -> tuple[list[ReadSentence], Atoms]:
        """Return the sentences with the rows of `packed`, one for every word, as units."""
        sentences = list(map(ReadSentence, words, tokens, packed.offsets.tolist()))
        return sentences, Atoms(packed.matrix, len(self.tags), self.first_)


class WordReader(_TaggingReader):
    """A reader of words; `inputs.tokens.words` makes features of their spelling and their neighbours."""

    span_features = (*SPAN, *SPLIT)

    def span_tokens(self, X: Any) -> list[list[str]]:
        # The tag X is not used: a word is checked by making a tree with it.
        return [
            [word for word, _ in _checked_pairs(x, i, "words", lambda token: (token, "X"))] for i, x in enumerate(X)
        ]

    def word_features(self, X: Any) -> Any:
        return [word_attributes(x) for x in X]

    def read(self, X: Any) -> tuple[list[ReadSentence], Atoms]:
        words = self.span_tokens(X)
        return self._with_units(words, words, self.packer_.pack(self.word_features(X)))

    def check_tree(self, sentence: ReadSentence, tree: Tree, i: int) -> None:
        super().check_tree(sentence, tree, i)
        _check_words(sentence, tree, i)


class FeatureReader(_TaggingReader):
    """A reader of features of words; trees show the numbers of the words instead of the words."""

    span_features = ()

    def span_tokens(self, X: Any) -> list[list[str]]:
        return []

    def word_features(self, X: Any) -> Any:
        return X

    def read(self, X: Any) -> tuple[list[ReadSentence], Atoms]:
        packed = self.packer_.pack(X)
        lengths = np.diff(packed.offsets).tolist()
        numbers = [[str(t) for t in range(n)] for n in lengths]
        return self._with_units(numbers, [[""] * n for n in lengths], packed)


READERS: dict[str, type[Reader]] = {"tags": TagReader, "words": WordReader, "features": FeatureReader}


def tree_of_sentence(y: Any, i: int) -> Tree:
    """Return Tree.of(y), with errors that name sentence i."""
    return tree_of(y, f"the tree of sentence {i}")


def check_length(n_words: int, tree: Tree, i: int) -> None:
    """Raise a ValueError unless the tree of sentence i has as many words as the sentence."""
    if len(tree) != n_words:
        raise ValueError(f"sentence {i} has {n_words} words, but its tree has {len(tree)}")


def _check_words(sentence: ReadSentence, tree: Tree, i: int) -> None:
    """Raise a ValueError, which names the word, unless the tree of sentence i is over the same words."""
    for t, (true, given) in enumerate(zip(tree.words(), sentence.words, strict=True)):
        if true != given:
            found = f"word {t} of sentence {i} is {given!r}, but {true!r} in its tree"
            raise ValueError(f"{found}; Tree.with_words changes the words of a tree")


def _checked_pairs(x: Any, i: int, expected: str, pair_of: Callable[[Any], tuple[Any, ...]]) -> list[tuple[str, str]]:
    """Return the (word, tag) pair of every token of sentence i; raise a ValueError if a tree cannot have it."""
    if isinstance(x, str) or not isinstance(x, Collection):
        raise ValueError(f"sentence {i} is {x!r}; expected a list of {expected}")
    if len(x) == 0:
        raise ValueError(f"sentence {i} is empty; leave out sentences without words")
    pairs = []
    for t, token in enumerate(x):
        pair = pair_of(token)
        if len(pair) != 2 or not all(isinstance(part, str) for part in pair):
            raise ValueError(f"word {t} of sentence {i} is {token!r}; expected a list of {expected}")
        word, tag = pair
        try:
            Tree(tag, [word])
        except ValueError as error:
            raise ValueError(f"word {t} of sentence {i}: {error}") from None
        pairs.append((word, tag))
    return pairs
