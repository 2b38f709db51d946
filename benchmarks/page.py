"""Tables of benchmarks in Markdown pages, which the benchmarks themselves write.

In a page, what stands between ``<!-- benchmark: NAME -->`` and the next ``<!-- end -->`` is the table that the last
``python -m benchmarks NAME --page FILE`` has made there.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from rich.table import Table
from rich.text import Text

END = "<!-- end -->"


def markdown(table: Table) -> str:
    """The title, rows and caption of a table that was made for a terminal."""
    headings = [_plain(column.header) for column in table.columns]
    rows = zip(*([_plain(cell) for cell in column.cells] for column in table.columns), strict=True)
    sides = ["---:" if column.justify == "right" else "---" for column in table.columns]
    lines = [_row(cells) for cells in (headings, sides, *rows)]
    parts = [f"**{_plain(table.title)}**", "\n".join(lines), _plain(table.caption)]
    return "\n\n".join(part for part in parts if part.strip("*"))


def write(page: Path, name: str, table: Table, command: str) -> None:
    """Put a table where the page has a place for this benchmark; ValueError if it has none."""
    text, begin = page.read_text(encoding="utf-8"), f"<!-- benchmark: {name} -->"
    before, found, after = text.partition(begin)
    _, ended, rest = after.partition(END)
    if not found or not ended:
        raise ValueError(f"{page} has no place for this table: it must have a line {begin!r}, and later a line {END!r}")
    page.write_text(f"{before}{begin}\n`{command}`\n\n{markdown(table)}\n\n{END}{rest}", encoding="utf-8")


def _plain(cell: object) -> str:
    """The words of a cell on one line."""
    text = Text.from_markup(cell).plain if isinstance(cell, str) else "" if cell is None else str(cell)
    return " ".join(text.replace("|", "\\|").split())


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
