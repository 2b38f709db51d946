"""Findings: the description of a model that a structure provides for a report."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from maxmargin.base.arrays import Array
from maxmargin.report.html import Element
from maxmargin.report.intervals import ReportedMeasure


class Section(NamedTuple):
    """A part of the page with a heading of its own."""

    title: str
    content: Any  # elements, text, or lists of such
    wide: bool = False  # whether it takes the whole width of a wide screen


class Findings(NamedTuple):
    """The results of comparing predictions with known outputs, for a report."""

    unit: str  # the name of an example: "sentence", "row", "query"
    measures: list[ReportedMeasure]  # the first is the one that matters most
    wrongness: Array  # one for each example: 0 if it is right; examples with larger values are shown first
    said: Callable[[int], str]  # describes an example in words: "2 of 8 labels are wrong"
    drawn: Callable[[int], Any]  # draws its truth and its prediction
    legend: Any = None  # how to read these drawings
    sections: tuple[Section, ...] = ()  # where mistakes are: confusion, reliability, …


def plural(unit: str) -> str:
    """Return the plural of the name of an example."""
    return f"{unit[:-1]}ies" if unit.endswith("y") else f"{unit}s"


def counted(n: Any, unit: str) -> str:
    """Return a number with its unit: 1 row, 2,000 queries."""
    return f"{n:,} {unit if n == 1 else plural(unit)}"


def note(*content: Any) -> Element:
    """Return a paragraph in small print, for limits and explanations."""
    return Element("p", *content, class_="note")
