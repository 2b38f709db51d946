"""Measures of reports against those of maxmargin.metrics, which count on their own, where predictions are wrong."""

import numpy as np
import pytest
from base.files.fitted_models import trained_on
from digest_groups.data import treebank
from structures.dependencies.tree_lists import sentences

from maxmargin import metrics
from maxmargin.report.rows import parts_of_score, row_of


def values(page):
    return {name: found.value for name, found in page.scores.items()}


def test_chunks():
    model, X, Y, _ = trained_on("sequences_tokens")
    truth = [[label.replace("PER", "LOC") for label in y] for y in Y]
    found, expected = values(model.report(X, truth)), metrics.chunk_f1(truth, model.predict(X))
    assert 0 < expected.f1 < 1
    assert [found[f"{name} of chunks"] for name in ("precision", "recall", "F1")] == pytest.approx(list(expected))
    assert found["sequences without a mistake"] == metrics.exact_match(truth, model.predict(X))


def test_labels_that_are_partly_known():
    model, X, Y, _ = trained_on("sequences_hidden")
    page = model.report(X, Y)
    assert page.scores["right labels"].value == model.score(X, Y)


def test_heads_and_labels():
    model, *_ = trained_on("dependencies")
    X, Y = sentences(20, longest=9, labelled=True, seed=7)
    found, expected = values(model.report(X, Y)), metrics.attachment_scores(Y, model.predict(X))
    assert 0 < expected.las < 1
    assert found["words with the right head (UAS)"] == pytest.approx(expected.uas)
    assert found["words with the right head and label (LAS)"] == pytest.approx(expected.las)
    assert found["sentences without a mistake"] == pytest.approx(expected.exact_match)


def test_brackets():
    model, *_ = trained_on("parser_words")
    trees = treebank(n=12, seed=5)
    X = [tree.words() for tree in trees]
    found, expected = values(model.report(X, trees)), metrics.parseval(trees, model.predict(X))
    assert 0 < expected.f1 < 1
    names = ["precision of brackets", "recall of brackets", "F1 of brackets", "sentences without a wrong bracket"]
    names += ["crossing brackets per sentence", "words with the right tag"]
    assert [found[name] for name in names] == pytest.approx(list(expected))


@pytest.mark.parametrize("name", ["clusterer", "clusterer_forest"])
def test_clusters(name):
    model, X, Y, _ = trained_on(name)
    truth = [np.arange(len(y)) % 3 for y in Y]
    found, predicted = values(model.report(X, truth)), model.predict(X)
    assert found["F1 of B³"] == pytest.approx(metrics.b_cubed(truth, predicted).f1)
    assert found["F1 of MUC"] == pytest.approx(metrics.muc(truth, predicted).f1)
    assert found["F1 of pairs in one cluster"] == pytest.approx(metrics.pairwise(truth, predicted).f1)


def test_links():
    model, X, Y, _ = trained_on("assigner")
    truth = [np.roll(y, 1) for y in Y]
    found, expected = values(model.report(X, truth)), metrics.link_scores(truth, model.predict(X))
    assert [found[f"{name} of links"] for name in ("precision", "recall", "F1")] == pytest.approx(list(expected[1:4]))
    assert found["examples without a mistake"] == expected.exact_match


@pytest.mark.parametrize("name", ["costs", "costs_of_a_knapsack"])
def test_regret(name):
    model, X, Y, _ = trained_on(name)
    found = values(model.report(X, Y[::-1]))["normalised regret"]
    assert found == pytest.approx(metrics.decision_regret(Y[::-1], model.predict(X), model.optimiser))
    assert found > 0


def test_subtopics():
    model, X, Y, _ = trained_on("diversifier")
    found = values(model.report(X, Y))
    equal = metrics.subtopic_recall(Y, model.predict(X))
    assert found["subtopics covered, each counted once"] == pytest.approx(equal.mean())


def test_queries():
    model, X, y, given = trained_on("ranker")
    worse = y.max() - y
    found = values(model.report(X, worse, **given))
    expected = metrics.query_scores(worse, model.predict(X), given["qid"], "ndcg", 3)
    assert found["mean ndcg (k = 3)"] == pytest.approx(np.nanmean(expected))


def test_routes():
    model, X, Y, _ = trained_on("routes")
    found = values(model.report(X, Y))
    assert found["F1 of points (mean)"] == pytest.approx(metrics.point_f1(Y, model.predict(X)))
    assert found["F1 of pairs in order (mean)"] == pytest.approx(metrics.pair_f1(Y, model.predict(X)))


def test_costs_of_classes():
    model, X, y, _ = trained_on("taxonomy")
    found = values(model.report(X, y[::-1]))
    assert found["mean cost of a row"] == pytest.approx(metrics.tree_loss(y[::-1], model.predict(X), model.taxonomy))


def test_rows_are_explained_by_their_features():
    """Parts of a linear score add up to it."""
    model, X, *_ = trained_on("classes")
    row = row_of(X, 3)
    present, parts = parts_of_score(lambda rows: model.decision_function(rows)[:, 2], row)
    whole, nothing = model.decision_function(np.array([row, 0 * row]))[:, 2]
    assert present.tolist() == list(range(8))
    assert parts.sum() == pytest.approx(whole - nothing)
