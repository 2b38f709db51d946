"""Parseval by hand, and against a plain twin that prunes trees and matches brackets one by one.

The measures were also compared with the program EVALB itself, on thousands of perturbed treebank trees.
"""

import pytest
from hypothesis import given
from structures.parsing.tree_strategies import corpora, recursive

from maxmargin.structures.parsing.parseval import ParsevalScore, parseval
from maxmargin.structures.parsing.trees import Tree, without_function_tags

TRUTH = "(S (NP (DT the) (NN dog)) (VP (VBD saw) (NP (NP (DT a) (NN man)) (PP (IN in) (NP (NN town))))) (. .))"
LOW_TO_HIGH = "(S (NP (DT the) (NN dog)) (VP (VBD saw) (NP (DT a) (NN man)) (PP (IN in) (NP (JJ town)))) (. .))"


def score(truth, found, **options):
    return parseval([truth], [found], **options)


def test_an_attachment_error_by_hand():
    # Of the seven true brackets S NP VP NP NP PP NP, the NP "a man in town" is missing. One of the seven tags is wrong.
    assert score(TRUTH, LOW_TO_HIGH) == ParsevalScore(1, 6 / 7, pytest.approx(12 / 13), 0, 0, 6 / 7)
    assert score(LOW_TO_HIGH, TRUTH) == ParsevalScore(6 / 7, 1, pytest.approx(12 / 13), 0, 0, 6 / 7)


def test_crossing_brackets_by_hand():
    truth = "(S (X (A a) (A b)) (X (A c) (A d)))"
    found = "(S (A a) (X (Y (A b) (A c)) (A d)))"  # X = bcd and Y = bc cross ab; Y crosses cd too, and counts once
    assert score(truth, found).crossing == 2
    assert parseval([truth, truth], [found, truth]).crossing == 1
    assert score(truth, found)[:3] == (1 / 3, 1 / 3, 1 / 3)
    assert score(found, truth).crossing == 2  # ab crosses both X and Y, cd crosses Y


def test_brackets_are_added_up_over_sentences():
    small, large = "(S (A a))", TRUTH
    wrong = "(X (A a))"
    assert parseval([small, large], [wrong, large])[:4] == (7 / 8, 7 / 8, 7 / 8, 1 / 2)


def test_a_bracket_is_matched_as_often_as_it_stands_there():
    assert score("(NP (NP (NN a)))", "(NP (NN a))")[:4] == (1, 1 / 2, pytest.approx(2 / 3), 0)
    assert score("(NP (NN a))", "(NP (NP (NP (NN a))))")[:4] == (1 / 3, 1, 1 / 2, 0)


def test_punctuation_and_traces_are_deleted_first():
    truth = "(S (NP (NN a) (NP (-NONE- *))) (, ,) (VP (VB b)) (. .))"
    found = "(S (NP (NN a) (, ,)) (VP (VB b) (. .)))"
    assert score(truth, found) == (1, 1, 1, 1, 0, 1)
    assert score(truth, found, deleted_tags=()).f1 == 1 / 3
    assert score(truth, "(S (NP (NN a) (X (, ,))) (VP (VB b) (. .)))").f1 == 1  # X has no word that counts
    with pytest.raises(ValueError, match=r"Word 1 of sentence 0 is '\*' in the true tree but ',' in the predicted one"):
        score(truth, found, empty_tags=())


def test_punctuation_is_what_the_truth_says():
    truth = "(S (NP (NN a)) (VP (VB b) (NN c)) (. .))"
    found = "(S (NP (NN a)) (VP (VB b) (. c)) (NN .))"
    assert score(truth, found) == (1, 1, 1, 1, 0, 2 / 3)


def test_labels_that_do_not_count():
    assert score("(TOP (S (NN a)))", "(S (NN a))") == (1, 1, 1, 1, 0, 1)
    assert score("(ROOT (S (NN a)))", "(S1 (S (NN a)))") == (1, 1, 1, 1, 0, 1)
    assert score("(TOP (S (NN a)))", "(S (NN a))", uncounted=()).recall == 1 / 2
    assert score("(TOP (S (NN a)))", "(S (NN a))", uncounted=["S"])[:3] == (0, 0, 0)


def test_labels_that_count_as_the_same():
    truth, found = "(ADVP (NN a) (PRT b))", "(PRT (NN a) (ADVP b))"
    assert score(truth, found) == (1, 1, 1, 1, 0, 1)
    assert score(truth, found, equivalent=()) == (0, 0, 0, 0, 0, 1 / 2)
    assert score("(A (NN a))", "(C (NN a))", equivalent=[("A", "B", "C")]).f1 == 1
    with pytest.raises(ValueError, match="The label 'B' is in two groups"):
        score(truth, found, equivalent=[("A", "B"), ("B", "C")])


def test_function_tags_are_cut():
    truth, found = "(S-TPC=1 (NP-SBJ (NN a)))", "(S (NP (NN a)))"
    assert score(truth, found).f1 == 1
    assert score(truth, found, function_tags=True).f1 == 0
    assert score("(ROOT-1 (S (NN a)))", "(S (NN a))").f1 == 1


def test_spans_alone():
    assert score("(S (NP (NN a)))", "(X (Y (NN a)))", labelled=False)[:4] == (1, 1, 1, 1)


def test_sentences_without_anything_to_count():
    # A sentence without brackets is an exact match; one without words is not counted.
    assert score("(NN a)", "(VB a)") == (0, 0, 0, 1, 0, 0)
    assert score("(TOP (NN a))", "(NN a)") == (0, 0, 0, 1, 0, 1)
    assert score("(TOP (NN a))", "(S (NN a))") == (0, 0, 0, 0, 0, 1)
    assert score("(S (. .))", "(S (. .))") == (0, 0, 0, 0, 0, 0)
    assert parseval(["(S (. .))", TRUTH], ["(X (. .))", TRUTH]) == (1, 1, 1, 1, 0, 1)


@pytest.mark.parametrize(
    ("truth", "found", "message"),
    [
        ([TRUTH], [], "There are 1 true trees but 0 predicted ones"),
        ([], [], "There are no trees"),
        (Tree.parse(TRUTH), Tree.parse(TRUTH), "truth is Tree.*; expected a list of trees"),
        (TRUTH, TRUTH, "truth is .*; expected a list of trees"),
        ([TRUTH], 3, "found is 3; expected a list of trees"),
        ([TRUTH], iter([TRUTH]), "found is a list_iterator; expected a list of trees"),
        (
            [TRUTH, "(S (A a))"],
            [TRUTH, "(S (A a) (A b))"],
            "true tree of sentence 1 has 1 words but the predicted one 2",
        ),
        ([TRUTH, "(S (A a))"], [TRUTH, "(S (A b))"], "Word 0 of sentence 1 is 'a' in the true tree but 'b' in the"),
        ([TRUTH, TRUTH], [TRUTH, None], "The predicted tree of sentence 1 is not one: None"),
        ([TRUTH, "(S"], [TRUTH, TRUTH], "The true tree of sentence 1 is not one: .*not closed"),
    ],
)
def test_what_cannot_be_compared_is_named(truth, found, message):
    with pytest.raises(ValueError, match=message):
        parseval(truth, found)


@pytest.mark.parametrize("name", ["uncounted", "deleted_tags", "empty_tags"])
def test_a_string_is_no_collection_of_labels(name):
    with pytest.raises(ValueError, match=f"{name} must be a collection of labels, not the string 'NP'"):
        score(TRUTH, TRUTH, **{name: "NP"})
    with pytest.raises(ValueError, match="equivalent must hold groups of labels, not the string 'ADVP'"):
        score(TRUTH, TRUTH, equivalent=("ADVP", "PRT"))
    with pytest.raises(ValueError, match=f"{name} must be a collection of labels, not 3"):
        score(TRUTH, TRUTH, **{name: 3})


@pytest.mark.parametrize(("equivalent", "named"), [(3, "3"), ([3], "3"), ("NP", "the string 'NP'")])
def test_what_are_no_groups_of_labels(equivalent, named):
    with pytest.raises(ValueError, match=f"equivalent must hold groups of labels, not {named}"):
        score(TRUTH, TRUTH, equivalent=equivalent)


# --- against the twin


def pruned(tree, dropped, position):
    """The tree without the words at dropped positions."""
    if tree.is_preterminal:
        position[0] += 1
        return None if position[0] - 1 in dropped else tree
    children = [child for child in (pruned(child, dropped, position) for child in tree.branches) if child is not None]
    return Tree(tree.label, children) if children else None


def twin(truth, found):
    """The counts of one sentence as EVALB computes them: prune, then match each bracket with the first free one."""
    remaining = []
    for tree in (truth, found):
        dropped = {t for t, tag in enumerate(tree.tags()) if tag in ("``", "''", ",", ".", ":", "-NONE-")}
        remaining.append(pruned(tree, dropped, [0]))
    if remaining[0] is None:
        return None
    alike = (
        [{"PRT": "ADVP"}.get(tag, tag) for tag in remaining[0].tags()],
        [{"PRT": "ADVP"}.get(tag, tag) for tag in remaining[1].tags()],
    )
    brackets = []
    for tree in remaining:
        named = [(without_function_tags(label), begin, end) for label, begin, end in recursive(tree)[1]]
        brackets.append(
            [({"PRT": "ADVP"}.get(label, label), begin, end) for label, begin, end in named if label != "TOP"]
        )
    free, right = list(brackets[1]), 0
    for bracket in brackets[0]:
        if bracket in free:
            free.remove(bracket)
            right += 1
    crossing = 0
    for _, begin, end in brackets[1]:
        inside = set(range(begin, end))
        others = [set(range(b, e)) for _, b, e in brackets[0]]
        crossing += any(inside & other and inside - other and other - inside for other in others)
    tags = [a == b for a, b in zip(*alike, strict=True)]
    return right, len(brackets[0]), len(brackets[1]), crossing, sum(tags), len(tags)


@given(corpora())
def test_parseval_equals_its_twin(pairs):
    counts = [count for count in (twin(*pair) for pair in pairs) if count is not None]
    right, n_true, n_found, crossing, right_tags, words = map(sum, zip(*counts, strict=True)) if counts else [0] * 6
    precision, recall = right / max(n_found, 1), right / max(n_true, 1)
    assert parseval(*zip(*pairs, strict=True)) == pytest.approx(
        (
            precision,
            recall,
            2 * right / max(n_true + n_found, 1),
            sum(count[0] == count[1] == count[2] for count in counts) / max(len(counts), 1),
            crossing / max(len(counts), 1),
            right_tags / max(words, 1),
        )
    )


@given(corpora())
def test_swapping_truth_and_prediction_swaps_precision_and_recall(pairs):
    truth, found = zip(*pairs, strict=True)
    there, back = parseval(truth, found), parseval(found, truth)
    assert (there.precision, there.recall) == (back.recall, back.precision)
    assert there.f1 == pytest.approx(back.f1)
    assert (there.exact_match, there.tagging) == (back.exact_match, back.tagging)


@given(corpora())
def test_the_truth_is_perfect(pairs):
    truth = [pair[0] for pair in pairs]
    perfect = parseval(truth, truth)
    assert perfect.crossing == 0
    assert set(perfect) <= {0, 1}
    if any(count and count[1] for count in (twin(tree, tree) for tree in truth)):
        assert perfect == (1, 1, 1, 1, 0, 1)
