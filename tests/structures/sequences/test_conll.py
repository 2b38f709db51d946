import gzip
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.formats import iterate_conll, read_conll, write_conll

TEXT = "El DA O\nBarça NP B-ORG\n\n \nGanó VMI O\n"
READ = [([("El", "DA"), ("Barça", "NP")], ["O", "B-ORG"]), ([("Ganó", "VMI")], ["O"])]


def test_sentences_end_at_empty_lines(tmp_path):
    # Two empty lines are one end of a sentence, and the last sentence needs none.
    plain, packed = tmp_path / "esp.train", tmp_path / "esp.train.gz"
    plain.write_text(TEXT, encoding="utf-8")
    packed.write_bytes(gzip.compress(TEXT.encode()))
    assert read_conll(plain) == read_conll(str(packed)) == READ


def test_files_in_other_encodings_are_given_open(tmp_path):
    path = tmp_path / "esp.train"
    path.write_text(TEXT, encoding="latin-1")
    with pytest.raises(ValueError, match=r"esp\.train, line 2: this is not UTF-8 text"):
        read_conll(path)
    with open(path, encoding="latin-1") as file:
        assert read_conll(file) == READ


def test_the_last_column_is_the_tag():
    assert read_conll(io.StringIO("yes\tO\n\nno\tB-x\n")) == [([("yes",)], ["O"]), ([("no",)], ["B-x"])]
    assert read_conll(io.StringIO("EU NNP B-NP B-ORG\n")) == [([("EU", "NNP", "B-NP")], ["B-ORG"])]
    assert read_conll(io.StringIO("\n")) == []
    assert read_conll(io.StringIO("EU NNP\n"), labelled=False) == [([("EU", "NNP")], [])]


def test_documents_separate_and_are_no_tokens():
    text = "-DOCSTART- -X- O O\n\nEU NNP B-ORG\n-DOCSTART-\nrejects VBZ O\n"
    assert [tokens for tokens, _ in read_conll(io.StringIO(text))] == [[("EU", "NNP")], [("rejects", "VBZ")]]


def test_columns_between_tabs_may_have_blanks():
    assert read_conll(io.StringIO("New York\tB-LOC\nand\tO\n")) == [([("New York",), ("and",)], ["B-LOC", "O"])]
    with pytest.raises(ValueError, match=r"line 2: column 2 of .* is empty; expected one tab between two columns"):
        read_conll(io.StringIO("a\tb\tO\nc\t\tO\n"))


def test_other_blanks_are_parts_of_words():
    assert read_conll(io.StringIO("10\u00a0000  CD   O\n")) == [([("10\u00a0000", "CD")], ["O"])]


def test_chunks_in_labels_of_another_scheme():
    text = "a I-X\nb I-X\nc B-X\nd O\n"  # IOB1
    (bio,) = iterate_conll(io.StringIO(text), chunks="BIO")
    assert bio.labels == ["B-X", "I-X", "B-X", "O"]
    (bilou,) = read_conll(io.StringIO(text), chunks="BILOU")
    assert bilou.labels == ["B-X", "L-X", "U-X", "O"]
    with pytest.raises(
        ValueError, match="'IOB1' is not a chunk scheme that can be written; expected one of BIO, BILOU, IOBES"
    ):
        read_conll(io.StringIO(text), chunks="IOB1")


def test_reading_is_lazy():
    class Slow(io.StringIO):
        def __iter__(self):
            return lines

    lines = iter(["a O\n", "\n", "b O\n", "\n", "c\n"])
    sentences = iterate_conll(Slow())
    assert next(sentences).tokens == [("a",)]
    assert next(lines) == "b O\n"


columns = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=4)


@given(
    st.lists(st.lists(st.tuples(columns, columns, columns), min_size=1, max_size=3), max_size=3), st.sampled_from(" \t")
)
def test_what_is_written_is_read_back(rows, separator):
    file = io.StringIO(newline="")
    X, Y = [[row[:-1] for row in sentence] for sentence in rows], [[row[-1] for row in sentence] for sentence in rows]
    try:
        write_conll(file, X, Y, separator)
    except ValueError:
        return
    read = read_conll(io.StringIO(file.getvalue(), newline="\n"))
    assert read == list(zip(X, Y, strict=True))


@given(st.lists(st.sampled_from([*" \t\n\nab-\ufeff\u00a0", "-DOCSTART-"]), max_size=40).map("".join))
def test_any_text_is_read_or_refused_with_its_line(text):
    complaint = ""
    try:
        sentences = read_conll(io.StringIO(text))
    except ValueError as error:
        complaint = str(error)
    if complaint:
        assert "the text, line " in complaint
    else:
        assert all(tokens and len(tokens) == len(labels) for tokens, labels in sentences)
        again = io.StringIO()
        tabs = any(" " in column for tokens, _ in sentences for token in tokens for column in token)
        try:
            write_conll(again, *zip(*sentences, strict=True), separator="\t" if tabs else " ") if sentences else None
        except ValueError:
            return
        assert read_conll(io.StringIO(again.getvalue())) == sentences


def test_what_cannot_be_written_is_named():
    with pytest.raises(ValueError, match="sentence 0, token 1 has the column 'b c'"):
        write_conll(io.StringIO(), [["a", "b c"]])
    with pytest.raises(ValueError, match="sentence 1 has 1 tokens but 2 labels"):
        write_conll(io.StringIO(), [["a"], ["b"]], [["O"], ["O", "O"]])
    with pytest.raises(ValueError, match="separator must be a blank or a tab, got ','"):
        write_conll(io.StringIO(), [["a"]], separator=",")


def test_lines_that_are_not_like_the_first_are_named():
    with pytest.raises(ValueError, match="line 3: found 2 columns in 'c d'; expected 3 as in the lines above"):
        read_conll(io.StringIO("a b O\n\nc d\n"))
    with pytest.raises(ValueError, match="line 1: found 1 columns in 'word'; expected a word and its tag at least"):
        read_conll(io.StringIO("word\n"))


@pytest.mark.parametrize("chunks", [None, "IOBES"])
def test_texts_are_kept_once(chunks):
    text = "the DT B-NP\nthe DT B-NP\n\nthe DT B-NP\n"
    sentences = read_conll(io.StringIO(text), chunks=chunks)
    tokens, labels = ([each for part in parts for each in part] for parts in zip(*sentences, strict=True))
    for same in (*zip(*tokens, strict=True), labels):
        assert len(set(map(id, same))) == 1
