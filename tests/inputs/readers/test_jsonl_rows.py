import io
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.formats import (
    iterate_jsonl_rows,
    iterate_multilabel_jsonl,
    read_jsonl_rows,
    read_multilabel_jsonl,
    write_jsonl_rows,
    write_multilabel_jsonl,
)


def test_rows_of_named_and_of_listed_features():
    text = '{"label": "x", "query": 7, "features": {"a": 1, "b": 0.5}, "id": null}\n\n'
    rows = read_jsonl_rows(io.StringIO(text + '{"label": "y", "query": 8, "features": {"c": -2}}\n'))
    assert rows.X.toarray().tolist() == [[1, 0.5, 0], [0, 0, -2]]
    assert (rows.y.tolist(), rows.qid.tolist(), rows.names) == (["x", "y"], [7, 8], ["a", "b", "c"])
    assert read_jsonl_rows(io.StringIO(text), names=["c", "b"]).X.toarray().tolist() == [[0, 0.5]]
    rows = read_jsonl_rows(io.StringIO('{"features": [0, 2]}\n{"features": [1]}\n'))
    assert (rows.X.toarray().tolist(), rows.y, rows.names) == ([[0, 2], [1, 0]], None, ["0", "1"])
    assert read_jsonl_rows(io.StringIO()).X.shape == (0, 0)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("[1]", "line 2: found '[1]'; expected a record in curly brackets"),
        ('{"label": 1', "line 2: this is not JSON: Expecting ',' delimiter at character 12"),
        ('{"label": 1}', "line 2: there is no 'features'; expected {\"name\": number"),
        ('{"features": [1]}', "line 2: there is no 'label', but the first row has one"),
        ('{"label": 1, "query": 1, "features": [1]}', "line 2: there is a 'query', but the first row has none"),
        ('{"label": "a", "features": [1]}', "line 2: the label is a text, 'a', but the first is a number"),
        ('{"label": null, "features": [1]}', "line 2: the label is None; expected a text or a finite number"),
        ('{"label": 1, "features": 3}', "line 2: 'features' is 3; expected {name: number"),
        ('{"label": 1, "features": ["a"]}', "line 2: the feature '0' is 'a'; expected a finite number"),
        ('{"label": 1, "features": [true]}', "line 2: the feature '0' is True; expected a finite number"),
        ('{"label": 1, "features": [NaN]}', "line 2: found NaN; expected finite numbers"),
        ('{"label": 1, "features": {"a": 1, "a": 2}}', "line 2: the key 'a' occurs twice"),
        ('{"label": 1, "features": [1' + "0" * 400 + "]}", "line 2: the feature '0' is 1000"),
        ('{"label": 1, "features": [1' + "0" * 5000 + "]}", "line 2: "),
        ('{"label": ' + "[" * 100_000, "line 2: "),
    ],
)
def test_what_is_wrong_is_told_with_its_line(line, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        read_jsonl_rows(io.StringIO(f'{{"label": 1, "features": []}}\n{line}\n'))


names = st.text(max_size=5)
numbers = st.floats(-1e100, 1e100)


@given(st.data(), st.booleans(), st.booleans())
def test_what_is_written_is_read(data, texts, named):
    n, f = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 3))
    called = data.draw(st.lists(names, min_size=f, max_size=f, unique=True)) if named else list(map(str, range(f)))
    X = np.array(data.draw(st.lists(numbers, min_size=n * f, max_size=n * f))).reshape(n, f)
    labels = names if texts else numbers
    y, qid = (data.draw(st.lists(labels, min_size=n, max_size=n)) for _ in range(2))
    file = io.StringIO()
    write_jsonl_rows(file, X, y, qid, called if named else None)
    found = read_jsonl_rows(io.StringIO(file.getvalue()), names=called)
    assert (found.X.toarray() == X).all()
    assert (found.y.tolist(), found.qid.tolist()) == (y, qid)
    parts = list(iterate_jsonl_rows(io.StringIO(file.getvalue()), called, at_once=2))
    assert (np.vstack([part.X.toarray() for part in parts]) == X).all()


@given(st.data())
def test_rows_with_any_number_of_labels(data):
    n, f = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 3))
    labels = data.draw(st.lists(names, min_size=2, max_size=2, unique=True))
    X = np.array(data.draw(st.lists(numbers, min_size=n * f, max_size=n * f))).reshape(n, f)
    Y = np.array(data.draw(st.lists(st.integers(0, 1), min_size=n * 2, max_size=n * 2))).reshape(n, 2)
    file = io.StringIO()
    write_multilabel_jsonl(file, X, Y, labels)
    found = read_multilabel_jsonl(io.StringIO(file.getvalue()))
    assert (found.X.toarray() == X).all()
    sets = [{found.labels[k] for k in np.flatnonzero(row)} for row in found.Y]
    assert sets == [{labels[k] for k in np.flatnonzero(row)} for row in Y]
    parts = list(iterate_multilabel_jsonl(io.StringIO(file.getvalue()), at_once=1))
    assert [set(part.labels) for part in parts] == sets  # every part has its own labels


def test_labels_are_texts_each_once():
    assert read_multilabel_jsonl(io.StringIO()).Y.shape == (0, 0)
    for labels in ("[1]", '["a", "a"]', '"a"'):
        with pytest.raises(ValueError, match="the text, line 1: "):
            read_multilabel_jsonl(io.StringIO(f'{{"labels": {labels}, "features": [1]}}'))
