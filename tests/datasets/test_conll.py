import gzip
import io

import pytest

from maxmargin.datasets import read_conll

TEXT = "El DA O\nBarça NP B-ORG\n\n \nGanó VMI O\n"
READ = ([[("El", "DA"), ("Barça", "NP")], [("Ganó", "VMI")]], [["O", "B-ORG"], ["O"]])


def test_sentences_end_at_empty_lines(tmp_path):
    # Two empty lines are one end of a sentence, and the last sentence needs none.
    plain, packed = tmp_path / "esp.train", tmp_path / "esp.train.gz"
    plain.write_text(TEXT, encoding="utf-8")
    packed.write_bytes(gzip.compress(TEXT.encode()))
    assert read_conll(plain) == read_conll(str(packed)) == READ


def test_files_in_other_encodings_are_given_open(tmp_path):
    path = tmp_path / "esp.train"
    path.write_text(TEXT, encoding="latin-1")
    with pytest.raises(ValueError, match=r"esp\.train is not UTF-8 text"):
        read_conll(path)
    with open(path, encoding="latin-1") as file:
        assert read_conll(file) == READ


def test_the_last_column_is_the_tag():
    assert read_conll(io.StringIO("yes\tO\n\nno\tB-x\n")) == ([[("yes",)], [("no",)]], [["O"], ["B-x"]])
    assert read_conll(io.StringIO("EU NNP B-NP B-ORG\n")) == ([[("EU", "NNP", "B-NP")]], [["B-ORG"]])
    assert read_conll(io.StringIO("\n")) == ([], [])


def test_lines_that_are_not_like_the_first_are_named():
    with pytest.raises(ValueError, match="line 3: 2 columns in 'c d'; expected 3 as in the lines above"):
        read_conll(io.StringIO("a b O\n\nc d\n"))
    with pytest.raises(ValueError, match="line 1: 1 columns in 'word'; expected a word and its tag at least"):
        read_conll(io.StringIO("word\n"))
