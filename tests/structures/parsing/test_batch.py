import numpy as np
from structures.parsing.tree_strategies import set_up
from structures.parsing.treebank import treebank

from maxmargin.tasks import Grammar

TREES = treebank(5)
WORDS = [tree.words() for tree in TREES]


def test_parts_of_a_batch():
    """Parts, and parts of parts, have the planes of the whole; their ids are numbers in the training set."""
    task = set_up(Grammar("words", "f1"), WORDS, TREES)
    w, batch = np.random.default_rng(0).standard_normal(task.dim), task.pack(WORDS, TREES)
    whole, part = batch.planes(w), batch.take(np.array([3, 0, 2, 0]))
    for index, some in ([3, 0, 2, 0], part), ([0, 3], part.take(np.array([1, 0]))), ([2], part.take(np.array([2]))):
        planes = some.planes(w)
        assert some.ids.tolist() == index
        np.testing.assert_array_equal(planes.loss, whole.loss[index])
        np.testing.assert_array_equal(planes.dpsi.toarray(), whole.dpsi.toarray()[index])
    assert whole.loss.any()
