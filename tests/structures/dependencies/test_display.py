"""DependencyDisplay: the drawing as text, and what is drawn."""

import matplotlib as mpl
import pytest

from maxmargin import DependencyParser
from maxmargin.plotting import DependencyDisplay

mpl.use("Agg")
TOKENS = [("The", "DET"), ("cat", "NOUN"), ("sleeps", "VERB")]
TRUTH = [(2, "det"), (3, "nsubj"), (0, "root")]


def test_text():
    assert str(DependencyDisplay(["The", "cat", "sleeps"], [2, 3, 0])).splitlines() == [
        "             ╷root",
        " ┌────┬──────┤",
        " ▼    ▼      ▼",
        "The  cat  sleeps",
    ]
    assert str(DependencyDisplay(TOKENS, TRUTH)).splitlines()[1] == " ┌─det─┬─nsubj─┤"


def test_arcs_over_arcs_are_higher():
    lines = str(DependencyDisplay(list("abcd"), [4, 3, 1, 0])).splitlines()
    assert lines[-2] == "▼  ▼  ▼  ▼"
    assert len(lines) == 6  # the root, three levels, the ends, the words


def test_errors_are_marked():
    display = DependencyDisplay(TOKENS, [(3, "det"), (3, "obj"), (0, "root")], TRUTH).plot()
    assert display.wrong == [1, 2]
    drawn = [text.get_text() for text in display.ax_.texts]
    assert {"cat", "NOUN", "det", "nsubj", "obj", "root"} <= set(drawn)
    styles = [line.get_linestyle() for line in display.ax_.lines if len(line.get_xdata()) > 1]
    assert styles == ["-", "-", "-", "--", "--"]


def test_arrows_end_at_dependents_and_a_legend_names_the_colours():
    display = DependencyDisplay(TOKENS, [(3, "det"), (3, "obj"), (0, "root")], TRUTH).plot()
    places = {text.get_text(): text.get_position()[0] for text in display.ax_.texts}
    ends = [line.get_xdata()[0] for line in display.ax_.lines if line.get_marker() == "v"]
    words = [places[word] for word in ("The", "cat", "sleeps", "The", "cat")]  # three found arcs, two missed ones
    assert ends == pytest.approx(words, abs=0.06)
    names = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert names == ["right: 1 of 3", "wrong: 2", "true, but not found"]
    assert DependencyDisplay(TOKENS, TRUTH).plot().ax_.get_legend() is None  # nothing to compare with


def test_from_estimator():
    model = DependencyParser(C=10).fit([TOKENS], [TRUTH])
    display = DependencyDisplay.from_estimator(model, TOKENS, TRUTH)
    assert display.tree == TRUTH
    assert display.wrong == []
    assert DependencyDisplay.from_predictions(TOKENS, TRUTH).tags == ["DET", "NOUN", "VERB"]


def test_bad_trees():
    with pytest.raises(ValueError, match="the tree has 2 heads; expected 3"):
        DependencyDisplay(TOKENS, [2, 0])
    with pytest.raises(ValueError, match="the truth is not a tree"):
        DependencyDisplay(TOKENS, TRUTH, [2, 1, 0])
