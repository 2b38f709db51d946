import pytest

from maxmargin.metrics import chunk_f1, chunks, tree_loss


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
