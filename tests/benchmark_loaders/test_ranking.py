import lzma

import numpy as np
import pytest

from benchmarks.loaders import load_letor, load_lightgbm_rank

FOLDERS = {"ohsumed": ("ohsumed-letor3/QueryLevelNorm", 45), "mq2008": ("mq2008-letor4", 46)}


@pytest.fixture
def parts(folder):
    """Five parts, part p with one document of relevance 1 for query p and one of relevance 2 for query 10p."""
    for inner, n_features in FOLDERS.values():
        (folder / inner).mkdir(parents=True)
        for p in range(1, 6):
            lines = (
                f"1 qid:{p} 1:0.5 2:0 #docid = G{p}\n2 qid:{10 * p} {n_features}:1.0 #docid = X inc = 1 prob = 0.2\n"
            )
            (folder / inner / f"S{p}.txt.xz").write_bytes(lzma.compress(lines.encode()))


@pytest.mark.usefixtures("parts")
@pytest.mark.parametrize("name", FOLDERS)
@pytest.mark.parametrize(
    ("fold", "train", "validation", "test"),
    [(1, [1, 2, 3], [4], [5]), (2, [2, 3, 4], [5], [1]), (3, [3, 4, 5], [1], [2]), (5, [5, 1, 2], [3], [4])],
)
def test_a_fold_is_five_parts_in_turn(name, fold, train, validation, test):
    n_features = FOLDERS[name][1]
    for split, wanted in (("train", train), ("validation", validation), ("test", test)):
        X, relevance, qid = load_letor(name, fold, split)
        assert X.shape == (2 * len(wanted), n_features)
        assert X[0, 0] == 0.5
        assert X[1, -1] == 1.0
        assert X.sum() == 1.5 * len(wanted)
        assert relevance.tolist() == [1, 2] * len(wanted)
        assert qid.tolist() == [query for p in wanted for query in (p, 10 * p)]


def test_the_example_of_lightgbm(folder):
    """Sizes of queries stand in a file of their own; features are numbered from 1."""
    (folder / "lightgbm-rank").mkdir()
    (folder / "lightgbm-rank" / "rank.test.xz").write_bytes(lzma.compress(b"4 1:0.5\n0 300:0.25\n1 2:1\n"))
    (folder / "lightgbm-rank" / "rank.test.query").write_text("2\n1\n")
    X, relevance, qid = load_lightgbm_rank("test")
    assert X.shape == (3, 300)
    assert (X[0, 0], X[1, 299], X[2, 1], X.sum()) == (0.5, 0.25, 1.0, 1.75)
    assert (relevance.tolist(), qid.tolist()) == ([4, 0, 1], [0, 0, 1])
    with pytest.raises(ValueError, match="split must be 'train' or 'test', not 'validation'"):
        load_lightgbm_rank("validation")


def test_unknown_names_and_folds_are_refused():
    with pytest.raises(ValueError, match="name must be 'ohsumed' or 'mq2008', not 'web30k'"):
        load_letor("web30k", 1, "train")
    with pytest.raises(ValueError, match="fold must be 1, 2, 3, 4 or 5, not 0"):
        load_letor("ohsumed", 0, "train")


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "n_queries", "counts"), [("ohsumed", 106, [11303, 2585, 2252]), ("mq2008", 784, [12279, 2001, 931])]
)
def test_letor_has_its_published_counts(name, n_queries, counts):
    splits = [load_letor(name, 3, split) for split in ("train", "validation", "test")]
    X, relevance, qid = (np.concatenate(arrays) for arrays in zip(*splits, strict=True))
    assert X.shape == (sum(counts), FOLDERS[name][1])
    assert (X.min(), X.max()) == (0.0, 1.0)
    assert np.bincount(relevance).tolist() == counts
    assert len(set(qid.tolist())) == n_queries
    # The rows of a query are adjacent.
    assert 1 + np.count_nonzero(np.diff(qid)) == n_queries
