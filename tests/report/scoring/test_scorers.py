"""Measures in scikit-learn's searches, reports of classes, and predictions that its tools keep whole."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import classification_report
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_validate

from maxmargin import (
    Aligner,
    Clusterer,
    Diversifier,
    GraphLabeler,
    PairwiseAlignment,
    Parser,
    SequenceLabeler,
    StructuredSVM,
    Tree,
    metrics,
)
from maxmargin.base.predictions import Predictions
from maxmargin.tasks import Multiclass

RNG = np.random.default_rng(0)
X = [RNG.standard_normal((k, 3)) for k in (1, 3, 2, 4, 2, 2, 5, 3, 1)]
TAGS = ["O", "B-X", "B-Y"]
Y = [[TAGS[int(np.argmax(row))] for row in x] for x in X]
SENTENCES = [["d", "n", "v"], ["n", "v"], ["d", "n", "v", "n"]] * 2
TREES = [
    Tree.of("(S (NP (d d) (n n)) (VP (v v)))"),
    Tree.of("(S (NP (n n)) (VP (v v)))"),
    Tree.of("(S (NP (d d) (n n)) (VP (v v) (NP (n n))))"),
] * 2


# --- scorers


def test_search_by_chunks_and_by_trees():
    model = SequenceLabeler(C=10.0)
    search = GridSearchCV(model, {"C": [1e-6, 10.0]}, scoring=metrics.chunk_f1_scorer, cv=3).fit(X, Y)
    assert max(search.cv_results_["mean_test_score"]) == search.best_score_ > 0
    fitted = model.fit(X, Y)
    assert metrics.chunk_f1_scorer(fitted, X, Y) == metrics.chunk_f1(Y, fitted.predict(X)).f1
    parser = Parser().fit(SENTENCES, TREES)
    expected = metrics.parseval(TREES, parser.predict(SENTENCES)).f1
    assert metrics.parseval_f1_scorer(parser, SENTENCES, TREES) == expected > 0


def test_scorers_survive_pickling_and_say_what_they_are():
    scorer = pickle.loads(pickle.dumps(metrics.Scorer(metrics.ceaf, "f1", by="clusters")))
    assert repr(scorer) == "Scorer(ceaf, part='f1', by='clusters')"
    assert repr(metrics.Scorer(metrics.pair_loss, sign=-1)) == "Scorer(pair_loss, sign=-1)"
    with pytest.raises(ValueError, match="sign must be 1"):
        metrics.Scorer(metrics.pair_loss, sign=0)


def test_several_scorers_at_once():
    scoring = {"f1": metrics.chunk_f1_scorer, "exact": metrics.exact_match_scorer}
    found = cross_validate(SequenceLabeler(C=10.0), X, Y, scoring=scoring, cv=3)
    assert np.isfinite(found["test_f1"]).all()
    assert np.isfinite(found["test_exact"]).all()


def test_a_loss_has_a_sign():
    model = SequenceLabeler(C=10.0).fit(X, Y)
    wrong = metrics.Scorer(lambda truth, found: 1 - metrics.exact_match(truth, found), sign=-1)
    assert wrong(model, X, Y) == pytest.approx(metrics.exact_match_scorer(model, X, Y) - 1)


class Priced(Multiclass):
    """A loss with a parameter that says nothing about the quality of a model."""

    def __init__(self, price=1.0):
        super().__init__()
        self.price = price

    def setup(self, X, Y):
        self.costs = self.price * (1 - np.eye(len(set(Y))))
        super().setup(X, Y)


def test_a_search_over_the_loss_needs_a_measure_of_its_own():
    points = RNG.standard_normal((60, 2))
    labels = (points[:, 0] + 0.5 * RNG.standard_normal(60) > 0).astype(int).tolist()
    model, grid = StructuredSVM(Priced(), C=1.0, max_passes=20), {"task__price": [0.01, 1.0]}
    cheated = GridSearchCV(model, grid, cv=3).fit(points, labels)
    assert cheated.best_params_ == {"task__price": 0.01}  # as the docstring of score says
    fair = GridSearchCV(model, grid, cv=3, scoring=metrics.exact_match_scorer).fit(points, labels)
    by_price = fair.cv_results_["mean_test_score"]
    losses = -cheated.cv_results_["mean_test_score"]
    assert losses == pytest.approx((1 - by_price) * [0.01, 1.0])


def test_exact_match():
    arrays = [np.array([1, 2]), np.array([3])]
    assert metrics.exact_match(arrays, [[1, 2], [4]]) == 0.5
    assert metrics.exact_match([["a"], ("a", "b")], [["a"], ["a", "b"]]) == 1
    assert metrics.exact_match([["a"]], [["a", "b"]]) == 0
    with pytest.raises(ValueError, match="1 true but 2 predicted"):
        metrics.exact_match([1], [1, 2])
    with pytest.raises(ValueError, match="nothing to score"):
        metrics.exact_match([], [])


# --- reports


@given(st.lists(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abcd")), max_size=6), min_size=1))
def test_labels_are_reported_as_scikit_learn_does(pairs):
    truth, found = [[a for a, _ in each] for each in pairs], [[b for _, b in each] for each in pairs]
    flat = [a for each in truth for a in each], [b for each in found for b in each]
    report = metrics.label_report(truth, found, output_dict=True)
    labels = sorted({*flat[0], *flat[1]})
    assert list(report) == [*labels, "micro avg", "macro avg", "weighted avg"]
    if not labels:
        return
    expected = classification_report(*flat, labels=labels, output_dict=True, zero_division=0)
    for name in [*labels, "macro avg", "weighted avg"]:
        assert report[name] == pytest.approx(expected[name])
    assert report["micro avg"]["f1-score"] == pytest.approx(expected["accuracy"])


def test_labels_left_open_are_not_counted():
    report = metrics.label_report([["a", None, {"a", "b"}, {"b"}]], [["a", "b", "b", "b"]], output_dict=True)
    assert report["a"] == {"precision": 1, "recall": 1, "f1-score": 1, "support": 1}
    assert report["b"] == {"precision": 1, "recall": 1, "f1-score": 1, "support": 1}
    assert set(metrics.label_report([[1, "1"]], [[1, 1]], output_dict=True)) > {"1", "'1'"}


CHUNK_REPORT = """\
              precision     recall   f1-score    support

          NP       0.50       0.50       0.50          2
          PP       0.00       0.00       0.00          1
          VP       1.00       1.00       1.00          1

   micro avg       0.67       0.50       0.57          4
   macro avg       0.50       0.50       0.50          4
weighted avg       0.50       0.50       0.50          4
"""


def test_chunks_are_reported_by_type():
    true = [["B-NP", "I-NP", "O", "B-VP"], ["B-NP", "O", "B-PP"]]
    found = [["B-NP", "I-NP", "O", "B-VP"], ["B-NP", "I-NP", "O"]]
    assert metrics.chunk_report(true, found) == CHUNK_REPORT
    report = metrics.chunk_report(true, found, output_dict=True)
    assert tuple(report["micro avg"].values())[:3] == metrics.chunk_f1(true, found)
    assert report["PP"]["support"] == 1
    with pytest.raises(ValueError, match="Sequence 1 has 3 true but 2 predicted tags"):
        metrics.chunk_report(true, [found[0], ["O", "O"]])


# --- predictions


PAIRS = [("ACGT", "ACT"), ("AC", "ACG"), ("GT", "GGT"), ("ACG", "AG")]
ALIGNED = [[(0, 0), (1, 1), (3, 2)], [(0, 0), (1, 1)], [(0, 0), (1, 2)], [(0, 0), (2, 1)]]
GRAPHS = [(RNG.standard_normal((k, 2)), np.array([[i, i + 1] for i in range(k - 1)])) for k in (2, 3, 4, 3)]
WORDS, TOPICS = [["red green", "green blue", "blue grey"]] * 4, [[{1}, {2}, {3}]] * 4
SIMILAR = [np.triu(np.ones((k, k)), 1)[:, :, None] * RNG.standard_normal((k, k, 2)) for k in (2, 3, 4)]
STRUCTURED = {
    "sequences": (SequenceLabeler(C=10.0), X, Y),
    "equally long": (SequenceLabeler(C=10.0), [x[:1] for x in X], [y[:1] for y in Y]),
    "any task": (StructuredSVM(Multiclass()), RNG.standard_normal((9, 2)), list("abcabcabc")),
    "trees": (Parser(), SENTENCES, TREES),
    "alignments": (
        Aligner(alphabet="ACGT"),
        PAIRS,
        [PairwiseAlignment.of(y, (len(a), len(b))) for (a, b), y in zip(PAIRS, ALIGNED, strict=True)],
    ),
    "graphs": (GraphLabeler(), GRAPHS, [[0, 1], [1, 0, 1], [0, 0, 1, 1], [0, 1, 1]]),
    "clusters": (Clusterer(), SIMILAR, [[0, 1], [0, 0, 1], [0, 1, 1, 0]]),
    "sets": (Diversifier(k=2), WORDS, TOPICS),
}


@pytest.mark.filterwarnings("ignore::maxmargin.errors.NothingLearnt")
@pytest.mark.parametrize("kind", STRUCTURED)
def test_cross_val_predict_keeps_outputs_whole(kind):
    model, inputs, outputs = STRUCTURED[kind]
    found = cross_val_predict(model, inputs, outputs, cv=2)
    assert found.shape == (len(outputs),)
    first = len(outputs) - len(outputs) // 2  # the first fold is tested by a model of the second
    single = model.fit(inputs[first:], outputs[first:]).predict(inputs[:first])
    assert isinstance(single, list)
    assert metrics.exact_match(list(found[:first]), single) == 1


def test_outputs_are_a_list_and_an_array_of_objects():
    found = Predictions([["a", "b"], ["c", "d"]])
    assert found == [["a", "b"], ["c", "d"]]
    assert np.asarray(found).shape == (2,)
    assert np.asarray(found)[0] == ["a", "b"]
    assert np.asarray(Predictions([1, 2])).dtype.kind == "i"
    assert np.asarray(Predictions([1, 2]), dtype=float).dtype == float
    assert np.asarray(Predictions([])).shape == (0,)
    assert pickle.loads(pickle.dumps(found)) == found
