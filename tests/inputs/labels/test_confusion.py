"""Which labels are taken for which others; structures/sequences/test_confusion.py has the counts of positions."""

from maxmargin.inputs.labels.confusion import LabelConfusion


def test_pairs_are_counted():
    found = LabelConfusion.of([("a", "b"), ("a", "b"), ("b", "b"), ("c", "a")])
    assert found.labels == ["a", "b", "c"]
    assert found.counts.tolist() == [[0, 2, 0], [0, 1, 0], [1, 0, 0]]
    assert found.mistakes(1) == [("a", "b", 2)]
    assert LabelConfusion.of([]).counts.shape == (0, 0)
    assert LabelConfusion.of([(1, "x")]).labels == [1, "x"]
