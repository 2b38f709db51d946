"""Rows whose classes are nodes of a taxonomy, in the files of the program Clus."""

from __future__ import annotations

import numpy as np

from maxmargin.inputs.readers.arff import ArffRows
from maxmargin.inputs.readers.text_file import TextFile, reading


def read_clus(source: TextFile) -> tuple[np.ndarray, list[str]]:
    r"""Read rows with one class each from an ARFF file of Clus.

    The file has numeric attributes and a last attribute "hierarchical", such as the files of ImCLEF07A, ImCLEF07D
    (Dimitrovski, Kocev, Loskovska and Džeroski, "Hierarchical annotation of medical images", Pattern Recognition 2011)
    and Diatoms. A row may name all classes of a path, "6@6/2@6/2/0"; a row with classes of several paths is refused.

    Parameters
    ----------
    source : str, path or text file
        The file to read.

    Returns
    -------
    (X, labels) : an (n, features) array, and a list of labels, each a path from the root such as "6/2/0".

    Examples
    --------
    >>> import io
    >>> from maxmargin.datasets import read_clus
    >>> text = "@relation r\n@attribute a numeric\n@attribute class hierarchical 6,6/2\n@data\n0.5,6/2\n"
    >>> read_clus(io.StringIO(text))
    (array([[0.5]]), ['6/2'])

    See Also
    --------
    maxmargin.TaxonomySVC : a classifier for such labels (taxonomy="/").
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
