"""Rows with any subset of labels, as the project Mulan publishes them."""

from __future__ import annotations

import os
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from maxmargin.datasets.arff import columns_and_rows, numbers
from maxmargin.inputs.text_file import TextFile, reading


def read_mulan(table: TextFile, labels: str | os.PathLike[str]) -> tuple[np.ndarray, NDArray[np.int64], list[str]]:
    """A set of Mulan: ``(X, Y, labels)``, Y with a column of zeros and ones per label, in the order of the table.

    Parameters
    ----------
    table : path or open text file
        An ARFF file of rows of numbers, such as yeast-train.arff; sets whose rows are sparse, in curly brackets, or
        have attributes that are words are not read.
    labels : path
        The XML file beside it, such as yeast.xml, which names the attributes that are labels.
    """
    described = ElementTree.parse(labels).getroot()
    named = {str(element.get("name")) for element in described.iter() if element.get("name") is not None}
    with reading(table) as lines:
        columns, rows = columns_and_rows(lines)
        values = numbers(lines, rows, len(columns))
        found = [column for column in columns if column in named]
        if len(found) != len(named):
            file = Path(labels).name
            raise ValueError(f"{lines.name}: {file} names {len(named)} labels; the file has {len(found)} of them")
    is_label = np.array([column in named for column in columns], dtype=bool)
    return np.ascontiguousarray(values[:, ~is_label]), values[:, is_label].astype(np.int64), found
