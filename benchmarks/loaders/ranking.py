"""Queries with documents to be ranked by relevance."""

from __future__ import annotations

import lzma

import numpy as np

from benchmarks.loaders.folder import check_choice, data_file

# Folder of the data set, folder of the files in it, number of features.
_LETOR = {"ohsumed": ("ohsumed-letor3", "QueryLevelNorm/", 45), "mq2008": ("mq2008-letor4", "", 46)}


def load_letor(name: str, fold: int, split: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """One part of a LETOR fold: ``(X, relevance, qid)``, a row a document, relevance 0, 1 or 2, and the query's number.

    ``name`` is ``"ohsumed"``, 16,140 documents, 106 queries and 45 features of LETOR 3.0, or ``"mq2008"``, 15,211
    documents, 784 queries and 46 features of LETOR 4.0 (Qin, Liu, Xu and Li, "LETOR: a benchmark collection for
    research on learning to rank for information retrieval", Information Retrieval 2010; Qin and Liu, "Introducing
    LETOR 4.0 datasets", 2013); every feature is scaled to [0, 1] within its query. ``fold`` is 1 to 5 and ``split`` is
    ``"train"``, ``"validation"`` or ``"test"``: fold 1 trains on parts 1, 2, 3, validates on part 4 and tests on part
    5, and each further fold takes the next parts, part 1 following part 5. The documents of a query are adjacent rows.
    """
    from sklearn.datasets import load_svmlight_file

    check_choice("name", name, *_LETOR)
    check_choice("fold", fold, 1, 2, 3, 4, 5)
    check_choice("split", split, "train", "validation", "test")
    offsets = {"train": (0, 1, 2), "validation": (3,), "test": (4,)}[split]
    folder, inner, n_features = _LETOR[name]
    parts = []
    for offset in offsets:
        with lzma.open(data_file(folder, f"{inner}S{(fold - 1 + offset) % 5 + 1}.txt.xz")) as lines:
            parts.append(load_svmlight_file(lines, n_features=n_features, zero_based=False, query_id=True))
    X = np.concatenate([rows.toarray() for rows, _, _ in parts])
    relevance = np.concatenate([labels for _, labels, _ in parts]).astype(np.intp)
    return X, relevance, np.concatenate([queries for _, _, queries in parts]).astype(np.intp)


def load_lightgbm_rank(split: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The data of LightGBM's lambdarank example: ``(X, relevance, qid)``, a row a document, relevance 0 to 4.

    ``split`` is ``"train"``, 3,005 documents of 201 queries, or ``"test"``, 768 of 50; 300 features between 0 and 1,
    most of them 0. The documents of a query are adjacent rows, and queries are numbered from 0.
    """
    from sklearn.datasets import load_svmlight_file

    check_choice("split", split, "train", "test")
    with lzma.open(data_file("lightgbm-rank", f"rank.{split}.xz")) as lines:
        X, relevance = load_svmlight_file(lines, n_features=301, zero_based=True)
    sizes = np.loadtxt(data_file("lightgbm-rank", f"rank.{split}.query"), dtype=np.intp)
    return X.toarray()[:, 1:], relevance.astype(np.intp), np.repeat(np.arange(len(sizes)), sizes)
