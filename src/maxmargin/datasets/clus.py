"""Rows whose classes are nodes of a tree, in the files of the program Clus."""

from __future__ import annotations

import numpy as np

from maxmargin.inputs.readers.arff import ArffRows
from maxmargin.inputs.readers.text_file import TextFile, reading


def read_clus(source: TextFile) -> tuple[np.ndarray, list[str]]:
    """Rows of one class each: ``(X, labels)``, a label being a path from the root such as "6/2/0".

    An ARFF file of numbers with a last attribute "hierarchical", such as those of ImCLEF07A, ImCLEF07D (Dimitrovski,
    Kocev, Loskovska and Džeroski, "Hierarchical annotation of medical images", Pattern Recognition 2011) and Diatoms. A
    row may name every class on its way, "6@6/2@6/2/0"; one that names classes of several ways is refused.
    """
    values: list[list[float]] = []
    labels: list[str] = []
    with reading(source) as lines:
        table = ArffRows(lines)
        if not table.attributes:
            raise lines.error(
                "the file has no attributes; expected numeric attributes and, as the last one, the classes"
            )
        last = len(table.attributes) - 1
        for row in table:
            names = row.get(last, "").split("@")
            label = max(names, key=lambda name: name.count("/"))
            if not all(f"{label}/".startswith(f"{name}/") for name in names):
                raise lines.error(f"the classes are {names}; expected all of them to be paths in one notation")
            values.append([lines.finite(row.get(j, "0"), repr(table.attributes[j].name)) for j in range(last)])
            labels.append(label)
    return np.array(values, dtype=np.float64).reshape(len(values), last), labels
