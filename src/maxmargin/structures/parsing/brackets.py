"""Files of trees in bracket notation."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any, cast

from maxmargin.inputs.readers.text_file import TextFile, reading, writing
from maxmargin.structures.parsing.bracket_notation import nodes_of_lines
from maxmargin.structures.parsing.trees import Tree, check_forest, tree_of


def read_trees(source: TextFile | Iterable[str | os.PathLike[str]]) -> list[Tree]:
    """All trees of a file, of several files one after the other, or of an open text file.

    Files are read as UTF-8 (to read another encoding, open the file yourself), and decompressed if their names end in
    .gz, .xz or .bz2. The outer bracket without a label that the Penn Treebank puts around every tree is dropped; words
    and labels stay as they are (see `Tree.cleaned`). Malformed brackets raise a ValueError with file and line.
    """
    return list(iterate_trees(source))


def iterate_trees(source: TextFile | Iterable[str | os.PathLike[str]]) -> Iterator[Tree]:
    """The trees of a file, or of several, one by one, so that large files need little memory; see read_trees."""
    if isinstance(source, Iterable) and not isinstance(source, str | os.PathLike) and not hasattr(source, "read"):
        for path in source:
            yield from iterate_trees(path)
        return
    with reading(cast(TextFile, source)) as lines:
        yield from trees_in(lines, lines.name)


def write_trees(target: TextFile, trees: Iterable[Any]) -> None:
    """Write trees, or whatever `Tree.of` takes, one per line; the file's name decides how it is compressed.

    Brackets in words are written as -LRB- and -RRB-.
    """
    check_forest(trees, "trees")
    lines = [f"{tree_of(tree, f'tree {i}')}\n" for i, tree in enumerate(trees)]
    with writing(target) as file:
        file.writelines(lines)


def trees_in(lines: Iterable[str], source: str, first: int = 1) -> Iterator[Tree]:
    """All trees of lines, of which the first has this number; `source` is their name in error messages."""
    return nodes_of_lines(enumerate(lines, first), Tree, source)
