"""Parseval: measure the agreement of predicted parse trees with the true ones, bracket by bracket.

The measures are those of Black et al., "A procedure for quantitatively comparing the syntactic coverage of English
grammars" (1991), as the program EVALB of Sekine and Collins computes them with its parameter file COLLINS.prm. These
are the numbers that papers on the Penn Treebank report.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence, Sized
from itertools import accumulate
from typing import Any, NamedTuple

from maxmargin.report.scoring.scorer import Scorer
from maxmargin.structures.parsing.trees import TRACE, Bracket, Tree, check_forest, tree_of, without_function_tags

Token = tuple[str, str]  # (word, tag)

# As COLLINS.prm has them.
UNCOUNTED: Collection[str] = ("TOP", "ROOT", "S1")
DELETED: Collection[str] = ("``", "''", ",", ".", ":")
EMPTY: Collection[str] = (TRACE,)
EQUIVALENT: Iterable[Collection[str]] = (("ADVP", "PRT"),)


class ParsevalScore(NamedTuple):
    """The agreement of predicted trees with the true ones; all except `crossing` are shares between 0 and 1."""

    precision: float  # the share of the predicted brackets that are in the true tree
    recall: float  # the share of the true brackets that were predicted
    f1: float  # the harmonic mean of precision and recall
    exact_match: float  # the share of the sentences in which the predicted brackets are the true ones
    crossing: float  # the predicted brackets per sentence that overlap a true bracket without nesting
    tagging: float  # the share of the words with the right tag


def parseval(
    truth: Sequence[Any],
    found: Sequence[Any],
    *,
    uncounted: Collection[str] = UNCOUNTED,
    deleted_tags: Collection[str] = DELETED,
    empty_tags: Collection[str] = EMPTY,
    equivalent: Iterable[Collection[str]] = EQUIVALENT,
    function_tags: bool = False,
    labelled: bool = True,
) -> ParsevalScore:
    """Compute labelled precision, recall, F1 and the other measures of EVALB over all sentences together.

    A predicted bracket (label, begin, end) is right if the true tree has it. If a tree has a bracket several times,
    each is matched once. Brackets are added up over all sentences before ratios are taken, and a ratio without
    anything to count is 0. A sentence without any counted bracket in both trees is an exact match. A sentence all of
    whose words are deleted is not counted at all.

    Parameters
    ----------
    truth, found : sequences of trees
        In any form that `Tree.of` takes. The two trees of a sentence must be over the same words.
    uncounted : labels of phrases
        Brackets with these labels are not counted; by default those that only mark the whole sentence.
    deleted_tags : tags
        Words with these tags in the true tree, by default punctuation, are deleted in both trees before spans are
        compared, and so are phrases without other words. Their tags are not counted, either. (EVALB goes by the tags
        of each tree, and skips the sentence if the two trees then differ in length.)
    empty_tags : tags
        Words with these tags, traces, are deleted in the tree that has them.
    equivalent : groups of labels
        Labels of a group, whether of phrases or of words, count as the same.
    function_tags : bool
        True compares labels of phrases with their function tags, so that NP-SBJ differs from NP. False cuts these off,
        as `Tree.cleaned` does.
    labelled : bool
        False compares spans without their labels.

    Returns
    -------
    ParsevalScore
        The measures.

    See Also
    --------
    maxmargin.plotting.TreeDisplay : Draw a tree with its errors.

    Examples
    --------
    >>> from maxmargin.metrics import parseval
    >>> truth, found = ["(S (N Rex) (VP (V barks)))"], ["(S (N Rex) (V barks))"]
    >>> score = parseval(truth, found)
    >>> score.precision, score.recall
    (1.0, 0.5)
    """
    for name, labels in (("uncounted", uncounted), ("deleted_tags", deleted_tags), ("empty_tags", empty_tags)):
        if isinstance(labels, str) or not isinstance(labels, Collection):
            raise ValueError(f"{name} must be a collection of labels, not {_described(labels)}.")
    same = _representatives(equivalent)
    reader = _BracketReader(uncounted, deleted_tags, empty_tags, same, function_tags, labelled)
    return _score(sentence_counts(truth, found, reader))


class _Pair(NamedTuple):
    """The brackets and tags of the two trees of a sentence; equivalent labels are written alike."""

    true_brackets: list[Bracket]  # the brackets of the true tree
    found_brackets: list[Bracket]  # the brackets of the predicted tree
    tags: list[tuple[str, str]]  # the true and the found tag of every word that is not deleted


class _BracketReader(NamedTuple):
    """The checked options of `parseval`, and the function that reads brackets and tags of two trees by them."""

    uncounted: Collection[str]  # labels of brackets that do not count
    deleted_tags: Collection[str]  # tags of words that do not count, such as punctuation
    empty_tags: Collection[str]  # tags of traces
    same: dict[str, str]  # labels and tags that count as another one
    function_tags: bool  # whether function tags are part of labels
    labelled: bool  # whether labels are compared

    def read(self, i: int, truth: Any, found: Any) -> _Pair:
        """Return the brackets and tags that are compared in sentence i; errors name the sentence."""
        true_tree = tree_of(truth, f"The true tree of sentence {i} is not one")
        found_tree = tree_of(found, f"The predicted tree of sentence {i} is not one")
        true_tokens, found_tokens = self._tokens(true_tree), self._tokens(found_tree)
        _check_same_words(i, true_tokens, found_tokens)
        deleted = [tag in self.deleted_tags for _, tag in true_tokens]
        tags = [
            (self.same.get(true, true), self.same.get(other, other))
            for (_, true), (_, other), is_deleted in zip(true_tokens, found_tokens, deleted, strict=True)
            if not is_deleted
        ]
        return _Pair(self._brackets(true_tree, deleted), self._brackets(found_tree, deleted), tags)

    def _tokens(self, tree: Tree) -> list[Token]:
        """Return the words of a tree, and their tags, without its traces."""
        return [(word, tag) for word, tag in tree.tokens() if tag not in self.empty_tags]

    def _brackets(self, tree: Tree, deleted: list[bool]) -> list[Bracket]:
        """Return the brackets that count, with spans over the remaining words; `deleted` is without traces."""
        rest = iter(deleted)
        remains = [tag not in self.empty_tags and not next(rest) for tag in tree.tags()]
        before = [0, *accumulate(remains)]  # the number of remaining words before each position
        brackets = []
        for label, begin, end in tree.brackets():
            label = label if self.function_tags else without_function_tags(label)
            if label not in self.uncounted and before[begin] < before[end]:
                brackets.append((self.same.get(label, label) if self.labelled else "", before[begin], before[end]))
        return brackets


def sentence_counts(
    truth: Sequence[Any], found: Sequence[Any], reader: _BracketReader | None = None
) -> list[BracketCounts]:
    """Count the brackets and tags of every sentence, by default as EVALB does; zeros if no word of it counts."""
    _check_corpus(truth, found)
    if reader is None:
        reader = _BracketReader(UNCOUNTED, DELETED, EMPTY, _representatives(EQUIVALENT), False, True)
    pairs = (reader.read(i, *pair) for i, pair in enumerate(zip(truth, found, strict=True)))
    return [_counts(pair) if pair.tags else BracketCounts(*[0] * len(BracketCounts._fields)) for pair in pairs]


class BracketCounts(NamedTuple):
    """Counts of brackets, tags and sentences, for one sentence or for all."""

    true: int  # true brackets
    found: int  # predicted brackets
    right: int  # predicted brackets that are true
    crossing: int  # predicted brackets that overlap a true bracket without nesting
    exact: int  # sentences whose brackets are all right
    sentences: int
    right_tags: int  # words whose tag is right
    words: int  # all words that are counted


def _counts(pair: _Pair) -> BracketCounts:
    """Count the brackets and tags of one sentence."""
    true, found = pair.true_brackets, pair.found_brackets
    right = (Counter(true) & Counter(found)).total()
    return BracketCounts(
        true=len(true),
        found=len(found),
        right=right,
        crossing=sum(any(_cross(a, b) for a in true) for b in found),
        exact=int(right == len(true) == len(found)),
        sentences=1,
        right_tags=sum(a == b for a, b in pair.tags),
        words=len(pair.tags),
    )


def _score(counts: list[BracketCounts]) -> ParsevalScore:
    """Compute the measures of a corpus from the counts of its sentences."""
    total = (
        BracketCounts(*map(sum, zip(*counts, strict=True)))
        if counts
        else BracketCounts(*[0] * len(BracketCounts._fields))
    )
    precision, recall = _ratio(total.right, total.found), _ratio(total.right, total.true)
    return ParsevalScore(
        precision,
        recall,
        f1=_ratio(2 * precision * recall, precision + recall),
        exact_match=_ratio(total.exact, total.sentences),
        crossing=_ratio(total.crossing, total.sentences),
        tagging=_ratio(total.right_tags, total.words),
    )


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _cross(a: Bracket, b: Bracket) -> bool:
    """Return whether two spans overlap and neither contains the other."""
    return a[1] < b[1] < a[2] < b[2] or b[1] < a[1] < b[2] < a[2]


def _check_corpus(truth: Any, found: Any) -> None:
    """Raise a ValueError unless these are two lists of trees of the same length, and not empty."""
    for name, trees in (("truth", truth), ("found", found)):
        check_forest(trees, name)
        if not isinstance(trees, Sized):
            raise ValueError(f"{name} is a {type(trees).__name__}; expected a list of trees.")
    if len(truth) != len(found):
        raise ValueError(f"There are {len(truth)} true trees but {len(found)} predicted ones.")
    if len(truth) == 0:
        raise ValueError("There are no trees to compare.")


def _check_same_words(i: int, true: list[Token], found: list[Token]) -> None:
    """Raise a ValueError, which names the word, unless both trees of sentence i are over the same words."""
    for t, ((a, _), (b, _)) in enumerate(zip(true, found, strict=False)):
        if a != b:
            raise ValueError(f"Word {t} of sentence {i} is {a!r} in the true tree but {b!r} in the predicted one.")
    if len(true) != len(found):
        raise ValueError(f"The true tree of sentence {i} has {len(true)} words but the predicted one {len(found)}.")


def _representatives(equivalent: Iterable[Collection[str]]) -> dict[str, str]:
    """Return, for every label of a group, the first label of the group."""
    same: dict[str, str] = {}
    if not isinstance(equivalent, Iterable):
        raise ValueError(f"equivalent must hold groups of labels, not {equivalent!r}.")
    for group in [equivalent] if isinstance(equivalent, str) else equivalent:
        if isinstance(group, str) or not isinstance(group, Iterable):
            raise ValueError(f"equivalent must hold groups of labels, not {_described(group)}.")
        first = None
        for label in group:
            if label in same:
                raise ValueError(f"The label {label!r} is in two groups of equivalent labels.")
            first = label if first is None else first
            same[label] = first
    return same


def _described(value: Any) -> str:
    return f"the string {value!r}" if isinstance(value, str) else repr(value)


parseval_f1_scorer = Scorer(parseval, "f1")
