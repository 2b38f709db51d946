"""Folders that nobody has packed so, with right checksums."""

import numpy as np
from hypothesis import strategies as st

import maxmargin as mm
from maxmargin.base.files.array_folder import ArrayFolderWriter


def crafted(packed, target, **arrays):
    """The same folder with other arrays, and right checksums."""
    known = {**packed.folder.arrays, **arrays}
    with ArrayFolderWriter(target) as writer:
        for name, array in known.items():
            if array is not None:
                writer.append(name, array)
        writer.finish(packed.folder.about)
    return mm.open_packed(target)


def changed(array, place, number):
    array = np.array(array)
    array[place] = number
    return array


def spoiled_numbers(data, array):
    """A copy in which hypothesis puts other numbers at one to three places."""
    spoiled = np.array(array)
    for _ in range(data.draw(st.integers(1, 3))):
        number = data.draw(st.one_of(st.integers(0, 40), st.integers(-(2**31), 2**31 - 1)))
        spoiled[data.draw(st.integers(0, len(spoiled) - 1))] = np.asarray(number).astype(spoiled.dtype)
    return spoiled
