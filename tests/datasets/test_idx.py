import gzip
import struct

import numpy as np
import pytest

from maxmargin.datasets import read_idx


def test_arrays_are_read_behind_their_headers(tmp_path):
    images = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    content = struct.pack(">4i", 0x803, 2, 3, 4) + images.tobytes()
    (tmp_path / "images-idx3-ubyte").write_bytes(content)
    (tmp_path / "images-idx3-ubyte.gz").write_bytes(gzip.compress(content))
    for name in ("images-idx3-ubyte", "images-idx3-ubyte.gz"):
        found = read_idx(tmp_path / name)
        assert found.dtype == np.uint8
        assert np.array_equal(found, images)
        found[0] = 0  # the array is the caller's own


@pytest.mark.parametrize(
    ("number", "letter", "dtype"),
    [(8, "B", "u1"), (9, "b", "i1"), (11, "h", "i2"), (12, "i", "i4"), (13, "f", "f4"), (14, "d", "f8")],
)
def test_numbers_of_all_types(number, letter, dtype, tmp_path):
    path = tmp_path / "some-idx1"
    path.write_bytes(bytes([0, 0, number, 1]) + struct.pack(f">i3{letter}", 3, 1, 100, 7))
    assert read_idx(str(path)).tolist() == [1, 100, 7]
    assert read_idx(path).dtype == np.dtype(dtype)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "some begins with b''; expected an idx file, which begins with"),
        (b"GIF89a", "some begins with b'GIF8'; expected an idx file, which begins with"),
        (bytes([0, 0, 7, 1]), "expected an idx file, which begins with 0, 0, a type code and a number of axes"),
        (bytes([0, 0, 8, 2, 0, 0, 0, 1]), "some ends after 8 bytes; expected the sizes of 2 axes"),
        (bytes([0, 0, 11, 1, 0, 0, 0, 2, 0, 1, 0]), r"has 3 bytes of numbers; expected 4 for an array of shape \[2\]"),
    ],
)
def test_other_files_are_refused(content, message, tmp_path):
    (tmp_path / "some").write_bytes(content)
    with pytest.raises(ValueError, match=message):
        read_idx(tmp_path / "some")
