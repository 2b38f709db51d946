"""Folders that nobody has packed so, with right checksums."""

import numpy as np

import maxmargin as mm
from maxmargin.files.array_folder import ArrayFolderWriter


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
