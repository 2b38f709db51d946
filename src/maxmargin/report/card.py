"""The card of a fitted estimator in a notebook: what it is, what is proved about it, how large it is."""

from __future__ import annotations

from typing import Any

from maxmargin.report.html import Element, short
from maxmargin.report.page import known_facts
from maxmargin.report.training import small_gap


def card(model: Any) -> str:
    """Return a few lines of HTML without style or script of their own."""
    proved = model._proved()
    facts = known_facts(model)
    if (C := getattr(model, "C", None)) is not None:
        facts = {"C": f"{C:.6g}" if isinstance(C, int | float) else short(C), **facts}
    said = "; ".join(f"{name} {value}" for name, value in facts.items())
    return str(
        Element(
            "div",
            Element("p", Element("strong", type(model).__name__), f", fitted. {said}" if said else ", fitted."),
            [Element("p", sentence) for sentence in proved[:2]],
            small_gap(model),
            class_="maxmargin-card",
        )
    )
