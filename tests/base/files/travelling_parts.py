"""Parts of packed data on their way to another process."""

import pickle

import numpy as np


def check_that_it_travels(part, packed, w, most):
    """As a name and a range in fewer than `most` bytes, which is little beside the data, and finds the same planes."""
    content = pickle.dumps(part)
    assert len(content) < most < sum(array.nbytes for array in packed.folder.arrays.values()) / 50
    again = pickle.loads(content)
    assert again.atoms is part.atoms  # in this process, the same
    found, expected = again.planes(w), part.planes(w)
    np.testing.assert_array_equal(found.loss, expected.loss)
    np.testing.assert_array_equal(found.dpsi.toarray(), expected.dpsi.toarray())
