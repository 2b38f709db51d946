"""Handwritten words, letter by letter."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from maxmargin.inputs.readers.text_file import TextFile, reading

_PIXELS = 16 * 8


def read_ocr_letters(source: TextFile) -> tuple[list[np.ndarray], list[list[str]], NDArray[np.intp]]:
    """Read Taskar's file letter.data of handwritten words.

    6877 words of 52,152 letters in ten folds, numbered 0 to 9 (Kassel 1995; Taskar, Guestrin and Koller, "Max-margin
    Markov networks", NIPS 2003). The collectors left out the first letter of every word, a capital.

    A line is a letter: its number, the letter, the number of the next letter of the word (-1 after the last one), the
    number of the word, the position in it, the fold, and 16 rows of 8 pixels, each 0 or 1.

    Parameters
    ----------
    source : str, path or text file
        The file to read.

    Returns
    -------
    (X, Y, folds) : a list of (letters, 128) arrays of zeros and ones, a list of lists of letters, and the fold of every
        word.
    """
    images: list[str] = []
    Y: list[list[str]] = []
    folds: list[int] = []
    following = "-1"  # the letter with which the word continues
    with reading(source) as lines:
        for line in lines:
            fields = line.split()
            image = "".join(fields[6:])
            sized = len(fields) == 6 + _PIXELS and len(image) == _PIXELS
            if not sized or image.strip("01") or not fields[5].isdecimal():
                raise lines.error(
                    f"found {line[:40]!r}; expected a letter, its five numbers and {_PIXELS} pixels, 0 or 1"
                )
            number, letter, next_number, _, _, fold = fields[:6]
            if following == "-1":
                Y.append([])
                folds.append(int(fold))
            elif number != following:
                raise lines.error(f"found letter {number}; expected letter {following}, with which the word continues")
            images.append(image)
            Y[-1].append(letter)
            following = next_number
        if following != "-1":
            raise lines.error(f"the file ends; expected letter {following}, with which the word continues")
    values = np.frombuffer("".join(images).encode("ascii"), dtype=np.uint8).reshape(-1, _PIXELS) - ord("0")
    ends = np.cumsum([len(letters) for letters in Y])[:-1]
    X = np.split(values.astype(np.float64), ends) if Y else []
    return X, Y, np.array(folds, dtype=np.intp)
