"""Images of handwritten digits."""

from __future__ import annotations

import lzma

import numpy as np

from benchmarks.loaders.folder import check_choice, data_file
from maxmargin.datasets import read_idx


def load_mnist(split: str) -> tuple[np.ndarray, np.ndarray]:
    """MNIST: ``(X, y)``, 60,000 or 10,000 images of 28 x 28 grey values scaled to [0, 1], and their digits.

    LeCun, Bottou, Bengio and Haffner, "Gradient-based learning applied to document recognition", Proc. IEEE
    1998.
    """
    check_choice("split", split, "train", "test")
    prefix = {"train": "train", "test": "t10k"}[split]
    images = read_idx(data_file("mnist", f"{prefix}-images-idx3-ubyte.xz"))
    digits = read_idx(data_file("mnist", f"{prefix}-labels-idx1-ubyte.xz"))
    return images.reshape(-1, 28 * 28) / 255.0, digits.astype(np.intp)


def load_usps(split: str) -> tuple[np.ndarray, np.ndarray]:
    """USPS digits: ``(X, y)``, 7291 or 2007 images of 16 x 16 grey values in [-1, 1], and their digits.

    Le Cun et al., "Handwritten digit recognition with a back-propagation network", NIPS 1990; the files are
    those of Hastie, Tibshirani and Friedman, *The Elements of Statistical Learning*.
    """
    check_choice("split", split, "train", "test")
    with lzma.open(data_file("usps", f"zip.{split}.txt.xz"), "rt", encoding="ascii") as file:
        table = np.loadtxt(file)
    return np.ascontiguousarray(table[:, 1:]), table[:, 0].astype(np.intp)


def load_optdigits(split: str) -> tuple[np.ndarray, np.ndarray]:
    """Optical recognition of handwritten digits: ``(X, y)``, images of 8 x 8 values scaled to [0, 1], and their digits.

    3823 training images by 30 writers and 1797 test images by 13 others (Alpaydin and Kaynak, "Cascading classifiers",
    Kybernetika 1998). A value is the number of dark pixels in a block of 4 x 4, divided by 16.
    """
    check_choice("split", split, "train", "test")
    file = {"train": "optdigits.tra.xz", "test": "optdigits.tes.xz"}[split]
    with lzma.open(data_file("optdigits", file), "rt", encoding="ascii") as lines:
        table = np.loadtxt(lines, delimiter=",", ndmin=2)
    return table[:, :-1] / 16.0, table[:, -1].astype(np.intp)
