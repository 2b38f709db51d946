"""CRFsuite's data format: round trips, its escapes, and what is refused."""

import gzip
from io import StringIO

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import maxmargin as mm
from maxmargin.formats import CrfsuiteSequence, iterate_crfsuite, read_crfsuite, write_crfsuite

# Characters with a meaning in the format, some others, and any that text files keep.
CHARACTERS = st.sampled_from(":\\@# =a1\x0b\x85\u2028") | st.characters(codec="utf-8", exclude_characters="\t\r\n")
TEXT = st.text(CHARACTERS, min_size=1, max_size=6)
LABELS = TEXT.filter(lambda text: text[0] != "@")
VALUES = st.floats(allow_nan=False, allow_infinity=False) | st.just(1.0)
TOKENS = st.lists(TEXT, max_size=4) | st.dictionaries(TEXT, VALUES, max_size=4)
SEQUENCES = st.lists(st.tuples(LABELS, TOKENS), min_size=1, max_size=3)
WEIGHTS = st.floats(0, 1e6)


def features(token):
    return token if isinstance(token, dict) else dict.fromkeys(token, 1.0)


@given(st.lists(st.tuples(SEQUENCES, WEIGHTS), max_size=3))
def test_round_trip(given_ones):
    X = [[token for _, token in sequence] for sequence, _ in given_ones]
    Y = [[label for label, _ in sequence] for sequence, _ in given_ones]
    weights = [weight for _, weight in given_ones]
    for w in (None, weights):
        file = StringIO()
        write_crfsuite(file, X, Y, w)
        found = read_crfsuite(StringIO(file.getvalue()))
        assert [s.labels for s in found] == Y
        assert [[features(token) for token in s.tokens] for s in found] == [[features(t) for t in x] for x in X]
        assert [s.weight for s in found] == ([1.0] * len(X) if w is None else weights)


@given(SEQUENCES)
def test_as_python_crfsuite_takes_it(sequence):
    """What ItemSequence makes of tokens that were read is what it makes of those that were written."""
    pycrfsuite = pytest.importorskip("pycrfsuite")
    X = [[token for _, token in sequence]]
    file = StringIO()
    write_crfsuite(file, X, [[label for label, _ in sequence]])
    (found,) = read_crfsuite(StringIO(file.getvalue()))
    assert pycrfsuite.ItemSequence(found.tokens).items() == pycrfsuite.ItemSequence(X[0]).items()


def test_what_lines_mean():
    text = "B\ta\tb:2\tc\\:d\te\\\\:0.5\tf\\g\n\n\n@weight:3\n#\t#x\t\ta\ta\nI\tb:\n\nO"
    found = read_crfsuite(StringIO(text))
    assert found == [
        CrfsuiteSequence([{"a": 1.0, "b": 2.0, "c:d": 1.0, "e\\": 0.5, "f\\g": 1.0}], ["B"]),
        CrfsuiteSequence([{"#x": 1.0, "a": 2.0}, ["b"]], ["#", "I"], 3.0),
        CrfsuiteSequence([[]], ["O"]),
    ]
    assert list(iterate_crfsuite(StringIO("\n\n"))) == []
    assert read_crfsuite(StringIO("\ufeffa\\:\\\\\tx\r\n")) == [CrfsuiteSequence([["x"]], ["a:\\"])]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\tb\n\tx\n", "line 2: the line begins with a tab; expected a label"),
        ("a:b\tx\n", r"line 1: the label is 'a:b'; a colon in it is written as \\:"),
        (":\tx\n", "line 1: the label is ':'"),
        ("a\t:2\n", "line 1: the attribute ':2' has no name"),
        ("a\tb:c\n", "line 1: the value 'c' is not a finite number"),
        ("a\tb:nan\n", "line 1: the value 'nan' is not a finite number"),
        ("a\tb:1e999\n", "line 1: the value '1e999' is not a finite number"),
        ("a\tb:1:2\n", "line 1: 'b:1:2' has 2 colons"),
        ("a\tb\n@weight:2\n", "line 2: '@weight:2' is neither a label"),
        ("@wait:2\na\tb\n", "line 1: '@wait:2' is neither a label"),
        ("@weight:x\na\tb\n", "line 1: the value 'x' is not a finite number"),
        ("@weight:2\n\na\tb\n", "line 2: @weight is followed by an empty line"),
    ],
)
def test_errors_name_the_line(tmp_path, text, message):
    path = tmp_path / "train.txt"
    path.write_text(text)
    with pytest.raises(ValueError, match=f"train.txt, {message}"):
        read_crfsuite(path)


@given(st.text("a1:\\@\t\n#w", max_size=30))
def test_any_text_is_read_or_refused(text):
    try:
        found = read_crfsuite(StringIO(text))
    except ValueError as error:
        assert "the text, line" in str(error)  # noqa: PT017 - most texts are read
    else:
        assert all(len(s.tokens) == len(s.labels) > 0 for s in found)


def test_sequences_come_one_by_one_from_compressed_files(tmp_path):
    path = tmp_path / "train.txt.gz"
    with gzip.open(path, "wt") as file:
        file.write("a\tx\n\nb\ty\n\nc:1\tz\n")
    found = iterate_crfsuite(path)
    assert next(found).labels == ["a"]
    assert next(found).labels == ["b"]
    with pytest.raises(ValueError, match=r"train.txt.gz, line 5: the label is 'c:1'"):
        next(found)
    write_crfsuite(path, [[["x"]]], [["a"]])
    assert read_crfsuite(path) == [CrfsuiteSequence([["x"]], ["a"])]


@pytest.mark.parametrize(
    ("X", "Y", "message"),
    [
        ([[["a"]]], [["x", "y"]], "sequence 0 has 1 positions but 2 labels"),
        ([[["a"]], []], [["x"], []], "sequence 1 is empty"),
        ([[["a"], ["b\tc"]]], [["x", "y"]], "sequence 0, position 1: the attribute 'b\\\\tc' cannot be written"),
        ([[[""]]], [["x"]], "sequence 0, position 0: the attribute '' cannot be written"),
        ([[["a"]]], [["x\n"]], "the label 'x\\\\n' cannot be written"),
        ([[["a"]]], [["@x"]], "the label is '@x'; labels that begin"),
        ([[{"a": np.inf}]], [["x"]], "the feature 'a' is inf; expected a finite number"),
        ([[{"a": None}]], [["x"]], "the feature 'a' is None; expected a number"),
    ],
)
def test_what_cannot_be_written(X, Y, message):
    with pytest.raises(ValueError, match=message):
        write_crfsuite(StringIO(), X, Y)


def test_a_model_from_a_file():
    file = StringIO()
    X, Y = [[{"word": "a:b", "n": 2}, ["word=c"]], [["word=c"]]], [[1, 0], [0]]
    write_crfsuite(file, X, Y, [2, 1])
    assert file.getvalue() == "@weight:2.0\n1\tword=a\\:b\tn:2.0\n0\tword=c\n\n0\tword=c\n\n"
    found, labels, weights = zip(*read_crfsuite(StringIO(file.getvalue())), strict=True)
    model = mm.SequenceLabeler().fit(found, labels, sample_weight=weights)
    assert model.predict(X) == [["1", "0"], ["0"]]


def test_names_are_kept_once():
    text = "O\tword=the\tcolon\\:\nO\tcolon\\:\tword=the\nO\tword=the:2\n"
    (sequence,) = read_crfsuite(StringIO(text))
    first, second, third = map(list, sequence.tokens)
    assert first[0] is second[1]
    assert first[0] is third[0]
    assert first[1] is second[0]
    assert len(set(map(id, sequence.labels))) == 1
