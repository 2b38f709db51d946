"""Rows whose classes are nodes of a tree, in the files of the program Clus."""

from __future__ import annotations

import numpy as np

from maxmargin.datasets.arff import columns_and_rows, numbers
from maxmargin.inputs.text_file import TextFile, reading


def read_clus(source: TextFile) -> tuple[np.ndarray, list[str]]:
    """Rows of one class each: ``(X, labels)``, a label being a path from the root such as "6/2/0".

    An ARFF file of numbers with a last attribute "hierarchical", such as those of ImCLEF07A, ImCLEF07D (Dimitrovski,
    Kocev, Loskovska and Džeroski, "Hierarchical annotation of medical images", Pattern Recognition 2011) and Diatoms. A
    row may name every class on its way, "6@6/2@6/2/0"; one that names classes of several ways is refused.
    """
    values: list[str] = []
    labels: list[str] = []
    with reading(source) as lines:
        columns, rows = columns_and_rows(lines)
        for i, row in enumerate(rows):
            numbers_of_row, _, classes = row.rpartition(",")
            names = classes.split("@")
            label = max(names, key=lambda name: name.count("/"))
            if not all(f"{label}/".startswith(f"{name}/") for name in names):
                raise ValueError(f"{lines.name}, row {i}: the classes are {names}; expected those of one way")
            values.append(numbers_of_row)
            labels.append(label)
        return numbers(lines, values, len(columns) - 1), labels
