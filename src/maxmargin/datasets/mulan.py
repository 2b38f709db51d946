"""Rows with any subset of labels, as the project Mulan publishes them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from maxmargin.inputs.readers.mulan import read_mulan_rows
from maxmargin.inputs.readers.text_file import TextFile


def read_mulan(table: TextFile, labels: TextFile) -> tuple[np.ndarray, NDArray[np.int64], list[str]]:
    """Read a data set of Mulan.

    Parameters
    ----------
    table : path or open text file
        An ARFF file such as yeast-train.arff. X is dense; formats.read_mulan_rows returns a sparse matrix.
    labels : path or open text file
        The XML file of the data set, such as yeast.xml, which names the attributes that are labels.

    Returns
    -------
    (X, Y, labels) : an (n, features) array, an (n, labels) array of zeros and ones, and the names of the labels, in the
        order of the table.

    See Also
    --------
    maxmargin.CountingMultilabel : a classifier for such data.
    """
    rows = read_mulan_rows(table, labels)
    return rows.X.toarray(), rows.Y, rows.labels
