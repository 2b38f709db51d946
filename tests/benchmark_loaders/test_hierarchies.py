import lzma

import pytest

from benchmarks.loaders import load_imclef07a


@pytest.mark.parametrize(("split", "file"), [("train", "ImCLEF07A_Train"), ("test", "ImCLEF07A_Test")])
def test_imclef_labels_are_the_deepest_paths(split, file, folder):
    path = folder / "hierarchical-hmc" / "others" / f"{file}.arff.xz"
    path.parent.mkdir(parents=True)
    text = """@RELATION ehd

@ATTRIBUTE arg1 NUMERIC
@ATTRIBUTE arg2 NUMERIC
@ATTRIBUTE class hierarchical 6,9,6/2,6/2/0,9/1,9/1/a

@DATA
7,0,6@6/2@6/2/0
3,2,9/1/a@9/1@9

"""
    path.write_bytes(lzma.compress(text.encode()))
    X, labels = load_imclef07a(split)
    assert X.tolist() == [[7, 0], [3, 2]]
    assert labels == ["6/2/0", "9/1/a"]


@pytest.mark.data
@pytest.mark.parametrize(("split", "n"), [("train", 10000), ("test", 1006)])
def test_imclef07a_has_its_published_counts(split, n):
    X, labels = load_imclef07a(split)
    assert X.shape == (n, 80)
    assert (X.min(), X.max()) == (0, 7)
    assert len(labels) == n
    nodes = {"/".join(label.split("/")[:depth]) for label in labels for depth in (1, 2, 3)}
    assert {label.count("/") for label in labels} == {2}
    assert len(set(labels)) == 63
    assert len(nodes) == 96
