import lzma
from itertools import combinations
from math import log, log1p, log2, sqrt

import numpy as np
import pytest

from benchmarks.loaders import PAPER_FEATURES, AmbiguousName, DataNotFound, Paper, load_aminer, paper_pairs

HEADER = "name\tpaper_id\tlabel\tyear\tvenue\tauthors\ttitle\torganization\n"


def test_papers_are_gathered_by_name(folder):
    rows = [
        "J. Doe\t7\t3\t1999\tICML\tAnn Lee,J. Doe\tLearning to link\tnull\n",
        "Bo Li\t8\t0\t2001\tnull\tBo Li\tOn trees\tUniv. of X, Y\n",
        "J. Doe\t9\t1\t2003\tKDD\tJ. Doe , Cy Roe\tForests\tnull\n",
    ]
    (folder / "aminer_and").mkdir()
    with lzma.open(folder / "aminer_and" / "papers.tsv.xz", "wt", encoding="utf-8") as file:
        file.writelines([HEADER, *rows])
    first, second = load_aminer()
    assert (first.name, first.labels, second.name, second.labels) == ("J. Doe", [3, 1], "Bo Li", [0])
    assert first.papers[0] == Paper("7", "Learning to link", 1999, "ICML", ("Ann Lee", "J. Doe"), "")
    assert first.papers[1].authors == ("J. Doe", "Cy Roe")
    assert second.papers == [Paper("8", "On trees", 2001, "", ("Bo Li",), "Univ. of X, Y")]


def test_missing_file(folder):
    with pytest.raises(DataNotFound, match="aminer_and"):
        load_aminer()


NAMES = [
    AmbiguousName(
        "J. Doe",
        [
            Paper("1", "Learning the spanning trees", 1990, "Proc. ICML", ("Ann Lee", "J Doe", "Cy Roe"), "Univ. of X"),
            Paper("2", "Spanning trees, again", 2003, "Proc. ICML", ("J. Doe", "ann lee"), "Dept. Y, Univ. of X"),
            Paper("3", "Deep water", 2003, "J. Oceans", ("J. Doe", "Di Moe", "Cy Roe"), "UNIV OF X"),
            Paper("4", "Water", 1995, "", ("J. Doe",), ""),
        ],
        [0, 0, 1, 1],
    ),
    AmbiguousName(
        "Bo Li",
        [Paper("5", "Trees", 2001, "KDD", ("Bo Li", "J. Doe"), ""), Paper("6", "Water", 2001, "KDD", ("Bo Li",), "Z")],
        [0, 0],
    ),
]

# What each field is made of, written down by hand: words of one letter and common ones are left out.
CO_AUTHORS = [[{"annlee", "cyroe"}, {"annlee"}, {"dimoe", "cyroe"}, set()], [{"jdoe"}, set()]]
TITLES = [
    [{"learning", "spanning", "trees"}, {"spanning", "trees", "again"}, {"deep", "water"}, {"water"}],
    [{"trees"}, {"water"}],
]
VENUES = [[{"proc", "icml"}, {"proc", "icml"}, {"oceans"}, set()], [{"kdd"}, {"kdd"}]]
WHOLE_VENUES = [[{"procicml"}, {"procicml"}, {"joceans"}, set()], [{"kdd"}, {"kdd"}]]
ORGANIZATIONS = [[{"univ"}, {"dept", "univ"}, {"univ"}, set()], [set(), set()]]
SAME_ORGANIZATION = {(0, 0, 2)}


def expected(g, i, j):
    """The features of one pair by their definitions."""
    n = 6

    def rarity(field, term):
        return log(n / sum(term in terms for papers in field for terms in papers)) / log(n)

    def shared(field):
        return field[g][i] & field[g][j]

    def rare(field):
        return sum(rarity(field, term) for term in shared(field))

    def cosine(field):
        lengths = [sqrt(sum(rarity(field, t) ** 2 for t in field[g][k])) for k in (i, j)]
        return sum(rarity(field, t) ** 2 for t in shared(field)) / (lengths[0] * lengths[1]) if shared(field) else 0.0

    def lacking(field):
        return not (field[g][i] and field[g][j])

    linked = sum(
        a != b and any({a, b} <= people for people in CO_AUTHORS[g]) for a in CO_AUTHORS[g][i] for b in CO_AUTHORS[g][j]
    )
    apart = abs(NAMES[g].papers[i].year - NAMES[g].papers[j].year)
    return [
        bool(shared(CO_AUTHORS)),
        log2(1 + len(shared(CO_AUTHORS))),
        rare(CO_AUTHORS),
        cosine(CO_AUTHORS),
        lacking(CO_AUTHORS),
        log1p(linked),
        cosine(TITLES),
        rare(TITLES),
        bool(shared(WHOLE_VENUES)),
        rare(WHOLE_VENUES),
        cosine(VENUES),
        lacking(WHOLE_VENUES),
        apart == 0,
        apart / 10,
        apart > 10,
        cosine(ORGANIZATIONS),
        (g, i, j) in SAME_ORGANIZATION,
        lacking(ORGANIZATIONS),
    ]


def test_features_are_those_of_their_definitions():
    found = paper_pairs(NAMES)
    assert [x.n_items for x in found] == [4, 2]
    for g, x in enumerate(found):
        assert list(map(tuple, x.pairs.tolist())) == list(combinations(range(x.n_items), 2))
        assert x.n_features == len(PAPER_FEATURES)
        for (i, j), row in zip(x.pairs.tolist(), x.features, strict=True):
            for name, value, wanted in zip(PAPER_FEATURES, row, expected(g, i, j), strict=True):
                assert value == pytest.approx(float(wanted)), (g, i, j, name)


def test_every_feature_was_tried():
    """The papers above are chosen so that no feature is the same for all pairs."""
    rows = np.concatenate([x.features for x in paper_pairs(NAMES)])
    assert (np.ptp(rows, axis=0) > 0).all()


def test_one_paper():
    (x,) = paper_pairs([AmbiguousName("Bo Li", [Paper("5", "Trees", 2001, "KDD", ("Bo Li",), "")], [0])])
    assert (x.n_items, len(x.pairs)) == (1, 0)


@pytest.mark.data
def test_aminer_has_its_published_counts():
    names = load_aminer()
    sizes = [len(each.papers) for each in names]
    persons = [len(set(each.labels)) for each in names]
    assert (len(names), sum(sizes), sum(persons)) == (109, 7528, 1546)
    assert (min(sizes), max(sizes), np.median(sizes), persons.count(1)) == (4, 484, 43, 3)
    assert sum(not paper.organization for each in names for paper in each.papers) == 4170
    assert sum(not paper.venue for each in names for paper in each.papers) == 393


@pytest.mark.data
def test_aminer_pairs():
    names = load_aminer()
    X = paper_pairs(names)
    assert sum(len(x.pairs) for x in X) == 537015
    labels = [np.array(each.labels) for each in names]
    inside = [y[x.pairs[:, 0]] == y[x.pairs[:, 1]] for x, y in zip(X, labels, strict=True)]
    assert sum(map(np.count_nonzero, inside)) == 250374
    rows, same = np.concatenate([x.features for x in X]), np.concatenate(inside)
    shared = PAPER_FEATURES.index("shared co-author")
    assert rows[same, shared].mean() > 100 * rows[~same, shared].mean()
