"""Rows with any subset of labels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchmarks.loaders.folder import check_choice, data_file
from maxmargin.datasets import read_mulan


def load_mulan(name: str, split: str) -> tuple[np.ndarray, NDArray[np.int64], list[str]]:
    """Three of Mulan's sets: ``(X, Y, labels)``, Y with a column of zeros and ones per label, in the order of the file.

    yeast    1500 training and 917 test genes, 103 numbers of expression and phylogeny, 14 functions, 4.2 a gene
             (Elisseeff and Weston, "A kernel method for multi-labelled classification", NIPS 2001)
    scene    1211 and 1196 images, 294 numbers of colour, 6 scenes, 1.1 an image (Boutell, Luo, Shen and Brown,
             "Learning multi-label scene classification", Pattern Recognition 2004)
    emotions 391 and 202 songs, 72 numbers of rhythm and timbre, 6 emotions, 1.9 a song (Trohidis, Tsoumakas, Kalliris
             and Vlahavas, "Multilabel classification of music into emotions", ISMIR 2008)
    """
    check_choice("name", name, "yeast", "scene", "emotions")
    check_choice("split", split, "train", "test")
    table = data_file("multilabel-mulan", f"{name}/{name}-{split}.arff.xz")
    return read_mulan(table, data_file("multilabel-mulan", f"{name}/{name}.xml"))
