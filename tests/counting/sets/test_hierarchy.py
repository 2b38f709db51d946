import numpy as np
import pytest
from counting.sets.checks import check_best, check_large, check_samples, check_set, check_spectrum, rejects, scores
from hypothesis import assume, given
from hypothesis import strategies as st

from maxmargin.counting.sets.hierarchy import HierarchyLabels, HierarchyPaths

ANIMALS = {
    "cat": "mammal",
    "dog": "mammal",
    "owl": "bird",
    "mammal": "animal",
    "bird": "animal",
    "stone": None,
    "animal": None,
}
DIAMOND = {"b": ["a"], "c": ["a"], "d": ["b", "c"], "e": ["c"], "f": ["d", "e"], "g": ["d"]}


def balanced(branching: list[int]) -> dict:
    """{child: parent} of a tree whose nodes at level h all have branching[h] children."""
    parents, level = {}, [None]
    for width in branching:
        below = {f"{node or ''}{k}": node for node in level for k in range(width)}
        parents.update(below)
        level = list(below)
    return parents


@st.composite
def trees(draw, most: int) -> dict:
    """{node: a node with a smaller number, or None}."""
    n = draw(st.integers(2, most))
    return {v: draw(st.sampled_from([None, *range(v)])) for v in range(n)}


@st.composite
def lattices(draw):
    n = draw(st.integers(3, 8))
    return {v: draw(st.lists(st.integers(0, v - 1), min_size=1, max_size=3, unique=True)) for v in range(1, n)}


@pytest.mark.parametrize("labels", ["leaves", "nodes", ["cat", "animal", "stone", "bird"]])
@pytest.mark.parametrize("taxonomy", [ANIMALS, [(above, below) for below, above in ANIMALS.items()]])
def test_one_label_keeps_the_contract(taxonomy, labels):
    check_set(HierarchyLabels(taxonomy, labels))
    check_samples(HierarchyLabels(taxonomy, labels), uniform=True)


@pytest.mark.parametrize("labels", ["leaves", "nodes", ["a", "d", "e"]])
def test_one_label_of_a_lattice_keeps_the_contract(labels):
    check_set(HierarchyLabels(DIAMOND, labels))


def test_labels_can_be_paths_or_flat():
    check_set(HierarchyLabels(".", ["1.1", "1.2", "2", "2.1.1"]))
    flat = HierarchyLabels(None, ["x", "y", "z"])
    check_set(flat)
    assert flat.dim == 3


@given(lattices(), st.sampled_from(["leaves", "nodes"]))
def test_labels_of_drawn_lattices(taxonomy, labels):
    above = {0: {0}}
    for v, several in taxonomy.items():
        above[v] = {v}.union(*(above[p] for p in several))
    inner = {p for several in taxonomy.values() for p in several}
    chosen = [v for v in above if labels == "nodes" or v not in inner]
    assume(len(chosen) > 1)
    outputs = HierarchyLabels(taxonomy, labels)
    check_set(outputs, decodes=2)
    for v in chosen:
        marked = {node for node, mark in zip(outputs.coordinates, outputs.features(v), strict=True) if mark}
        assert marked == above[v] & set(outputs.coordinates)
        assert above[v] - marked <= set.intersection(*(above[k] for k in chosen))


def test_balanced_trees_have_one_eigenvalue_per_level():
    outputs = HierarchyLabels(balanced([2, 3, 4]))
    check_spectrum(outputs, expected=True)
    # contrasts of siblings: leaves below one node 1, below two levels 1 + 4, below three 1 + 4 + 12, of 24
    np.testing.assert_allclose(
        [space.value for space in outputs.cov_spectrum()], [17 / 24, 5 / 24, 1 / 24, 0], atol=1e-12
    )
    check_spectrum(HierarchyPaths(balanced([2, 3, 2])), expected=True)
    check_spectrum(HierarchyLabels({v: (v - 1) // 2 if v % 3 else None for v in range(60)}, "nodes"), expected=False)


@pytest.mark.parametrize(
    "taxonomy", [{0: None}, {1: 0}, {0: None, 1: None}, ANIMALS, balanced([1, 1, 1, 1]), balanced([2, 3])]
)
def test_several_paths_keep_the_contract(taxonomy):
    check_set(HierarchyPaths(taxonomy))
    check_samples(HierarchyPaths(taxonomy), uniform=True, draws=12000)


@given(trees(7), st.data())
def test_several_paths_of_drawn_trees(taxonomy, data):
    outputs = HierarchyPaths(taxonomy)
    check_set(outputs, decodes=1)
    assert check_best(outputs, data.draw(scores(outputs.dim))).exact


def test_a_redundant_parent_is_still_a_tree():
    assert HierarchyPaths({"b": "a", "c": ["b", "a"]}).features({"a", "b", "c"}).sum() == 3


def test_deep_and_wide_trees_stay_finite():
    check_large(HierarchyPaths({v: None if v == 0 else (v - 1) // 2 for v in range(2000)}))
    chain = HierarchyPaths({v: v - 1 if v else None for v in range(500)})
    np.testing.assert_allclose(chain.log_size(), np.log(501), rtol=1e-12)
    np.testing.assert_allclose(chain.mean(), np.arange(500, 0, -1) / 501, rtol=1e-11)


def test_many_labels():
    outputs = HierarchyLabels(balanced([8, 8, 8]))
    f = np.random.default_rng(0).normal(size=outputs.dim)
    rows = outputs.feature_rows(list(outputs.outputs()))
    np.testing.assert_allclose(outputs.decode(f).value, (rows @ f).max())
    np.testing.assert_allclose(
        outputs.cov_apply(f[None])[0], (rows - rows.mean(0)).T @ (rows @ f) / len(rows), atol=1e-12
    )


def test_what_is_no_member_is_explained():
    outputs = HierarchyLabels(ANIMALS)
    rejects(outputs, "bird", "'bird' is a node but not one of the labels; expected 'cat', 'dog', 'owl', 'stone'")
    rejects(outputs, "fish", "'fish' is not one of the labels")
    rejects(outputs, ["cat"], "['cat'] is not one of the labels")
    several = HierarchyPaths(ANIMALS)
    rejects(several, {"cat", "animal"}, "the set contains 'cat' but not 'mammal', which is above it")
    rejects(several, ["animal", "animal"], "node 'animal' is repeated")
    rejects(several, {"fish"}, "'fish' is not one of the nodes")
    rejects(several, "cat", "the set of nodes is 'cat'; expected a set, list or tuple of nodes")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: HierarchyLabels(ANIMALS, "roots"),
            "labels must be 'leaves', 'nodes' or a sequence of nodes, got 'roots'",
        ),
        (lambda: HierarchyLabels(ANIMALS, ["cat", "fish"]), "labels names 'fish', which is not a node"),
        (lambda: HierarchyLabels(ANIMALS, ["cat"]), "there must be at least 2 labels, got 1"),
        (lambda: HierarchyLabels({"a": None}), "there must be at least 2 labels, got 1"),
        (lambda: HierarchyLabels("."), "taxonomy='.' does not name its nodes; give labels as a sequence"),
        (lambda: HierarchyLabels(None), "taxonomy=None does not name its nodes; give labels as a sequence"),
        (lambda: HierarchyLabels({"a": "b", "b": "a"}), "the taxonomy has a cycle"),
        (lambda: HierarchyPaths(DIAMOND), r"node 'd' has several parents; expected a tree"),
        (lambda: HierarchyPaths(None), "taxonomy=None does not name its nodes"),
        (lambda: HierarchyPaths({"b": "a", "d": "c"}), "the taxonomy has 2 roots"),
    ],
)
def test_bad_parameters_are_explained(make, message):
    with pytest.raises(ValueError, match=message):
        make()
