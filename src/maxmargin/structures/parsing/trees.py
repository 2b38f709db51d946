"""Tree: a parse tree, a labelled ordered tree over the words of a sentence.

Trees are values: immutable, hashable, equal when written alike. Nothing here recurses, so that a tree may be many
thousand levels deep; what a node's children determine (hash, number of words, height) is computed when it is made.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar, cast

Bracket = tuple[str, int, int]  # (label, begin, end): words begin .. end - 1 are one phrase of this label
TRACE = "-NONE-"  # the label of empty elements in the Penn Treebank

_Node = TypeVar("_Node")
_SPACE = re.compile(r"[ \t\n\r\f\v]")  # what separates words in bracket notation; other blanks may stand in a word
_SPACE_OR_BRACKET = re.compile(r"[ \t\n\r\f\v()]")


class Tree:
    """A node and all that is below it.

    A *preterminal* has one child, a word; its label is the word's tag. Any other node has one or more trees as
    children, and is a phrase.

    Parameters
    ----------
    label : str
        Without whitespace and brackets, which could not be written.
    children : sequence of Tree, or of a single str
        A word may not have whitespace in it, either. Brackets in words are written as the Penn Treebank does, -LRB- and
        -RRB-; they are not translated back.

    Attributes
    ----------
    label : str
    children : tuple of Tree, or of one str
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
        if not label or _SPACE_OR_BRACKET.search(label):
            raise ValueError(f"a label must be a word without whitespace and brackets, not {label!r}")
        if isinstance(children, str):
            raise ValueError(f"the children of {label} are a string, {children!r}; expected [{children!r}]")
        children = tuple(children)
        if len(children) == 1 and isinstance(children[0], str):
            _check_word(children[0], label)
            n_words, height = 1, 1
        else:
            n_words, height = _measured(label, children)
        put = object.__setattr__
        put(self, "label", label)
        put(self, "children", children)
        put(self, "_hash", hash((label, *children)))
        put(self, "_n_words", n_words)
        put(self, "_height", height)

    @classmethod
    def parse(cls, text: str) -> Tree:
        """The one tree that a string in bracket notation holds: ``(S (NP (PRP it)) (VP (VBZ works)))``.

        Words stay as they are, -LRB- included. The outer bracket without a label that the Penn Treebank puts around
        every tree, ``( (S ...) )``, is dropped.
        """
        from maxmargin.structures.parsing.brackets import one_tree

        if not isinstance(text, str):
            raise ValueError(
                f"{text!r:.60} is no string; expected a tree in bracket notation (Tree.of takes other forms, too)"
            )
        return one_tree(text)

    @classmethod
    def of(cls, tree: Any) -> Tree:
        """A tree from what users have: a Tree, a bracket string, an nltk.Tree, or nested (label, *children) tuples."""
        if isinstance(tree, Tree):
            return tree
        if isinstance(tree, str):
            return cls.parse(tree)
        label, children = _label_and_children(tree)
        if label == "" and len(children) == 1 and not isinstance(children[0], str):
            tree = children[0]  # the Penn Treebank's outer bracket

        def made(node: Any, children: list[Tree | str]) -> Tree | str:
            return node if isinstance(node, (str, Tree)) else Tree(_label_and_children(node)[0], children)

        def below(node: Any) -> Sequence[Any]:
            return () if isinstance(node, (str, Tree)) else _label_and_children(node)[1]

        return cast(Tree, _folded(tree, below, made))

    @property
    def is_preterminal(self) -> bool:
        """Whether the only child is a word."""
        return isinstance(self.children[0], str)

    @property
    def branches(self) -> tuple[Tree, ...]:
        """The children that are trees: all of them, or none below a preterminal."""
        return () if self.is_preterminal else cast("tuple[Tree, ...]", self.children)

    def __len__(self) -> int:
        """The number of words."""
        return self._n_words

    def height(self) -> int:
        """The number of nodes on the longest way from here down to a preterminal, both ends counted."""
        return self._height

    def subtrees(self) -> Iterator[Tree]:
        """All nodes, top down and from left to right."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed(node.branches))

    def preterminals(self) -> Iterator[Tree]:
        """The preterminals from left to right."""
        return (node for node in self.subtrees() if node.is_preterminal)

    def words(self) -> list[str]:
        """The sentence."""
        return [word for word, _ in self.tokens()]

    def tags(self) -> list[str]:
        """The labels of the preterminals."""
        return [tag for _, tag in self.tokens()]

    def tokens(self) -> list[tuple[str, str]]:
        """The (word, tag) pairs of the sentence."""
        return [(cast(str, node.children[0]), node.label) for node in self.preterminals()]

    def brackets(self) -> list[Bracket]:
        """(label, begin, end) of every node that is not a preterminal, top down and from left to right.

        A unary chain gives several brackets over one span.
        """
        found: list[Bracket] = []
        begin = 0
        for node in self.subtrees():  # in this order, `begin` words stand to the left of a node
            if node.is_preterminal:
                begin += 1
            else:
                found.append((node.label, begin, begin + node._n_words))
        return found

    def cleaned(self, *, function_tags: bool = False, traces: bool = False, unary_repeats: bool = False) -> Tree | None:
        """The tree without what treebanks add to phrase structure; False drops it, True keeps it.

        Parameters
        ----------
        function_tags : bool
            What follows the first ``-`` or ``=`` of a label: NP-SBJ-1 and NP=2 become NP. Labels that begin with
            such a sign, as -LRB- and -NONE- do, stay as they are.
        traces : bool
            Preterminals with the label -NONE-, and the nodes that have no words without them.
        unary_repeats : bool
            A node whose only child has the same label, when the other two are dropped.

        Returns
        -------
        The tree, or None if nothing is left of it.
        """

        def made(node: Tree, children: list[Tree | None]) -> Tree | None:
            label = node.label if function_tags else without_function_tags(node.label)
            if node.is_preterminal:
                if label == TRACE and not traces:
                    return None
                return node if label == node.label else Tree(label, node.children)
            kept = [child for child in children if child is not None]
            if not kept:
                return None
            if not unary_repeats and len(kept) == 1 and kept[0].label == label:
                return kept[0]
            return Tree(label, kept)

        return _folded(self, lambda node: node.branches, made)

    def with_words(self, words: Sequence[str]) -> Tree:
        """The same tree over other words."""
        if isinstance(words, str):
            raise ValueError(f"words must be a sequence of {len(self)} words, not the string {words!r}")
        if len(words) != len(self):
            raise ValueError(f"the tree has {len(self)} words; {len(words)} were given to replace them")
        new = iter(words)  # `made` is called from left to right

        def made(node: Tree, children: list[Tree]) -> Tree:
            return Tree(node.label, children or [next(new)])

        return _folded(self, lambda node: node.branches, made)

    def draw(self) -> str:
        """The tree as a drawing in text, for a terminal with a fixed-width font."""
        from maxmargin.structures.parsing.tree_drawing import text

        return text(self)

    def _repr_svg_(self) -> str:
        from maxmargin.structures.parsing.tree_drawing import svg

        return svg(self)

    def __str__(self) -> str:
        """The tree in bracket notation, on one line."""
        parts: list[str] = []
        waiting: list[Tree | str] = [self]
        while waiting:
            node = waiting.pop()
            if isinstance(node, str):  # what closes a bracket
                parts.append(node)
            elif node.is_preterminal:
                word = cast(str, node.children[0]).replace("(", "-LRB-").replace(")", "-RRB-")
                parts.append(f" ({node.label} {word})")
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
                if a.children[0] != b.children[0]:  # of two words, or of a word and a tree: no recursion
                    return False
            else:
                waiting.extend(zip(a.branches, b.branches, strict=True))
        return True

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Tree cannot be changed; {name} was to be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a Tree cannot be changed; {name} was to be deleted")

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as a flat list: pickle itself would recurse, and hashes of strings differ between processes."""
        flat: list[tuple[str, int | str]] = []
        for node in self.subtrees():
            child = node.children[0]
            flat.append((node.label, child if isinstance(child, str) else len(node.children)))
        return _unflattened, (flat,)


def check_forest(trees: Any, name: str) -> None:
    """That this holds trees, and is not a single one (of which nltk's are lists, too)."""
    if isinstance(trees, str | Tree) or callable(getattr(trees, "label", None)) or not isinstance(trees, Iterable):
        raise ValueError(f"{name} is {trees!r:.60}; expected a list of trees")


def without_function_tags(label: str) -> str:
    """NP for NP-SBJ-1 and NP=2; -LRB- and -NONE- stay."""
    if label[0] in "-=":
        return label
    return re.split("[-=]", label, maxsplit=1)[0]


def _check_word(word: str, label: str) -> None:
    if not word or _SPACE.search(word):
        raise ValueError(f"the word below {label} must be without whitespace and not empty, not {word!r}")


def _measured(label: str, children: tuple[Any, ...]) -> tuple[int, int]:
    """The number of words and the height of a phrase with these children, which are checked."""
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
    return sum(child._n_words for child in children), 1 + max(child._height for child in children)


def _label_and_children(node: Any) -> tuple[str, Sequence[Any]]:
    """Of an nltk.Tree, which is a list of its children, or of a (label, *children) tuple."""
    if callable(getattr(node, "label", None)):
        return node.label(), list(node)
    if isinstance(node, (tuple, list)) and node:
        return node[0], node[1:]
    raise ValueError(
        f"{node!r} is not a tree; expected a Tree, a bracket string, an nltk.Tree or a tuple (label, *children)"
    )


def _folded(root: _Node, below: Callable[[_Node], Sequence[_Node]], made: Callable[[_Node, list[Any]], Any]) -> Any:
    """made(root, [made of the nodes below it]), computed bottom up and from left to right without recursion."""
    results: list[Any] = []
    waiting: list[tuple[_Node, int]] = [(root, -1)]  # with the number of results that were there before the node's own
    while waiting:
        node, first = waiting.pop()
        if first < 0:
            waiting.append((node, len(results)))
            # Their results come in the order in which they are taken from here: from left to right.
            waiting.extend((child, -1) for child in reversed(below(node)))
        else:
            results[first:] = [made(node, results[first:])]
    return results[0]


def _unflattened(flat: list[tuple[str, int | str]]) -> Tree:
    """The tree of labels in the order of `subtrees`, each with its word or its number of children."""
    done: list[Tree] = []  # read backwards, the first of the children is on top
    for label, below in reversed(flat):
        if isinstance(below, str):
            done.append(Tree(label, [below]))
        else:
            children = [done.pop() for _ in range(below)]
            done.append(Tree(label, children))
    return done[0]
