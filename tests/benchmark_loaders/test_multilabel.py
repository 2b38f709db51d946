import lzma

import numpy as np
import pytest

from benchmarks.loaders import DataNotFound, load_mulan

XML = '<labels xmlns="x"><label name="glad"></label><label name="calm"></label></labels>'
ARFF = """@relation songs
@attribute pace numeric
@attribute calm {0,1}

@ATTRIBUTE 'pitch' numeric
@attribute glad {0,1}
@data
0.5,1,-2,0
1e-3,0,7,1
"""


def written(folder, xml, arff):
    place = folder / "multilabel-mulan" / "emotions"
    place.mkdir(parents=True)
    (place / "emotions.xml").write_text(xml)
    (place / "emotions-test.arff.xz").write_bytes(lzma.compress(arff.encode()))


def test_labels_are_the_columns_that_the_description_names_in_the_order_of_the_file(folder):
    written(folder, XML, ARFF)
    X, Y, labels = load_mulan("emotions", "test")
    assert X.tolist() == [[0.5, -2], [1e-3, 7]]
    assert labels == ["calm", "glad"]
    assert Y.tolist() == [[1, 0], [0, 1]]
    assert Y.dtype == np.int64


def test_a_label_without_a_column(folder):
    written(folder, XML.replace("glad", "angry"), ARFF)
    with pytest.raises(ValueError, match=r"emotions-test.*, line 7: no attribute above this line is the label 'angry'"):
        load_mulan("emotions", "test")


def test_choices(folder):
    with pytest.raises(ValueError, match="name must be 'yeast', 'scene' or 'emotions', not 'Yeast'"):
        load_mulan("Yeast", "train")
    with pytest.raises(ValueError, match="split must be 'train' or 'test', not 'all'"):
        load_mulan("yeast", "all")
    with pytest.raises(DataNotFound, match="'multilabel-mulan' was not found"):
        load_mulan("yeast", "train")


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "split", "shape", "cardinality"),
    [
        ("yeast", "train", (1500, 103, 14), 4.228),
        ("yeast", "test", (917, 103, 14), None),
        ("scene", "train", (1211, 294, 6), 1.062),
        ("scene", "test", (1196, 294, 6), None),
        ("emotions", "train", (391, 72, 6), 1.813),
        ("emotions", "test", (202, 72, 6), None),
    ],
)
def test_published_counts(name, split, shape, cardinality):
    X, Y, labels = load_mulan(name, split)
    assert (*X.shape, len(labels)) == shape
    assert Y.shape == (shape[0], shape[2])
    assert set(np.unique(Y)) == {0, 1}
    assert np.isfinite(X).all()
    if cardinality is not None:
        assert Y.sum(1).mean() == pytest.approx(cardinality, abs=5e-4)
