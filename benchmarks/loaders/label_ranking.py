"""Rows with an order of labels."""

from __future__ import annotations

import lzma

import numpy as np

from benchmarks.loaders.folder import check_choice, data_file

LABEL_RANKING_SETS = (
    "authorship",
    "bodyfat",
    "calhousing",
    "cold",
    "cpu",
    "diau",
    "dtt",
    "elevators",
    "fried",
    "glass",
    "heat",
    "housing",
    "iris",
    "pendigits",
    "segment",
    "spo",
    "stock",
    "vehicle",
    "vowel",
    "wine",
    "wisconsin",
)


def load_label_ranking(name: str) -> tuple[np.ndarray, list[tuple[str, ...]]]:
    """One of 21 label ranking sets: ``(X, orders)``, an order being all labels, "L1", "L2", …, from best to last.

    Sixteen were made from sets of classification and regression, by the votes of a naive Bayes classifier or by the
    order of left out features; cold, diau, dtt, heat and spo are expression levels of yeast genes (Cheng, Hühn and
    Hüllermeier, "Decision tree and instance-based learning for label ranking", ICML 2009). 150 (iris) to 40,768
    (fried) rows, 3 (iris, wine) to 16 (wisconsin) labels. There is no official split, and some are sorted.
    """
    check_choice("name", name, *LABEL_RANKING_SETS)
    with lzma.open(data_file("label-ranking", f"lr/{name}.csv.xz"), "rt", encoding="ascii") as lines:
        header = next(lines).strip().split(",")
        table = np.loadtxt(lines, delimiter=",", ndmin=2)
    is_rank = np.array([column.startswith("L") for column in header])
    labels = [column for column in header if column.startswith("L")]
    ranks = table[:, is_rank]
    for i, row in enumerate(ranks.tolist()):
        if sorted(row) != list(range(1, len(labels) + 1)):
            raise ValueError(f"{name}: the ranks of row {i} are {row}; expected 1 to {len(labels)}, each once.")
    orders = [tuple(labels[k] for k in places) for places in np.argsort(ranks, axis=1).tolist()]
    return np.ascontiguousarray(table[:, ~is_rank]), orders
