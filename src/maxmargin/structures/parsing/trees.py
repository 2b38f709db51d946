"""Tree: a parse tree, a labelled ordered tree over the words of a sentence.

Trees are values: immutable, hashable, and equal if they are written alike. No method recurses, so that a tree may be
thousands of levels deep: values that depend on a node's children (hash, number of words, height) are computed when the
node is made.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar, cast

from maxmargin.structures.parsing import tree_drawing
from maxmargin.structures.parsing.bracket_notation import is_label, is_word, one_node, written_word

Bracket = tuple[str, int, int]  # (label, begin, end): words begin .. end - 1 are one phrase of this label
TRACE = "-NONE-"  # the label of empty elements in the Penn Treebank

_Node = TypeVar("_Node")


class Tree:
    """An immutable parse tree: a node with a label, and everything below it.

    A *preterminal* has one child, a word; its label is the word's tag. Any other node has one or more trees as
    children, and is a phrase.

    Parameters
    ----------
    label : str
        The label. It may have no whitespace and no brackets, which bracket notation could not show.
    children : sequence of Tree, or of a single str
        The children from left to right. A word may have no whitespace, either. Its brackets are written as the Penn
        Treebank does, -LRB- and -RRB-; reading does not turn these back into brackets.

    Attributes
    ----------
    label : str
        The label of this node.
    children : tuple of Tree, or of one str
        The children of this node.

    See Also
    --------
    maxmargin.formats.read_trees : Read the trees of a file.
    maxmargin.Parser : Learn to predict trees.

    Examples
    --------
    >>> from maxmargin import Tree
    >>> tree = Tree.parse("(S (NP (PRP it)) (VP (VBZ works)))")
    >>> tree.words(), tree.brackets()
    (['it', 'works'], [('S', 0, 2), ('NP', 0, 1), ('VP', 1, 2)])
    """

    __slots__ = ("_hash", "_height", "_n_words", "children", "label")

    label: str
    children: tuple[Tree | str, ...]
    _hash: int
    _height: int
    _n_words: int

    def __init__(self, label: str, children: Sequence[Tree | str]):
        if not isinstance(label, str):
            raise ValueError(f"a label must be a string, not {label!r}")
        if not is_label(label):
            raise ValueError(f"a label must be a word without whitespace and brackets, not {label!r}")
        if isinstance(children, str):
            raise ValueError(f"the children of {label} are a string, {children!r}; expected [{children!r}]")
        children = tuple(children)
        if len(children) == 1 and isinstance(children[0], str):
            if not is_word(children[0]):
                raise ValueError(
                    f"the word below {label} must be without whitespace and not empty, not {children[0]!r}"
                )
            n_words, height = 1, 1
        else:
            branches = _checked_branches(label, children)
            n_words = sum(branch._n_words for branch in branches)
            height = 1 + max(branch._height for branch in branches)
        put = object.__setattr__
        put(self, "label", label)
        put(self, "children", children)
        put(self, "_hash", hash((label, *children)))
        put(self, "_n_words", n_words)
        put(self, "_height", height)

    @classmethod
    def parse(cls, text: str) -> Tree:
        """Return the tree of a string in bracket notation: ``(S (NP (PRP it)) (VP (VBZ works)))``.

        Words stay as they are, -LRB- included. The outer bracket without a label that the Penn Treebank puts around
        every tree, ``( (S ...) )``, is dropped.
        """
        if not isinstance(text, str):
            raise ValueError(
                f"{text!r:.60} is not a string; expected a tree in bracket notation (Tree.of takes other forms, too)"
            )
        return one_node(text, Tree)

    @classmethod
    def of(cls, tree: Any) -> Tree:
        """Make a tree from any form: a Tree, a bracket string, an nltk.Tree, or nested tuples (label, *children)."""
        if isinstance(tree, Tree):
            return tree
        if isinstance(tree, str):
            return cls.parse(tree)
        label, children = _label_and_children(tree)
        if label == "" and len(children) == 1 and not isinstance(children[0], str):
            tree = children[0]  # the Penn Treebank's outer bracket

        def make(node: Any, children: list[Tree | str]) -> Tree | str:
            return node if isinstance(node, (str, Tree)) else Tree(_label_and_children(node)[0], children)

        def children_of(node: Any) -> Sequence[Any]:
            return () if isinstance(node, (str, Tree)) else _label_and_children(node)[1]

        return cast(Tree, _built_bottom_up(tree, children_of, make))

    @property
    def is_preterminal(self) -> bool:
        """True if the only child is a word."""
        return isinstance(self.children[0], str)

    @property
    def branches(self) -> tuple[Tree, ...]:
        """The children that are trees: all children of a phrase, none of a preterminal."""
        return () if self.is_preterminal else cast("tuple[Tree, ...]", self.children)

    def __len__(self) -> int:
        """Return the number of words."""
        return self._n_words

    def height(self) -> int:
        """Return the number of nodes on the longest path from this node to a preterminal, including both ends."""
        return self._height

    def subtrees(self) -> Iterator[Tree]:
        """Yield all nodes of the tree, a parent before its children, and children from left to right."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed(node.branches))

    def preterminals(self) -> Iterator[Tree]:
        """Yield the preterminals from left to right."""
        return (node for node in self.subtrees() if node.is_preterminal)

    def words(self) -> list[str]:
        """Return the words of the sentence."""
        return [word for word, _ in self.tokens()]

    def tags(self) -> list[str]:
        """Return the tags of the words, which are the labels of the preterminals."""
        return [tag for _, tag in self.tokens()]

    def tokens(self) -> list[tuple[str, str]]:
        """Return the (word, tag) pairs of the sentence."""
        return [(cast(str, node.children[0]), node.label) for node in self.preterminals()]

    def brackets(self) -> list[Bracket]:
        """Return (label, begin, end) of every node that is not a preterminal, in the order of `subtrees`.

        A unary chain gives several brackets over the same span.
        """
        found: list[Bracket] = []
        begin = 0
        for node in self.subtrees():  # in this order, all words to the left of a node come before it
            if node.is_preterminal:
                begin += 1
            else:
                found.append((node.label, begin, begin + node._n_words))
        return found

    def cleaned(self, *, function_tags: bool = False, traces: bool = False, unary_repeats: bool = False) -> Tree | None:
        """Return the tree without the annotations that treebanks add to phrase structure. Each option keeps one kind.

        Parameters
        ----------
        function_tags : bool
            Keep the part of a label from the first ``-`` or ``=`` on. Otherwise NP-SBJ-1 and NP=2 become NP. Labels
            that begin with such a sign, as -LRB- and -NONE- do, stay as they are.
        traces : bool
            Keep preterminals with the label -NONE-, and the nodes that have no other words.
        unary_repeats : bool
            Keep nodes whose only child has the same label, after function tags and traces have been dropped.

        Returns
        -------
        Tree or None
            The tree, or None if nothing is left of it.
        """

        def make(node: Tree, children: list[Tree | None]) -> Tree | None:
            label = node.label if function_tags else without_function_tags(node.label)
            if node.is_preterminal:
                if label == TRACE and not traces:
                    return None
                return node if label == node.label else Tree(label, node.children)
            remaining = [child for child in children if child is not None]
            if not remaining:
                return None
            if not unary_repeats and len(remaining) == 1 and remaining[0].label == label:
                return remaining[0]
            return Tree(label, remaining)

        return _built_bottom_up(self, lambda node: node.branches, make)

    def with_words(self, words: Sequence[str]) -> Tree:
        """Return the same tree over other words."""
        if isinstance(words, str):
            raise ValueError(f"words must be a sequence of {len(self)} words, not the string {words!r}")
        if len(words) != len(self):
            raise ValueError(f"the tree has {len(self)} words; {len(words)} were given to replace them")
        new_words = iter(words)  # `make` is called from left to right

        def make(node: Tree, children: list[Tree]) -> Tree:
            return Tree(node.label, children or [next(new_words)])

        return _built_bottom_up(self, lambda node: node.branches, make)

    def draw(self) -> str:
        """Return a drawing of the tree in text, for a terminal with a fixed-width font."""
        return tree_drawing.text(self)

    def _repr_svg_(self) -> str:
        return tree_drawing.svg(self)

    def __str__(self) -> str:
        """Return the tree in bracket notation, on one line."""
        parts: list[str] = []
        waiting: list[Tree | str] = [self]  # nodes, and the brackets that close nodes
        while waiting:
            node = waiting.pop()
            if isinstance(node, str):
                parts.append(node)
            elif node.is_preterminal:
                parts.append(f" ({node.label} {written_word(cast(str, node.children[0]))})")
            else:
                parts.append(f" ({node.label}")
                waiting.append(")")
                waiting.extend(reversed(node.branches))
        return "".join(parts)[1:]

    def __repr__(self) -> str:
        return f"Tree.parse({str(self)!r})"

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        waiting = [(self, other)]
        while waiting:
            a, b = waiting.pop()
            if a is b:
                continue
            if a._hash != b._hash or a.label != b.label or len(a.children) != len(b.children):
                return False
            if a.is_preterminal or b.is_preterminal:
                if a.children[0] != b.children[0]:  # two words, or a word and a tree: this does not recurse
                    return False
            else:
                waiting.extend(zip(a.branches, b.branches, strict=True))
        return True

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Tree is immutable; its attribute {name} cannot be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a Tree is immutable; its attribute {name} cannot be deleted")

    def __reduce__(self) -> tuple[Any, ...]:
        """Return a flat list to pickle: pickle would recurse, and the hash must be computed anew in another process."""
        flat: list[tuple[str, int | str]] = []
        for node in self.subtrees():
            child = node.children[0]
            flat.append((node.label, child if isinstance(child, str) else len(node.children)))
        return _unflattened, (flat,)


def tree_of(tree: Any, name: str) -> Tree:
    """Return Tree.of(tree), with errors that begin with the name of the tree."""
    try:
        return Tree.of(tree)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}: {error}") from error


def check_forest(trees: Any, name: str) -> None:
    """Raise a ValueError unless this can be a list of trees; a single tree of nltk, which is a list, is refused."""
    if isinstance(trees, str | Tree) or callable(getattr(trees, "label", None)) or not isinstance(trees, Iterable):
        raise ValueError(f"{name} is {trees!r:.60}; expected a list of trees")


def without_function_tags(label: str) -> str:
    """Return NP for NP-SBJ-1 and NP=2; labels that begin with such a sign, like -LRB- and -NONE-, stay the same."""
    if label[0] in "-=":
        return label
    return re.split("[-=]", label, maxsplit=1)[0]


def _checked_branches(label: str, children: tuple[Any, ...]) -> tuple[Tree, ...]:
    """Return the children of a phrase; raise a ValueError if there are none, or if one of them is not a tree."""
    if not children:
        raise ValueError(f"{label} has no children; a tree ends in words")
    for child in children:
        if isinstance(child, str):
            raise ValueError(
                f"{label} has {len(children)} children, among them the word {child!r}; "
                f"a word needs a node of its own, its tag: Tree(tag, [{child!r}])"
            )
        if not isinstance(child, Tree):
            raise ValueError(f"a child of {label} is {child!r}; expected a Tree or a word")
    return children


def _label_and_children(node: Any) -> tuple[str, Sequence[Any]]:
    """Return the label and the children of an nltk.Tree, which is a list, or of a tuple (label, *children)."""
    if callable(getattr(node, "label", None)):
        return node.label(), list(node)
    if isinstance(node, (tuple, list)) and node:
        return node[0], node[1:]
    raise ValueError(
        f"{node!r} is not a tree; expected a Tree, a bracket string, an nltk.Tree or a tuple (label, *children)"
    )


def _built_bottom_up(
    root: _Node, children_of: Callable[[_Node], Sequence[_Node]], make: Callable[[_Node, list[Any]], Any]
) -> Any:
    """Return make(root, [results of its children]), bottom up and from left to right, without recursion."""
    results: list[Any] = []
    waiting: list[tuple[_Node, int]] = [(root, -1)]  # -1, or the number of results when its children were added
    while waiting:
        node, first = waiting.pop()
        if first < 0:
            waiting.append((node, len(results)))
            # Entries are taken from the end of the list, so that results come from left to right.
            waiting.extend((child, -1) for child in reversed(children_of(node)))
        else:
            results[first:] = [make(node, results[first:])]
    return results[0]


def _unflattened(flat: list[tuple[str, int | str]]) -> Tree:
    """Return the tree of labels in the order of `subtrees`, each with its word or its number of children."""
    finished: list[Tree] = []  # the list is read backwards, so that the first child of a node is on top
    for label, word_or_count in reversed(flat):
        if isinstance(word_or_count, str):
            finished.append(Tree(label, [word_or_count]))
        else:
            children = [finished.pop() for _ in range(word_or_count)]
            finished.append(Tree(label, children))
    return finished[0]
