"""Read and write files of trees in bracket notation."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any, cast

from maxmargin.inputs.readers.text_file import TextFile, reading, writing
from maxmargin.structures.parsing.bracket_notation import nodes_of_lines
from maxmargin.structures.parsing.trees import Tree, check_forest, tree_of


def read_trees(source: TextFile | Iterable[str | os.PathLike[str]]) -> list[Tree]:
    """Read all trees of a file, of several files one after the other, or of an open text file.

    The outer bracket without a label that the Penn Treebank puts around every tree is dropped. Words and labels are not
    changed (see `Tree.cleaned`).

    Parameters
    ----------
    source : path, open text file, or paths
        The files. They are read as UTF-8 (to read another encoding, open the file yourself), and decompressed if their
        names end in .gz, .xz or .bz2.

    Returns
    -------
    list of Tree

    Raises
    ------
    ValueError
        If brackets are malformed; the message names the file and the line.

    See Also
    --------
    iterate_trees : The same, tree by tree.
    write_trees : Write such a file.

    Examples
    --------
    >>> from io import StringIO
    >>> from maxmargin.formats import read_trees
    >>> read_trees(StringIO("(S (N Rex) (V barks))"))
    [Tree.parse('(S (N Rex) (V barks))')]
    """
    return list(iterate_trees(source))


def iterate_trees(source: TextFile | Iterable[str | os.PathLike[str]]) -> Iterator[Tree]:
    """Yield the trees of files one by one, so that large files need little memory; see `read_trees`."""
    if isinstance(source, Iterable) and not isinstance(source, str | os.PathLike) and not hasattr(source, "read"):
        for path in source:
            yield from iterate_trees(path)
        return
    with reading(cast(TextFile, source)) as lines:
        yield from trees_in(lines, lines.name)


def write_trees(target: TextFile, trees: Iterable[Any]) -> None:
    """Write trees in bracket notation, one per line.

    Brackets in words are written as -LRB- and -RRB-.

    Parameters
    ----------
    target : path or open text file
        The file. It is compressed if its name ends in .gz, .xz or .bz2.
    trees : iterable of trees
        Trees in any form that `Tree.of` takes.

    See Also
    --------
    read_trees : Read such a file.

    Examples
    --------
    >>> import sys
    >>> from maxmargin.formats import write_trees
    >>> write_trees(sys.stdout, ["(S (N Rex) (V barks))"])
    (S (N Rex) (V barks))
    """
    check_forest(trees, "trees")
    lines = [f"{tree_of(tree, f'tree {i}')}\n" for i, tree in enumerate(trees)]
    with writing(target) as file:
        file.writelines(lines)


def trees_in(lines: Iterable[str], source: str, first: int = 1) -> Iterator[Tree]:
    """Yield all trees of lines, of which the first has this number; `source` is their name in error messages."""
    return nodes_of_lines(enumerate(lines, first), Tree, source)
