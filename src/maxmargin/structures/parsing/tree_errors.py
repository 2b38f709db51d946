"""Compare a predicted tree with the true one, node by node.

Nothing is cut or deleted before the trees are compared; `parseval` counts over a whole corpus as papers do.
"""

from __future__ import annotations

from collections import Counter

from maxmargin.structures.parsing.trees import Bracket, Tree


def bracket_errors(tree: Tree, truth: Tree) -> tuple[list[bool], list[Bracket]]:
    """Return whether each of tree.brackets() is wrong, and those of truth.brackets() that the tree misses.

    If the tree has a bracket more often than the truth, the lowest ones are wrong.
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


def tag_errors(tree: Tree, truth: Tree) -> list[bool]:
    """Return whether the tag of each word is wrong."""
    return [found != true for found, true in zip(tree.tags(), truth.tags(), strict=True)]


def node_errors(tree: Tree, truth: Tree) -> list[bool]:
    """Return whether the bracket or the tag of each node is wrong, in the order of tree.subtrees()."""
    brackets, tags = iter(bracket_errors(tree, truth)[0]), iter(tag_errors(tree, truth))
    return [next(tags if node.is_preterminal else brackets) for node in tree.subtrees()]
