"""DependencyDisplay: a picture of a dependency tree and of its errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.report.figures.canvas import BLUE, ORANGE, RED, axes, in_house_style
from maxmargin.structures.dependencies.arc_drawing import DrawnArc, arc_levels, drawn_as_text
from maxmargin.structures.dependencies.heads import check_tree, read_heads
from maxmargin.structures.dependencies.lexicon import read_tokens

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INCHES_PER_LETTER, BETWEEN_WORDS, LEVEL = 0.1, 0.35, 0.42  # in figures that the display makes
SIZE, LABEL_SIZE = 11, 8  # points


class DependencyDisplay:
    """A picture of words and the arcs between them. If the truth is given, wrong arcs are red and missed ones dashed.

    str(display) is the tree as text.

    Parameters
    ----------
    tokens : sequence
        Words, or a sentence in a form that DependencyParser takes.
    tree : list
        The heads of the words, or pairs (head, label).
    truth : list or None
        The true tree in the same form.

    Attributes
    ----------
    forms : list of str
        The words.
    tags : list of str or None
        The tags of the words; None if only words are known.
    tree, truth : list
        The trees as given; truth may be None.
    wrong : list of int
        Words (from 1 on) whose arc, head or label, is not the true one; empty without a truth.
    ax_ : matplotlib axes
        Set by `plot`.
    """

    def __init__(self, tokens: Any, tree: Any, truth: Any = None):
        if isinstance(tokens, Sequence) and tokens and all(isinstance(token, str) for token in tokens):
            self.forms, self.tags = list(tokens), None
        else:
            (read,) = read_tokens([tokens])
            self.forms, self.tags = [token[0] for token in read], [token[1] for token in read]
        self.tree, self.truth = tree, truth
        self._heads = read_heads(tree, "the tree")
        self._true = self._heads if truth is None else read_heads(truth, "the truth")
        for each, name in ((self._heads, "the tree"), (self._true, "the truth")):
            check_tree(each.heads, len(self.forms), name)
        pairs = zip(self._heads.as_given(), self._true.as_given(), strict=True)
        self.wrong = [m for m, (found, true) in enumerate(pairs, 1) if found != true]

    @classmethod
    def from_estimator(cls, parser: Any, x: Any, y: Any = None) -> DependencyDisplay:
        """Draw the tree that a fitted parser finds for the sentence x, compared with the true tree y if given."""
        return cls(x, parser.predict([x])[0], y)

    @classmethod
    def from_predictions(cls, tokens: Any, tree: Any, truth: Any = None) -> DependencyDisplay:
        """Draw a tree that was predicted before."""
        return cls(tokens, tree, truth)

    def __str__(self) -> str:
        return drawn_as_text(self.forms, self._heads.heads, self._labels(self._heads))

    @in_house_style
    def plot(self, ax: Axes | None = None) -> DependencyDisplay:
        """Draw the tree; a new figure has the size that the tree needs."""
        widths = [
            INCHES_PER_LETTER * max(len(form), len(tag)) for form, tag in zip(self.forms, self._below(), strict=True)
        ]
        begins = np.cumsum([0.0, *(width + BETWEEN_WORDS for width in widths)])
        middles = begins[:-1] + np.array(widths) / 2
        arcs, missed = self._arcs(self._heads), [arc for arc in self._arcs(self._true) if arc.m in self.wrong]
        levels = arc_levels([arc for arc in [*arcs, *missed] if arc.head])
        top = LEVEL * (max(levels, default=0) + 1)
        self.ax_ = ax = axes(ax, (begins[-1] + 0.2, top + (1.0 if self.truth is None else 1.4)))
        height = iter(levels)
        for arc in [*arcs, *missed]:
            is_missed = arc in missed and arc not in arcs
            colour = ORANGE if is_missed else RED if arc.m in self.wrong else BLUE
            self._draw(arc, middles, LEVEL * next(height) if arc.head else top, colour, "--" if is_missed else "-")
        if self.truth is not None:
            self._write_legend()
        for form, tag, x in zip(self.forms, self._below(), middles, strict=True):
            # parse_math=False, because a word may have dollar signs that do not enclose a formula.
            ax.text(x, -0.08, form, ha="center", va="top", fontsize=SIZE, parse_math=False)
            ax.text(x, -0.32, tag, ha="center", va="top", fontsize=LABEL_SIZE, color="0.5", parse_math=False)
        ax.set_xlim(-0.1, begins[-1] + 0.1)
        ax.set_ylim(-0.55, top + 0.3)
        ax.set_axis_off()
        return self

    def _draw(self, arc: DrawnArc, middles: Any, height: float, colour: str, style: str) -> None:
        end = middles[arc.m - 1]
        beside = 0.05 * np.sign(arc.head - arc.m) if arc.head else 0.0  # arcs to and from a word do not touch
        if arc.head:
            angle = np.linspace(0, np.pi, 60)
            middle, half = (middles[arc.head - 1] + end) / 2, (middles[arc.head - 1] - end) / 2
            x, y = middle + (half - beside) * np.cos(angle), height * np.sin(angle) ** 0.6
            at = (middle, height)
        else:
            x, y, at = np.array([end, end]), np.array([height, 0.0]), (end, height)
        self.ax_.plot(x, y, color=colour, linestyle=style, linewidth=1.4)
        self.ax_.plot([end + beside], [0.03], marker="v", markersize=6, color=colour)  # the arrow points to the word
        box = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
        name = arc.label or ("" if arc.head else "root")
        self.ax_.text(
            *at, name, ha="center", va="center", fontsize=LABEL_SIZE, color=colour, bbox=box, parse_math=False
        )

    def _write_legend(self) -> None:
        from matplotlib.lines import Line2D

        n, k = len(self.forms), len(self.wrong)
        handles = [Line2D([], [], color=BLUE, marker="v", label=f"right: {n - k} of {n}")]
        if k:
            handles.append(Line2D([], [], color=RED, marker="v", label=f"wrong: {k}"))
            handles.append(Line2D([], [], color=ORANGE, marker="v", linestyle="--", label="true, but not found"))
        self.ax_.legend(
            handles=handles, loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=3, frameon=False, fontsize=SIZE - 1
        )

    def _arcs(self, tree: Any) -> list[DrawnArc]:
        labels = self._labels(tree) or [""] * len(tree.heads)
        return [DrawnArc(head, m, label) for m, (head, label) in enumerate(zip(tree.heads, labels, strict=True), 1)]

    def _labels(self, tree: Any) -> list[str] | None:
        return None if tree.labels is None else [str(label) for label in tree.labels]

    def _below(self) -> list[str]:
        return self.tags or [""] * len(self.forms)
