import numpy as np
import pytest
from sklearn.metrics import average_precision_score, ndcg_score, roc_auc_score

from maxmargin.metrics import chunk_f1, chunks, query_scores, tree_loss


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ("", []),
        ("O O", []),
        ("B-NP I-NP O B-VP", [(0, 2, "NP"), (3, 4, "VP")]),
        ("B-NP B-NP I-NP", [(0, 1, "NP"), (1, 3, "NP")]),
        # Ill-formed: an I- after O, at the start, or after another type begins a chunk.
        ("O I-NP I-NP O", [(1, 3, "NP")]),
        ("I-NP O", [(0, 1, "NP")]),
        ("B-NP I-VP I-VP", [(0, 1, "NP"), (1, 3, "VP")]),
        # A chunk that reaches the end of the sentence, and types that contain a hyphen.
        ("O B-creative-work I-creative-work", [(1, 3, "creative-work")]),
        # Tags without a type.
        ("B I O I", [(0, 2, ""), (3, 4, "")]),
    ],
)
def test_chunks_are_read_as_conlleval_reads_them(tags, expected):
    assert list(chunks(tags.split())) == expected


def test_chunks_refuse_other_schemes():
    with pytest.raises(ValueError, match="'S-NP' is not an IOB tag"):
        list(chunks(["S-NP"]))


def test_f1_of_the_truth_is_one():
    tags = [["B-NP", "I-NP", "O"], ["B-VP"]]
    assert chunk_f1(tags, tags) == (1.0, 1.0, 1.0)


def test_f1_counts_chunks_over_all_sentences():
    true = [["B-NP", "I-NP", "O", "B-VP"], ["B-NP", "O", "B-PP"]]
    # Right: VP and the second NP. Wrong: the first NP is too short, PP is taken for NP.
    predicted = [["B-NP", "O", "O", "B-VP"], ["B-NP", "O", "B-NP"]]
    assert chunk_f1(true, predicted) == (0.5, 0.5, 0.5)
    # One true chunk found in two pieces, and nothing found in the other sentence.
    score = chunk_f1([["B-NP", "I-NP"], ["B-NP"]], [["B-NP", "B-NP"], ["O"]])
    assert score == (0.0, 0.0, 0.0)


def test_precision_and_recall_are_not_confused():
    precision, recall, f1 = chunk_f1([["B-NP", "B-NP", "B-NP", "B-NP"]], [["B-NP", "O", "O", "O"]])
    assert (precision, recall) == (1.0, 0.25)
    assert f1 == pytest.approx(0.4)


def test_a_chunk_does_not_cross_sentences():
    assert chunk_f1([["B-NP"], ["I-NP"]], [["B-NP"], ["B-NP"]]) == (1.0, 1.0, 1.0)


def test_nothing_to_count_is_zero():
    assert chunk_f1([["O"]], [["O"]]) == (0.0, 0.0, 0.0)
    assert chunk_f1([["O"]], [["B-NP"]]) == (0.0, 0.0, 0.0)


def test_f1_refuses_what_does_not_match():
    with pytest.raises(ValueError, match="1 true but 2 predicted"):
        chunk_f1([["O"]], [["O"], ["O"]])
    with pytest.raises(ValueError, match="Sequence 1 has 2 true but 1 predicted"):
        chunk_f1([["O"], ["O", "O"]], [["O"], ["O"]])


def test_tree_loss_is_the_mean_height_of_the_first_common_ancestor():
    true = ["6.2.0", "6.2.0", "6.2.0", "6.2.0", "7"]
    found = ["6.2.0", "6.2.1", "6.3.0", "7.1.1", "7.1"]
    assert tree_loss(true, found, ".") == pytest.approx((0 + 1 + 2 + 3 + 1) / 5)
    parents = {"cat": "pet", "dog": "pet", "pet": "animal", "cow": "animal"}
    assert tree_loss(["cat", "cat", "cow"], ["dog", "cow", "animal"], parents) == pytest.approx((1 + 2 + 1) / 3)
    assert tree_loss([1, 2], [1, 3], None) == 0.5


@pytest.mark.parametrize(
    ("true", "found", "message"),
    [
        (["a"], ["a", "b"], "There are 1 true but 2 predicted classes"),
        ([], [], "There are no classes to compare"),
        (["a", "c"], ["b", "b"], "Example 1: the class 'c' is not a node of the taxonomy"),
        (["a", "b"], ["b", "d"], "Example 1: the class 'd' is not a node of the taxonomy"),
    ],
)
def test_tree_loss_needs_known_classes(true, found, message):
    with pytest.raises(ValueError, match=message):
        tree_loss(true, found, {"a": None, "b": None})


# --- queries

LEVELS = np.array([2, 0, 1, 0, 0, 1, 3, 0])
SCORES = np.array([0.9, 0.8, 0.7, 0.1, 0.3, 0.2, 0.5, 0.6])
QUERIES = np.array([7, 3, 7, 3, 3, 7, 3, 7])  # not in one piece, not in order


@pytest.mark.parametrize(
    ("measure", "k", "expected"),
    [
        ("map", None, lambda y, s: average_precision_score(y > 0, s)),
        ("ndcg", None, lambda y, s: ndcg_score([2.0**y - 1], [s])),
        ("ndcg", 2, lambda y, s: ndcg_score([2.0**y - 1], [s], k=2)),
        ("precision_at_k", 2, lambda y, s: np.mean(y[np.argsort(-s)[:2]] > 0)),
        ("precision_at_k", 9, lambda y, s: np.sum(y > 0) / 9),
    ],
)
def test_scores_of_queries(measure, k, expected):
    found = query_scores(LEVELS, SCORES, QUERIES, measure, k)
    parts = [(LEVELS[q == QUERIES], SCORES[q == QUERIES]) for q in (7, 3)]  # as they first appear
    assert found == pytest.approx([expected(*part) for part in parts])
    assert query_scores(LEVELS, SCORES, None, measure, k) == pytest.approx([expected(LEVELS, SCORES)])
    names = np.array(["b" if q == 7 else "a" for q in QUERIES])
    assert query_scores(list(LEVELS), list(SCORES), list(names), measure, k).tolist() == found.tolist()


def test_scores_of_pairs():
    two = np.isin(QUERIES, 7)
    expected = [roc_auc_score(LEVELS[two] > 0, SCORES[two])]
    assert query_scores((LEVELS > 0)[two], SCORES[two], measure="roc_auc") == pytest.approx(expected)
    assert query_scores([0, 1, 2], [1, 2, 0], measure="roc_auc") == pytest.approx([1 / 3])


def test_relevance_from_a_level_on():
    for measure, k in (("map", None), ("precision_at_k", 3)):
        expected = query_scores(LEVELS >= 2, SCORES, QUERIES, measure, k)
        assert query_scores(LEVELS, SCORES, QUERIES, measure, k, relevant=2).tolist() == expected.tolist()


def test_tied_scores_count_in_the_worst_order():
    assert query_scores([1, 0], [0, 0]) == [0.5]
    assert query_scores([0, 1], [0, 0]) == [0.5]
    assert query_scores([1, 0], [0, 0], measure="precision_at_k", k=1) == [0]
    assert query_scores([1, 0], [0, 0], measure="ndcg", k=1) == [0]
    assert query_scores([1, 0], [0, 0], measure="roc_auc") == [0.5]


def test_queries_without_a_measure():
    qid, levels, scores = [0, 0, 1, 1, 2, 2], [0, 0, 1, 1, 0, 1], [1, 2, 1, 2, 1, 2]
    for measure in ("map", "ndcg", "precision_at_k"):
        found = query_scores(levels, scores, qid, measure, k=1 if measure == "precision_at_k" else None)
        np.testing.assert_array_equal(found, [np.nan, 1, 1])  # where all are relevant any ranking is perfect
    np.testing.assert_array_equal(query_scores(levels, scores, qid, "roc_auc"), [np.nan, np.nan, 1])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 1], [1.0], None), r"y_true has shape \(2,\) but scores have shape \(1,\); expected one number per row"),
        (([[0, 1]], [[1.0, 2.0]], None), r"y_true has shape \(1, 2\) .* expected one number per row"),
        (([], [], None), "there are no rows to rank"),
        (([0, 1], [1.0, np.nan], None), r"scores\[1\] is nan; expected a finite number"),
        (([np.inf, 1], [1.0, 2.0], None), r"y_true\[0\] is inf; expected a finite number"),
        (([0, 1], [1.0, 2.0], [1]), r"qid has shape \(1,\); expected \(2,\), the query of every row"),
        (([0, 1], [1.0, 2.0], [[1], [2]]), r"qid has shape \(2, 1\); expected \(2,\)"),
        (
            ([0, 1], [1.0, 2.0], None, "mrr"),
            "measure must be one of 'map', 'ndcg', 'roc_auc', 'precision_at_k', got 'mrr'",
        ),
        (([0, 1], [1.0, 2.0], None, "precision_at_k"), "measure 'precision_at_k' needs k, a positive whole number"),
        (([0, 1], [1.0, 2.0], None, "precision_at_k", 0), "measure 'precision_at_k' needs k, .*, got 0"),
        (([0, 1], [1.0, 2.0], None, "ndcg", -1), "measure 'ndcg' needs k, a positive whole number, got -1"),
        (([0, 1, -1], [1.0, 2.0, 3.0], None, "ndcg"), r"y_true\[2\] is -1; gains 2\^level - 1 need levels >= 0"),
    ],
)
def test_rankings_that_cannot_be_scored(arguments, message):
    with pytest.raises(ValueError, match=message):
        query_scores(*arguments)
