"""Scores of clusterings against their definitions written out, and against examples worked out by hand."""

from fractions import Fraction
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin import metrics
from maxmargin.structures.clustering.measures import (
    ClusterScore,
    b_cubed,
    ceaf,
    mitre_loss,
    muc,
    pair_loss,
    pairwise,
)

# --- the definitions written out: (right, all) of precision, and of recall


def clusters(labels):
    return [{i for i, other in enumerate(labels) if other == label} for label in dict.fromkeys(labels)]


def links(truth, found):
    def held(of, by):
        parts = [sum(bool(cluster & part) for part in clusters(by)) for cluster in clusters(of)]
        sizes = [len(cluster) for cluster in clusters(of)]
        return sum(size - p for size, p in zip(sizes, parts, strict=True)), sum(size - 1 for size in sizes)

    return held(found, truth), held(truth, found)


def items(truth, found):
    def shares(of, by):
        total = Fraction(0)
        for i in range(len(of)):
            own, other = ({j for j in range(len(each)) if each[j] == each[i]} for each in (of, by))
            total += Fraction(len(own & other), len(own))
        return total, len(of)

    return shares(found, truth), shares(truth, found)


def together(labels):
    return {(i, j) for i, j in combinations(range(len(labels)), 2) if labels[i] == labels[j]}


def pairs(truth, found):
    right = len(together(truth) & together(found))
    return (right, len(together(found))), (right, len(together(truth)))


def matched(similarity):
    def counts(truth, found):
        some, others = sorted((clusters(truth), clusters(found)), key=len)
        best = max(
            sum(similarity(a, b) for a, b in zip(some, chosen, strict=True))
            for chosen in permutations(others, len(some))
        )
        own = [sum(similarity(a, a) for a in clusters(labels)) for labels in (found, truth)]
        return (best, own[0]), (best, own[1])

    return counts


def shared_items(a, b):
    return Fraction(len(a & b))


def dice(a, b):
    return Fraction(2 * len(a & b), len(a) + len(b))


DEFINITIONS = {
    "muc": (muc, links),
    "b_cubed": (b_cubed, items),
    "pairwise": (pairwise, pairs),
    "ceaf of items": (ceaf, matched(shared_items)),
    "ceaf of clusters": (lambda *a, **k: ceaf(*a, by="clusters", **k), matched(dice)),
}


def ratios(precision, recall):
    if precision[1] == recall[1] == 0:
        return 1.0, 1.0, 1.0
    p, r = (Fraction(right) / all_ if all_ else Fraction(0) for right, all_ in (precision, recall))
    return float(p), float(r), float(2 * p * r / (p + r)) if p + r else 0.0


@st.composite
def collections(draw, longest=6):
    sizes = draw(st.lists(st.integers(1, longest), min_size=1, max_size=3))
    return [[draw(st.lists(st.sampled_from("abcd"), min_size=n, max_size=n)) for n in sizes] for _ in range(2)]


@pytest.mark.parametrize("name", DEFINITIONS)
@given(drawn=collections())
def test_scores_are_those_of_the_definition(name, drawn):
    function, define = DEFINITIONS[name]
    each = [define(*pair) for pair in zip(*drawn, strict=True)]
    summed = [[sum(counts[side][k] for counts in each) for k in (0, 1)] for side in (0, 1)]
    np.testing.assert_allclose(function(*drawn), ratios(*summed), rtol=1e-12)
    mean = np.mean([ratios(*counts) for counts in each], axis=0)
    np.testing.assert_allclose(function(*drawn, average="macro"), mean, rtol=1e-12)


@given(collections())
def test_losses(drawn):
    assert mitre_loss(*drawn) == pytest.approx(1 - muc(*drawn).f1)
    assert mitre_loss(*drawn, "macro") == pytest.approx(1 - muc(*drawn, "macro").f1)
    wrong = [len(together(a) ^ together(b)) for a, b in zip(*drawn, strict=True)]
    total = [len(a) * (len(a) - 1) // 2 for a in drawn[0]]
    assert pair_loss(*drawn) == pytest.approx(sum(wrong) / sum(total) if sum(total) else 0.0)
    shares = [w / t if t else 0.0 for w, t in zip(wrong, total, strict=True)]
    assert pair_loss(*drawn, "macro") == pytest.approx(np.mean(shares))


@pytest.mark.parametrize("name", DEFINITIONS)
@given(drawn=collections(), data=st.data())
def test_names_of_clusters_do_not_matter(name, drawn, data):
    function = DEFINITIONS[name][0]
    other = dict(zip("abcd", data.draw(st.permutations([("x", 1), 2.5, "y", True])), strict=True))
    renamed = [[other[label] for label in labels] for labels in drawn[1]]
    assert function(drawn[0], renamed) == function(*drawn)
    assert function(drawn[0], drawn[0]) == (1, 1, 1)
    swapped = function(drawn[1], drawn[0])
    assert (swapped.recall, swapped.precision) == pytest.approx(function(*drawn)[:2])


def test_worked_example():
    """True clusters {0 1 2} {3 4} {5}, predicted {0 1} {2 3 4} {5}.

    Links: 2 + 1 true ones, of which {0 1 2} lacks one; 1 + 2 predicted ones, of which {2 3 4} holds one too many.
    Items, precision: 1, 1, 1/3, 2/3, 2/3, 1; recall 2/3, 2/3, 1/3, 1, 1, 1. Pairs: of 3 + 1 true and 1 + 3 predicted
    ones two agree, (0, 1) and (3, 4), so that 4 of 15 are wrong. Matching: 2 + 2 + 1 of 6 items; by clusters
    4/5 + 4/5 + 1 of 3.
    """
    truth, found = [list("aaabbc")], [[7, 7, 8, 8, 8, 9]]
    assert muc(truth, found) == pytest.approx((2 / 3, 2 / 3, 2 / 3))
    assert b_cubed(truth, found) == pytest.approx((14 / 18, 14 / 18, 14 / 18))
    assert pairwise(truth, found) == pytest.approx((1 / 2, 1 / 2, 1 / 2))
    assert pair_loss(truth, found) == pytest.approx(4 / 15)
    assert ceaf(truth, found) == pytest.approx((5 / 6, 5 / 6, 5 / 6))
    assert ceaf(truth, found, by="clusters") == pytest.approx((2.6 / 3, 2.6 / 3, 2.6 / 3))


def test_micro_adds_up_what_macro_averages():
    truth, found = [list("aaaa"), list("bb")], [list("aaaa"), list("bc")]
    assert muc(truth, found).recall == pytest.approx(3 / 4)
    assert muc(truth, found, "macro").recall == pytest.approx(1 / 2)


def test_nothing_to_count():
    """No link in both: nothing is wrong. No link in one of them: what cannot be counted is 0."""
    alone, one = [[0, 1, 2]], [[0, 0, 0]]
    for score in (muc, pairwise):
        assert score(alone, alone) == (1, 1, 1)
        assert score(alone, one) == (0, 0, 0)
        assert score(one, alone) == (0, 0, 0)
    assert pair_loss([[0]], [[1]]) == 0


def test_one_cluster_has_a_high_muc_score():
    truth = [[0, 0, 0, 1, 1, 1, 2, 2, 2]]
    assert muc(truth, [[0] * 9]) == pytest.approx((6 / 8, 1, 6 / 7))


def test_metrics_export_them():
    for name in ("muc", "mitre_loss", "b_cubed", "ceaf", "pairwise", "pair_loss", "ClusterScore"):
        assert hasattr(metrics, name)
    assert isinstance(metrics.muc([[0]], [[0]]), ClusterScore)


@pytest.mark.parametrize("function", [muc, b_cubed, ceaf, pairwise, pair_loss, mitre_loss])
@pytest.mark.parametrize(
    ("truth", "found", "message"),
    [
        ([[0]], [[0], [0]], "there are 1 true but 2 predicted clusterings"),
        ([], [], "there are no clusterings to compare"),
        ([[0, 0], [0, 1]], [[0, 0], [0, 1, 1]], "example 1 has 2 items but 3 cluster labels"),
        ([[0, 0], 3], [[0, 0], [0]], "example 1: the true clustering is 3; expected a list of labels"),
        ([0, 0, 1], [0, 0, 1], "example 0: the true clustering is 0; expected a list of labels"),
        ([[0, None]], [[0, 0]], "example 0: the label of item 1 is None"),
        ("ab", "ab", "the true clusterings are 'ab'; expected a list of clusterings"),
    ],
)
def test_bad_clusterings(function, truth, found, message):
    with pytest.raises(ValueError, match=message):
        function(truth, found)


def test_bad_options():
    with pytest.raises(ValueError, match="average must be 'micro' or 'macro', got 'weighted'"):
        muc([[0]], [[0]], "weighted")
    with pytest.raises(ValueError, match="average must be 'micro' or 'macro', got None"):
        pair_loss([[0]], [[0]], None)
    with pytest.raises(ValueError, match="by must be 'items' or 'clusters', got 'pairs'"):
        ceaf([[0]], [[0]], by="pairs")
