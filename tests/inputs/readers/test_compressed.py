import bz2
import gzip
import lzma

import pytest

from maxmargin.inputs.readers import compressed
from maxmargin.inputs.readers.compressed import read_bytes


@pytest.mark.parametrize(
    ("name", "compress"),
    [("some", bytes), ("some.gz", gzip.compress), ("some.XZ", lzma.compress), ("some.bz2", bz2.compress)],
)
def test_the_suffix_says_how_a_file_is_compressed(name, compress, tmp_path):
    (tmp_path / name).write_bytes(compress(b"\x00\xff\n\r\n"))
    assert read_bytes(tmp_path / name) == read_bytes(str(tmp_path / name)) == b"\x00\xff\n\r\n"


@pytest.mark.parametrize(("suffix", "compress"), [("gz", gzip.compress), ("xz", lzma.compress), ("bz2", bz2.compress)])
def test_damaged_files_are_named(suffix, compress, tmp_path):
    path = tmp_path / f"some.{suffix}"
    for content in (b"not compressed at all", compress(bytes(range(256)) * 20)[:-9]):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=rf"some\.{suffix} is not compressed as its suffix says, or damaged: "):
            read_bytes(path)


def test_missing_files_are_missing(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_bytes(tmp_path / "none.gz")


@pytest.mark.parametrize("suffix", [".gz", ".xz", ".bz2"])
def test_a_small_file_cannot_hold_any_amount(tmp_path, monkeypatch, suffix):
    path = tmp_path / f"zeros{suffix}"
    with compressed.replacing_compressed(path) as file:
        file.write(bytes(10**6))
    assert len(read_bytes(path)) == 10**6
    monkeypatch.setattr(compressed, "ALWAYS", 1000)
    monkeypatch.setattr(compressed, "MOST_TIMES", 2)
    with pytest.raises(
        ValueError, match=r"zeros.* holds more than .* bytes, 2 times its own size. If that is intended"
    ):
        read_bytes(path)
