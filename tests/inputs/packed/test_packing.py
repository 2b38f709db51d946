"""Packing of token features, against scikit-learn's DictVectorizer."""

import pickle
from collections import OrderedDict
from types import MappingProxyType

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.feature_extraction import DictVectorizer

from maxmargin.inputs.tokens import token_features
from maxmargin.inputs.tokens.token_features import FeatureRows
from maxmargin.inputs.tokens.tokens import SequencePacker, Sequences, read_once
from maxmargin.inputs.tokens.vocabulary import Names

NAMES = st.sampled_from(["a", "b", "a=x", "", "=", "é", "word"])
VALUES = st.one_of(
    st.sampled_from(["x", "y", "", "1"]),
    st.booleans(),
    st.integers(-3, 3),
    st.floats(-2, 2),
    st.sampled_from([np.float32(0.5), np.int64(2), np.str_("x")]),
    st.lists(st.sampled_from(["x", "y", "z"]), max_size=3),
)
DICTS = st.dictionaries(NAMES, VALUES, max_size=4)
LISTS = st.lists(NAMES, max_size=5)


def data_sets(tokens):
    return st.lists(st.lists(tokens, min_size=1, max_size=4), min_size=1, max_size=4)


def as_dict(token):
    return token if isinstance(token, dict) else dict.fromkeys(token, 1.0)


def vectorized(train, new):
    """The same by DictVectorizer: columns in order of appearance; duplicates add up."""
    vectorizer = DictVectorizer(sort=False).fit([as_dict(token) for x in train for token in x])
    matrix = vectorizer.transform([as_dict(token) for x in new for token in x])
    return vectorizer.feature_names_, matrix.toarray()


@given(data_sets(DICTS) | data_sets(LISTS) | data_sets(DICTS | LISTS), data_sets(DICTS) | data_sets(LISTS))
def test_as_dict_vectorizer(train, new):
    packer = SequencePacker().fit(train)
    for X in (train, [list(x) for x in train], new):
        names, expected = vectorized(train, X)
        packed = packer.pack(X)
        assert packer.feature_names == names
        assert packer.n_features == len(names)
        np.testing.assert_array_equal(packed.matrix.toarray(), expected)
        assert list(np.diff(packed.offsets)) == [len(x) for x in X]


def read_at_once(tokens):
    """Return None also for the errors that make `read_tokens` read token by token."""
    try:
        return token_features._read_at_once(tokens)
    except (TypeError, OverflowError):
        return None


@given(data_sets(DICTS) | data_sets(LISTS))
def test_both_ways_of_reading_agree(X):
    """The fast way gives up (None, or a TypeError) or says what the careful way says."""
    tokens = [token for x in X for token in x]
    fast = read_at_once(tokens)
    if fast is not None:
        slow = token_features._read_one_by_one(tokens, 0, np.array([0, len(tokens)]))
        numbers = {name: k for k, name in enumerate(dict.fromkeys(slow.names.strings()))}
        matrices = []
        for way in (fast, slow):
            columns = way.columns(np.array([numbers[name] for name in way.names.strings()], dtype=np.int32))
            matrices.append(FeatureRows.of(columns, way.values, way.ends).to_matrix(len(numbers)).toarray())
        np.testing.assert_array_equal(*matrices)


def test_usual_tokens_are_read_at_once():
    for token in (["a", "b"], ("a", "b"), {"a": 1}, {"a": True, "b": "x", "c": 0.5}, {"a": np.float64(1.0)}, {}):
        assert read_at_once([token, token]) is not None
    for token in ({"a"}, OrderedDict(a=1), [1.0]):
        assert read_at_once([token, token]) is None


@given(data_sets(DICTS) | data_sets(LISTS) | data_sets(DICTS | LISTS), st.integers(1, 3))
def test_tokens_are_read_in_pieces(X, at_once):
    """Where one piece ends and the next begins makes no difference, nor that one has dicts and another has lists."""
    names, expected = vectorized(X, X)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(token_features, "AT_ONCE", at_once)
        packer = SequencePacker().fit(X)
        np.testing.assert_array_equal(packer.pack(X).matrix.toarray(), expected)
        with pytest.raises(ValueError, match=", position 1: the feature name 7 is not a string"):
            packer.pack([*X, [["a"], ["b", 7]]])
    assert packer.feature_names == names


def test_features_of_a_token():
    X = [[{"length": 3, "upper": True, "word": "the", "suffix": ["e", "he"], "low": False}, ["word=the", "new", "new"]]]
    packer = SequencePacker().fit(X)
    assert packer.feature_names == ["length", "upper", "word=the", "suffix=e", "suffix=he", "low", "new"]
    assert packer.pack(X).matrix.toarray().tolist() == [[3, 1, 1, 1, 1, 0, 0], [0, 0, 1, 0, 0, 0, 1]]


def test_an_attribute_is_there_or_not():
    packer = SequencePacker().fit([[["a", "b", "a"], ["b"]]])
    assert packer.pack([[["a", "a", "a"], ["c", "b", "c"]]]).matrix.toarray().tolist() == [[1, 0], [0, 1]]


def test_other_mappings_and_strings():
    token = MappingProxyType(OrderedDict(word=np.str_("the"), size=np.float16(0.5), bold=np.True_))
    packer = SequencePacker().fit([[token]])
    assert packer.feature_names == ["word=the", "size", "bold"]
    assert all(type(name) is str for name in packer.feature_names)
    assert packer.pack([[{"word": "the", "size": 0.5, "bold": np.True_}]]).matrix.toarray().tolist() == [[1, 0.5, 1]]


def test_tokens_without_features():
    packer = SequencePacker().fit([[["a"], []], [[]]])
    assert packer.pack([[["a"], []], [[]]]).matrix.toarray().tolist() == [[1], [0], [0]]
    assert packer.pack([[[], ["b"]]]).matrix.toarray().tolist() == [[0], [0]]
    packer = SequencePacker().fit([[{}]])
    assert packer.n_features == 0
    assert packer.pack([[{}]]).matrix.shape == (1, 0)


def test_no_sequences():
    for X in ([[["a"]]], [[{"a": 1}]], [np.eye(2)]):
        packed = SequencePacker().fit(X).pack([])
        assert len(packed) == 0
        assert packed.matrix.shape == (0, SequencePacker().fit(X).n_features)
    with pytest.raises(ValueError, match="no sequences given"):
        SequencePacker().fit([])


@pytest.mark.parametrize("new", [["a", "c"], {"a": 1, "c": 2}, {"c": "x"}], ids=str)
def test_unseen_features(new):
    X = [[["a"], ["b"]], [["a"], ["a"], new]]
    seen = [[["a"], ["b"]]]
    assert SequencePacker().fit(seen).pack(X).matrix.shape == (5, 2)
    packer = SequencePacker(unknown="error").fit(seen)
    with pytest.raises(
        ValueError, match=r"sequence 1, position 2 has the feature 'c(=x)?', which was not seen in training"
    ):
        packer.pack(X)
    packer.pack(seen)


def test_reading_once_serves_fit_and_pack():
    X = [[["a", "b"], ["b"]], [["c"]]]
    read = read_once(X)
    packer = SequencePacker().fit(read)
    first = packer.pack(read)
    assert first is read
    X[1][0].append("a")  # a later call reads what is there then
    assert packer.pack(X).matrix.toarray().tolist() == [[1, 1, 0], [0, 1, 0], [1, 0, 1]]
    assert first.matrix.toarray().tolist() == [[1, 1, 0], [0, 1, 0], [0, 0, 1]]
    assert len(pickle.dumps(packer)) < 500  # nothing of the data is kept


@given(data_sets(DICTS) | data_sets(LISTS), data_sets(DICTS) | data_sets(LISTS))
def test_tokens_that_were_read_are_packed_like_others(train, new):
    packer = SequencePacker().fit(read_once(train))
    assert packer.feature_names == SequencePacker().fit(train).feature_names
    for X in (train, new):
        read, expected = packer.pack(read_once(X)), packer.pack(X)
        for part in ("data", "indices", "indptr"):
            np.testing.assert_array_equal(getattr(read.matrix, part), getattr(expected.matrix, part))
        np.testing.assert_array_equal(read.offsets, expected.offsets)


def test_tokens_that_were_read_keep_the_rules_of_tokens():
    strict = SequencePacker(unknown="error").fit([[["a"], ["b"]]])
    with pytest.raises(ValueError, match="sequence 1, position 0 has the feature 'd', which was not seen in training"):
        strict.pack(read_once([[["a"]], [["b", "d", "c"]]]))
    with pytest.raises(ValueError, match="sequence 0 is a list of tokens; expected a matrix"):
        SequencePacker().fit([np.eye(2)]).pack(read_once([[["a", "b"]]]))
    with pytest.raises(ValueError, match="sequence 1 is a matrix; expected a list of tokens"):
        read_once([[["a"]], np.eye(2)])


@pytest.mark.parametrize(
    "X", [[np.eye(2)], np.zeros((2, 3, 4)), sparse.csr_array(np.eye(2)), Sequences(np.eye(2), [0, 2]), [], ["the dog"]]
)
def test_other_inputs_are_left_alone(X):
    assert read_once(X) is X


def test_names_of_columns():
    table = pd.DataFrame(np.eye(3), columns=["a", "b", "c"])
    assert SequencePacker().fit([table]).feature_names == ["a", "b", "c"]
    assert SequencePacker().fit(Sequences(table, [0, 1, 3])).feature_names == ["a", "b", "c"]
    assert SequencePacker().fit(Sequences.from_groups(table, [0, 1, 1])).feature_names == ["a", "b", "c"]
    assert SequencePacker().fit([pd.DataFrame(np.eye(3))]).feature_names is None
    assert SequencePacker().fit([np.eye(3)]).feature_names is None


def test_a_choice_that_there_is_not():
    with pytest.raises(ValueError, match="unknown must be 'ignore' or 'error', got 'drop'"):
        SequencePacker(unknown="drop")


def test_many_features_at_once():
    rng = np.random.default_rng(0)
    X = [[[f"{j}={rng.integers(50)}" for j in range(27)] for _ in range(20)] for _ in range(50)]
    packer = SequencePacker().fit(X)
    names, expected = vectorized(X, X)
    assert packer.feature_names == names
    np.testing.assert_array_equal(packer.pack(X).matrix.toarray(), expected)
    fresh = [[list(token) for token in x] for x in X]
    np.testing.assert_array_equal(packer.pack(fresh).matrix.toarray(), expected)


# --- matrices


def test_dense_and_sparse_rows_may_mix():
    X = [np.eye(3), sparse.csr_array(2 * np.eye(3)), sparse.coo_matrix(3 * np.eye(3))]
    packed = SequencePacker().fit(X).pack(X)
    np.testing.assert_array_equal(packed.matrix.toarray(), np.vstack([np.eye(3), 2 * np.eye(3), 3 * np.eye(3)]))


def test_duplicate_entries_add_up():
    x = sparse.csr_array(([1.0, 2.0, 4.0], [1, 1, 0], [0, 3]), shape=(1, 2))
    assert SequencePacker().fit([x]).pack([x]).matrix.toarray().tolist() == [[4, 3]]


def test_sequences_from_a_long_table():
    packed = Sequences.from_groups(np.arange(8).reshape(4, 2), ["x", "x", "y", "z"])
    assert [x.tolist() for x in packed] == [[[0, 1], [2, 3]], [[4, 5]], [[6, 7]]]
    assert packed[-1].tolist() == [[6, 7]]
    with pytest.raises(IndexError, match="there is no sequence 3; the data have 3 sequences"):
        packed[3]
    with pytest.raises(ValueError, match="rows of one group must be adjacent"):
        Sequences.from_groups(np.eye(3), ["x", "y", "x"])
    with pytest.raises(ValueError, match="2 group values for 3 rows"):
        Sequences.from_groups(np.eye(3), ["x", "y"])
    assert len(Sequences.from_groups(np.zeros((0, 2)), [])) == 0


@pytest.mark.parametrize(
    ("matrix", "offsets", "message"),
    [
        (np.eye(3), [0, 2], "offsets end at 2, but the matrix has 3 rows"),
        (np.eye(3), [1, 3], "offsets must be an increasing list of row numbers that starts with 0"),
        (np.eye(3), [0, 2, 1, 3], "offsets must be an increasing list"),
        (np.eye(3), [], "offsets must be an increasing list"),
        (np.ones(3), [0, 3], r"the matrix has shape \(3,\); expected two dimensions"),
    ],
)
def test_bad_bounds(matrix, offsets, message):
    with pytest.raises(ValueError, match=message):
        Sequences(matrix, offsets)


# --- rare features


@given(data_sets(DICTS) | data_sets(LISTS) | data_sets(DICTS | LISTS), st.integers(1, 4), data_sets(DICTS | LISTS))
def test_rare_features_have_no_column(train, min_count, new):
    """Those are left whose column in the whole matrix has enough entries that are not 0."""
    names, matrix = vectorized(train, train)
    kept = (matrix != 0).sum(axis=0) >= min_count
    if min_count == 1:
        kept[:] = True
    packer = SequencePacker(min_count=min_count)
    if not kept.any():
        if names:
            with pytest.raises(ValueError, match=f"min_count={min_count} leaves no feature: the most frequent"):
                packer.fit(train)
        return
    packer.fit(train)
    assert packer.feature_names == [name for name, keep in zip(names, kept, strict=True) if keep]
    assert packer.n_pruned == np.sum(~kept)
    for X in (train, new, read_once(train), read_once(new)):
        whole = SequencePacker().fit(train).pack(X).matrix.toarray()
        np.testing.assert_array_equal(packer.pack(X).matrix.toarray(), whole[:, kept])


def test_min_count_is_checked():
    for bad in (0, -1, 1.5, "2", None):
        with pytest.raises(ValueError, match="min_count must be a whole number >= 1"):
            SequencePacker(min_count=bad)
    with pytest.raises(ValueError, match="min_count makes rare features unknown"):
        SequencePacker(unknown="error", min_count=2)
    for X in ([np.eye(2)], [sparse.eye_array(2).tocsr()], Sequences(np.eye(2), [0, 2])):
        with pytest.raises(ValueError, match="min_count is for token features, which have names"):
            SequencePacker(min_count=2).fit(X)


# --- hashed features


@given(data_sets(DICTS) | data_sets(LISTS), data_sets(DICTS) | data_sets(LISTS), st.integers(1, 6))
def test_hashed_features(train, new, bits):
    """A column is the sum of those of its names; without values, it is there where one of them is."""
    packer = SequencePacker(hash_bits=bits).fit(train)
    assert packer.feature_names is None
    assert packer.n_features == 2**bits
    for X in (train, new):
        names, each = vectorized(X, X)
        columns = packer.hashed.look_up(Names.of([names]))
        expected = np.zeros((len(each), 2**bits))
        np.add.at(expected.T, columns, each.T)
        if not any(isinstance(token, dict) for x in X for token in x):
            expected = np.minimum(expected, 1.0)
        for form in (X, packer.read_once(X)):
            np.testing.assert_allclose(packer.pack(form).matrix.toarray(), expected, rtol=0, atol=1e-12)


def test_hash_bits_are_checked():
    with pytest.raises(ValueError, match="hash_bits must be at most 30, got 40"):
        SequencePacker(hash_bits=40)
    with pytest.raises(ValueError, match="hash_bits keeps no names: give one of the two"):
        SequencePacker(hash_bits=10, min_count=2)
    with pytest.raises(ValueError, match="with hash_bits every feature is known"):
        SequencePacker(hash_bits=10, unknown="error")
    with pytest.raises(ValueError, match="hash_bits is for token features, which have names"):
        SequencePacker(hash_bits=10).fit([np.eye(2)])


def test_a_packer_with_hashed_features_is_pickled():
    packer = SequencePacker(hash_bits=10).fit([[["a"]]])
    again = pickle.loads(pickle.dumps(packer))
    np.testing.assert_array_equal(again.pack([[["b"]]]).matrix.toarray(), packer.pack([[["b"]]]).matrix.toarray())
