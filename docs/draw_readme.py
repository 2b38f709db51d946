"""Draw docs/digits.png, the picture at the head of README.md, from the models of `make demo`.

    python docs/draw_readme.py

It shows the first test strings that the two models of the demonstration read differently, whichever of them is right,
and the share of wrong digits in all test strings.
"""

from __future__ import annotations

import io
from collections.abc import Hashable, Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.offsetbox import AnnotationBbox, HPacker, TextArea
from matplotlib.patches import FancyBboxPatch
from PIL import Image

import maxmargin as mm
from maxmargin import demo
from maxmargin.report.figures.canvas import BLUE, RED

PICTURE = Path(__file__).resolve().parent / "digits.png"
CARD, INK = "#f3f5f7", "#24292f"  # an opaque card, so that the picture is the same on a dark page
COLUMNS, ROWS = 2, 2
WIDTH, HEIGHT = 10.7, 2.95  # of the place of a string, in digits
LEFT, TOP, MARGIN = 2.1, 1.9, 0.9  # room for the names of the models, for the heading, and around everything


def main() -> None:
    """Train both models, choose the strings, and write the picture."""
    X, Y, X_test, Y_test = mm.datasets.digit_strings(demo.N_TRAIN, demo.N_TEST)
    alone, strings = demo.read_alone(X, Y, X_test), demo.read_strings(X, Y, X_test)
    wrong = {name: demo.errors(each.read, Y_test)[0] for name, each in {"alone": alone, "string": strings}.items()}

    differ = [i for i, (a, b) in enumerate(zip(alone.read, strings.read, strict=True)) if a != b][: COLUMNS * ROWS]
    width, height = COLUMNS * WIDTH + MARGIN, ROWS * HEIGHT + TOP
    figure = Figure(figsize=(width / 2.6, height / 2.6), facecolor="none")
    ax = figure.add_axes((0, 0, 1, 1))
    ax.set_axis_off()
    card = FancyBboxPatch((0.3, 0.3), width - 0.6, height - 0.6, boxstyle="round,pad=0.2,rounding_size=0.4")
    card.set(facecolor=CARD, edgecolor="#d0d7de", linewidth=1, zorder=-1)
    ax.add_patch(card)
    head = [
        ("Each digit read ", INK), ("alone", RED), (f": {wrong['alone']:.1%} wrong.   As a whole ", INK),
        ("string", BLUE), (f": {wrong['string']:.1%} wrong.", INK),
    ]  # fmt: skip
    lines = [TextArea(words, textprops={"color": colour, "fontsize": 15, "weight": "bold"}) for words, colour in head]
    packed = HPacker(children=lines, align="baseline", pad=0, sep=0)
    ax.add_artist(AnnotationBbox(packed, (width / 2, 1.1), frameon=False))

    for place, i in enumerate(differ):
        row, column = divmod(place, COLUMNS)
        x, y = MARGIN / 2 + column * WIDTH + LEFT, TOP + row * HEIGHT
        draw_digits(ax, x, y, X_test[i].reshape(-1, 8, 8))
        write_labels(ax, x, y + 1.36, ("alone", RED), alone.read[i], Y_test[i])
        write_labels(ax, x, y + 2.06, ("string", BLUE), strings.read[i], Y_test[i])
    ax.set(xlim=(0, width), ylim=(height, 0), aspect="equal")  # drawing an image sets limits of its own

    drawn = io.BytesIO()
    figure.savefig(drawn, dpi=170, format="png")
    with Image.open(drawn) as image:  # 64 colours are enough, and make the file a third as large
        image.quantize(64, method=Image.Quantize.FASTOCTREE).save(PICTURE, optimize=True)
    print(f"{PICTURE}: {PICTURE.stat().st_size / 1000:.0f} kB, strings {differ}")


def draw_digits(ax: Axes, x: float, y: float, images: np.ndarray) -> None:
    """Draw the images of a string as tiles in a row."""
    for t, image in enumerate(images):
        extent = (x + t + 0.04, x + t + 0.96, y + 0.96, y + 0.04)
        ax.imshow(image, extent=extent, interpolation="nearest", cmap="gray_r", vmin=0, vmax=1, aspect="auto")


def write_labels(
    ax: Axes, x: float, y: float, model: tuple[str, str], found: Sequence[Hashable], truth: list[int]
) -> None:
    """Write what a model, given by name and colour, has read below the digits, with wrong digits marked."""
    name, colour = model
    ax.text(x - 0.2, y, name, ha="right", va="center", color=colour, fontsize=11.5)
    for t, (label, right) in enumerate(zip(found, truth, strict=True)):
        box = {"facecolor": RED, "edgecolor": "none", "boxstyle": "round,pad=0.12"} if label != right else None
        colour, weight = ("white", "bold") if label != right else (INK, "normal")
        ax.text(
            x + t + 0.5, y, str(label), ha="center", va="center", color=colour, fontsize=13, weight=weight, bbox=box
        )


if __name__ == "__main__":
    main()
