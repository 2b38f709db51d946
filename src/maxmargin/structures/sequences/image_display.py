"""ImageSequenceDisplay: strings of small images with their true and predicted labels."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.report.figures.canvas import GREY, RED, axes, in_house_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LINE = 0.38  # height of a line of text, in image heights


class ImageSequenceDisplay:
    """A display of sequences as rows of images; under each image its true label and the labels that models predict.

    Parameters
    ----------
    images : sequence
        List of (T, height, width) arrays.
    truth : sequence
        List of T labels each.
    predictions : {name of a model: list of T labels each}
        Wrong labels have a red background.

    Attributes
    ----------
    ax_ : matplotlib axes
        Set by `plot`.
    """

    def __init__(
        self,
        images: Sequence[Any],
        truth: Sequence[Sequence[Hashable]],
        predictions: Mapping[str, Sequence[Sequence[Hashable]]],
    ):
        self.images: list[Array] = [np.asarray(image, dtype=float) for image in images]
        self.truth = [list(y) for y in truth]
        self.predictions = {name: [list(y) for y in found] for name, found in predictions.items()}
        for name, rows in {"truth": self.truth, **self.predictions}.items():
            if [len(row) for row in rows] != [len(image) for image in self.images]:
                raise ValueError(f"{name} does not have one label for every image of every sequence")

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Sequence[Any], Y: Sequence[Sequence[Hashable]], image_shape: tuple[int, int]
    ) -> ImageSequenceDisplay:
        """Predict X, a list of (T, height · width) arrays of pixels, with a fitted sequence model."""
        return cls.from_predictions(X, Y, {"predicted": estimator.predict(X)}, image_shape)

    @classmethod
    def from_predictions(
        cls,
        X: Sequence[Any],
        Y: Sequence[Sequence[Hashable]],
        predictions: Mapping[str, Sequence[Sequence[Hashable]]],
        image_shape: tuple[int, int],
    ) -> ImageSequenceDisplay:
        """Compare given predictions of several models, by name."""
        return cls([np.reshape(x, (-1, *image_shape)) for x in X], Y, predictions)

    @in_house_style
    def plot(self, ax: Axes | None = None, *, cmap: str = "gray_r") -> ImageSequenceDisplay:
        """Draw all sequences, one under the other."""
        lines = 1 + len(self.predictions)
        longest = max(len(image) for image in self.images)
        height = 1 + LINE * lines + 0.35
        self.ax_ = ax = axes(ax, (0.62 * (longest + 2), 0.62 * height * len(self.images)))
        low, high = min(map(np.min, self.images)), max(map(np.max, self.images))
        paper = low - 0.06 * (high - low)  # so that empty pixels are light grey, and an image is seen as a tile
        for row, images in enumerate(self.images):
            top = row * height
            for t, image in enumerate(images):
                extent = (t + 0.04, t + 0.96, top + 0.96, top + 0.04)
                ax.imshow(image, extent=extent, interpolation="nearest", cmap=cmap, vmin=paper, vmax=high)
            answers = {"written": self.truth[row], **{name: found[row] for name, found in self.predictions.items()}}
            for line, (name, labels) in enumerate(answers.items()):
                self._write(name, labels, self.truth[row], top + 1 + LINE * (line + 0.5))
        ax.set_xlim(-2, longest + 0.1)
        ax.set_ylim(len(self.images) * height, 0)
        ax.set_aspect("equal")
        ax.set_axis_off()
        return self

    def _write(self, name: str, labels: list[Hashable], truth: list[Hashable], y: float) -> None:
        self.ax_.text(-0.15, y, name, ha="right", va="center", color=GREY, fontsize=9)
        for t, (label, right) in enumerate(zip(labels, truth, strict=True)):
            wrong = label != right
            box = {"facecolor": RED, "edgecolor": "none", "boxstyle": "round,pad=0.15"} if wrong else None
            colour = "white" if wrong else "black"
            self.ax_.text(t + 0.5, y, str(label), ha="center", va="center", color=colour, fontsize=10, bbox=box)
