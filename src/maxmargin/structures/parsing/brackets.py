"""Trees in bracket notation, the format of the Penn Treebank: (S (NP (PRP it)) (VP (VBZ works)) (. .))

A tree may span lines and a line may hold several trees; whitespace means nothing else than the end of a word.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import Any, cast

from maxmargin.inputs.text_file import TextFile, reading, writing
from maxmargin.structures.parsing.trees import Tree, check_forest

_SIGN = re.compile(r"[()]|[^ \t\n\r\f\v()]+")


def read_trees(source: TextFile | Iterable[str | os.PathLike[str]]) -> list[Tree]:
    """All trees of a file, of several files one after the other, or of an open text file.

    Files are read as UTF-8 (open one yourself to have it in another encoding), and decompressed where their names end
    in .gz, .xz or .bz2. The outer bracket without a label that the Penn Treebank puts around every tree is dropped;
    words and labels stay as they are, see `Tree.cleaned`. Malformed brackets raise a ValueError with file and line.
    """
    if isinstance(source, Iterable) and not isinstance(source, str | os.PathLike) and not hasattr(source, "read"):
        return [tree for path in source for tree in read_trees(path)]
    with reading(cast(TextFile, source)) as lines:
        return list(trees_in("\n".join(lines).removeprefix("\ufeff"), lines.name))


def write_trees(target: TextFile, trees: Iterable[Any]) -> None:
    """Write trees, or whatever `Tree.of` takes, one a line; the file's name says how it is compressed.

    Brackets in words are written as -LRB- and -RRB-.
    """
    check_forest(trees, "trees")
    written = []
    for i, tree in enumerate(trees):
        try:
            written.append(f"{Tree.of(tree)}\n")
        except ValueError as error:
            raise ValueError(f"tree {i}: {error}") from error
    with writing(target) as file:
        file.writelines(written)


def one_tree(text: str) -> Tree:
    """The only tree of a string."""
    trees = list(trees_in(text))
    if len(trees) != 1:
        raise ValueError(f"{_excerpt(text)} holds {len(trees)} trees; expected one")
    return trees[0]


def trees_in(text: str, source: str | None = None) -> Iterator[Tree]:
    """The trees of a text; `source` is the file's name for messages, None if the text is just a string."""
    try:
        yield from _scanned(text)
    except _Malformed as fault:
        if source is None:
            raise ValueError(f"{_excerpt(text)}, character {fault.position + 1}: {fault.what}") from None
        line, first = (text.count("\n", 0, position) + 1 for position in (fault.position, fault.tree))
        begun = f" (in the tree that begins in line {first})" if first < line else ""
        raise ValueError(f"{source}, line {line}: {fault.what}{begun}") from None


class _Malformed(Exception):  # noqa: N818 - what the text is
    """Where the text is wrong, what is wrong, and where the tree begins in which it is."""

    def __init__(self, position: int, what: str, tree: int):
        self.position, self.what, self.tree = position, what, tree


class _Open:
    """A bracket that is not closed yet: what has been read of it."""

    __slots__ = ("children", "label", "start", "word")

    def __init__(self, start: int):
        self.start = start
        self.label: str | None = None
        self.word: str | None = None
        self.children: list[Tree] = []


def _scanned(text: str) -> Iterator[Tree]:
    opened: list[_Open] = []
    for sign in _SIGN.finditer(text):
        token, position = sign.group(), sign.start()
        what = None  # is wrong
        node = opened[-1] if opened else None
        if token == "(":
            opened.append(_Open(position))
            if node is not None and node.word is not None:
                what = f"a subtree beside the word {node.word!r}"
            elif node is not None and node.label is None and len(opened) > 2:  # only the outermost may have none
                what = "a bracket without a label"
        elif node is None:
            what = "an unexpected ')'" if token == ")" else f"{token!r} stands outside of all brackets"
            raise _Malformed(position, what, position)
        elif token == ")":
            if node.label is None and len(node.children) != 1:
                what = "a bracket without a label" if node.children else "an empty bracket"
            elif node.word is None and not node.children:
                what = f"{node.label} has neither a word nor a subtree"
            else:
                opened.pop()
                tree = _closed(node)
                if opened:
                    opened[-1].children.append(tree)
                else:
                    yield tree
        elif node.children:
            what = f"the word {token!r} beside a subtree"
        elif node.label is None:
            node.label = token
        elif node.word is None:
            node.word = token
        else:
            what = f"two words below {node.label}, {node.word!r} and {token!r}"
        if what is not None:
            raise _Malformed(position, what, opened[0].start)
    if opened:
        start = opened[0].start
        raise _Malformed(start, f"a bracket that is not closed; {len(opened)} ')' missing at the end", start)


def _closed(node: _Open) -> Tree:
    if node.label is None:
        return node.children[0]  # the Penn Treebank's outer bracket
    return Tree(node.label, node.children if node.word is None else [node.word])


def _excerpt(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")
