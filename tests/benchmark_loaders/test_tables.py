import gzip

import numpy as np
import pytest

from benchmarks.loaders import load_covertype


def test_covertype_is_a_table_with_a_heading(folder):
    (folder / "covertype").mkdir()
    content = b"Elevation,Soil_Type1,Cover_Type\n0.25,1,2\n0.5,0,7\n"
    (folder / "covertype" / "ramp_test.csv.gz").write_bytes(gzip.compress(content))
    X, y = load_covertype()
    assert X.tolist() == [[0.25, 1], [0.5, 0]]
    assert y.tolist() == [2, 7]


@pytest.mark.data
def test_covertype_has_its_published_counts():
    X, y = load_covertype()
    assert X.shape == (92962, 54)
    assert (X.min(), X.max()) == (0.0, 1.0)
    assert np.bincount(y).tolist() == [0, 33894, 45328, 5721, 439, 1519, 2779, 3282]
