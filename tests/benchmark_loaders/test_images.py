import lzma
import struct

import numpy as np
import pytest

from benchmarks.loaders import load_mnist, load_optdigits, load_usps


def write(path, content):
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(lzma.compress(content))


@pytest.mark.parametrize(("split", "prefix"), [("train", "train"), ("test", "t10k")])
def test_mnist_is_read_behind_its_headers(split, prefix, folder):
    images = np.zeros((2, 28 * 28), dtype=np.uint8)
    images[1, 5] = 255
    header = struct.pack(">4i", 0x803, 2, 28, 28)
    write(folder / "mnist" / f"{prefix}-images-idx3-ubyte.xz", header + images.tobytes())
    write(folder / "mnist" / f"{prefix}-labels-idx1-ubyte.xz", struct.pack(">2i", 0x801, 2) + bytes([7, 1]))
    X, y = load_mnist(split)
    assert np.array_equal(X, images / 255)
    assert y.tolist() == [7, 1]


def test_usps_begins_with_the_digit(folder):
    values = np.linspace(-1, 1, 256)
    line = " ".join(f"{value:.4f}" for value in values)
    write(folder / "usps" / "zip.test.txt.xz", f"9 {line}\n6 {line}\n".encode())
    X, y = load_usps("test")
    assert y.tolist() == [9, 6]
    assert np.allclose(X, [values, values], atol=1e-4)


@pytest.mark.parametrize(("split", "file"), [("train", "optdigits.tra.xz"), ("test", "optdigits.tes.xz")])
def test_optdigits_end_with_the_digit(split, file, folder):
    write(folder / "optdigits" / file, b"0,16,4\n8,0,9\n")
    X, y = load_optdigits(split)
    assert X.tolist() == [[0, 1], [0.5, 0]]
    assert y.tolist() == [4, 9]


@pytest.mark.data
@pytest.mark.parametrize(("split", "n"), [("train", 60000), ("test", 10000)])
def test_mnist_has_its_published_counts(split, n):
    X, y = load_mnist(split)
    assert X.shape == (n, 784)
    assert (X.min(), X.max()) == (0.0, 1.0)
    assert y.shape == (n,)
    assert set(y.tolist()) == set(range(10))


@pytest.mark.data
@pytest.mark.parametrize(("split", "n"), [("train", 7291), ("test", 2007)])
def test_usps_has_its_published_counts(split, n):
    X, y = load_usps(split)
    assert X.shape == (n, 256)
    assert (X.min(), X.max()) == (-1.0, 1.0)
    assert y.shape == (n,)
    assert set(y.tolist()) == set(range(10))


@pytest.mark.data
@pytest.mark.parametrize(("split", "n"), [("train", 3823), ("test", 1797)])
def test_optdigits_has_its_published_counts(split, n):
    X, y = load_optdigits(split)
    assert X.shape == (n, 64)
    assert (X.min(), X.max()) == (0.0, 1.0)
    assert y.shape == (n,)
    assert set(y.tolist()) == set(range(10))
