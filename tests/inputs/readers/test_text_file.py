import bz2
import gzip
import io
import lzma

import pytest

from maxmargin.inputs.readers.text_file import reading, writing


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
    with reading(path) as lines, pytest.raises(ValueError, match=r"latin\.txt, line 2: this is not UTF-8 text: "):
        list(lines)
    for before in (100, 4000, 8191, 8192, 20_000):  # text is decoded in pieces of 8192 bytes
        for end in (b"\n", b"\r\n"):
            path.write_bytes((b"ab" + end) * before + b"\xff\n")
            complaint = rf"latin\.txt, line {before + 1}: this is not UTF-8 text: "
            with reading(path) as lines, pytest.raises(ValueError, match=complaint):
                list(lines)
    with open(path, "rb") as file, reading(file) as lines, pytest.raises(TypeError, match="opened for text"):
        list(lines)


@pytest.mark.parametrize("suffix", ["gz", "xz", "bz2"])
def test_what_is_not_compressed_as_its_suffix_says_is_refused(suffix, tmp_path):
    path = tmp_path / f"plain.{suffix}"
    path.write_text("not compressed at all\n")
    with reading(path) as lines, pytest.raises(ValueError, match=rf"^plain\.{suffix} is not compressed as its suffix"):
        list(lines)
    with writing(path) as file:
        file.writelines(f"{i * i}\n" for i in range(10_000))
    path.write_bytes(path.read_bytes()[:-20])
    with reading(path) as lines, pytest.raises(ValueError, match=rf"^plain\.{suffix} is not compressed .* or damaged"):
        list(lines)


def test_what_is_neither_a_path_nor_a_file_is_refused(tmp_path):
    for use in (reading, writing):
        with pytest.raises(ValueError, match="got int; expected a path or an open text file"), use(3):
            pass
    with open(tmp_path / "new.txt", "w") as file, reading(file) as lines, pytest.raises(OSError, match="not readable"):
        list(lines)


def test_an_empty_file_has_no_line_to_name():
    with reading(io.StringIO()) as lines:
        assert list(lines) == []
        assert str(lines.error("bad")) == "the text, which is empty: bad"


def test_a_line_that_is_too_long_is_named():
    text = "1234567\n123456789"
    with reading(io.StringIO(text), 9) as lines:
        assert list(map(len, lines)) == [7, 9]
    with (
        pytest.raises(ValueError, match="the text, line 2: the line has 9 characters; expected at most 8"),
        reading(io.StringIO(text), 8) as lines,
    ):
        list(lines)
