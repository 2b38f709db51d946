"""Draw trees in text and as SVG.

All drawings share one layout. Words stand side by side on the bottom line, their tags right above them, and a phrase
one level above the highest of its children, in the middle between the first and the last. An edge to a child that is
several levels lower goes to the next level first and then straight down, where no other phrase can be in its way.

Trees can draw themselves, so that their module imports this one. It reads a tree by the few methods that `Node` lists.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

from maxmargin.report.figures.canvas import GREY, RED
from maxmargin.report.html import Element

FONT_SIZE = 14  # the font size of the SVG, in pixels
LEVEL = 40  # pixels from one level of the SVG to the next
MARGIN = 12  # pixels around the drawing
GAP = 12  # pixels between words

# Widths of letters in a sans-serif font, as shares of the font size; rather too wide, because fonts differ.
_NARROW, _WIDE, _OTHER = 0.42, 0.85, 0.63


class Node(Protocol):
    """A node of a tree, which is a tree itself, as drawings read it."""

    @property
    def label(self) -> str: ...

    @property
    def children(self) -> tuple[Any, ...]: ...  # nodes, or a single word

    @property
    def is_preterminal(self) -> bool: ...  # whether the only child is a word

    def subtrees(self) -> Iterator[Node]: ...  # all nodes, a parent before its children, from left to right

    def height(self) -> int: ...  # the number of levels


class Place(NamedTuple):
    """The position at which a node is drawn."""

    node: Node
    x: int  # the position of its middle
    level: int  # 0 is the root's
    children: list[int]  # their numbers in the list of places

    @property
    def word(self) -> str | None:
        """The word below a preterminal."""
        return _word(self.node)


def layout(tree: Node, width: Callable[[str], int], gap: int) -> tuple[list[Place], int]:
    """Return the positions of all nodes, in the order of `subtrees`, and the width of the drawing.

    `width` measures a label or word; a text of width v at x fills the columns from x - v // 2 to x + v - v // 2. Words
    on the bottom line, and labels on one level, are at least `gap` apart.
    """
    nodes = list(tree.subtrees())
    children: list[list[int]] = [[] for _ in nodes]
    waiting: list[int] = []  # nodes are read backwards; these wait for their parent, the leftmost on top
    # A node and everything below it fill a block, which reaches from `left` before the node's x to `right` after it.
    left, right, offsets = [0] * len(nodes), [0] * len(nodes), [0] * len(nodes)  # offsets are from the parent's x
    for i in range(len(nodes) - 1, -1, -1):
        node = nodes[i]
        word = _word(node)
        widest = max(width(node.label), 0 if word is None else width(word))
        left[i], right[i] = widest // 2, widest - widest // 2
        if word is None:
            below = children[i] = [waiting.pop() for _ in node.children]
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


def text(tree: Node) -> str:
    """Return a drawing in box characters, for a font in which all letters have the same width."""
    places, n_columns = layout(tree, lambda string: len(_cells(string)), 1)
    page = [[" "] * n_columns for _ in range(2 * tree.height())]  # labels, edges, labels, ..., tags, words

    def write(row: int, x: int, string: str) -> None:
        cells = _cells(string)
        begin = x - len(cells) // 2
        page[row][begin : begin + len(cells)] = cells

    for place in places:
        row = 2 * place.level
        write(row, place.x, place.node.label)
        if place.word is not None:
            write(row + 1, place.x, place.word)
            continue
        below = [places[child] for child in place.children]
        first, last = below[0].x, below[-1].x
        page[row + 1][first : last + 1] = "─" * (last + 1 - first)
        for child in below:
            page[row + 1][child.x] = "┬"
            for between in range(row + 2, 2 * child.level):
                page[between][child.x] = "│"
        if len(below) == 1:
            page[row + 1][first] = "│"
        else:
            page[row + 1][first], page[row + 1][last] = "┌", "┐"
            page[row + 1][place.x] = "┼" if page[row + 1][place.x] == "┬" else "┴"
    return "\n".join("".join(line).rstrip() for line in page)


class Colours(NamedTuple):
    """The colours of a drawing."""

    ink: str = "black"  # words and labels of phrases
    faint: str = GREY  # tags and edges
    wrong: str = RED  # boxes of wrong brackets
    on_wrong: str = "white"  # labels of wrong brackets


def svg(tree: Node, wrong: Sequence[bool] | None = None) -> str:
    """Return an SVG picture; nodes that are `wrong`, in the order of `subtrees`, have a red background."""
    drawing, width, height = drawn(tree, wrong, Colours())
    # The address after xmlns names the language; without it browsers would show the file as text.
    return str(
        Element(
            "svg",
            Element("rect", width=width, height=height, fill="white"),
            drawing,
            xmlns="http://www.w3.org/2000/svg",
            width=width,
            height=height,
            font_family="sans-serif",
        )
    )


def drawn(tree: Node, wrong: Sequence[bool] | None, colours: Colours) -> tuple[Element, int, int]:
    """Return the SVG element of a tree, its width and its height."""
    places, width = layout(tree, pixels, GAP)
    wrong = [False] * len(places) if wrong is None else wrong
    height = LEVEL * (tree.height() - 1) + round(2.7 * FONT_SIZE)
    edges, labels = [], []

    def write(x: int, y: float, string: str, colour: str, weight: str = "normal") -> None:
        labels.append(Element("text", string, x=x, y=y, fill=colour, font_weight=weight))

    for place, is_wrong in zip(places, wrong, strict=True):
        y = LEVEL * place.level + FONT_SIZE
        if is_wrong:
            v = pixels(place.node.label)
            box = {"x": place.x - v // 2 - 3, "y": y - FONT_SIZE, "width": v + 6, "height": 1.35 * FONT_SIZE, "rx": 4}
            labels.append(Element("rect", fill=colours.wrong, **box))
        if place.word is None:
            write(place.x, y, place.node.label, colours.on_wrong if is_wrong else colours.ink, "bold")
        else:
            write(place.x, y, place.node.label, colours.on_wrong if is_wrong else colours.faint)
            write(place.x, y + 1.4 * FONT_SIZE, place.word, colours.ink)
        for child in (places[child] for child in place.children):
            bend, end = (LEVEL * level - 0.1 * FONT_SIZE for level in (place.level + 1, child.level))
            straight = f"V{end:g}" if end > bend else ""
            edges.append(f"M{place.x} {y + 0.4 * FONT_SIZE:g}L{child.x} {bend:g}{straight}")
    path = Element("path", d="".join(edges), stroke=colours.faint, fill="none")
    moved = f"translate({MARGIN} {MARGIN})"
    whole = Element("g", path, labels, transform=moved, font_size=FONT_SIZE, text_anchor="middle")
    return whole, width + 2 * MARGIN, height + 2 * MARGIN


def pixels(string: str) -> int:
    """Return the approximate width of a label or word in the font of the SVG."""
    width = 0.0
    for letter in string:
        if unicodedata.east_asian_width(letter) in "WF":
            width += 1.0
        elif letter in "iljtfrI.,:;'`|!()[]-/":
            width += _NARROW
        else:
            width += _WIDE if letter.isupper() or letter in "mw@%&" else _OTHER
    return round(width * FONT_SIZE)


def _word(node: Node) -> str | None:
    """Return the word below a preterminal, or None for a phrase."""
    return node.children[0] if node.is_preterminal else None


def _cells(string: str) -> list[str]:
    """Return the columns of a terminal: each has a letter with its accents; the one after a wide letter is empty."""
    cells: list[str] = []
    for letter in string:
        if unicodedata.combining(letter) and cells:
            cells[-1 if cells[-1] else -2] += letter
        else:
            cells += [letter, ""] if unicodedata.east_asian_width(letter) in "WF" else [letter]
    return cells
