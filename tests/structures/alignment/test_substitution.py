"""Feature maps of aligned pairs, against what is written out for every pair."""

import numpy as np
import pytest

from maxmargin.errors import TaskError
from maxmargin.structures.alignment.columns import Columns
from maxmargin.structures.alignment.substitution import feature_maps
from maxmargin.tasks import Alignment, Average, Column, Match, PairFeatures, Product, Window

PROFILE = np.array([[1.0, 2.0], [0.0, -1.0], [2.0, 1.0]])
A = {"residue": "ABA", "ss": "HEE", "acc": "bib", "profile": PROFILE}
B = {"residue": "BA", "ss": "EH", "acc": "ib", "profile": PROFILE[1:]}
MATCHES = {
    "alphabet": Match("residue"),
    "two columns": Match("residue", "ss"),
    "product": Match(Product("residue", "ss")),
    "product and column": Match(Product("residue", "ss"), "acc"),
    "numbers": Match("profile"),
    "numbers and letters": Match("profile", "residue"),
    "letters and numbers": Match("residue", "profile"),
    "window": Match(Window("residue", 1)),
    "window and numbers": Match(Window("residue", 1), "profile"),
    "window of numbers": Match("ss", Window("profile", 1)),
    "neighbours": Match(Column("residue", 1), Column("residue", -1)),
    "average": Match(Average("residue", 1), "residue"),
}


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("name", MATCHES)
def test_match_is_bilinear(name, symmetric):
    columns = Columns().fit([(A, B)])
    match = MATCHES[name]
    match.fit([(A, B)], columns, symmetric)
    sides = columns.encode((A, B), 0)
    u, v = ([view.features(side, columns).dense() for side in sides] for view in (match.a, match.b))
    w = np.random.default_rng(0).integers(-3, 4, match.size).astype(float)
    W = match.weights(w)
    expected = u[0] @ W @ v[1].T
    if symmetric and match.a != match.b:
        expected = expected + v[0] @ W.T @ u[1].T
    code = match.encode((A, B), sides)
    np.testing.assert_allclose(match.scores(w, code), expected, atol=1e-12)
    np.testing.assert_allclose(match.score_rows(match.prepare(w), code).full(), expected, atol=1e-12)
    rows, columns_ = match.names()
    assert W.shape == (len(rows), len(columns_))
    if symmetric and match.a == match.b:
        assert np.array_equal(W, W.T)
    for pairs in ([], [(0, 0)], [(0, 1)], [(1, 0), (2, 1)], [(0, 0), (1, 1)]):
        total = np.zeros(match.size)
        np.add.at(total, *match.counts(code, np.array(pairs, dtype=np.int64).reshape(-1, 2)))
        assert total @ w == pytest.approx(sum(expected[i, j] for i, j in pairs))


@pytest.mark.parametrize("name", MATCHES)
def test_symmetric_matches_do_not_depend_on_the_order_of_sequences(name):
    match = MATCHES[name]
    columns = Columns().fit([(A, B)])
    match.fit([(A, B)], columns, True)
    w = np.random.default_rng(1).integers(-3, 4, match.size).astype(float)
    one, other = (match.scores(w, match.encode(x, columns.encode(x, 0))) for x in ((A, B), (B, A)))
    np.testing.assert_allclose(one, other.T, atol=1e-12)


def names_of(features, x, symmetric=True):
    return [str(each) for each in feature_maps(features, Columns().fit([x]), symmetric)]


def without(side, *names):
    return {name: column for name, column in side.items() if name not in names}


def test_named_models():
    letters = without(A, "profile"), without(B, "profile")
    two = without(A, "profile", "acc"), without(B, "profile", "acc")
    assert names_of("simple", ("AB", "BA")) == ["residue × residue"]
    assert names_of("simple", two) == ["residue × residue", "residue × ss", "ss × ss"]
    assert names_of("simple", two, symmetric=False) == [
        "residue × residue",
        "residue × ss",
        "ss × residue",
        "ss × ss",
    ]
    assert names_of("anova2", two) == [*names_of("simple", two), "residue·ss × residue·ss"]
    assert len(names_of("anova2", letters)) == 6 + 6
    assert names_of("tensor", letters) == [*names_of("anova2", letters), "residue·ss·acc × residue·ss·acc"]
    offsets = ("-2", "-1", "+1", "+2")
    assert names_of("window", ("AB", "BA")) == ["residue × residue", *(f"residue{d} × residue{d}" for d in offsets)]
    assert set(names_of("tensor", letters)) < set(names_of("window", letters))
    one = without(A, "ss", "acc"), without(B, "ss", "acc")
    near = [f"profile{d} × profile{d}" for d in offsets]
    assert names_of("profile", one)[-6:] == ["profile × profile", "profile × residue", *near]
    assert names_of("profile", one, symmetric=False)[-7:-4] == [
        "profile × profile",
        "profile × residue",
        "residue × profile",
    ]


def test_maps_of_a_list_add_up():
    maps = ["simple", Match(Column("residue", 1)), lambda x: np.ones((len(x[0]), len(x[1]), 2))]
    task = Alignment(features=maps)
    task.setup([("ABA", "BA")])
    assert task.dim == 2 + 3 + 3 + 2
    w = np.arange(task.dim, dtype=float)
    named = task.named_weights(w)
    assert list(named) == ["gaps", "residue × residue", "residue+1 × residue+1", "<lambda>"]
    assert named["residue × residue"].values.tolist() == [[2, 3], [3, 4]]
    assert named["residue × residue"].names == (["A", "B"], ["A", "B"])
    rows, row_of = task.score_rows(task.prepared(w), task.encode(("AB", "BA")))
    constant = named["<lambda>"].values.sum()
    assert rows[row_of].tolist() == [[3 + 5 + 1 + constant, 2 + constant], [4 + constant, 3 + constant]]


def test_two_maps_of_the_same_name_are_both_shown():
    task = Alignment(features=[Match("residue"), Match("residue")])
    task.setup([("AB", "AB")])
    assert list(task.named_weights(np.zeros(task.dim))) == ["gaps", "residue × residue", "residue × residue'"]


class Same(PairFeatures):
    """A feature map as a user writes one: whether the letters are the same."""

    def fit(self, X, columns, symmetric):
        self.size = 1

    def scores(self, w, x):
        return w[0] * np.array([[float(p == q) for q in x[1]] for p in x[0]])

    def counts(self, x, pairs):
        return np.array([sum(x[0][i] == x[1][j] for i, j in pairs)])


def test_a_feature_map_of_a_users_own():
    own, plain = Alignment(features=[Same(), "simple"]), Alignment()
    x = ("ABBA", "BAB")
    for task in (own, plain):
        task.setup([x])
    w = np.array([-1.0, -0.5, 2.0, 0.0, 0.0, 0.0])
    z = own.argmax(w, x)
    assert z == plain.argmax(np.array([-1.0, -0.5, 2.0, 0.0, 2.0]), x)
    assert own.named_weights(w)["Same"][0] == 2.0


@pytest.mark.parametrize(
    ("features", "x", "message"),
    [
        ("simpel", ("A", "A"), "features must be one of 'simple', 'anova2'.* got 'simpel'"),
        (3, ("A", "A"), "features must be one of .* got 3"),
        (Match, ("A", "A"), "features has the class Match; expected an object of it"),
        ([], ("A", "A"), "features is an empty list"),
        ("anova2", ("A", "A"), "'anova2' needs 2 or more columns of letters, the sequences have 1"),
        ("tensor", (without(A, "acc", "profile"),) * 2, "'tensor' needs 3 or more columns of letters"),
        ("simple", (A, A), "'simple' does not use the numbers of column 'profile'; use 'profile'"),
        ("profile", ("A", "A"), "'profile' needs a column of numbers in both sequences"),
        (Match("ss"), ("A", "A"), "there is no column 'ss'"),
        (lambda x: np.ones((1, 1)), ("A", "A"), r"returned an array of shape \(1, 1\); expected \(n, m, F\)"),
    ],
)
def test_bad_features_are_named(features, x, message):
    with pytest.raises(ValueError, match=message):
        Alignment(features=features).setup([x])


class Wrong(Same):
    """A feature map with a mistake."""

    def __init__(self, mistake):
        self.mistake = mistake

    def scores(self, w, x):
        return super().scores(w, x)[:, : 1 if self.mistake == "scores" else None]

    def counts(self, x, pairs):
        return {"size": np.ones(2), "places": (np.array([1]), np.ones(1))}.get(self.mistake, np.ones(1))


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        ("scores", r"has scores of shape \(2, 1\); expected \(2, 2\)"),
        ("size", r"counts has shape \(2,\); expected \(1,\)"),
        ("places", "counts has indices from 1 to 1; expected 0 to 0"),
    ],
)
def test_mistakes_in_a_users_map_are_named(mistake, message):
    task = Alignment(features=["simple", Wrong(mistake)])
    task.setup([("AB", "AB")])
    with pytest.raises((ValueError, TaskError), match=message):
        task.pack([("AB", "AB")], [[(0, 0)]]).planes(np.zeros(task.dim))


def test_functions_that_return_the_wrong_thing_are_named():
    task = Alignment(features=lambda x: np.ones((2, 2, 1)))
    task.setup([("AB", "AB")])
    with pytest.raises(ValueError, match=r"example 3: .* shape \(2, 2, 1\); expected \(1, 2, 1\)"):
        task.encode(("A", "AB"), 3)
    task = Alignment(features=lambda x: np.full((1, 1, 1), np.inf))
    task.setup([("A", "A")])
    with pytest.raises(ValueError, match=r"example 0: feature 0 of the pair \(0, 0\) is inf"):
        task.encode(("A", "A"))
    assert repr(Match("a")) == "Match(Column(name='a', offset=0))"
    assert repr(Match("a", "b")) == "Match(Column(name='a', offset=0), Column(name='b', offset=0))"
