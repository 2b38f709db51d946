import numpy as np
import pytest

from maxmargin.structures.graphs import graph_space
from maxmargin.structures.graphs.found_before import MOST, FoundBefore
from maxmargin.structures.graphs.searches import FINE, NEAR, NEWS
from maxmargin.tasks import Graph, Nodes


def packed(seed=0, n=3, side=7, labels=3):
    rng = np.random.default_rng(seed)
    Y = [rng.integers(0, labels, (side, side)) for _ in range(n)]
    X = [Nodes.grid(np.eye(labels)[y] + rng.normal(size=(side, side, labels))) for y in Y]
    task = Graph(method="relaxation")
    return task, task.setup_and_pack(X, Y), rng


def test_first_searches_expect_no_news():
    assert FoundBefore().highest(np.zeros(1), np.zeros((2, 2))) == np.inf


def test_what_is_known_is_the_highest_remembered_plane():
    task, batch, rng = packed()
    found = [batch.planes(rng.normal(size=task.dim)) for _ in range(4)]
    w = rng.normal(size=task.dim)
    heights = [each.over_atoms().values(w) for each in found]
    np.testing.assert_allclose(known_at(batch, w), np.maximum(np.max(heights, axis=0), 0.0))


def test_no_more_planes_are_remembered_than_a_solver_has():
    task, batch, rng = packed(n=1, side=3)
    for _ in range(MOST + 5):
        batch.planes(rng.normal(size=task.dim))
    assert len(batch._before[0]._planes) == MOST


def known_at(batch, w):
    direct = w[: batch.atoms.arrays.direct]
    pairs = zip(batch._before, batch.graphs, strict=True)
    return np.array([each.highest(direct, batch.atoms.scores(w, graph.units)) for each, graph in pairs])


@pytest.mark.parametrize("scale", [0.1, 1.0, 10.0])
def test_measured_violations_exceed_what_was_found_by_a_share_of_the_news_at_most(scale):
    task, batch, rng = packed()
    most = np.array([graph.most for graph in batch.graphs])
    for w in np.repeat(scale * rng.normal(size=(3, task.dim)), 3, axis=0):  # what is repeated has less and less news
        known = known_at(batch, w)
        planes = batch.planes(w).over_atoms()
        heights = planes.values(w)
        news = np.where(np.isfinite(known), heights - known, 0.0)
        allowed = np.maximum(np.minimum(FINE * most, NEAR * heights), NEWS * news)
        assert (planes.upper - heights <= allowed + 1e-6).all()


def test_only_cuts_of_training_are_searched_by_their_news(monkeypatch):
    task, batch, rng = packed()
    solved, asked = graph_space.solved, []

    def watched(how, model, accuracy, *rest):
        asked.append(accuracy.known)
        return solved(how, model, accuracy, *rest)

    monkeypatch.setattr(graph_space, "solved", watched)
    for augment in (1.0, 1.0, 0.5, np.ones(len(batch))):
        batch.planes(rng.normal(size=task.dim), augment)
    assert np.isfinite(asked).reshape(4, len(batch)).all(axis=1).tolist() == [False, True, False, False]
