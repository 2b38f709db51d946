"""Arrays in idx files, the format of MNIST and its successors."""

from __future__ import annotations

import os
from math import prod
from pathlib import Path

import numpy as np

from maxmargin.inputs.readers.compressed import read_bytes

# The third byte of a file is the type of its numbers, which are big-endian.
_TYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}


def read_idx(path: str | os.PathLike[str]) -> np.ndarray:
    """Read the array in an idx file, such as train-images-idx3-ubyte.gz of MNIST.

    That file has (60000, 28, 28) grey values from 0 to 255.

    LeCun, Bottou, Bengio and Haffner, "Gradient-based learning applied to document recognition", Proc. IEEE 1998.
    ``read_idx(images).reshape(-1, 28 * 28) / 255`` are rows for a classifier, and ``read_idx(labels)`` the digits.

    Parameters
    ----------
    path : str or path
        The path of the file, compressed or not.

    Returns
    -------
    numpy array with the shape and type that the file states.
    """
    name, content = Path(path).name, read_bytes(path)
    if len(content) < 4 or content[:2] != b"\0\0" or content[2] not in _TYPES:
        raise ValueError(
            f"{name} begins with {content[:4]!r}; expected an idx file, which begins with 0, 0, a type code and a "
            "number of axes"
        )
    dtype, begin = np.dtype(_TYPES[content[2]]), 4 + 4 * content[3]
    if len(content) < begin:
        raise ValueError(f"{name} ends after {len(content)} bytes; expected the sizes of {content[3]} axes")
    shape = np.frombuffer(content[4:begin], dtype=">u4").tolist()
    if len(content) - begin != prod(shape) * dtype.itemsize:
        found, expected = len(content) - begin, prod(shape) * dtype.itemsize
        raise ValueError(f"{name} has {found} bytes of numbers; expected {expected} for an array of shape {shape}")
    return np.frombuffer(content[begin:], dtype=dtype).reshape(shape).astype(dtype.newbyteorder("="))
