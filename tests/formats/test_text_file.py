import bz2
import gzip
import io
import lzma

import pytest

from maxmargin.formats.text_file import reading, writing


@pytest.mark.parametrize(
    ("suffix", "decompress"),
    [("txt", bytes), ("gz", gzip.decompress), ("XZ", lzma.decompress), ("bz2", bz2.decompress)],
)
def test_the_suffix_says_how_a_file_is_compressed(suffix, decompress, tmp_path):
    path = tmp_path / f"some.{suffix}"
    with writing(path) as file:
        file.write("é\nb\n")
    assert decompress(path.read_bytes()) == "é\nb\n".encode()
    with reading(str(path)) as lines:
        assert list(lines) == ["é", "b"]
        assert str(lines.error("bad")) == f"some.{suffix}, line 2: bad"


def test_open_files_stay_open_and_are_named(tmp_path):
    (tmp_path / "given.txt").write_text("a\r\nb", newline="")
    with open(tmp_path / "given.txt", newline="") as file:
        with reading(file) as lines:
            assert list(lines) == ["a", "b"]
            assert str(lines.error("bad", 1)) == "given.txt, line 1: bad"
        assert not file.closed
    unnamed = io.StringIO()
    with writing(unnamed) as file:
        file.write("text")
    with reading(io.StringIO(unnamed.getvalue())) as lines:
        assert list(lines) == ["text"]
        assert str(lines.error("bad")) == "the text, line 1: bad"


def test_what_is_not_text_is_refused(tmp_path):
    path = tmp_path / "latin.txt"
    path.write_bytes("fine\né\n".encode("latin-1"))
    with reading(path) as lines, pytest.raises(ValueError, match=r"latin\.txt is not UTF-8 text"):
        list(lines)
    with open(path, "rb") as file, reading(file) as lines, pytest.raises(TypeError, match="opened for text"):
        list(lines)
