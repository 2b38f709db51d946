"""Dependency trees drawn as arcs over words: the height of each arc, and the drawing as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

UP, DOWN, LEFT, RIGHT = 1, 2, 4, 8
LINES = " ╵╷│╴┘┐┤╶└┌├─┴┬┼"  # by the sum of the directions in which a cell has lines
GAP = 2  # columns between words


class DrawnArc(NamedTuple):
    """The arc to word m of a tree to be drawn."""

    head: int  # the number of the head, 0 for the root
    m: int
    label: str  # the label of the arc, or ""

    @property
    def ends(self) -> tuple[int, int]:
        return min(self.head, self.m), max(self.head, self.m)


def arc_levels(arcs: Sequence[DrawnArc]) -> list[int]:
    """Return the height of each arc, from 1 on: above all shorter ones with which it shares a gap between words."""
    levels = [0] * len(arcs)
    order = sorted(range(len(arcs)), key=lambda k: (arcs[k].ends[1] - arcs[k].ends[0], arcs[k].ends))
    for place, k in enumerate(order):
        a, b = arcs[k].ends
        below = [levels[j] for j in order[:place] if arcs[j].ends[0] < b and a < arcs[j].ends[1]]
        levels[k] = 1 + max(below, default=0)
    return levels


def drawn_as_text(forms: Sequence[str], heads: Sequence[int], labels: Sequence[str] | None) -> str:
    """Draw words in a line with their arcs above; ▼ marks the dependent, and the root's arc comes from the top."""
    n = len(forms)
    names = [""] * n if labels is None else [str(label) for label in labels]
    arcs = [DrawnArc(head, m, names[m - 1]) for m, head in enumerate(heads, 1) if head > 0]
    gaps = [GAP] * n
    for arc in arcs:  # an arc between neighbours needs space for its label
        a, b = arc.ends
        if b == a + 1:
            half = (len(forms[a - 1]) + 1) // 2 + len(forms[b - 1]) // 2
            gaps[a - 1] = max(gaps[a - 1], len(arc.label) + 3 - half)
    starts, at = [], 0
    for form, gap in zip(forms, gaps, strict=True):
        starts.append(at)
        at += len(form) + gap
    middles = [start + len(form) // 2 for start, form in zip(starts, forms, strict=True)]
    levels = arc_levels(arcs)
    top = max(levels, default=0) + 1
    width = max(at, *(middles[m - 1] + 1 + len(names[m - 1]) for m in range(1, n + 1))) + 2
    cells = [[0] * width for _ in range(top + 1)]  # row `top` is the highest
    written: list[tuple[int, int, str]] = []
    for arc, level in zip(arcs, levels, strict=True):
        a, b = (middles[end - 1] for end in arc.ends)
        cells[level][a] |= RIGHT | DOWN
        cells[level][b] |= LEFT | DOWN
        for column in range(a + 1, b):
            cells[level][column] |= LEFT | RIGHT
        for row in range(1, level):
            cells[row][a] |= UP | DOWN
            cells[row][b] |= UP | DOWN
        if arc.label and b - a - 1 >= len(arc.label):
            written.append((level, a + 1 + (b - a - 1 - len(arc.label)) // 2, arc.label))
    for m, head in enumerate(heads, 1):
        if head == 0:
            for row in range(1, top + 1):
                cells[row][middles[m - 1]] |= DOWN | (UP if row < top else 0)
            written.append((top, middles[m - 1] + 1, names[m - 1] or "root"))
    rows = [[LINES[each] for each in row] for row in cells]
    for row, column, label in written:
        rows[row][column : column + len(label)] = list(label)
    for middle in middles:
        rows[0][middle] = "▼"
    words = [" "] * width
    for start, form in zip(starts, forms, strict=True):
        words[start : start + len(form)] = list(form)
    return "\n".join("".join(row).rstrip() for row in [*reversed(rows), words])
