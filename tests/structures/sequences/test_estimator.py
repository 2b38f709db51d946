"""SequenceLabeler: labels of any kind, scores, n-best lists, weights of sequences and positions."""

from functools import cache
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from estimators.problems import FORMS, LABELS, sequences
from proofs import prove_every_weight_has_a_name
from sklearn.model_selection import cross_val_score

from maxmargin import SequenceLabeler, StructuredSVM, tasks
from maxmargin.tasks import Sequences, Weighted

X, Y = sequences()


@cache
def trained():
    return SequenceLabeler(C=10.0).fit(X, Y)


def test_classes_are_sorted_where_they_can_be():
    assert trained().classes_ == LABELS
    assert SequenceLabeler(classes=["verb", "det", "noun"]).fit(X, Y).classes_ == ["verb", "det", "noun"]


def test_decision_function_is_the_score_of_the_prediction():
    values = [
        np.dot(trained().w_[indices], data) for indices, data in map(trained().task_.psi, X, trained().predict(X))
    ]
    np.testing.assert_allclose(trained().decision_function(X), values, rtol=1e-12)


@pytest.mark.parametrize("n", [1, 2, 5, 1000])
def test_n_best(n):
    listed = trained().predict_nbest(X, n)
    for x, y, found, best, score in zip(
        X, Y, listed, trained().predict(X), trained().decision_function(X), strict=True
    ):
        labellings, scores = zip(*found, strict=True)
        assert list(labellings[0]) == best
        assert scores[0] == pytest.approx(score)
        assert list(scores) == sorted(scores, reverse=True)
        assert len(found) == min(n, 3 ** len(y))
        assert len({tuple(labels) for labels in labellings}) == len(found)
        for labels, value in found:
            indices, data = trained().task_.psi(x, labels)
            assert value == pytest.approx(np.dot(trained().w_[indices], data))


def test_n_best_obeys_forbidden_transitions():
    allowed = [i for i, y in enumerate(Y) if ("verb", "noun") not in pairwise(y)]
    model = SequenceLabeler(forbidden=[("verb", "noun")]).fit([X[i] for i in allowed], [Y[i] for i in allowed])
    for labels in [labels for found in model.predict_nbest(X, 50) for labels, _ in found] + model.predict(X):
        assert ("verb", "noun") not in pairwise(labels)


def by_name(token):
    """The features of a token, or of a row of numbers, with their values."""
    if isinstance(token, list):
        return dict.fromkeys(token, 1.0)
    if not isinstance(token, dict):
        return dict(enumerate(token))
    texts = {f"{name}={value}": 1.0 for name, value in token.items() if isinstance(value, str)}
    return texts | {name: float(value) for name, value in token.items() if not isinstance(value, str)}


@pytest.mark.parametrize("form", ["dense", "attributes", "dicts"])
def test_weights_by_name(form):
    inputs, _ = sequences(form=form)
    model = SequenceLabeler(C=10.0).fit(inputs, Y)
    w, tokens, y = model.weights_, list(map(by_name, inputs[0])), model.predict(inputs[:1])[0]
    names = [0, 1, 2, 3] if form == "dense" else list(dict.fromkeys(n for x in inputs for t in x for n in by_name(t)))
    assert {part: dict(zip(weights.axes, weights.names, strict=True)) for part, weights in w.items()} == {
        "transitions": {"before": LABELS, "after": LABELS},
        "start": {"label": LABELS},
        "end": {"label": LABELS},
        "features": {"feature": names, "label": LABELS},
    }
    prove_every_weight_has_a_name(model)
    score = w["start"][y[0]] + w["end"][y[-1]] + sum(w["transitions"][a, b] for a, b in pairwise(y))
    score += sum(v * w["features"][name, k] for token, k in zip(tokens, y, strict=True) for name, v in token.items())
    assert score == pytest.approx(model.decision_function(inputs[:1])[0])


def test_columns_of_data_frames_are_named():
    frames = [pd.DataFrame(x, columns=["size", "dots", "dashes", "ink"]) for x in X]
    model = SequenceLabeler(C=10.0).fit(frames, Y)
    assert model.weights_["features"].names[0] == ["size", "dots", "dashes", "ink"]
    np.testing.assert_array_equal(model.w_, trained().w_)
    long = pd.concat([frame.assign(sentence=i) for i, frame in enumerate(frames)])
    packed = Sequences.from_groups(long.drop(columns="sentence"), long["sentence"])
    again = SequenceLabeler(C=10.0).fit(packed, Y)
    assert again.weights_["features"]["ink", "noun"] == model.weights_["features"]["ink", "noun"]


def test_largest_weights_of_a_label():
    inputs, _ = sequences(form="attributes")
    model = SequenceLabeler(C=10.0).fit(inputs, Y)
    found = model.top_weights("verb", 8)
    assert all("=verb" in name for name, _ in found)
    assert [abs(weight) for _, weight in found] == sorted((abs(weight) for _, weight in found), reverse=True)
    kinds = {name.split(":")[0] for name, _ in model.top_weights("verb", 1000)}
    assert kinds == {"transitions", "start", "end", "features"}
    with pytest.raises(ValueError, match="no weight belongs to the label 'adj'"):
        model.top_weights("adj")


# --- labels


def test_a_label_that_a_fold_does_not_show():
    rare = [*Y[:-1], ["rare"] * len(Y[-1])]
    for model in (SequenceLabeler(), StructuredSVM(tasks.Chain())):
        model.fit(X[:-1], rare[:-1])
        assert model.score(X[-1:], rare[-1:]) == (0.0 if isinstance(model, SequenceLabeler) else -len(rare[-1]))
        assert np.isfinite(cross_val_score(model, X, rare, cv=4)).all()


def test_classes_fix_the_label_set():
    model = SequenceLabeler(classes=[*LABELS, "rare"]).fit(X, Y)
    assert model.weights_["transitions"].shape == (4, 4)
    assert not any("rare" in labels for labels in model.predict(X))


@pytest.mark.parametrize(
    "names",
    [
        [":", "\\", "\t"],
        ["🙂", "مرحبا", "<script>"],
        ["", " ", "\n"],
        [("B", 1), ("B", 2), ("I", 1)],
        [1, 2.5, True + 1 + 1],
        [1, "a", (1,)],
        [("one", 2), 0, "None"],
        [np.str_("a"), np.int64(3), np.float32(0.5)],
    ],
    ids=str,
)
@pytest.mark.parametrize("form", ["dense", "dicts"])
def test_labels_of_any_kind(names, form):
    inputs, plain = sequences(form=form)
    named = dict(zip(LABELS, names, strict=True))
    model = SequenceLabeler(C=10.0, classes=names).fit(inputs, [[named[label] for label in y] for y in plain])
    expected = SequenceLabeler(C=10.0, classes=LABELS).fit(inputs, plain)
    np.testing.assert_array_equal(model.w_, expected.w_)
    assert model.predict(inputs) == [[named[label] for label in y] for y in expected.predict(inputs)]
    without = SequenceLabeler(C=10.0).fit(inputs, [[named[label] for label in y] for y in plain])
    assert set(without.classes_) == set(names)
    assert without.certificate_.primal == pytest.approx(expected.certificate_.primal, rel=0.02)


def test_labels_as_arrays():
    numbered = [np.array([LABELS.index(label) for label in y]) for y in Y]
    model = SequenceLabeler(C=10.0).fit(X, numbered)
    np.testing.assert_array_equal(model.w_, trained().w_)
    assert model.classes_ == [0, 1, 2]
    assert all(type(label) is int for labels in model.predict(X) for label in labels)
    assert model.score(X, numbered) == trained().score(X, Y)


# --- inputs


@pytest.mark.parametrize("form", FORMS)
def test_sequences_packed_beforehand(form):
    inputs, _ = sequences(form=form)
    model = SequenceLabeler(C=10.0).fit(inputs, Y)
    packed = model.task_.packer_.pack(inputs)
    again = SequenceLabeler(C=10.0).fit(packed, Y)
    np.testing.assert_allclose(again.w_, model.w_, rtol=1e-12)
    assert again.predict(packed) == model.predict(inputs)
    assert again.predict_nbest(packed, 2) == [
        [(labels, pytest.approx(score)) for labels, score in found] for found in model.predict_nbest(inputs, 2)
    ]


def test_dense_and_sparse_rows_give_the_same_model():
    rows = sequences(form="sparse")[0]
    np.testing.assert_allclose(SequenceLabeler(C=10.0).fit(rows, Y).w_, trained().w_, rtol=1e-9)


@pytest.mark.parametrize("kind", [np.int8, np.float16, np.float32, bool, object])
def test_other_number_types(kind):
    inputs = [(x > 0.5).astype(kind) for x in X]
    expected = SequenceLabeler(C=10.0).fit([np.asarray(x, dtype=float) for x in inputs], Y)
    np.testing.assert_array_equal(SequenceLabeler(C=10.0).fit(inputs, Y).w_, expected.w_)


def test_rows_in_column_order_and_strided():
    inputs = [np.asfortranarray(np.repeat(x, 2, axis=0))[::2] for x in X]
    np.testing.assert_array_equal(SequenceLabeler(C=10.0).fit(inputs, Y).w_, trained().w_)


def test_a_three_dimensional_array_is_a_list_of_sequences():
    block = np.stack([np.eye(3)] * 4)
    model = SequenceLabeler().fit(block, [["a", "b", "c"]] * 4)
    assert model.predict(block) == [["a", "b", "c"]] * 4


def test_a_long_table_with_a_group_column():
    groups = np.repeat(np.arange(len(X)), [len(x) for x in X])
    model = SequenceLabeler(C=10.0).fit(Sequences.from_groups(np.concatenate(X), groups), Y)
    np.testing.assert_array_equal(model.w_, trained().w_)


def test_pandas():
    index = np.arange(len(X))[::-1]  # as after a shuffle: positions, not names, count
    inputs = pd.Series([pd.DataFrame(x) for x in X], index=index)
    outputs = pd.Series([pd.Series(y) for y in Y], index=index)
    model = SequenceLabeler(C=10.0).fit(inputs, outputs)
    np.testing.assert_array_equal(model.w_, trained().w_)
    assert model.predict(inputs) == trained().predict(X)
    assert model.score(inputs, outputs) == trained().score(X, Y)
    long = pd.concat([pd.DataFrame(x).assign(sentence=i) for i, x in enumerate(X)])
    packed = Sequences.from_groups(long.drop(columns="sentence"), long["sentence"])
    np.testing.assert_array_equal(SequenceLabeler(C=10.0).fit(packed, Y).w_, trained().w_)


def test_sequences_of_one_position():
    inputs, outputs = [x[:1] for x in X], [y[:1] for y in Y]
    model = SequenceLabeler(C=10.0).fit(inputs, outputs)
    assert not np.any(model.weights_["transitions"])
    assert model.score(inputs, outputs) > 0.7


@pytest.mark.every(4)
@pytest.mark.parametrize("scale", [5e-324, 1e-300, 1e-20, 1e20, 1e100])
def test_tiny_and_huge_numbers(scale):
    model = SequenceLabeler(C=1.0).fit([scale * x for x in X], Y)
    assert np.isfinite(model.w_).all()
    assert len(model.predict(X)) == len(X)


# --- weights


def test_sample_weights_count_sequences():
    counts = np.arange(len(X)) % 3
    repeated = [i for i, count in enumerate(counts) for _ in range(count)]
    weighted = SequenceLabeler(solver="one_slack", tol=1e-7).fit(X, Y, sample_weight=counts)
    plain = SequenceLabeler(solver="one_slack", tol=1e-7).fit([X[i] for i in repeated], [Y[i] for i in repeated])
    assert weighted.certificate_.primal == pytest.approx(plain.certificate_.primal, rel=1e-6)
    np.testing.assert_allclose(weighted.w_, plain.w_, atol=1e-2)


def test_position_weights_are_costs_of_positions():
    weights = [[1.0 + t for t in range(len(y))] for y in Y]
    model = SequenceLabeler(C=10.0).fit(X, Y, position_weight=weights)
    again = SequenceLabeler(C=10.0).fit(X, [Weighted(y, costs) for y, costs in zip(Y, weights, strict=True)])
    np.testing.assert_array_equal(model.w_, again.w_)
    assert not np.array_equal(model.w_, trained().w_)
    assert again.score(X, [Weighted(y, costs) for y, costs in zip(Y, weights, strict=True)]) == model.score(X, Y)


def test_costs_are_traded():
    careful = SequenceLabeler(C=10.0, costs={"noun": 20.0}).fit(X, Y)
    missed = [
        sum(a == "noun" != b for y, z in zip(Y, model.predict(X), strict=True) for a, b in zip(y, z, strict=True))
        for model in (trained(), careful)
    ]
    assert missed[1] < missed[0]
    matrix = np.ones((3, 3)) - np.eye(3)
    matrix[1] *= 20
    np.testing.assert_array_equal(SequenceLabeler(C=10.0, costs=matrix).fit(X, Y).w_, careful.w_)
