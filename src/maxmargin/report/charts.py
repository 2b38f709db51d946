"""Charts in SVG: lines, points and steps in a frame with ticks. Colours come from the style sheet of the page.

Charts are 360 units wide, like a phone, so that their text is never smaller than the text of the page.
"""

from __future__ import annotations

from math import ceil, floor, isfinite, log10
from typing import Any, NamedTuple

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.report.html import Element

WIDTH, HEIGHT = 360, 220
LEFT, RIGHT, TOP, BOTTOM = 52, 20, 10, 40
MOST_POINTS = 400  # the most points of a line


class Series(NamedTuple):
    """A series of points and how it is drawn."""

    x: Array  # the horizontal coordinates
    y: Array  # the vertical coordinates
    name: str = ""  # for the legend
    kind: str = "line"  # "line", "steps" or "points"
    style: str = "a"  # a class of the style sheet: a, b, c or "faint"
    other: Array | None = None  # if given, the area between y and these values is filled
    sizes: Array | None = None  # sizes of points


class Axis(NamedTuple):
    """An axis of a chart."""

    label: str  # the text at the axis
    low: float  # the value at the beginning of the axis
    high: float  # the value at its end
    log: bool = False  # whether the scale is logarithmic
    percent: bool = False  # whether numbers are written as percentages

    def place(self, value: Any) -> Any:
        """Return the position of a value on the axis, from 0 to 1."""
        if self.log:
            with np.errstate(divide="ignore"):
                return (np.log10(value) - log10(self.low)) / (log10(self.high) - log10(self.low))
        return (np.asarray(value, dtype=float) - self.low) / (self.high - self.low)

    def ticks(self) -> list[float]:
        """Return round numbers for ticks."""
        if self.log:
            first, last = ceil(log10(self.low) - 1e-9), floor(log10(self.high) + 1e-9)
            step = max(1, (last - first + 4) // 5)
            return [10.0**k for k in range(first, last + 1, step)]
        raw = (self.high - self.low) / 4
        unit = 10.0 ** floor(log10(raw))
        width = next(unit * f for f in (1, 2, 2.5, 5, 10) if unit * f >= raw * (1 - 1e-9))
        return [width * k for k in range(ceil(self.low / width - 1e-9), floor(self.high / width + 1e-9) + 1)]

    def text(self, value: float) -> str:
        """Return the label of a tick."""
        value = 0.0 if abs(value) < 1e-12 * max(abs(self.low), abs(self.high)) else value
        return f"{100 * value:.4g}%" if self.percent else f"{value:.4g}"


def fitted_axis(label: str, values: Any, log: bool = False, percent: bool = False, from_zero: bool = False) -> Axis:
    """Return an axis that contains all of these values."""
    known = np.asarray(values, dtype=float).ravel()
    known = known[np.isfinite(known) & ((known > 0) if log else True)]
    if not len(known):
        return Axis(label, 0.1 if log else 0.0, 1.0, log, percent)
    low, high = float(known.min()), float(known.max())
    if log:
        return Axis(label, 10.0 ** floor(log10(low)), 10.0 ** ceil(log10(high) + 1e-9), True, percent)
    low = min(low, 0.0) if from_zero else low
    margin = 0.04 * (high - low) or abs(high) or 1.0
    return Axis(label, low if from_zero and low == 0 else low - margin, high + margin, False, percent)


def chart(series: list[Series], x: Axis, y: Axis, title: str, height: int = HEIGHT, square: bool = False) -> Element:
    """Return the series in a frame; `title` is for people who cannot see it."""
    height = WIDTH - LEFT - RIGHT + TOP + BOTTOM if square else height
    wide, tall = WIDTH - LEFT - RIGHT, height - TOP - BOTTOM

    def at(xs: Any, ys: Any) -> Array:
        return np.column_stack([LEFT + wide * x.place(xs), TOP + tall * (1 - y.place(ys))])

    drawn: list[Any] = []
    for tick in y.ticks():
        (_, v) = at(x.low, tick)[0]
        drawn.append(Element("line", x1=LEFT, x2=WIDTH - RIGHT, y1=v, y2=v, class_="grid"))
        drawn.append(Element("text", y.text(tick), x=LEFT - 6, y=v + 4, text_anchor="end"))
    for tick in x.ticks():
        (u, _) = at(tick, y.low)[0]
        drawn.append(Element("line", x1=u, x2=u, y1=TOP + tall, y2=TOP + tall + 4, class_="tick"))
        drawn.append(Element("text", x.text(tick), x=u, y=TOP + tall + 16, text_anchor="middle"))
    drawn.append(Element("line", x1=LEFT, x2=WIDTH - RIGHT, y1=TOP + tall, y2=TOP + tall, class_="tick"))
    drawn.append(Element("text", x.label, x=LEFT + wide / 2, y=height - 6, text_anchor="middle", class_="axis"))
    turned = f"rotate(-90) translate({-(TOP + tall / 2):.1f} 12)"
    drawn.append(Element("text", y.label, transform=turned, text_anchor="middle", class_="axis"))
    for each in series:
        drawn.extend(_drawn(each, at, (TOP, TOP + tall)))
    named = [each for each in series if each.name]
    return Element(
        "div",
        Element("svg", drawn, view_box=f"0 0 {WIDTH} {height}", class_="chart", role="img", aria_label=title),
        Element(
            "p",
            [
                [Element("span", Element("span", class_=f"key key-{each.style}"), each.name, class_="keyed"), " "]
                for each in named
            ],
            class_="keys",
        )
        if named
        else None,
        class_="charted square" if square else "charted",
    )


def bar(low: float, value: float, high: float, axis: Axis) -> Element:
    """Return a value and its interval on an axis, for a row of a table."""
    width, height = 120, 16
    u = [float(np.clip(axis.place(each), 0, 1)) * (width - 12) + 6 for each in (low, value, high)]
    return Element(
        "svg",
        Element("line", x1=6, x2=width - 6, y1=8, y2=8, class_="grid"),
        Element("line", x1=u[0], x2=u[2], y1=8, y2=8, class_="interval") if isfinite(u[0] + u[2]) else None,
        Element("circle", cx=u[1], cy=8, r=4, class_="point-a") if isfinite(u[1]) else None,
        view_box=f"0 0 {width} {height}",
        width=width,
        height=height,
        aria_hidden="true",
        class_="bar",
    )


def thinned(*arrays: Array) -> list[Array]:
    """Return at most MOST_POINTS evenly spread points, always with the first and the last."""
    n = len(arrays[0])
    if n <= MOST_POINTS:
        return list(arrays)
    some = np.unique(np.linspace(0, n - 1, MOST_POINTS).round().astype(int))
    return [each[some] for each in arrays]


def _drawn(series: Series, at: Any, inside: tuple[int, int]) -> list[Element]:
    x, y = np.asarray(series.x, dtype=float), np.asarray(series.y, dtype=float)
    known = np.isfinite(x) & np.isfinite(y)
    if series.other is not None:
        other = np.asarray(series.other, dtype=float)
        known &= np.isfinite(other)
        x, y, other = thinned(x[known], y[known], other[known])
        there, back = (_corners(at(x, each)) if series.kind == "steps" else at(x, each) for each in (y, other))
        return [
            Element("polygon", points=_points(np.vstack([there, back[::-1]]), inside), class_=f"band-{series.style}")
        ]
    if not known.any():
        return []
    sizes = np.full(len(x), 2.5) if series.sizes is None else np.asarray(series.sizes, dtype=float)
    x, y, sizes = thinned(x[known], y[known], sizes[known])
    places = at(x, y)
    if series.kind == "points":
        return [
            Element("circle", cx=float(u), cy=float(v), r=float(r), class_=f"point-{series.style}")
            for (u, v), r in zip(places, sizes, strict=True)
            if inside[0] - 0.5 <= v <= inside[1] + 0.5
        ]
    if series.kind == "steps":
        places = _corners(places)
    return [Element("polyline", points=_points(places, inside), class_=f"line-{series.style}")]


def _corners(places: Array) -> Array:
    """Return the corners of a step function through these points."""
    corners = np.repeat(places, 2, axis=0)[:-1]
    corners[1::2, 0] = places[1:, 0]
    return corners


def _points(places: Array, inside: tuple[int, int]) -> str:
    return " ".join(f"{u:.1f},{min(max(v, inside[0]), inside[1]):.1f}" for u, v in places)
