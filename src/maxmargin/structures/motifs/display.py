"""LogoDisplay: a sequence logo of a motif."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maxmargin.report.figures.amino_acids import GROUPS, ONLY_IN_PROTEINS
from maxmargin.report.figures.canvas import BLUE, GREEN, GREY, ORANGE, RED, axes, in_house_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


NUCLEOTIDES = {"A": GREEN, "C": BLUE, "G": ORANGE, "T": RED, "U": RED}
CHEMISTRY = dict(zip(GROUPS, (ORANGE, GREEN, RED, BLUE, "black", "black", GREY), strict=True))
KINDS = {"information": "bits", "weights": "weight"}
GAP = 0.02  # gap between two letters, as a share of a letter's height


class LogoDisplay:
    """Sequence logo of a motif: letters as high as their share of the information of a position.

    The method is from Schneider and Stephens (1990).

    Parameters
    ----------
    heights : array of shape (length, letters)
        Negative heights are drawn below the axis.
    alphabet : str
        The letters of the columns.
    ylabel : str
        The meaning of the heights.
    title : str
        The title of the picture.

    Attributes
    ----------
    heights, alphabet, ylabel, title
        As given.
    ax_ : matplotlib Axes
        Set by `plot`.
    patches_ : dict
        The drawn letters by (position, letter), set by `plot`.

    See Also
    --------
    maxmargin.MotifFinder : Finds motifs.

    Examples
    --------
    >>> from maxmargin.plotting import LogoDisplay
    >>> LogoDisplay.from_matrix([[1.0, 0.0, 0.0, 0.0]], "ACGT").heights[0, 0]
    np.float64(2.0)
    """

    def __init__(self, heights: Any, alphabet: str, ylabel: str = "bits", title: str = ""):
        self.heights = np.asarray(heights, dtype=float)
        if self.heights.ndim != 2 or self.heights.shape[1] != len(alphabet) or not self.heights.size:
            raise ValueError(
                f"heights have the shape {self.heights.shape}; expected (positions, {len(alphabet)}), "
                f"a column for each of {alphabet}"
            )
        if not np.isfinite(self.heights).all():
            j, k = np.argwhere(~np.isfinite(self.heights))[0]
            raise ValueError(f"the height of {alphabet[k]} at position {j} is {self.heights[j, k]}; expected a number")
        self.alphabet, self.ylabel, self.title = alphabet, ylabel, title

    @classmethod
    def from_estimator(cls, finder: Any, kind: Literal["information", "weights"] = "information") -> LogoDisplay:
        """Make the logo of a fitted `MotifFinder`.

        kind : "information" draws the frequencies_ of letters at its sites; "weights" draws pssm_ minus the mean of
            each position, which shifts all windows equally.
        """
        check_is_fitted(finder, "w_")
        alphabet = finder.alphabet_
        if kind == "information":
            return cls.from_matrix(finder.frequencies_, alphabet, f"{len(finder.sites_)} sites, {finder.consensus_}")
        if kind != "weights":
            raise ValueError(f"kind must be 'information' or 'weights', got {kind!r}")
        weights = finder.pssm_
        return cls(weights - weights.mean(axis=1, keepdims=True), alphabet, KINDS[kind], "weights of the motif")

    @classmethod
    def from_matrix(cls, frequencies: Any, alphabet: str, title: str = "") -> LogoDisplay:
        """Make the logo of (length, letters) frequencies, such as those of formats.read_meme; each row sums to 1."""
        from maxmargin.structures.motifs.patterns import information

        shares = np.asarray(frequencies, dtype=float)
        if shares.ndim != 2 or not np.isfinite(shares).all() or (shares < 0).any():
            raise ValueError(
                f"the frequencies have shape {shares.shape}; expected finite numbers >= 0 of shape (positions, letters)"
            )
        if np.abs(shares.sum(axis=1) - 1).max(initial=0) > 0.01:
            j = int(np.argmax(np.abs(shares.sum(axis=1) - 1)))
            raise ValueError(f"the frequencies of position {j} sum to {shares[j].sum():.6g}; expected 1")
        return cls(shares * np.maximum(information(shares), 0)[:, None], alphabet, KINDS["information"], title)

    @in_house_style
    def plot(self, ax: Axes | None = None) -> LogoDisplay:
        """Draw the stacks, the tallest letter of each farthest from the axis."""
        n = len(self.heights)
        self.ax_ = ax = axes(ax, (1.0 + 0.42 * min(n, 40), 2.6))
        colours = _colours(self.alphabet)
        self.patches_: dict[tuple[int, str], Any] = {}
        for j, row in enumerate(self.heights):
            for sign in (1, -1):
                level = 0.0
                for k in np.argsort(np.abs(row), kind="stable"):
                    if sign * row[k] > 0:
                        patch = _glyph(self.alphabet[k], j, level, float(row[k]), colours[self.alphabet[k]])
                        self.patches_[j, self.alphabet[k]] = ax.add_patch(patch)
                        level += float(row[k])
        top = np.where(self.heights > 0, self.heights, 0).sum(axis=1).max()
        low = np.where(self.heights < 0, self.heights, 0).sum(axis=1).min()
        if self.ylabel == KINDS["information"]:
            top, low = np.log2(len(self.alphabet)), 0.0
        ax.set_xlim(-0.6, n - 0.4)
        ax.set_ylim(1.05 * low, 1.05 * top or 1.0)
        step = max(1, -(-n // 40))
        ax.set_xticks(np.arange(0, n, step), [str(j + 1) for j in range(0, n, step)])
        ax.tick_params(axis="x", length=0)
        ax.set_ylabel(self.ylabel)
        ax.set_title(self.title, fontsize=10)
        if low < 0:
            ax.axhline(0, color="black", linewidth=0.8)
        ax.spines[["top", "right"]].set_visible(False)
        return self


def _glyph(letter: str, position: int, level: float, height: float, colour: str) -> Any:
    """Return the outline of a letter, stretched to the unit width of its position and to its height."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.patches import PathPatch
    from matplotlib.textpath import TextPath
    from matplotlib.transforms import Affine2D

    outline = TextPath((0, 0), letter, size=1, prop=FontProperties(family="DejaVu Sans", weight="bold"))
    box = outline.get_extents()
    wide = 0.9 if box.width > 0.3 else 0.9 * box.width / 0.3  # an I stays narrow
    tall = abs(height) * (1 - GAP)
    base = level if height > 0 else level + height
    stretch = (
        Affine2D()
        .translate(-box.x0 - box.width / 2, -box.y0)
        .scale(wide / (box.width or 1), tall / (box.height or 1))
        .translate(position, base)
    )
    return PathPatch(outline.transformed(stretch), facecolor=colour, linewidth=0)


def _colours(alphabet: str) -> dict[str, str]:
    """Return the usual colours of nucleotides, chemical colours of amino acids, and grey for other letters."""
    if ONLY_IN_PROTEINS & set(alphabet):
        return {x: next((c for group, c in CHEMISTRY.items() if x in group), GREY) for x in alphabet}
    return {letter: NUCLEOTIDES.get(letter, GREY) for letter in alphabet}
