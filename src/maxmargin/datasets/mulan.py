"""Rows with any subset of labels, as the project Mulan publishes them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from maxmargin.inputs.readers.mulan import read_mulan_rows
from maxmargin.inputs.readers.text_file import TextFile


def read_mulan(table: TextFile, labels: TextFile) -> tuple[np.ndarray, NDArray[np.int64], list[str]]:
    """A set of Mulan: ``(X, Y, labels)``, Y with a column of zeros and ones per label, in the order of the table.

    Parameters
    ----------
    table : path or open text file
        An ARFF file such as yeast-train.arff. X is dense: formats.read_mulan_rows returns what is not 0.
    labels : path or open text file
        The XML file beside it, such as yeast.xml, which names the attributes that are labels.
    """
    rows = read_mulan_rows(table, labels)
    return rows.X.toarray(), rows.Y, rows.labels
