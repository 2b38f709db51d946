"""TreeDisplay: a picture of a parse tree and of its errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from maxmargin.report.figures.canvas import GREY, ORANGE, RED, axes, in_house_style
from maxmargin.structures.parsing.tree_drawing import FONT_SIZE, GAP, LEVEL, MARGIN, Place, layout, pixels
from maxmargin.structures.parsing.tree_errors import bracket_errors, node_errors, tag_errors
from maxmargin.structures.parsing.trees import Bracket, Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PIXELS_PER_INCH = 100
LINE = 22  # pixels from one missed bracket to the next


class TreeDisplay:
    """A picture of a parse tree and, if the true tree is known, of its errors.

    Wrong brackets and tags have a red background, and missed brackets are drawn below the words.

    Parameters
    ----------
    tree : tree
        The tree to draw, in any form that `Tree.of` takes.
    truth : tree or None
        The true tree, over the same number of words.

    Attributes
    ----------
    tree, truth : Tree (or None)
        The two trees.
    wrong : list of (label, begin, end)
        Brackets of the tree that the truth does not have; empty without a truth.
    missed : list of (label, begin, end)
        Brackets of the truth that the tree does not have.
    wrong_tags : list of int
        Positions of the words whose tag is not the true one.
    ax_ : matplotlib axes
        Set by `plot`.

    See Also
    --------
    maxmargin.metrics.parseval : Measures of agreement over many trees.

    Examples
    --------
    >>> from maxmargin.plotting import TreeDisplay
    >>> display = TreeDisplay("(S (N Rex) (V barks))", truth="(S (N Rex) (VP (V barks)))")
    >>> display.missed
    [('VP', 1, 2)]
    """

    def __init__(self, tree: Any, truth: Any = None):
        self.tree = Tree.of(tree)
        self.truth = None if truth is None else Tree.of(truth)
        reference = self.truth or self.tree  # a tree has no errors compared with itself
        wrong, self.missed = bracket_errors(self.tree, reference)
        self.wrong = [bracket for bracket, is_wrong in zip(self.tree.brackets(), wrong, strict=True) if is_wrong]
        self.wrong_tags = [t for t, is_wrong in enumerate(tag_errors(self.tree, reference)) if is_wrong]

    @classmethod
    def from_estimator(cls, parser: Any, x: Any, y: Any = None) -> TreeDisplay:
        """Make the display of the tree that a fitted parser predicts for x, compared with the true tree y if given."""
        return cls(parser.predict([x])[0], y)

    @classmethod
    def from_predictions(cls, tree: Any, truth: Any = None) -> TreeDisplay:
        """Make the display of a tree that was predicted before."""
        return cls(tree, truth)

    @in_house_style
    def plot(self, ax: Axes | None = None) -> TreeDisplay:
        """Draw the tree; a new figure is as large as the tree needs."""
        places, width = layout(self.tree, pixels, GAP)
        words = LEVEL * (self.tree.height() - 1) + 1.9 * FONT_SIZE  # the y of the words
        rows = _rows(self.missed)
        height = words + 0.8 * FONT_SIZE + LINE * (max(rows) + 2 if rows else 0)
        size = (width + 2 * MARGIN) / PIXELS_PER_INCH, (height + 2 * MARGIN) / PIXELS_PER_INCH
        self.ax_ = ax = axes(ax, size)
        for place, is_wrong in zip(places, node_errors(self.tree, self.truth or self.tree), strict=True):
            self._draw_node(place, [places[child] for child in place.children], is_wrong, words)
        columns = [(place.x, pixels(place.word) / 2) for place in places if place.word is not None]
        for row, (label, begin, end) in zip(rows, self.missed, strict=True):
            (first, half), (last, last_half) = columns[begin], columns[end - 1]
            self._draw_missed(label, first - half, last + last_half, words + FONT_SIZE + LINE * (row + 0.3))
        if rows:
            label, begin, end = self.missed[rows.index(max(rows))]  # the note is below the lowest bracket
            middle = (columns[begin][0] + columns[end - 1][0]) / 2
            ax.text(middle, height, "missing in the tree", ha="center", va="bottom", fontsize=9, color=ORANGE)
        ax.set_xlim(-MARGIN, width + MARGIN)
        ax.set_ylim(height + MARGIN, -MARGIN)
        ax.set_axis_off()
        return self

    def _draw_node(self, place: Place, children: list[Place], is_wrong: bool, words: float) -> None:
        y = LEVEL * place.level + 0.5 * FONT_SIZE
        for child in children:
            bend, end = (LEVEL * level - 0.25 * FONT_SIZE for level in (place.level + 1, child.level))
            self.ax_.plot([place.x, child.x, child.x], [y + 0.75 * FONT_SIZE, bend, end], color=GREY, linewidth=0.8)
        box = {"facecolor": RED, "edgecolor": "none", "boxstyle": "round,pad=0.2"} if is_wrong else None
        colour = "white" if is_wrong else "black" if place.word is None else GREY
        weight = "bold" if place.word is None else "normal"
        self._write(place.x, y, place.node.label, color=colour, weight=weight, bbox=box)
        if place.word is not None:
            self._write(place.x, words, place.word, color="black")

    def _draw_missed(self, label: str, left: float, right: float, y: float) -> None:
        self.ax_.plot([left, left, right, right], [y - 5, y, y, y - 5], color=ORANGE, linewidth=1.5)
        box = {"facecolor": "white", "edgecolor": "none", "pad": 1}
        self._write((left + right) / 2, y, label, color=ORANGE, weight="bold", bbox=box)

    def _write(self, x: float, y: float, string: str, **style: Any) -> None:
        points = 72 / PIXELS_PER_INCH * FONT_SIZE
        # parse_math=False, because a word may have dollar signs that do not enclose a formula.
        self.ax_.text(x, y, string, ha="center", va="center", fontsize=points, parse_math=False, **style)


def _rows(brackets: list[Bracket]) -> list[int]:
    """Return the first free row for every bracket, so that the brackets of a row do not overlap."""
    rows: list[int] = []
    for _, begin, end in brackets:
        taken = {row for row, (_, b, e) in zip(rows, brackets, strict=False) if b < end and begin < e}
        rows.append(next(row for row in range(len(brackets)) if row not in taken))
    return rows
