import numpy as np
import pytest
from example_tasks import ANIMALS
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.inputs.labels.hierarchy import ClassHierarchy, read_hierarchy

PAIRS = [(parent, child) for child, parent in ANIMALS.items()]


@st.composite
def lattices(draw):
    """{child: [parents]} below the root 0, in any order."""
    n_nodes = draw(st.integers(2, 8))
    parents = {k: draw(st.lists(st.integers(0, k - 1), min_size=1, max_size=2)) for k in range(1, n_nodes)}
    return {k: parents[k] for k in draw(st.permutations(list(parents)))}


def distances_upwards(parents, node):
    """{ancestor: number of edges on the shortest way down to the node}, by walking every way."""
    found, ways = {}, [(node, 0)]
    while ways:
        at, steps = ways.pop()
        found[at] = min(steps, found.get(at, steps))
        ways += [(parent, steps + 1) for parent in parents.get(at, [])]
    return found


@given(lattices())
def test_tree_loss_and_attributes_from_their_definition(parents):
    hierarchy = ClassHierarchy(parents)
    up = {node: distances_upwards(parents, node) for node in hierarchy.nodes}
    nodes, marks = hierarchy.attributes(hierarchy.nodes)
    assert [0, *nodes] == hierarchy.nodes  # the root is above all
    for i, y in enumerate(hierarchy.nodes):
        assert {node for node, mark in zip(nodes, marks[i], strict=True) if mark} == set(up[y]) - {0}
    losses = hierarchy.losses(hierarchy.nodes)
    expected = [[min(max(up[y][c], up[z][c]) for c in up[y].keys() & up[z].keys()) for z in up] for y in up]
    np.testing.assert_array_equal(losses, expected)


@given(lattices())
def test_leaves_have_no_children(parents):
    inner = {parent for several in parents.values() for parent in several}
    assert set(ClassHierarchy(parents).leaves) == {*parents, 0} - inner


def test_attributes_of_leaves_leave_out_what_all_share():
    nodes, marks = ClassHierarchy({"a": ["mid"], "b": ["mid"], "mid": ["top"]}).attributes(["a", "b"])
    assert nodes == ["a", "b"]
    np.testing.assert_array_equal(marks, np.eye(2))


SPELLINGS = {
    "map": ANIMALS,
    "map of lists": {child: [parent] for child, parent in ANIMALS.items()},
    "map of sets and tuples": {child: {parent} if child == "cat" else (parent,) for child, parent in ANIMALS.items()},
    "map with the root": {**ANIMALS, "top": []},
    "map with a root above": {**ANIMALS, "top": None},
    "map without a name for the root": {c: None if p == "top" else p for c, p in ANIMALS.items()},
    "pairs": PAIRS,
    "pairs twice": PAIRS + PAIRS,
    "pairs in an array": np.array(PAIRS),
    "pairs without a name for the root": [(None if p == "top" else p, c) for p, c in PAIRS],
}


@pytest.mark.parametrize("taxonomy", SPELLINGS.values(), ids=SPELLINGS)
def test_spellings(taxonomy):
    hierarchy = read_hierarchy(taxonomy, [])
    assert hierarchy.leaves == ["cat", "cow", "dog", "oak"]
    assert [node for node in hierarchy.nodes if node != "top"] == sorted(ANIMALS)
    np.testing.assert_array_equal(
        hierarchy.losses(hierarchy.leaves), [[0, 2, 1, 3], [2, 0, 2, 2], [1, 2, 0, 3], [3, 2, 3, 0]]
    )
    assert hierarchy.attributes(hierarchy.leaves)[0] == sorted(ANIMALS)


def test_paths():
    hierarchy = read_hierarchy(".", ["6.2.0", "6.2.1", "6.2.0", "7.1.0", "7", "8"])
    assert hierarchy.nodes == ["6", "6.2", "6.2.0", "6.2.1", "7", "7.1", "7.1.0", "8"]
    assert hierarchy.leaves == ["6.2.0", "6.2.1", "7.1.0", "8"]
    np.testing.assert_array_equal(
        hierarchy.losses(hierarchy.leaves), [[0, 1, 3, 3], [1, 0, 3, 3], [3, 3, 0, 3], [3, 3, 3, 0]]
    )
    assert read_hierarchy("::", ["a::b.c", "a::d"]).nodes == ["a", "a::b.c", "a::d"]


def test_no_taxonomy_is_a_root_above_all():
    hierarchy = read_hierarchy(None, [3, 1, 2, 1])
    assert hierarchy.nodes == hierarchy.leaves == [1, 2, 3]
    np.testing.assert_array_equal(hierarchy.losses([1, 2, 3]), 1 - np.eye(3))


def test_a_node_with_two_parents():
    hierarchy = ClassHierarchy(
        {"bat": ["mammal", "flying"], "cat": ["mammal"], "bee": ["flying"], "mammal": [0], "flying": [0]}
    )
    losses = hierarchy.losses(["bat", "bee", "cat"])
    np.testing.assert_array_equal(losses, [[0, 1, 1], [1, 0, 2], [1, 2, 0]])


WRONG = [
    (
        {"a": "b", "b": "c", "c": "a", "d": "c"},
        "the taxonomy has a cycle: ('a' below 'b' below 'c' below 'a'|'b' below|'c')",
    ),
    ({"a": "a", "b": "a"}, "the taxonomy has a cycle: 'a' below 'a'"),
    ([("top", "a"), ("a", "b"), ("b", "a")], "the taxonomy has a cycle: '[ab]' below '[ab]' below '[ab]'"),
    (
        {"a": "top", "b": "other"},
        "has 2 roots, nodes without a parent: 'top', 'other'; expected one. Give them a common",
    ),
    ({"a": None, "b": "other"}, "has 2 roots, nodes without a parent: None, 'other'; expected one"),
    ([(child, parent) for parent, child in PAIRS], r"has 4 roots, .*'cat'.* \(in pairs the parent comes first\)"),
    ({k: f"root {k}" for k in range(7)}, "has 7 roots, .*'root 4', …; expected one"),
    ({}, "the taxonomy is empty"),
    ([], "the taxonomy is empty"),
    ({"a": []}, "the taxonomy is empty"),
    ([("a", "b"), ("a", "b", "c")], r"taxonomy\[1\] is \('a', 'b', 'c'\); expected {child: parent}"),
    (["ab", "cd"], r"taxonomy\[0\] is 'ab'; expected {child: parent}"),
    ([3, 4], r"taxonomy\[0\] is 3; expected {child: parent}"),
    (5, "taxonomy is 5; expected {child: parent}"),
    ({"a": [["b"]]}, "a node of the taxonomy is not hashable: unhashable"),
    ({"a": "b", None: "b"}, "gives None a parent, but None"),
    ([("b", "a"), ("b", None)], r"taxonomy\[1\] puts None below 'b'"),
    ("", "taxonomy is an empty string; expected a separator"),
]


@pytest.mark.parametrize(("taxonomy", "message"), WRONG, ids=[case[1] for case in WRONG])
def test_what_is_not_a_hierarchy(taxonomy, message):
    with pytest.raises(ValueError, match=message):
        read_hierarchy(taxonomy, ["a", "b"])


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["a.b", "a..c"], "example 1: the label 'a..c' has an empty part; taxonomy='.' reads 'a.b'"),
        ([".a"], "example 0: the label '.a' has an empty part"),
        (["a.b", "a.c", "a."], "example 2: the label 'a.' has an empty part"),
        (["a.b", 3], "example 1: the label 3 is not a string; taxonomy='.' reads 'a.b'"),
    ],
)
def test_what_is_not_a_path(labels, message):
    with pytest.raises(ValueError, match=message):
        read_hierarchy(".", labels)
