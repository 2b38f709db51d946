"""AlignmentDisplay: a plot of two aligned sequences, compared with the true alignment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from maxmargin.report.figures.canvas import BLUE, GREY, ORANGE, RED, axes, in_house_style
from maxmargin.structures.alignment.alignments import PairwiseAlignment
from maxmargin.structures.alignment.columns import sides_of
from maxmargin.structures.alignment.formats.pairwise_text import ends, layout

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Status of a predicted pair. Without a truth, identical residues look like right ones.
RIGHT, SHIFTED, WRONG, UNJUDGED, IDENTICAL = "right", "shifted", "wrong", "not judged", "identical"
COLOURS = {RIGHT: BLUE, SHIFTED: ORANGE, WRONG: RED, UNJUDGED: GREY, IDENTICAL: BLUE}
SIGNS = {RIGHT: "|", WRONG: "×", UNJUDGED: "·", IDENTICAL: "|"}  # between the residues; a shift is shown by its size

LETTER = 0.125  # inches from one column of letters to the next
LINE = 0.17  # inches from one line of letters to the next
BLOCK = 3.9  # lines that a block of two rows takes


class AlignmentDisplay:
    """A plot of two aligned sequences, with each pair coloured by comparison with the true alignment.

    A pair (i, j) is right if the truth aligns i to j, shifted if it aligns i to a position at most `max_shift` from j,
    wrong if to one farther away, and "not judged" if the truth does not align i. `PairwiseAlignment.agreement` counts
    the right and the shifted pairs.

    Parameters
    ----------
    a, b : str
        The sequences.
    predicted, truth : alignment
        In any form that `PairwiseAlignment.of` takes; the truth may be missing.
    max_shift : int
        The largest distance of a shifted pair.
    names : sequence of str
        The names of the two sequences.

    Attributes
    ----------
    predicted, truth : PairwiseAlignment
        The alignments; truth may be None.
    status : list of str
        "right", "shifted", "wrong" or "not judged" for each predicted pair; without a truth, "identical" for equal
        letters.
    missed : list of int
        Positions in `a` that the truth aligns and the prediction does not.
    ax_ : matplotlib axes
        Set by `plot`.

    Examples
    --------
    >>> from maxmargin.plotting import AlignmentDisplay
    >>> AlignmentDisplay("ACG", "AG", [(0, 0), (2, 1)], truth=[(0, 0), (1, 1)]).status
    ['right', 'not judged']

    See Also
    --------
    maxmargin.Aligner : predicts alignments.
    """

    def __init__(
        self,
        a: str,
        b: str,
        predicted: Any,
        truth: Any = None,
        max_shift: int = 4,
        names: tuple[str, str] = ("first", "second"),
    ):
        self.a, self.b, self.max_shift, self.names = a, b, max_shift, names
        lengths = len(a), len(b)
        self.predicted = PairwiseAlignment.of(predicted, lengths, "the predicted alignment")
        self.truth = None if truth is None else PairwiseAlignment.of(truth, lengths, "the true alignment")
        self._partners = partners = {} if self.truth is None else dict(self.truth.pairs[self.truth.trusted].tolist())
        self.shifts = [abs(partners[i] - j) if i in partners else -1 for i, j in self.predicted.pairs.tolist()]
        self.status = [
            self._status(i, j, shift) for (i, j), shift in zip(self.predicted.pairs, self.shifts, strict=True)
        ]
        self.missed = sorted(set(partners) - set(self.predicted.pairs[:, 0].tolist()))

    @classmethod
    def from_predictions(
        cls,
        a: Any,
        b: Any,
        predicted: Any,
        truth: Any = None,
        *,
        max_shift: int = 4,
        names: tuple[str, str] = ("first", "second"),
    ) -> AlignmentDisplay:
        """Make the plot of a known alignment; sequences are given as for `Aligner`, as strings or columns."""
        return cls(letters_of(a, "first"), letters_of(b, "second"), predicted, truth, max_shift, names)

    @classmethod
    def from_estimator(
        cls,
        aligner: Any,
        x: tuple[Any, Any],
        y: Any = None,
        *,
        max_shift: int = 4,
        names: tuple[str, str] = ("first", "second"),
    ) -> AlignmentDisplay:
        """Align the sequences of x with a fitted `Aligner`, and compare with the true alignment y if there is one."""
        return cls.from_predictions(*sides_of(x, 0), aligner.predict([x])[0], y, max_shift=max_shift, names=names)

    @in_house_style
    def plot(
        self, ax: Axes | None = None, *, kind: Literal["rows", "path"] = "rows", width: int = 60
    ) -> AlignmentDisplay:
        """Draw the alignment.

        Parameters
        ----------
        ax : matplotlib axes or None
            The axes to draw on; None creates new ones.
        kind : str
            "rows" draws the sequences one above the other in blocks of `width` columns; residues that the truth aligns
            and the prediction does not are red and underlined. "path" draws both alignments as paths through the
            rectangle of all pairs of positions, the truth as a grey band, darker where it is trusted.
        width : int
            The number of columns per block.

        Returns
        -------
        AlignmentDisplay, this object, with `ax_` set.
        """
        if kind not in ("rows", "path"):
            raise ValueError(f"kind must be 'rows' or 'path', got {kind!r}")
        if width < 1:
            raise ValueError(f"width is {width}; expected 1 column or more")
        if kind == "rows":
            self._plot_rows(ax, width)
        else:
            self._plot_path(ax)
        return self

    def _status(self, i: int, j: int, shift: int) -> str:
        if self.truth is None:
            return IDENTICAL if self.a[i] == self.b[j] else UNJUDGED
        if shift < 0:
            return UNJUDGED
        return RIGHT if shift == 0 else SHIFTED if shift <= self.max_shift else WRONG

    def _plot_rows(self, given: Axes | None, width: int) -> None:
        columns = layout(self.predicted)
        width = min(width, max(len(columns), 1))
        n_blocks = -(-len(columns) // width)
        longest = max(len(str(max(self.predicted.lengths))), *map(len, self.names))
        left, right, height = 2 + 0.8 * longest, 2 + 0.8 * len(str(max(self.predicted.lengths))), BLOCK * n_blocks
        inches = LETTER * (left + width + right)
        self.ax_ = ax = axes(given, (inches, LINE * (height + 3)))
        # Letters keep their distance in smaller axes that the caller has made.
        scale = 1.0 if given is None else min(1.0, ax.bbox.width / ax.figure.dpi / inches)
        x, top = np.arange(len(columns)) % width + 0.5, BLOCK * (np.arange(len(columns)) // width)
        paired = (columns >= 0).all(axis=1)
        for status, colour in COLOURS.items():
            mask = np.flatnonzero(paired)[[each == status for each in self.status]]
            for line in (0, 2):
                ax.bar(x[mask], 1.1, 1, top[mask] + line - 0.55, color=colour, alpha=0.28, linewidth=0)
        style: dict[str, Any] = {"ha": "center", "va": "center"}
        signs = [SIGNS.get(status, str(shift)) for status, shift in zip(self.status, self.shifts, strict=True)]
        for at, status, sign in zip(np.flatnonzero(paired), self.status, signs, strict=True):
            ax.text(x[at], top[at] + 1, sign, color=COLOURS[status], fontsize=7 * scale, fontweight="bold", **style)
        for side, sequence in enumerate((self.a, self.b)):
            for c, position in enumerate(columns[:, side]):
                lost = side == 0 and position in self.missed
                letter, colour = (sequence[position], RED if lost else "black") if position >= 0 else ("–", GREY)
                y = top[c] + 2 * side
                ax.text(x[c], y, letter, color=colour, fontsize=8 * scale, family="monospace", **style)
                if lost:
                    ax.plot([x[c] - 0.4, x[c] + 0.4], [y + 0.6] * 2, color=RED, linewidth=1.2 * scale)
        self._write_margins(columns, width, 7 * scale)
        self._write_legend(loc="lower center", ncols=5)
        ax.set_xlim(-left, width + right)
        ax.set_ylim(height + 1, -0.8)
        ax.set_axis_off()

    def _write_margins(self, columns: Any, width: int, fontsize: float) -> None:
        """Write the names before the first block, and positions, counted from 1, before and after the blocks."""
        for block, begin in enumerate(range(0, len(columns), width)):
            end = min(begin + width, len(columns))
            for side, (first, last) in enumerate(ends(columns, begin, end)):
                y = BLOCK * block + 2 * side
                before = str(first) if block else self.names[side]
                for text, x, ha in ((before, -0.7, "right"), (str(last), end - begin + 0.7, "left")):
                    self.ax_.text(x, y, text, ha=ha, va="center", color=GREY, fontsize=fontsize)

    def _write_legend(self, **place: Any) -> None:
        ax = self.ax_
        named = {SHIFTED: f"shifted by up to {self.max_shift}", UNJUDGED: "not judged" if self.truth else "different"}
        for status, colour in COLOURS.items():
            if status in self.status:
                label = f"{named.get(status, status)}: {self.status.count(status)}"
                ax.scatter([], [], marker="s", s=40, color=colour, alpha=0.45, label=label)
        if self.missed:
            ax.plot([], [], color=RED, linewidth=1.5, label=f"missed: {len(self.missed)}")
        if ax.get_legend_handles_labels()[1]:
            ax.legend(frameon=False, fontsize=8, handletextpad=0.4, handlelength=1.2, **place)
        if self.truth is not None and self.truth.trusted.any():
            q, near = (self.predicted.agreement(self.truth, max_shift) for max_shift in (0, self.max_shift))
            ax.set_title(f"Q = {q:.2f}, within {self.max_shift}: {near:.2f}", fontsize=9)

    def _plot_path(self, given: Axes | None) -> None:
        n, m = self.predicted.lengths
        long = max(n, m)
        self.ax_ = ax = axes(given, (1.2 + 4.6 * n / long, 1.0 + 4.6 * m / long))
        if self.truth is not None:
            self._draw_path(self.truth, color="#e3e3e3", linewidth=6, zorder=1)
            trusted = self.truth.pairs[self.truth.trusted] + 1
            ends_of = np.stack([trusted - 0.5, trusted + 0.5, np.full(trusted.shape, np.nan)], axis=1).reshape(-1, 2)
            ax.plot(*ends_of.T, color="#b3b3b3", linewidth=6, solid_capstyle="butt", zorder=1, label="truth")
        self._draw_path(self.predicted, color=GREY, linewidth=0.7, zorder=2)
        for status, colour in COLOURS.items():
            chosen = self.predicted.pairs[[each == status for each in self.status]]
            ax.scatter(chosen[:, 0] + 1, chosen[:, 1] + 1, s=5, color=colour, linewidths=0, zorder=3)
        lost = [self._partners[i] + 1 for i in self.missed]
        ax.scatter([i + 1 for i in self.missed], lost, s=14, marker="_", color=RED, linewidths=1.2, zorder=3)
        ax.set_xlim(0, n + 1)
        ax.set_ylim(m + 1, 0)
        ax.set_aspect("equal")
        ax.set_xlabel(self.names[0])
        ax.set_ylabel(self.names[1])
        self._write_legend(loc="best")

    def _draw_path(self, alignment: PairwiseAlignment, **style: Any) -> None:
        """Draw a path through the corners of every column: a diagonal step where residues are aligned."""
        steps = (layout(alignment) >= 0).astype(float)
        corners = np.concatenate([np.zeros((1, 2)), np.cumsum(steps, axis=0)]) + 0.5
        self.ax_.plot(corners[:, 0], corners[:, 1], **style)


def letters_of(sequence: Any, which: str) -> str:
    """Return the letters of a sequence that may have other columns."""
    if isinstance(sequence, Mapping):
        if "residue" not in sequence:
            raise ValueError(
                f"the {which} sequence has the columns {list(sequence)}; expected one named 'residue' to show"
            )
        sequence = sequence["residue"]
    if not isinstance(sequence, Iterable):
        raise ValueError(f"the {which} sequence is {type(sequence).__name__}; expected a string, or a dict of columns")
    letters = [str(letter) for letter in sequence]
    long = next((letter for letter in letters if len(letter) != 1), None)
    if long is not None:
        raise ValueError(f"the {which} sequence has the residue {long!r}; only single letters can be shown")
    return "".join(letters)
