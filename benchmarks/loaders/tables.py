"""Tables of measurements."""

from __future__ import annotations

import gzip

import numpy as np

from benchmarks.loaders.folder import data_file


def load_covertype() -> tuple[np.ndarray, np.ndarray]:
    """Forest cover: ``(X, y)``, 10 measurements scaled to [0, 1] and 44 indicators of a patch, and its kind 1 to 7.

    92,962 patches, a random part of the 581,012 of Blackard and Dean ("Comparative accuracies of artificial neural
    networks and discriminant analysis in predicting forest cover types from cartographic variables", Computers and
    Electronics in Agriculture 1999), with 33,894, 45,328, 5721, 439, 1519, 2779 and 3282 patches of the seven kinds.
    There is no official split.
    """
    with gzip.open(data_file("covertype", "ramp_test.csv.gz"), "rt", encoding="ascii") as lines:
        table = np.loadtxt(lines, delimiter=",", skiprows=1, ndmin=2)
    return np.ascontiguousarray(table[:, :-1]), table[:, -1].astype(np.intp)
