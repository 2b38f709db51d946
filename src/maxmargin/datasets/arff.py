"""Tables in Weka's ARFF: what the readers of sets in this format share."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from maxmargin.inputs.text_file import TextLines

# A name may be in quotation marks, where a backslash stands before such a mark.
_ATTRIBUTE = re.compile(
    r"""@attribute\s+(?:(?P<mark>['"])(?P<quoted>(?:\\.|(?!(?P=mark)).)*)(?P=mark)|(?P<plain>\S+))""", re.IGNORECASE
)


def columns_and_rows(lines: TextLines) -> tuple[list[str], list[str]]:
    """The names of the columns, and the lines of data as they are."""
    columns: list[str] = []
    rows: list[str] = []
    in_data = False
    for line in lines:
        text = line.strip()
        if not text or text.startswith("%"):
            continue
        if in_data:
            rows.append(text)
            continue
        if attribute := _ATTRIBUTE.match(text):
            columns.append(re.sub(r"\\(.)", r"\1", attribute["plain"] or attribute["quoted"]))
        in_data = text.split()[0].lower() == "@data"
    if not in_data:
        raise lines.error("the file ends; expected a line @data")
    return columns, rows


def numbers(lines: TextLines, rows: Sequence[str], n_columns: int) -> np.ndarray:
    """Rows of numbers with commas between them, as an array with so many columns."""
    try:
        table = np.loadtxt(rows, delimiter=",", ndmin=2) if rows else np.empty((0, n_columns))
    except ValueError as error:
        raise ValueError(f"{lines.name}: {error}; expected numbers only, with commas between them") from None
    if table.shape[1] != n_columns:
        raise ValueError(f"{lines.name}: rows of {table.shape[1]} numbers; expected {n_columns}, one per attribute")
    return table
