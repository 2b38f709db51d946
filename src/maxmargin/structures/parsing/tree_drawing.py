"""Drawings of trees: in text, and as SVG.

All drawings share one layout. Words stand side by side on the bottom line, their tags right above them, and a phrase
one level above the highest of its children, in the middle between the first and the last. An edge to a child that is
several levels lower goes to the next level first and then straight down; as phrases do not overlap, nothing is there.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple, cast

from maxmargin.structures.parsing.parseval import bracket_errors
from maxmargin.structures.parsing.trees import Tree

FONT_SIZE = 14  # of the SVG, in pixels
LEVEL = 40  # pixels from one level of the SVG to the next
MARGIN = 12
GAP = 12  # pixels between words

# Widths of letters in a sans-serif font, in parts of its size, on the safe side: fonts differ.
_NARROW, _WIDE, _OTHER = 0.42, 0.85, 0.63
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


class Place(NamedTuple):
    """A node on the drawing."""

    node: Tree
    x: int  # of its middle
    level: int  # 0 is the root's
    children: list[int]  # their numbers in the list of places


def layout(tree: Tree, width: Callable[[str], int], gap: int) -> tuple[list[Place], int]:
    """The places of all nodes, in the order of `subtrees`, and the width of the drawing.

    `width` is that of a label or word; a text of width v at x fills x - v // 2 to x + v - v // 2. Between the words of
    the bottom line, and between labels of one level, are at least `gap`.
    """
    nodes = list(tree.subtrees())
    children: list[list[int]] = [[] for _ in nodes]
    waiting: list[int] = []  # nodes whose parent is still to come, when read backwards: the leftmost on top
    # A node with all that is below it takes a block; its x is `left` from the block's beginning, `right` from its end.
    left, right, offsets = [0] * len(nodes), [0] * len(nodes), [0] * len(nodes)  # an offset is from the parent's x
    for i in range(len(nodes) - 1, -1, -1):
        node = nodes[i]
        widest = max(width(node.label), width(cast(str, node.children[0])) if node.is_preterminal else 0)
        left[i], right[i] = widest // 2, widest - widest // 2
        if not node.is_preterminal:
            below = children[i] = [waiting.pop() for _ in node.branches]
            ends = [0]
            for a, b in pairwise(below):
                ends.append(ends[-1] + right[a] + gap + left[b])
            middle = ends[-1] // 2
            for child, x in zip(below, ends, strict=True):
                offsets[child] = x - middle
            left[i] = max(left[i], left[below[0]] + middle)
            right[i] = max(right[i], ends[-1] - middle + right[below[-1]])
        waiting.append(i)
    xs = [left[0]] * len(nodes)
    for i, below in enumerate(children):
        for child in below:
            xs[child] = xs[i] + offsets[child]
    places = [Place(node, xs[i], tree.height() - node.height(), children[i]) for i, node in enumerate(nodes)]
    return places, left[0] + right[0]


def text(tree: Tree) -> str:
    """A drawing in box characters, for a font in which all letters are equally wide."""
    places, n_columns = layout(tree, lambda written: len(_cells(written)), 1)
    page = [[" "] * n_columns for _ in range(2 * tree.height())]  # labels, edges, labels, ..., tags, words

    def write(row: int, x: int, written: str) -> None:
        cells = _cells(written)
        at = x - len(cells) // 2
        page[row][at : at + len(cells)] = cells

    for place in places:
        row = 2 * place.level
        write(row, place.x, place.node.label)
        if place.node.is_preterminal:
            write(row + 1, place.x, cast(str, place.node.children[0]))
            continue
        below = [places[child] for child in place.children]
        first, last = below[0].x, below[-1].x
        page[row + 1][first : last + 1] = "─" * (last + 1 - first)
        for child in below:
            page[row + 1][child.x] = "┬"
            for crossed in range(row + 2, 2 * child.level):
                page[crossed][child.x] = "│"
        if len(below) == 1:
            page[row + 1][first] = "│"
        else:
            page[row + 1][first], page[row + 1][last] = "┌", "┐"
            page[row + 1][place.x] = "┼" if page[row + 1][place.x] == "┬" else "┴"
    return "\n".join("".join(line).rstrip() for line in page)


def svg(tree: Tree, truth: Tree | None = None) -> str:
    """An SVG picture as a string; with a truth over as many words, brackets and tags that it does not have are red."""
    from maxmargin.figures.canvas import GREY, RED

    places, width = layout(tree, pixels, GAP)
    wrong = wrong_nodes(tree, truth)
    height = LEVEL * (tree.height() - 1) + round(2.7 * FONT_SIZE)
    edges, labels = [], []

    def write(x: int, y: float, written: str, colour: str, weight: str = "normal") -> None:
        legible = html.escape(_NOT_XML.sub("\ufffd", written))
        labels.append(f'<text x="{x}" y="{y:g}" fill="{colour}" font-weight="{weight}">{legible}</text>')

    for place, is_wrong in zip(places, wrong, strict=True):
        y = LEVEL * place.level + FONT_SIZE
        if is_wrong:
            v = pixels(place.node.label)
            box = f'x="{place.x - v // 2 - 3}" y="{y - FONT_SIZE}" width="{v + 6}" height="{1.35 * FONT_SIZE:g}" rx="4"'
            labels.append(f'<rect {box} fill="{RED}"/>')
        if place.node.is_preterminal:
            write(place.x, y, place.node.label, "white" if is_wrong else GREY)
            write(place.x, y + 1.4 * FONT_SIZE, cast(str, place.node.children[0]), "black")
        else:
            write(place.x, y, place.node.label, "white" if is_wrong else "black", "bold")
        for child in (places[child] for child in place.children):
            bend, end = (LEVEL * level - 0.1 * FONT_SIZE for level in (place.level + 1, child.level))
            straight = f"V{end:g}" if end > bend else ""
            edges.append(f"M{place.x} {y + 0.4 * FONT_SIZE:g}L{child.x} {bend:g}{straight}")
    # What follows xmlns is the name of the language; without it browsers show the file as text.
    size = f'width="{width + 2 * MARGIN}" height="{height + 2 * MARGIN}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="{FONT_SIZE}" '
        f'text-anchor="middle"><rect {size} fill="white"/><g transform="translate({MARGIN} {MARGIN})">'
        f'<path d="{"".join(edges)}" stroke="{GREY}" fill="none"/>{"".join(labels)}</g></svg>'
    )


def wrong_nodes(tree: Tree, truth: Tree | None) -> list[bool]:
    """For every node, in the order of `subtrees`, whether its bracket or tag is not in the truth, if there is one."""
    if truth is None:
        return [False for _ in tree.subtrees()]
    brackets = iter(bracket_errors(tree, truth)[0])
    tags = iter(a != b for a, b in zip(tree.tags(), truth.tags(), strict=True))
    return [next(tags if node.is_preterminal else brackets) for node in tree.subtrees()]


def pixels(written: str) -> int:
    """The width of a label or word in the SVG's font, more or less."""
    parts = 0.0
    for letter in written:
        if unicodedata.east_asian_width(letter) in "WF":
            parts += 1.0
        elif letter in "iljtfrI.,:;'`|!()[]-/":
            parts += _NARROW
        else:
            parts += _WIDE if letter.isupper() or letter in "mw@%&" else _OTHER
    return round(parts * FONT_SIZE)


def _cells(written: str) -> list[str]:
    """What stands in each column of a terminal: a letter with its accents, or nothing right of a wide letter."""
    cells: list[str] = []
    for letter in written:
        if unicodedata.combining(letter) and cells:
            cells[-1 if cells[-1] else -2] += letter
        else:
            cells += [letter, ""] if unicodedata.east_asian_width(letter) in "WF" else [letter]
    return cells
