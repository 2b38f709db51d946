"""Blocks of code and of printed text in pages of Markdown; only the standard library is needed."""

from __future__ import annotations

import re
from pathlib import Path

BLOCK = re.compile(r"^```(python|sh|text)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?")


def blocks(page: Path) -> list[tuple[str, str, int]]:
    """Return the language, the text and the line of every block."""
    text = page.read_text(encoding="utf-8")
    return [(match[1], match[2], text.count("\n", 0, match.start()) + 1) for match in BLOCK.finditer(text)]


def same_words(printed: str, page: str) -> bool:
    """Compare without numbers, which may move a little with every improvement of a solver; the words may not."""
    return NUMBER.sub("#", printed) == NUMBER.sub("#", page)
