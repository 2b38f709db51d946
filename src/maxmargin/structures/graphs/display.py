"""SegmentationDisplay: a plot of a labelled image, by pixels or by regions."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.inputs.labels.labels import in_order
from maxmargin.report.figures.canvas import CYCLE, GREY, axes, in_house_style
from maxmargin.structures.graphs.node_labels import different, flat_labels
from maxmargin.structures.graphs.nodes import Nodes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GAP = 0.04  # between two panels, in widths of the image


class SegmentationDisplay:
    """A plot of an image with its true and its predicted labels side by side, and a legend of the classes.

    Parameters
    ----------
    prediction : array or sequence
        Labels, an (H, W) array; with `regions`, one label per region.
    truth : array, sequence or None
        The true labels in the same form, or None. A label None is unknown and not coloured.
    image : array or None
        (H, W) grey values, (H, W, 3) colours, or None; labels are drawn over it, half transparent.
    regions : array of shape (H, W) or None
        The region (superpixel) of every pixel, for labels of regions.
    classes : sequence or None
        The labels, in the order of their colours; None: those that occur.

    Attributes
    ----------
    prediction, truth : array of shape (H, W)
        Indices into `classes`, -1 if there is no label; truth may be None.
    image : array or None
        The image.
    classes : list
        The labels, in the order of their colours.
    right : float or None
        The share of correct labels among the labelled pixels; None without a truth.
    ax_ : matplotlib axes
        Set by `plot`.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.plotting import SegmentationDisplay
    >>> SegmentationDisplay(np.array([["a", "b"]]), truth=np.array([["a", "a"]])).right
    0.5

    See Also
    --------
    maxmargin.GraphLabeler : predicts such labels.
    """

    def __init__(
        self,
        prediction: Any,
        truth: Any = None,
        image: Any = None,
        regions: Any = None,
        classes: Sequence[Hashable] | None = None,
    ):
        shown = [prediction] if truth is None else [prediction, truth]
        if classes is None:
            seen = [kind for labels in shown for kind in different(flat_labels(labels))[0]]
            classes = in_order([kind for kind in seen if kind is not None])
        self.classes = list(classes)
        self.prediction = _as_image(prediction, regions, self.classes, "prediction")
        self.truth = None if truth is None else _as_image(truth, regions, self.classes, "truth")
        self.image = None if image is None else _checked_image(image)
        others = {"truth": self.truth, "image": self.image}
        for name, array in others.items():
            if array is not None and array.shape[:2] != self.prediction.shape:
                raise ValueError(
                    f"{name} has shape {array.shape[:2]}; expected {self.prediction.shape}, the shape of the prediction"
                )
        self.right: float | None = None
        if self.truth is not None and (self.truth >= 0).any():
            self.right = float(np.mean((self.truth == self.prediction)[self.truth >= 0]))

    @classmethod
    def from_estimator(
        cls, model: Any, x: Any, y: Any = None, *, image: Any = None, regions: Any = None
    ) -> SegmentationDisplay:
        """Label the graph x with a fitted GraphLabeler, and compare with the true labels y if there are any.

        x : Nodes of a grid, or with `regions`, the node of every pixel (H, W).
        image : the image to draw the labels over; for a grid, None uses its features if they are a grey value or three
        colours.
        """
        (prediction,) = model.predict([x])
        if prediction.ndim != 2 and regions is None:
            raise ValueError(
                "the graph is not a grid, so the positions of its nodes are unknown; give regions, the node "
                "of every pixel"
            )
        if image is None and regions is None and isinstance(x, Nodes) and x.n_features in (1, 3):
            image = np.asarray(x.features).reshape(*x.label_shape, x.n_features)
        unseen = [] if y is None else different(flat_labels(y))[0]
        extra = [kind for kind in unseen if kind is not None and kind not in model.classes_]
        return cls(prediction, y, image, regions, [*model.classes_, *extra])

    @in_house_style
    def plot(
        self, ax: Axes | None = None, *, opacity: float = 0.55, colours: Mapping[Hashable, Any] | None = None
    ) -> SegmentationDisplay:
        """Draw image, truth and prediction, as far as they are given, from left to right.

        opacity : of the labels over the image.   colours : of some or all labels, as matplotlib takes them.
        """
        height, width = self.prediction.shape
        panels: list[tuple[str, NDArray[np.int64] | None]] = [] if self.image is None else [("image", None)]
        if self.truth is not None:
            panels.append(("true labels", self.truth))
        panels.append(("prediction", self.prediction))
        step = width * (1 + GAP)
        size = 2.6 * np.sqrt(width / height)
        self.ax_ = ax = axes(ax, (size * len(panels) + 1.6, size * height / width + 0.5))
        from matplotlib.patches import Patch

        palette = self._palette({} if colours is None else colours)
        for place, (name, labels) in enumerate(panels):
            extent = (place * step, place * step + width, height, 0)
            if self.image is not None:
                ax.imshow(self.image, extent=extent, interpolation="nearest", cmap="gray")
            if labels is not None:
                painted = np.zeros((height, width, 4))
                known = labels >= 0
                painted[known, :3] = palette[labels[known]]
                painted[known, 3] = 1.0 if self.image is None else opacity
                ax.imshow(painted, extent=extent, interpolation="nearest")
            if name == "prediction" and self.right is not None:
                name = f"{name}, {100 * self.right:.1f}% right"
            ax.text(place * step + width / 2, -0.02 * height, name, ha="center", va="bottom", color=GREY)
        seen = np.unique([self.prediction] if self.truth is None else [self.prediction, self.truth])
        handles = [Patch(color=palette[k], label=str(self.classes[k])) for k in seen if k >= 0]
        ax.legend(handles=handles, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
        ax.set_xlim(0, (len(panels) - 1) * step + width)
        ax.set_ylim(height, -0.12 * height)
        ax.set_aspect("equal")
        ax.set_axis_off()
        return self

    def _palette(self, colours: Mapping[Hashable, Any]) -> NDArray[np.float64]:
        from matplotlib.colors import to_rgb

        palette = _colours(len(self.classes))
        for label, colour in colours.items():
            if label not in self.classes:
                raise ValueError(f"colours names the label {label!r}, which is not one of the classes")
            palette[self.classes.index(label)] = to_rgb(colour)
        return palette


def _as_image(labels: Any, regions: Any, classes: list[Hashable], name: str) -> NDArray[np.int64]:
    kinds, places = different(flat_labels(labels))
    unknown = [kind for kind in kinds if kind is not None and kind not in classes]
    if unknown:
        raise ValueError(f"{name} has the label {unknown[0]!r}, which is not one of the classes")
    numbers = np.array([-1 if kind is None else classes.index(kind) for kind in kinds])[places]
    if regions is None:
        if np.ndim(labels) != 2 or not hasattr(labels, "shape"):
            raise ValueError(
                f"{name} has shape {np.shape(labels)}; expected (H, W), or regions that say where nodes are"
            )
        return np.asarray(numbers.reshape(np.shape(labels)))
    regions = np.asarray(regions)
    if regions.ndim != 2 or regions.dtype.kind not in "iu":
        raise ValueError(
            f"regions have shape {regions.shape} and type {regions.dtype}; expected (H, W) numbers of regions"
        )
    if regions.size and not (regions.min() >= 0 and regions.max() < len(numbers)):
        raise ValueError(
            f"regions are numbered {regions.min()} to {regions.max()}, but {name} has {len(numbers)} labels; expected "
            f"numbers from 0 to {len(numbers) - 1}"
        )
    return np.asarray(numbers[regions])


def _checked_image(image: Any) -> NDArray[Any]:
    image = np.asarray(image)
    if image.ndim == 3 and image.shape[2] == 1:
        image = image[:, :, 0]
    if image.ndim != 2 and not (image.ndim == 3 and image.shape[2] == 3):
        raise ValueError(f"the image has shape {image.shape}; expected (H, W) or (H, W, 3)")
    if image.ndim == 3 and image.dtype.kind == "f":  # colours of any range: matplotlib draws 0 to 1
        low, high = float(image.min()), float(image.max())
        return image if low >= 0 and high <= 1 else (image - low) / max(high - low, 1e-300)
    return image


def _colours(n: int) -> NDArray[np.float64]:
    from matplotlib import colormaps
    from matplotlib.colors import to_rgb

    if n <= len(CYCLE):
        return np.array([to_rgb(colour) for colour in CYCLE[:n]]).reshape(-1, 3)
    palette = colormaps["tab20"]
    if n <= palette.N:
        return np.array([palette(k)[:3] for k in range(n)])
    return np.array(colormaps["gist_ncar"](np.linspace(0.02, 0.95, n)))[:, :3]
