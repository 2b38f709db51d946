import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.formats import ConllSentence, CrfsuiteSequence, read_jsonl_sequences, write_jsonl_sequences

COLUMNS = '{"tokens": [["Ada", "NNP"], ["slept", "VBD"]], "labels": ["I-PER", "O"], "id": 3}\n'
FEATURES = '{"features": [["w=a", "b"], {"w=b": 0.5}], "labels": ["O", "B"], "weight": 2}\n'


def test_columns_and_features():
    assert read_jsonl_sequences(io.StringIO(COLUMNS)) == [
        ConllSentence([("Ada", "NNP"), ("slept", "VBD")], ["I-PER", "O"])
    ]
    assert read_jsonl_sequences(io.StringIO(COLUMNS), chunks="BIO")[0].labels == ["B-PER", "O"]
    assert read_jsonl_sequences(io.StringIO(FEATURES)) == [
        CrfsuiteSequence([["w=a", "b"], {"w=b": 0.5}], ["O", "B"], 2.0)
    ]
    assert read_jsonl_sequences(io.StringIO('{"tokens": ["a", "b"]}')) == [ConllSentence([("a",), ("b",)], [])]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{}", "there is no 'features'; expected 'tokens', a list of columns for every token"),
        ('{"tokens": []}', "the sequence has no token; leave it out"),
        ('{"tokens": 3}', "'tokens' is 3; expected 'tokens', a list of columns"),
        ('{"tokens": [[]]}', "token 0 is []; expected a text, or a list of texts, its columns"),
        ('{"tokens": [["a", 1]]}', "token 0 is ['a', 1]; expected a text, or a list of texts"),
        ('{"tokens": [["a"]], "labels": ["O"]}', "token 0 is ('a',); expected 2 columns, as the first sequence has"),
        ('{"tokens": [["a", "b"]], "labels": []}', "the labels are []; expected a text for each of 1 tokens"),
        ('{"tokens": [["a", "b"]], "labels": [1]}', "the labels are [1]; expected a text for each of 1 tokens"),
        ('{"tokens": [["a", "b"]]}', "the sequence has no labels, but the first one has some"),
        ('{"features": [["a"]], "labels": ["O"]}', "token 0 is ['a']; expected 2 columns"),
        ('{"features": [[1]], "labels": ["O"]}', "token 0 is [1]; expected a list of names, or a finite number"),
        ('{"features": [{"a": "b"}], "labels": ["O"]}', "token 0 is {'a': 'b'}; expected a list of names"),
        ('{"features": [["a"]], "weight": -1}', "the weight is -1; expected a number >= 0"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(line, message):
    with pytest.raises(ValueError, match=re.escape(f"the text, line 2: {message}")):
        read_jsonl_sequences(io.StringIO(COLUMNS + line))


texts = st.text(max_size=4)


@given(st.integers(1, 3).flatmap(lambda k: st.lists(st.lists(st.tuples(st.tuples(*[texts] * k), texts), min_size=1))))
def test_columns_that_are_written_are_read(sequences):
    X, Y = ([[pair[k] for pair in sequence] for sequence in sequences] for k in (0, 1))
    file = io.StringIO()
    write_jsonl_sequences(file, X, Y)
    assert read_jsonl_sequences(io.StringIO(file.getvalue())) == list(map(ConllSentence, X, Y))


tokens = st.lists(texts) | st.dictionaries(texts, st.floats(allow_nan=False, allow_infinity=False))


@given(st.lists(st.lists(st.tuples(tokens, texts), min_size=1)))
def test_features_that_are_written_are_read(sequences):
    X, Y = ([[pair[k] for pair in sequence] for sequence in sequences] for k in (0, 1))
    file = io.StringIO()
    write_jsonl_sequences(file, X, Y, features=True)
    assert read_jsonl_sequences(io.StringIO(file.getvalue())) == list(map(CrfsuiteSequence, X, Y))


def test_texts_are_kept_once():
    columns = '{"tokens": [["the", "DT"], ["the", "DT"]], "labels": ["x-y", "x-y"]}\n' * 2
    first, second = read_jsonl_sequences(io.StringIO(columns))
    assert first.tokens[0][0] is second.tokens[1][0]
    assert first.labels[0] is second.labels[1]
    features = '{"features": [["w=the"], {"w=the": 2}], "labels": ["x-y", "x-y"]}\n' * 2
    first, second = read_jsonl_sequences(io.StringIO(features))
    assert first.tokens[0][0] is second.tokens[0][0]
    assert first.tokens[0][0] is next(iter(second.tokens[1]))
