import lzma

import numpy as np
import pytest

from benchmarks.loaders import LABEL_RANKING_SETS, DataNotFound, load_label_ranking


def written(folder, text):
    path = folder / "label-ranking" / "lr" / "wine.csv.xz"
    path.parent.mkdir(parents=True)
    path.write_bytes(lzma.compress(text.encode()))


def test_ranks_become_orders(folder):
    written(folder, "A1,A2,L1,L2,L3\n0.5,-1,2,3,1\n7,0,1,2,3\n")
    X, orders = load_label_ranking("wine")
    assert X.tolist() == [[0.5, -1], [7, 0]]
    assert orders == [("L3", "L1", "L2"), ("L1", "L2", "L3")]


def test_ties_are_no_orders(folder):
    written(folder, "A1,L1,L2\n0.5,2,1\n7,1,1\n")
    with pytest.raises(ValueError, match=r"wine: the ranks of row 1 are \[1.0, 1.0\]; expected 1 to 2, each once"):
        load_label_ranking("wine")


def test_choices(folder):
    with pytest.raises(ValueError, match=r"name must be 'authorship', .* or 'wisconsin', not 'wines'"):
        load_label_ranking("wines")
    with pytest.raises(DataNotFound, match="'label-ranking' was not found"):
        load_label_ranking("wine")


SIZES = {
    "authorship": (841, 70, 4),
    "bodyfat": (252, 7, 7),
    "calhousing": (20640, 4, 4),
    "cold": (2465, 24, 4),
    "cpu": (8192, 6, 5),
    "diau": (2465, 24, 7),
    "dtt": (2465, 24, 4),
    "elevators": (16599, 9, 9),
    "fried": (40768, 9, 5),
    "glass": (214, 9, 6),
    "heat": (2465, 24, 6),
    "housing": (506, 6, 6),
    "iris": (150, 4, 3),
    "pendigits": (10992, 16, 10),
    "segment": (2310, 18, 7),
    "spo": (2465, 24, 11),
    "stock": (950, 5, 5),
    "vehicle": (846, 18, 4),
    "vowel": (528, 10, 11),
    "wine": (178, 13, 3),
    "wisconsin": (194, 16, 16),
}


@pytest.mark.data
@pytest.mark.parametrize("name", LABEL_RANKING_SETS)
def test_published_counts(name):
    X, orders = load_label_ranking(name)
    assert (*X.shape, len(orders[0])) == SIZES[name]
    assert len(orders) == len(X)
    assert np.isfinite(X).all()
    assert {tuple(sorted(order)) for order in orders} == {tuple(sorted(orders[0]))}
