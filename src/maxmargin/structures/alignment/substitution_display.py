"""SubstitutionDisplay: a heat map of a substitution matrix with its gap costs."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maxmargin.report.figures.amino_acids import GROUPS, ONLY_IN_PROTEINS
from maxmargin.report.figures.canvas import DIVERGING, axes, in_house_style
from maxmargin.structures.alignment.formats.ncbi import SubstitutionMatrix

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ANNOTATE_UP_TO = 27  # the most letters for which numbers in cells are readable

TITLE_LETTER, TITLE_LINE = 0.08, 0.17  # inches per letter and per line of the title
MARGIN = 0.1  # inches left free next to the title


class SubstitutionDisplay:
    """A heat map of a substitution matrix, with amino acids grouped by their chemistry and gap costs in the title.

    Parameters
    ----------
    matrix : SubstitutionMatrix, or another form that `Aligner.from_matrix` takes with its alphabet
        The matrix is given, or taken from a fitted `Aligner` by `from_estimator`.
    title : str or None
        None: the gap costs of the matrix.

    Attributes
    ----------
    matrix : SubstitutionMatrix
        The matrix with its gap costs.
    groups : list of lists of str
        The letters as drawn. Letters of proteins are grouped; other letters keep the order of the matrix.
    table : array of shape (K, K)
        The scores as drawn.
    ax_, image_ : matplotlib axes and image
        Set by `plot`.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.formats import SubstitutionMatrix
    >>> from maxmargin.plotting import SubstitutionDisplay
    >>> SubstitutionDisplay(SubstitutionMatrix(("A", "C"), np.eye(2))).groups
    [['A', 'C']]

    See Also
    --------
    maxmargin.Aligner : learns such matrices.
    """

    def __init__(self, matrix: Any, title: str | None = None):
        self.matrix = matrix = _matrix(matrix)
        self.title = _gap_costs(matrix.gap_open, matrix.gap_extend) if title is None else title
        self.groups = _grouped(matrix.alphabet)
        order = [matrix.alphabet.index(letter) for group in self.groups for letter in group]
        self.table = matrix.values[np.ix_(order, order)]

    @classmethod
    def from_estimator(cls, aligner: Any) -> SubstitutionDisplay:
        """Make the plot of the residue scores of a fitted `Aligner`, whatever else it scores.

        If gaps in the two sequences have different costs, the title has both.
        """
        check_is_fitted(aligner, "w_")
        matrix = SubstitutionMatrix(tuple(map(str, aligner.alphabet_)), aligner.substitution_matrix_)
        return cls(matrix, _gap_costs(aligner.gap_open_, aligner.gap_extend_))

    @in_house_style
    def plot(
        self, ax: Axes | None = None, *, annotate: bool | None = None, cmap: str = DIVERGING
    ) -> SubstitutionDisplay:
        """Draw the matrix; the colours are symmetric around 0.

        Parameters
        ----------
        ax : matplotlib axes or None
            The axes to draw on; None creates new ones.
        annotate : bool or None
            Whether to write numbers into the cells; None writes them unless the matrix is large.
        cmap : str
            The name of a matplotlib colour map.

        Returns
        -------
        SubstitutionDisplay, this object, with `ax_` set.
        """
        letters = [letter for group in self.groups for letter in group]
        n = len(letters)
        side = 1.1 + min(max(0.27 * n, 1), 9)
        title = self.title if ax is not None else _in_lines(self.title, int((side - MARGIN) / TITLE_LETTER))
        self.ax_ = ax = axes(ax, (side + 0.8, side + TITLE_LINE * title.count("\n")))
        limit = float(np.abs(self.table).max()) or 1.0
        self.image_ = ax.imshow(self.table, cmap=cmap, vmin=-limit, vmax=limit)
        ax.grid(False)
        ax.set_xticks(np.arange(n), letters)
        ax.set_yticks(np.arange(n), letters)
        ax.xaxis.tick_top()
        ax.tick_params(length=0, labelsize=9 if n <= ANNOTATE_UP_TO else 4.5)
        if max(map(len, letters)) > 1:
            ax.tick_params(axis="x", labelrotation=90)
        for end in np.cumsum([len(group) for group in self.groups])[:-1]:
            ax.axhline(end - 0.5, color="white", linewidth=2.5)
            ax.axvline(end - 0.5, color="white", linewidth=2.5)
        ax.spines[:].set_visible(False)
        if not np.array_equal(self.table, self.table.T):
            ax.set_ylabel("in the first sequence")
            ax.set_xlabel("in the second sequence")
        ax.set_title(title, fontsize=10)
        if n <= ANNOTATE_UP_TO if annotate is None else annotate:
            self._annotate(limit)
        ax.figure.colorbar(self.image_, ax=ax, label="score", shrink=0.8)
        return self

    def _annotate(self, limit: float) -> None:
        whole = bool((self.table == np.round(self.table)).all())
        digits = 0 if whole or limit >= 100 else 1 if limit >= 1 else 2
        for (row, column), value in np.ndenumerate(self.table):
            colour = "white" if abs(value) > 0.6 * limit else "black"
            text = f"{value:z.{digits}f}".replace("-", "−").replace("0.", ".", 1 if digits == 2 else 0)
            self.ax_.text(column, row, text, ha="center", va="center", color=colour, fontsize=6.5)


def _matrix(matrix: Any) -> SubstitutionMatrix:
    """Return a matrix, given in any form that names its letters."""
    from maxmargin.structures.alignment.models import scores_of

    if isinstance(matrix, SubstitutionMatrix):
        return matrix
    if hasattr(matrix, "to_matrix"):
        raise ValueError(f"{type(matrix).__name__} is not a matrix; use SubstitutionDisplay.from_estimator")
    scores = scores_of(matrix)
    return SubstitutionMatrix(tuple(map(str, scores.alphabet)), scores.values)


def _gap_costs(opened: Any, extended: Any) -> str:
    """Return the gap costs as text: numbers, two each if they differ between the sequences, or nothing."""
    costs = {"open": opened, "extend": extended}
    known = {name: cost if isinstance(cost, tuple) else (cost,) for name, cost in costs.items() if cost is not None}
    texts = [f"{name} {' and '.join(f'{each:.3g}' for each in cost)}" for name, cost in known.items()]
    return f"gap costs: {', '.join(texts)}" if texts else ""


def _in_lines(title: str, width: int) -> str:
    """Break a title that is too long for one line, after punctuation and, if necessary, between words."""
    if len(title) <= width:
        return title
    return "\n".join(textwrap.fill(part, width) for part in re.split("(?<=[:,]) ", title))


def _grouped(letters: tuple[str, ...]) -> list[list[str]]:
    """Return the letters in groups if they are letters of proteins."""
    known = "".join(GROUPS)
    if not ONLY_IN_PROTEINS & set(letters) or not all(len(letter) == 1 and letter in known for letter in letters):
        return [list(letters)]
    groups = [[letter for letter in group if letter in letters] for group in GROUPS]
    return [group for group in groups if group]
