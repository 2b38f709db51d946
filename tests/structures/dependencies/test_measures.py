"""Attachment scores, by hand."""

import pytest

from maxmargin.metrics import attachment_report, attachment_scores

TRUTH = [[(2, "det"), (0, "root"), (2, "punct")], [(0, "root")]]
FOUND = [[(2, "amod"), (0, "root"), (1, "punct")], [(0, "root")]]


def test_scores():
    scores = attachment_scores(TRUTH, FOUND)
    assert (scores.uas, scores.las, scores.labels) == (3 / 4, 2 / 4, 3 / 4)
    assert (scores.exact_match, scores.words) == (1 / 2, 4)
    assert scores.by_label["root"] == (1, 1, 1, 2)
    assert scores.by_label["amod"] == (0, 0, 0, 0)
    assert scores.by_label["punct"] == (0, 0, 0, 1)


def test_punctuation_is_left_out_by_its_true_label():
    scores = attachment_scores(TRUTH, FOUND, punctuation={"punct"})
    assert (scores.uas, scores.las, scores.words) == (1, 2 / 3, 3)


def test_heads_alone():
    scores = attachment_scores([[2, 0]], [[2, 1]])
    assert (scores.uas, scores.las, scores.by_label) == (1 / 2, None, {})
    assert attachment_scores([[2, 0]], [[(2, "a"), (0, "b")]]).las is None
    assert attachment_report([[2, 0]], [[2, 0]]) == "UAS 1.000, 2 words"


def test_report():
    lines = attachment_report(TRUTH, FOUND).splitlines()
    assert lines[1].split() == ["root", "1.000", "1.000", "1.000", "2"]
    assert lines[-1] == "UAS 0.750, LAS 0.500, 4 words"


@pytest.mark.parametrize(
    ("truth", "found", "options", "message"),
    [
        ([[0]], [], {}, "There are 1 true trees but 0 predicted ones"),
        ([[0, 1]], [[0]], {}, "The true tree of sentence 0 has 2 words but the predicted one 1"),
        ([[0]], ["a"], {}, "The predicted tree of sentence 0 is 'a'"),
        (
            [[0]],
            [[0]],
            {"punctuation": {"punct"}},
            "the true tree of sentence 0 has no labels that could show which words are punctuation.",
        ),
        ([[0]], [[0]], {"punctuation": "punct"}, "punctuation is the string 'punct'"),
        ([[(0, "punct")]], [[(0, "punct")]], {"punctuation": ["punct"]}, "there are no words to score"),
        (
            [[0], [(0, "a")]],
            [[0], [(0, "a")]],
            {},
            "Sentence 1 has labels in both trees, unlike the sentences before it",
        ),
    ],
)
def test_bad_trees(truth, found, options, message):
    with pytest.raises(ValueError, match=message):
        attachment_scores(truth, found, **options)
