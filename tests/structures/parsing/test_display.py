"""What TreeDisplay computes and draws; how it looks was judged by eye."""

from __future__ import annotations

import matplotlib.pyplot as plt
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from maxmargin.plotting import TreeDisplay
from maxmargin.report.figures.canvas import ORANGE, RED
from maxmargin.structures.parsing.trees import Tree

TRUTH = Tree.parse(r"(S (NP (DT a) (NN b)) (VP (VB c) (NP ($ $\x$))))")
FOUND = r"(S (NP (DT a) (JJ b)) (VP (PP (VB c)) ($ $\x$)))"


@pytest.fixture
def ax():
    return Figure().subplots()


def drawn(ax, colour=None):
    return [text.get_text() for text in ax.texts if colour in (None, text.get_color())]


def on_red(ax):
    return [
        t.get_text()
        for t in ax.texts
        if t.get_bbox_patch() and to_hex(t.get_bbox_patch().get_facecolor()) == RED.lower()
    ]


def test_errors_are_shown(ax):
    display = TreeDisplay.from_predictions(FOUND, TRUTH)
    assert display.tree == Tree.parse(FOUND)
    assert display.wrong == [("PP", 2, 3)]
    assert display.missed == [("NP", 3, 4)]
    assert display.wrong_tags == [1]
    assert display.plot(ax) is display
    assert display.ax_ is ax
    assert on_red(ax) == ["JJ", "PP"]
    assert drawn(ax, ORANGE) == ["NP", "missing in the tree"]
    shown = [*(node.label for node in display.tree.subtrees()), *display.tree.words(), "NP", "missing in the tree"]
    assert sorted(drawn(ax)) == sorted(shown)


def test_missed_brackets_overlap_in_no_row(ax):
    truth = "(S (A (X a) (X b)) (B (X c) (C (X d) (X e))))"
    display = TreeDisplay.from_predictions("(S (X a) (X b) (X c) (X d) (X e))", truth).plot(ax)
    assert [label for label, _, _ in display.missed] == ["A", "B", "C"]
    heights = {text.get_text(): text.get_position()[1] for text in ax.texts if text.get_color() == ORANGE}
    assert heights["A"] == heights["B"] < heights["C"]


def test_a_tree_without_a_truth_has_no_errors():
    display = TreeDisplay.from_predictions(FOUND).plot()
    assert display.truth is None
    assert display.wrong == display.missed == display.wrong_tags == []
    assert on_red(display.ax_) == drawn(display.ax_, ORANGE) == []
    display.ax_.figure.canvas.draw()  # fails if the last word is taken for mathematics
    plt.close(display.ax_.figure)


def test_a_parser_is_asked_for_its_tree():
    class Parser:
        def predict(self, X):
            assert X == ["a sentence"]
            return [Tree.parse(FOUND)]

    assert TreeDisplay.from_estimator(Parser(), "a sentence").wrong == []
    assert TreeDisplay.from_estimator(Parser(), "a sentence", TRUTH).wrong == [("PP", 2, 3)]


def test_the_truth_must_have_as_many_words():
    with pytest.raises(ValueError, match="The tree has 4 words, but the true one 1"):
        TreeDisplay.from_predictions(FOUND, "(S (X a))")
