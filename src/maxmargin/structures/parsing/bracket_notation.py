"""Read the bracket notation of the Penn Treebank: (S (NP (PRP it)) (VP (VBZ works)) (. .))

A tree may span several lines, and a line may hold several trees; whitespace ends a word and has no other meaning. The
nodes are made by a function that the caller passes, so that this module need not know what a tree is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, NamedTuple, TypeVar

AnyNode = TypeVar("AnyNode")
MakeNode = Callable[[str, list[Any]], AnyNode]  # from a label and its children: nodes, or a single word

_BLANKS = r" \t\n\r\f\v"  # the blanks that separate words; other kinds of blank may be part of a word
_BLANK = re.compile(f"[{_BLANKS}]")
_BLANK_OR_BRACKET = re.compile(f"[{_BLANKS}()]")
_BRACKET_OR_WORD = re.compile(f"[()]|[^{_BLANKS}()]+")


def is_label(text: str) -> bool:
    """Return whether a text can be a label: it is not empty and has neither whitespace nor brackets."""
    return bool(text) and not _BLANK_OR_BRACKET.search(text)


def is_word(text: str) -> bool:
    """Return whether a text can be a word: it is not empty and has no whitespace."""
    return bool(text) and not _BLANK.search(text)


def written_word(word: str) -> str:
    """Return the word with -LRB- and -RRB- in place of its brackets, as in the Penn Treebank."""
    return word.replace("(", "-LRB-").replace(")", "-RRB-")


def one_node(text: str, make: MakeNode[AnyNode]) -> AnyNode:
    """Return the only tree of a string."""
    nodes = list(nodes_in(text, make))
    if len(nodes) != 1:
        raise ValueError(f"{_excerpt(text)} holds {len(nodes)} trees; expected one")
    return nodes[0]


def nodes_in(text: str, make: MakeNode[AnyNode]) -> Iterator[AnyNode]:
    """Yield the top nodes of all trees in a text; errors quote it, with the number of the character."""
    try:
        yield from _scanned([(0, text)], make)
    except _Malformed as fault:
        raise ValueError(f"{_excerpt(text)}, character {fault.place.start + 1}: {fault.reason}") from None


def nodes_of_lines(lines: Iterable[tuple[int, str]], make: MakeNode[AnyNode], source: str) -> Iterator[AnyNode]:
    """Yield the top nodes of all trees in numbered lines; errors name the source and the line."""
    try:
        yield from _scanned(lines, make)
    except _Malformed as fault:
        line, first = fault.place.line, fault.tree.line
        where = f" (in the tree that begins in line {first})" if first < line else ""
        raise ValueError(f"{source}, line {line}: {fault.reason}{where}") from None


class _Place(NamedTuple):
    """The line and the character at which a bracket or a word begins."""

    line: int
    start: int


class _Malformed(Exception):  # noqa: N818 - names the state of the text
    """The error that a text is malformed at `place`, within the tree that begins at `tree`."""

    def __init__(self, place: _Place, reason: str, tree: _Place):
        self.place, self.reason, self.tree = place, reason, tree


class _OpenBracket(Generic[AnyNode]):
    """A bracket that is not closed yet, with the part of it that has been read."""

    __slots__ = ("children", "label", "place", "word")

    def __init__(self, place: _Place):
        self.place = place
        self.label: str | None = None
        self.word: str | None = None
        self.children: list[AnyNode] = []

    def closed(self, make: MakeNode[AnyNode]) -> AnyNode:
        """Return the node, or its only child if it is the outer bracket without a label of the Penn Treebank."""
        if self.label is None:
            return self.children[0]
        return make(self.label, self.children if self.word is None else [self.word])


def _scanned(lines: Iterable[tuple[int, str]], make: MakeNode[AnyNode]) -> Iterator[AnyNode]:
    """Yield the top nodes of all trees. Brackets and words do not continue on the next line."""
    opened: list[_OpenBracket[AnyNode]] = []
    found = ((line, match) for line, text in lines for match in _BRACKET_OR_WORD.finditer(text))
    for line, match in found:
        token, place = match.group(), _Place(line, match.start())
        error = None
        bracket = opened[-1] if opened else None
        if token == "(":
            opened.append(_OpenBracket(place))
            if bracket is not None and bracket.word is not None:
                error = f"a subtree beside the word {bracket.word!r}"
            elif bracket is not None and bracket.label is None and len(opened) > 2:  # only the outermost may have none
                error = "a bracket without a label"
        elif bracket is None:
            error = "an unexpected ')'" if token == ")" else f"{token!r} stands outside of all brackets"
            raise _Malformed(place, error, place)
        elif token == ")":
            if bracket.label is None and len(bracket.children) != 1:
                error = "a bracket without a label" if bracket.children else "an empty bracket"
            elif bracket.word is None and not bracket.children:
                error = f"{bracket.label} has neither a word nor a subtree"
            else:
                opened.pop()
                node = bracket.closed(make)
                if opened:
                    opened[-1].children.append(node)
                else:
                    yield node
        elif bracket.children:
            error = f"the word {token!r} beside a subtree"
        elif bracket.label is None:
            bracket.label = token
        elif bracket.word is None:
            bracket.word = token
        else:
            error = f"two words below {bracket.label}, {bracket.word!r} and {token!r}"
        if error is not None:
            raise _Malformed(place, error, opened[0].place)
    if opened:
        start = opened[0].place
        raise _Malformed(start, f"a bracket is not closed; {len(opened)} ')' missing at the end", start)


def _excerpt(text: str) -> str:
    """Return the beginning of a text, in quotes."""
    return repr(text if len(text) <= 60 else text[:57] + "...")
