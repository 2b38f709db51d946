"""Parseval: how far predicted parse trees agree with the true ones, bracket by bracket.

The measures are those of Black et al., "A procedure for quantitatively comparing the syntactic coverage of English
grammars" (1991), as the program EVALB of Sekine and Collins computes them with its parameter file COLLINS.prm, which is
what papers on the Penn Treebank report.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence, Sized
from itertools import accumulate
from typing import Any, NamedTuple

from maxmargin.structures.parsing.trees import TRACE, Bracket, Tree, check_forest, without_function_tags


class ParsevalScore(NamedTuple):
    """Agreement of a corpus of trees with the truth; all but `crossing` are shares between 0 and 1."""

    precision: float  # of the brackets that were found, those that are in the true tree
    recall: float  # of the true brackets, those that were found
    f1: float  # the harmonic mean of the two
    exact_match: float  # of the sentences, those whose brackets are all right and complete
    crossing: float  # brackets per sentence that were found and overlap a true bracket without nesting
    tagging: float  # of the words, those with the right tag


def parseval(
    truth: Sequence[Any],
    found: Sequence[Any],
    *,
    uncounted: Collection[str] = ("TOP", "ROOT", "S1"),
    deleted_tags: Collection[str] = ("``", "''", ",", ".", ":"),
    empty_tags: Collection[str] = (TRACE,),
    equivalent: Iterable[Collection[str]] = (("ADVP", "PRT"),),
    function_tags: bool = False,
    labelled: bool = True,
) -> ParsevalScore:
    """Labelled precision, recall, F1 and the other measures of EVALB over all sentences together.

    A bracket (label, begin, end) that was found is right if the true tree has it; where one tree has a bracket several
    times, each is matched once. Brackets are added up over all sentences before ratios are taken, and a ratio without
    anything to count is 0. A sentence without any counted bracket in both trees is an exact match; a sentence of which
    no word is left is not counted at all.

    Parameters
    ----------
    truth, found : sequences of trees
        Whatever `Tree.of` takes. The trees of a sentence must be over the same words.
    uncounted : labels of phrases
        Brackets with these labels are not counted: nodes that only say that a sentence is one.
    deleted_tags : tags
        Words with these tags in the true tree, by default punctuation, are deleted in both trees before spans are
        compared, and phrases that have no other words with them. Nor are their tags counted. (EVALB takes the tags of
        each tree by itself, and gives up a sentence where the two then differ in length.)
    empty_tags : tags
        Words with these tags, traces, are deleted in the tree that has them.
    equivalent : groups of labels
        Labels, of phrases or tags, that count as the same.
    function_tags : bool
        Compare labels of phrases whole, NP-SBJ being another label than NP. False cuts them, as `Tree.cleaned` does.
    labelled : bool
        False compares spans alone.
    """
    for name, trees in (("truth", truth), ("found", found)):
        check_forest(trees, name)
        if not isinstance(trees, Sized):
            raise ValueError(f"{name} is a {type(trees).__name__}; expected a list of trees.")
    if len(truth) != len(found):
        raise ValueError(f"There are {len(truth)} true trees but {len(found)} predicted ones.")
    if len(truth) == 0:
        raise ValueError("There are no trees to compare.")
    for name, labels in (("uncounted", uncounted), ("deleted_tags", deleted_tags), ("empty_tags", empty_tags)):
        if isinstance(labels, str) or not isinstance(labels, Collection):
            raise ValueError(f"{name} must be a collection of labels, not {_named(labels)}.")
    same = _representatives(equivalent)

    def seen(tree: Tree, dropped: list[bool]) -> list[Bracket]:
        """The brackets that count, over the words that are not dropped."""
        left = [0, *accumulate(not drop for drop in dropped)]  # words that are left before each position
        brackets = []
        for label, begin, end in tree.brackets():
            label = label if function_tags else without_function_tags(label)
            if label not in uncounted and left[begin] < left[end]:
                brackets.append((same.get(label, label) if labelled else "", left[begin], left[end]))
        return brackets

    n_true = n_found = n_right = n_exact = n_crossing = n_sentences = n_words = n_right_tags = 0
    for i, pair in enumerate(zip(truth, found, strict=True)):
        trees = [_tree(tree, i, name) for tree, name in zip(pair, ("true", "predicted"), strict=True)]
        empty = [[tag in empty_tags for tag in tree.tags()] for tree in trees]
        tokens = [
            [token for token, drop in zip(tree.tokens(), drops, strict=True) if not drop]
            for tree, drops in zip(trees, empty, strict=True)
        ]
        _check_same_words(i, *tokens)
        deleted = [tag in deleted_tags for _, tag in tokens[0]]
        if all(deleted):
            continue
        true_brackets, found_brackets = (
            seen(tree, _spread(deleted, drops)) for tree, drops in zip(trees, empty, strict=True)
        )
        right = (Counter(true_brackets) & Counter(found_brackets)).total()
        n_true += len(true_brackets)
        n_found += len(found_brackets)
        n_right += right
        n_exact += right == len(true_brackets) == len(found_brackets)
        n_crossing += sum(any(_cross(a, b) for a in true_brackets) for b in found_brackets)
        n_sentences += 1
        tags = [(a, b) for (_, a), (_, b), drop in zip(*tokens, deleted, strict=True) if not drop]
        n_words += len(tags)
        n_right_tags += sum(same.get(a, a) == same.get(b, b) for a, b in tags)

    precision, recall = _ratio(n_right, n_found), _ratio(n_right, n_true)
    return ParsevalScore(
        precision,
        recall,
        _ratio(2 * precision * recall, precision + recall),
        _ratio(n_exact, n_sentences),
        _ratio(n_crossing, n_sentences),
        _ratio(n_right_tags, n_words),
    )


def bracket_errors(tree: Tree, truth: Tree) -> tuple[list[bool], list[Bracket]]:
    """Which of tree.brackets() are not in the truth, and which of truth.brackets() are missing in the tree.

    Nothing is cut or deleted. Where the tree has a bracket more often than the truth, the lowest ones are wrong.
    """
    if len(tree) != len(truth):
        raise ValueError(f"The tree has {len(tree)} words, but the true one {len(truth)}.")
    unmatched = Counter(truth.brackets())
    wrong = []
    for bracket in tree.brackets():
        wrong.append(unmatched[bracket] == 0)
        if not wrong[-1]:
            unmatched[bracket] -= 1
    missed = []
    for bracket in reversed(truth.brackets()):
        if unmatched[bracket]:
            unmatched[bracket] -= 1
            missed.append(bracket)
    return wrong, missed[::-1]


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _cross(a: Bracket, b: Bracket) -> bool:
    """Whether two spans overlap and neither contains the other."""
    return a[1] < b[1] < a[2] < b[2] or b[1] < a[1] < b[2] < a[2]


def _spread(deleted: list[bool], empty: list[bool]) -> list[bool]:
    """Which of a tree's own words are dropped, from which of those that are not empty are deleted."""
    of_words = iter(deleted)
    return [True if drop else next(of_words) for drop in empty]


def _representatives(equivalent: Iterable[Collection[str]]) -> dict[str, str]:
    """The first label of its group for every label that is in one."""
    same: dict[str, str] = {}
    if not isinstance(equivalent, Iterable):
        raise ValueError(f"equivalent must hold groups of labels, not {equivalent!r}.")
    for group in [equivalent] if isinstance(equivalent, str) else equivalent:
        if isinstance(group, str) or not isinstance(group, Iterable):
            raise ValueError(f"equivalent must hold groups of labels, not {_named(group)}.")
        first = None
        for label in group:
            if label in same:
                raise ValueError(f"The label {label!r} is in two groups of equivalent labels.")
            first = label if first is None else first
            same[label] = first
    return same


def _named(value: Any) -> str:
    return f"the string {value!r}" if isinstance(value, str) else repr(value)


def _tree(tree: Any, i: int, name: str) -> Tree:
    try:
        return Tree.of(tree)
    except ValueError as error:
        raise ValueError(f"The {name} tree of sentence {i} is not one: {error}") from error


def _check_same_words(i: int, true: list[tuple[str, str]], found: list[tuple[str, str]]) -> None:
    for t, ((a, _), (b, _)) in enumerate(zip(true, found, strict=False)):
        if a != b:
            raise ValueError(f"Word {t} of sentence {i} is {a!r} in the true tree but {b!r} in the predicted one.")
    if len(true) != len(found):
        raise ValueError(f"The true tree of sentence {i} has {len(true)} words but the predicted one {len(found)}.")
