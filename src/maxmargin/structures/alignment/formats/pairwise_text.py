"""Two aligned sequences as readable text: rows in blocks, with a line between them that marks aligned residues."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from maxmargin.structures.alignment.alignments import PairwiseAlignment

IDENTICAL, DIFFERENT, UNTRUSTED, GAP = "|", ":", ".", "-"


def render(
    alignment: PairwiseAlignment, a: str, b: str, width: int = 60, names: tuple[str, str] = ("first", "second")
) -> str:
    """Return an alignment as text, in blocks, with positions, counted from 1, at both ends of the rows.

    Between the rows, "|" marks aligned residues that are identical, ":" others, and "." those that are not trusted. A
    row that has only gaps in a block repeats the position before it.

    Parameters
    ----------
    alignment : PairwiseAlignment
        The alignment.
    a, b : str
        The two sequences.
    width : int
        The number of columns per block.
    names : sequence of str
        The names of the two sequences.

    Returns
    -------
    str.
    """
    if width < 1:
        raise ValueError(f"width is {width}; expected 1 column or more")
    rows = alignment.gapped(a, b, GAP)
    columns = layout(alignment)
    marks = np.full(len(columns), " ")
    aligned = np.flatnonzero((columns >= 0).all(axis=1))
    for c, trusted in zip(aligned, alignment.trusted, strict=True):
        marks[c] = (IDENTICAL if rows[0][c] == rows[1][c] else DIFFERENT) if trusted else UNTRUSTED
    digits = len(str(max(alignment.lengths)))
    margin = max(map(len, names))
    blocks = []
    for begin in range(0, len(columns), width):
        block = slice(begin, begin + width)
        lines = [
            f"{name:{margin}} {first:{digits}} {row[block]} {last:{digits}}"
            for name, row, (first, last) in zip(names, rows, ends(columns, begin, begin + width), strict=True)
        ]
        lines.insert(1, f"{'':{margin + digits + 1}} {''.join(marks[block])}".rstrip())
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def layout(alignment: PairwiseAlignment) -> NDArray[np.int64]:
    """Return the residues in each column of the two rows, (columns, 2); -1 for a gap."""
    n, m = alignment.lengths
    rows = alignment.gapped("x" * n, "x" * m, GAP)
    here = np.array([[letter != GAP for letter in row] for row in rows], dtype=bool).reshape(2, -1).T
    return np.where(here, np.cumsum(here, axis=0) - 1, -1)


def ends(columns: NDArray[np.int64], begin: int, end: int) -> list[tuple[int, int]]:
    """Return the first and last position, counted from 1, of both rows in a block of columns of `layout`.

    A row that has only gaps there repeats the position before it.
    """
    found = []
    for side in (0, 1):
        here = int((columns[begin:end, side] >= 0).sum())
        last = int((columns[:begin, side] >= 0).sum()) + here
        found.append((last - max(here - 1, 0), last))
    return found
