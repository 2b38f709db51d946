"""Classes that are the leaves of a tree."""

from __future__ import annotations

import numpy as np

from benchmarks.loaders.folder import check_choice, data_file
from maxmargin.datasets import read_clus


def load_imclef07a(split: str) -> tuple[np.ndarray, list[str]]:
    """ImageCLEF 2007 radiographs, anatomical axis: ``(X, labels)``, a label being a path from the root such as "6/2/0".

    10,000 training and 1006 test images, each described by an edge histogram of 80 counts from 0 to 7; 96 classes and
    groups in three levels, one path an image (Dimitrovski, Kocev, Loskovska and Džeroski, "Hierarchical annotation of
    medical images", Pattern Recognition 2011). The training images are sorted by class.
    """
    check_choice("split", split, "train", "test")
    return read_clus(data_file("hierarchical-hmc", f"others/ImCLEF07A_{split.title()}.arff.xz"))
