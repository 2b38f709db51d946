"""Parts of drawings that several structures use: pictures, chips, and outputs as text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from maxmargin.report.html import Element, short
from maxmargin.report.sections import scrolling


def picture(content: Any, width: float, height: float, title: str) -> Element:
    """Return a drawing in its own size, which scrolls if it is wider than the page."""
    size = f"0 0 {width:.0f} {height:.0f}"
    options: dict[str, Any] = {"width": round(width), "height": round(height), "role": "img", "aria_label": title}
    return scrolling(Element("svg", content, view_box=size, class_="free", **options))


def chips(items: Iterable[tuple[Any, str]]) -> Element:
    """Return short texts in boxes; the second member of a pair is "", "right", "wrong" or "missed"."""
    return Element(
        "div",
        [Element("span", Element("bdi", short(text, 80)), class_=f"chip {kind}") for text, kind in items],
        class_="chips",
    )


def side_by_side(drawings: Mapping[str, Any]) -> Element:
    """Return drawings beside each other, each below its caption, such as "true" and "predicted"."""
    return Element(
        "div", [Element("div", Element("h4", name), drawn) for name, drawn in drawings.items()], class_="two"
    )


def both(truth: Any, found: Any, most: int = 600) -> Element:
    """Return two outputs of any kind as text of at most `most` characters, one below the other."""
    return Element(
        "dl",
        [Element("dt", "true"), Element("dd", Element("code", short(truth, most)))],
        [Element("dt", "predicted"), Element("dd", Element("code", short(found, most)))],
        class_="facts",
    )


def colour_of(k: int) -> str:
    """Return the class of the style sheet that has the colour of label number k; there are eight colours."""
    return f"label{k % 8}"
