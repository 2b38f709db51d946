"""Features of positions against what is written out for every position."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import whole

from maxmargin.structures.alignment.columns import Columns
from maxmargin.structures.alignment.views import (
    Average,
    Column,
    LetterFeatures,
    NumberFeatures,
    Product,
    Window,
    as_view,
    outer_sum,
    view_width,
)

X = {"residue": "ACBA", "ss": "HEEH", "size": np.array([[1.0, 2.0], [3.0, 5.0], [7.0, 11.0], [13.0, 17.0]])}
COLUMNS = Columns(unknown="ignore").fit([(X, X)])
SIDE = COLUMNS.encode((X, X), 0)[0]
STRANGE = {**X, "residue": "A?BA"}
STRANGE_SIDE = COLUMNS.encode((STRANGE, STRANGE), 0)[0]


def rows(view, side=SIDE):
    return view.features(side, COLUMNS).dense().tolist()


def test_column_of_letters():
    assert rows(Column("residue")) == [[1, 0, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0]]
    assert rows(Column("residue"), STRANGE_SIDE) == [[1, 0, 0], [0, 0, 0], [0, 1, 0], [1, 0, 0]]
    assert Column("residue").names(COLUMNS) == ["A", "B", "C"]


def test_column_of_numbers():
    assert rows(Column("size")) == X["size"].tolist()
    assert Column("size").names(COLUMNS) == [("size", 0), ("size", 1)]


@pytest.mark.parametrize("offset", [-5, -4, -1, 0, 2, 3, 4, 9])
@pytest.mark.parametrize("name", ["residue", "size"])
def test_neighbours(name, offset):
    plain = rows(Column(name))
    expected = [plain[p + offset] if 0 <= p + offset < 4 else [0] * len(plain[0]) for p in range(4)]
    assert rows(Column(name, offset)) == expected


def test_product_of_letters():
    names = Product("residue", "ss").names(COLUMNS)
    assert names == [(a, b) for a in "ABC" for b in "EH"]
    assert [[names[k] for k in np.flatnonzero(row)] for row in rows(Product("residue", "ss"))] == [
        [("A", "H")],
        [("C", "E")],
        [("B", "E")],
        [("A", "H")],
    ]
    assert rows(Product("residue", "ss"), STRANGE_SIDE)[1] == [0] * 6
    last = rows(Product("residue", Column("ss", 1)))[3]
    assert last == [0] * 6  # there is no next position


def test_window_puts_neighbours_side_by_side():
    for view in ("residue", "size", Product("residue", "ss")):
        parts = [rows(Column(view, d)) if isinstance(view, str) else shifted(rows(view), d) for d in (-1, 0, 1)]
        assert rows(Window(view, 1)) == np.hstack(parts).tolist()
        assert len(Window(view, 1).names(COLUMNS)) == 3 * len(as_view(view).names(COLUMNS))
    assert Window("residue", 1).names(COLUMNS)[:4] == [(-1, "A"), (-1, "B"), (-1, "C"), (0, "A")]


def shifted(plain, d):
    return [plain[p + d] if 0 <= p + d < len(plain) else [0] * len(plain[0]) for p in range(len(plain))]


@pytest.mark.parametrize("radius", [0, 1, 2, 7])
def test_average_over_neighbours(radius):
    for name in ("residue", "size"):
        plain = np.array(rows(Column(name)))
        expected = [plain[max(0, p - radius) : p + radius + 1].mean(axis=0) for p in range(4)]
        np.testing.assert_allclose(rows(Average(name, radius)), expected, rtol=1e-14)
        assert Average(name, radius).names(COLUMNS) == Column(name).names(COLUMNS)


@st.composite
def features(draw, n):
    width = draw(st.integers(1, 3))
    if draw(st.booleans()):
        return NumberFeatures(draw(whole((n, width))))
    several = draw(st.integers(1, 2))
    choices = st.lists(st.integers(-1, width - 1), min_size=several, max_size=several, unique_by=lambda c: (c, c < 0))
    codes = [draw(choices) if several <= width else [draw(st.integers(-1, width - 1)), -1] for _ in range(n)]
    return LetterFeatures(np.array(codes, dtype=np.int64), width)


@given(st.data())
def test_products_with_matrices(data):
    n, m = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 4))
    A, B = data.draw(features(n)), data.draw(features(m))
    W = data.draw(whole((A.width, B.width)))
    scored = A.times(W)
    np.testing.assert_array_equal(scored.full(), A.dense() @ W)
    np.testing.assert_array_equal(B.spread(A.dense() @ W), A.dense() @ W @ B.dense().T)
    k = data.draw(st.integers(0, 5))
    i = np.array(data.draw(st.lists(st.integers(0, n - 1), min_size=k, max_size=k)), dtype=np.int64)
    j = np.array(data.draw(st.lists(st.integers(0, m - 1), min_size=k, max_size=k)), dtype=np.int64)
    total = np.zeros(A.width * B.width)
    np.add.at(total, *outer_sum(A, i, B, j))
    expected = sum((np.outer(a, b) for a, b in zip(A.dense()[i], B.dense()[j], strict=True)), np.zeros(W.shape))
    np.testing.assert_array_equal(total.reshape(W.shape), expected)


def test_views_are_values():
    assert Window("residue", 2) == Window(Column("residue"), 2)
    assert Product("residue", "ss") == Product(Column("residue"), Column("ss"))
    assert len({Column("a"), Column("a"), Column("a", 1), Average("a", 1)}) == 3
    names = [Column("a", -2), Product("a", "b"), Window("a", 1), Average(Product("a", "b"), 3)]
    assert [str(view) for view in names] == ["a-2", "a·b", "a±1", "mean(a·b±3)"]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Column("a", 0.5), "offset must be a whole number, got 0.5"),
        (lambda: Product("a"), "needs two or more columns"),
        (lambda: Product("a", Window("b", 1)), "needs two or more columns"),
        (lambda: Window("a", -1), "radius must be a whole number >= 0, got -1"),
        (lambda: Average("a", True), "radius must be a whole number"),
        (lambda: as_view(3), "expected a view .* got 3"),
        (lambda: Product("residue", "size").features(SIDE, COLUMNS), "needs letters, but 'size' has numbers"),
        (lambda: view_width(Column("acc"), COLUMNS), "no column 'acc'"),
    ],
)
def test_bad_views_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()
