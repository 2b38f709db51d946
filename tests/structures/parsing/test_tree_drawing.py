"""Drawings in text are read back as trees, and places are checked; how drawings look was judged by eye."""

import re
from itertools import pairwise
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st
from structures.parsing.tree_strategies import trees

from maxmargin.report.figures.canvas import RED
from maxmargin.structures.parsing.tree_drawing import layout, pixels, svg, text
from maxmargin.structures.parsing.trees import Tree

letters = st.text("abcdeXYZ,.", min_size=1, max_size=9)
drawable = trees(labels=("S", "NP", "VP", "WHADVP", "LONGLABEL"), tags=("NN", "VB", "."), words=letters, most=8)


def read_drawing(page):
    """The tree of a drawing in text."""
    rows = page.splitlines()
    rows = [row.ljust(max(map(len, rows))) for row in rows]

    def written(row, x):
        line = rows[row]
        begin, end = line.rfind(" ", 0, x) + 1, line.find(" ", x)
        return line[begin : len(line) if end < 0 else end], begin, end

    def read(row, x):
        label, _, _ = written(row, x)
        if row == len(rows) - 2:
            return Tree(label, [written(row + 1, x)[0]])
        edges, begin, _ = written(row + 1, x)
        assert edges[x - begin] in "│┴┼"  # the parent is above the place from which its edges go
        if len(edges) > 1:
            assert x - begin == (len(edges) - 1) // 2  # in the middle
        children = []
        for column, sign in enumerate(edges, begin):
            if sign in "│┌┐┬┼":
                below = row + 2
                while rows[below][column] == "│":
                    below += 1
                children.append(read(below, column))
            else:
                assert sign in "─┴"
        return Tree(label, children)

    root = rows[0].strip()
    return read(0, rows[0].index(root) + len(root) // 2)


@given(drawable)
def test_a_drawing_in_text_can_be_read_back(tree):
    page = text(tree)
    assert read_drawing(page) == tree
    assert page.splitlines()[-1].split() == tree.words()
    assert page.splitlines()[-2].split() == tree.tags()
    assert len(page.splitlines()) == 2 * tree.height()


def test_a_small_drawing():
    tree = Tree.parse("(S (NP (PRP it)) (VP (VBZ is) (NP (DT a) (NN tree))) (. .))")
    assert text(tree) == (
        "        S\n"
        " ┌──────┼───────┐\n"
        " │     VP       │\n"
        " │   ┌──┴──┐    │\n"
        "NP   │    NP    │\n"
        " │   │   ┌─┴─┐  │\n"
        "PRP VBZ DT  NN  .\n"
        "it  is   a tree ."
    )


def test_letters_of_other_widths_keep_their_columns():
    page = text(Tree.parse("(S (NP (NR 中国)) (VP (VV é́tude)))")).splitlines()
    assert page[-1] == "中国 é́tude"
    assert page[-2] == " NR   VV"
    assert text(Tree("X", ["\u0301a中\u0301"])).splitlines() == ["  X", "\u0301a中\u0301"]


def test_very_deep_trees_are_drawn():
    tree = Tree("NN", ["a"])
    for _ in range(3000):
        tree = Tree("X", [tree])
    assert len(text(tree).splitlines()) == 2 * tree.height()
    assert svg(tree).count("<text") == 3002


@given(trees(), st.integers(1, 5))
def test_places_do_not_collide(tree, gap):
    places, width = layout(tree, pixels, gap)
    assert [place.node for place in places] == list(tree.subtrees())
    levels = {}
    for place in places:
        names = [place.node.label, *(place.node.children if place.node.is_preterminal else ())]
        v = max(map(pixels, names))
        levels.setdefault(place.level, []).append((place.x - v // 2, place.x + v - v // 2))
        below = [places[child] for child in place.children]
        assert [child.node for child in below] == list(place.node.branches)
        if below:
            assert place.x == (below[0].x + below[-1].x) // 2
            assert place.level == min(child.level for child in below) - 1
    for place in places:
        for child in (places[child] for child in place.children):
            for level in range(place.level + 1, child.level):  # where its edge goes straight down
                assert not any(begin <= child.x < end for begin, end in levels[level])
    for spans in levels.values():
        assert min(begin for begin, _ in spans) >= 0
        assert max(end for _, end in spans) <= width
        for (_, end), (begin, _) in pairwise(sorted(spans)):
            assert begin - end >= gap
    assert {place.level for place in places if place.node.is_preterminal} == {tree.height() - 1}


@given(trees())
def test_svg_shows_all_labels_and_words(tree):
    picture = ElementTree.fromstring(svg(tree))
    texts = [element.text for element in picture.iter() if element.tag.endswith("}text")]
    expected = []
    for node in tree.subtrees():
        expected += [node.label, *(node.children if node.is_preterminal else ())]
    # Control characters, which XML does not allow, are replaced, and XML reads all line ends as the same one.
    assert [len(t) for t in texts] == [len(t) for t in expected]
    assert [t for t in texts if t.isalnum()] == [t for t in expected if t.isalnum()]
    width, height = int(picture.get("width")), int(picture.get("height"))
    for element in picture.iter():
        if element.tag.endswith("}text"):
            assert 0 <= float(element.get("x")) <= width
            assert 0 < float(element.get("y")) < height
    assert RED not in svg(tree)
    assert svg(tree, [False for _ in tree.subtrees()]) == svg(tree)


def test_svg_writes_signs_of_markup():
    assert "&lt;&amp;&quot;" in svg(Tree("X", ['<&"']))
    assert "\x01" not in svg(Tree("X", ["\x01"]))


def test_wrong_nodes_are_red():
    tree = Tree.parse("(S (NP (NP (DT a) (JJ b))) (PP (VB c)))")
    picture = svg(tree, [False, False, True, False, True, True, False])
    assert picture.count(RED) == 3
    red = [label for _, label in re.findall(rf'<rect [^>]*fill="({RED})"[^>]*></rect><text [^>]*>([^<]*)<', picture)]
    assert red == ["NP", "JJ", "PP"]
