"""What `pack` takes as rows: blocks, single examples, what readers yield; the same folder for all, and clear errors."""

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inputs.packed.rows_to_pack import classes, in_blocks, rows, same
from scipy import sparse
from thorough import examples

import maxmargin as mm
from maxmargin.inputs.packed import row_blocks
from maxmargin.inputs.packed.packed_matrix import PackedMatrix

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

X = rows(60, 8)
Y = classes(X, 3)


def matrix(packed):
    """All rows of a folder, with the constant if it has one."""
    return sparse.vstack(list(packed.inputs.pieces())).toarray()


def content(packed):
    return {name: array.tolist() for name, array in packed.folder.arrays.items()}, packed.names


@pytest.mark.parametrize(
    "data",
    [
        lambda: [(X, Y)],
        lambda: in_blocks(X, Y, at_once=7),
        lambda: in_blocks(X.toarray(), Y, at_once=7),
        lambda: zip(X.toarray(), Y, strict=True),
        lambda: zip(X.toarray().tolist(), Y.tolist(), strict=True),
        lambda: ((X[[i]], Y[i]) for i in range(60)),
        lambda: ((X[[i]].tocsc(), Y[i]) for i in range(60)),
        lambda: (*in_blocks(X[:30], Y[:30]), *zip(X[30:].toarray(), Y[30:], strict=True)),
        lambda: (*zip(X[:30].toarray(), Y[:30], strict=True), (X[30:], Y[30:])),
        lambda: [[X, Y.tolist()]],
    ],
)
def test_all_spellings_make_the_same_folder(tmp_path, data, monkeypatch):
    monkeypatch.setattr(row_blocks, "AT_ONCE", 7)
    expected = mm.pack([(X, Y)], tmp_path / "expected", "classes")
    np.testing.assert_array_equal(matrix(expected), np.hstack([X.toarray(), np.ones((60, 1))]))
    assert content(mm.pack(data(), tmp_path / "folder", "classes")) == content(expected)


@st.composite
def matrices(draw):
    n, n_features = draw(st.integers(1, 12)), draw(st.integers(1, 5))
    numbers = st.sampled_from([0.0, 0.0, 1.0, -2.5, 1e-300, 3e99])
    return np.array(draw(st.lists(st.lists(numbers, min_size=n_features, max_size=n_features), min_size=n, max_size=n)))


@given(matrices(), st.booleans(), st.integers(1, 5), st.data())
@examples(10, 60)
def test_rows_come_back_as_they_were(tmp_path_factory, dense, constant, at_once, data):
    where = tmp_path_factory.mktemp("folders") / "folder"
    labels = np.array(data.draw(st.lists(st.sampled_from("abc"), min_size=len(dense), max_size=len(dense))))
    packed = mm.pack(in_blocks(dense, labels, at_once=at_once), where, "classes", fit_intercept=constant)
    expected = np.hstack([dense, np.ones((len(dense), 1))]) if constant else dense
    np.testing.assert_array_equal(matrix(packed), expected)
    np.testing.assert_array_equal(np.asarray(packed.outputs), labels)
    some = data.draw(st.lists(st.integers(0, len(dense) - 1), max_size=6))
    taken = packed.inputs[np.array(some, dtype=int)][:, : dense.shape[1]]
    assert taken.shape == (len(some), dense.shape[1])
    if some:
        np.testing.assert_array_equal(sparse.vstack(list(taken.pieces())).toarray(), dense[some])
        np.testing.assert_array_equal(
            taken @ np.ones(dense.shape[1]), sparse.csr_array(dense)[some] @ np.ones(dense.shape[1])
        )


def test_views_of_a_matrix_leave_out_the_constant_alone(tmp_path):
    found = mm.pack([(X, Y)], tmp_path / "folder", "classes").inputs
    assert isinstance(found, PackedMatrix)
    assert found[:, :8].shape == (60, 8)
    assert found[:, :].shape == found[:, :9].shape == (60, 9)
    assert found[:3, :8].shape == (3, 8)
    assert found[[1, 5], ...].shape == (2, 9)
    for wrong in (np.s_[:, :7], np.s_[:, 1:]):
        with pytest.raises(IndexError, match="columns of packed rows"):
            found[wrong]


# --- readers


LINES = "2 1:1 3:2.5\n1 2:1\n\n# nothing\n2 5:1\n1 1:-1 9:0.25\n"


def test_a_file_of_svmlight_is_as_wide_as_its_widest_row(tmp_path):
    packed = mm.pack(mm.formats.iterate_svmlight(io.StringIO(LINES), at_once=2), tmp_path / "folder", "classes")
    whole, y, _ = mm.formats.read_svmlight(io.StringIO(LINES))
    assert packed.n_features == whole.shape[1] == 9
    np.testing.assert_array_equal(matrix(packed)[:, :9], whole.toarray())
    assert matrix(packed)[:, 9].tolist() == [1, 1, 1, 1]
    same(mm.MulticlassSVC().fit(packed), mm.MulticlassSVC().fit(whole, y))


def test_queries_of_letor_files_are_packed(tmp_path):
    lines = "2 qid:1 1:1\n0 qid:1 2:1\n1 qid:7 1:2\n0 qid:7 3:1\n"
    packed = mm.pack(mm.formats.iterate_svmlight(io.StringIO(lines), at_once=1), tmp_path / "folder", "ranking")
    whole, y, qid = mm.formats.read_svmlight(io.StringIO(lines))
    assert packed.queries.tolist() == [0, 0, 1, 1]
    same(mm.Ranker().fit(packed), mm.Ranker().fit(whole, y, qid))
    with pytest.raises(ValueError, match="example 0: the rows have no queries"):
        mm.pack(mm.formats.iterate_svmlight(io.StringIO(LINES)), tmp_path / "other", "ranking")


def test_columns_with_names_are_found_by_them(tmp_path):
    first = '{"label": "a", "features": {"red": 1, "old": 2}}\n{"label": "b", "features": {"new": 3}}\n'
    second = '{"label": "b", "features": {"old": 4, "blue": 5}}\n'
    parts = [mm.formats.iterate_jsonl_rows(io.StringIO(text), at_once=1) for text in (first, second)]
    packed = mm.pack((part for parts_ in parts for part in parts_), tmp_path / "folder", "classes", fit_intercept=False)
    assert packed.names == ["red", "old", "new", "blue"]
    assert matrix(packed).tolist() == [[1, 2, 0, 0], [0, 0, 3, 0], [0, 4, 0, 5]]
    model = mm.MulticlassSVC(fit_intercept=False).fit(packed)
    assert model.feature_names_in_.tolist() == packed.names
    assert mm.open_packed(tmp_path / "folder").names == packed.names
    other = mm.pack([(X, Y)], tmp_path / "other", "classes")
    assert not hasattr(mm.MulticlassSVC().fit(other), "feature_names_in_")
    model.feature_names_in_ = np.array(["red", "new", "old", "blue"], dtype=object)
    with pytest.raises(ValueError, match="differ from those in training in name"):
        model.predict(packed)


def test_tables_are_packed_with_their_names(tmp_path):
    mm.formats.write_table_rows(tmp_path / "rows.csv", X, Y, names=[f"x{j}" for j in range(8)])
    packed = mm.pack(mm.formats.iterate_table_rows(tmp_path / "rows.csv", at_once=9), tmp_path / "folder", "classes")
    assert packed.names == [f"x{j}" for j in range(8)]
    np.testing.assert_array_equal(matrix(packed)[:, :8], X.toarray())


def test_data_frames_are_blocks(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X.toarray(), columns=[f"x{j}" for j in range(8)])
    frame["y"] = Y
    parts = [frame[i : i + 25] for i in range(0, 60, 25)]
    packed = mm.pack(((part.drop(columns="y"), part["y"]) for part in parts), tmp_path / "folder", "classes")
    model, other = mm.MulticlassSVC().fit(packed), mm.MulticlassSVC().fit(frame.drop(columns="y"), Y)
    same(model, other)
    assert model.feature_names_in_.tolist() == other.feature_names_in_.tolist()
    turned = parts[1].drop(columns="y").iloc[:, ::-1]
    with pytest.raises(ValueError, match="example 25: the columns differ in name"):
        mm.pack([(parts[0].drop(columns="y"), parts[0]["y"]), (turned, parts[1]["y"])], tmp_path / "x", "classes")


def test_data_are_read_once_and_a_few_at_a_time(tmp_path, monkeypatch):
    monkeypatch.setattr(row_blocks, "AT_ONCE", 8)
    given, held = 0, []
    placed = row_blocks.RowColumns.placed

    def watched(self, block, first):
        held.append((given, first))
        return placed(self, block, first)

    def examples():
        nonlocal given
        for x, y in zip(X.toarray(), Y, strict=True):
            given += 1
            yield x, y

    monkeypatch.setattr(row_blocks.RowColumns, "placed", watched)
    mm.pack(examples(), tmp_path / "folder", "classes")
    assert held == [(min(k + 8, 60), k) for k in range(0, 60, 8)]


# --- what is said

NAMED = next(mm.formats.iterate_jsonl_rows(io.StringIO('{"label": 1, "features": {"a": 1}}')))
UNLABELLED = next(mm.formats.iterate_jsonl_rows(io.StringIO('{"features": {"a": 1}}')))


@pytest.mark.parametrize(
    ("member", "message"),
    [
        ("abc", r"example 9: expected a block \(X, y\), nor \(X, y, weights\), or the same for a single row"),
        ((X,), "example 9: expected a block"),
        ((X, Y, Y, Y), "example 9: expected a block"),
        ((X[:3], Y[:2]), r"example 9: there are 3 rows but labels of shape \(2,\)"),
        ((X[:3], [[0], [1], [0]]), r"example 9: there are 3 rows but labels of shape \(3, 1\)"),
        ((X[:3, :5], Y[:3]), "example 9: rows have 5 features; expected 8 as before"),
        ((np.ones(8), [1, 2]), r"example 9: X has shape \(8,\); expected a matrix"),
        (("abc", [1, 2]), "X must be a dense or sparse matrix of numbers"),
        (([1.0] * 7, 1), "example 9: rows have 7 features; expected 8 as before"),
        (({"a": 1}, 1), "example 9 has a row that is not an array of numbers"),
        ((np.ones((2, 8)), 1), r"example 9 has one label and a row of shape \(2, 8\)"),
        ((np.full((2, 8), np.nan), [1, 2]), "example 9, feature 0: X contains NaN or infinity"),
        ((sparse.csr_array(np.diag([0, 1e200] + [0.0] * 6)), [0] * 8), "example 10, feature 1: X contains 1e.200"),
        ((X[:2] * 1j, [1, 2]), "Complex data not supported"),
        ((X[:2], [1, 0.5]), r"example 10: the label is 0\.5; expected a class"),
        ((X[:2], [1, np.nan]), "example 10: the label is nan"),
        ((X[:2], np.array([1, None], dtype=object)), "labels cannot be compared|the label is None"),
        ((X[:2], ["a", "b"]), "labels have several types: example 0 has 0 and example 9 has 'a'"),
        ((X[:2], [1, "b"]), "labels have several types: example 9 has 1 and example 10 has 'b'"),
        ((X[:2], [1, 0], [1, -2]), r"example 10 has the weight -2\.0"),
        ((X[:2], [1, 0], [1, 2, 3]), r"example 9: weights have shape \(3,\); expected \(2,\)"),
        ((np.ones(8), 1, np.inf), "example 9 has the weight inf"),
        (NAMED, "example 9: features have names, but numbers in the blocks before"),
        (UNLABELLED, "example 9: the rows have no labels"),
    ],
)
def test_errors_name_the_example_and_leave_nothing_behind(tmp_path, member, message):
    first = (X[:9], np.arange(9) % 3)
    with pytest.raises(ValueError, match=message):
        mm.pack([first, member], tmp_path / "folder", "classes")
    assert not any(tmp_path.iterdir())


def test_errors_of_single_rows_count_all_before(tmp_path):
    data = [*zip(X[:20].toarray(), Y[:20], strict=True), (np.ones(3), 1)]
    with pytest.raises(ValueError, match="example 20 has 3 features; expected 8 as before"):
        mm.pack(data, tmp_path / "folder", "classes")


def test_nothing_to_pack_is_said(tmp_path):
    for data, message in (([], "at least one example"), ([(np.ones((3, 0)), [1, 2, 1])], "the rows have no features")):
        with pytest.raises(ValueError, match=message):
            mm.pack(data, tmp_path / "folder", "classes")
    with pytest.raises(ValueError, match="fit_intercept must be True or False, got 'yes'"):
        mm.pack([(X, Y)], tmp_path / "folder", "classes", fit_intercept="yes")
    assert not any(tmp_path.iterdir())
