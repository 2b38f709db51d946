"""Packed sequences: a fit from the folder is that from lists, to the last bit, and crafted folders are refused."""

import pickle

import numpy as np
import pytest
from base.files.crafted_folders import changed, crafted, spoiled_numbers
from base.files.travelling_parts import check_that_it_travels
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from thorough import examples

import maxmargin as mm
from maxmargin.base.files.array_folder import ArrayFolder, ArrayFolderWriter
from maxmargin.errors import InvalidLabels
from maxmargin.inputs.labels.weighted import Weighted
from maxmargin.structures.sequences import packed_sequences

TEMPLATES = mm.TokenTemplates(["word[-1..1]", "suffix(word, 2)", "bias"])


def tagged(n, seed=0, n_labels=3):
    """Sentences of words, and labels that depend on these and on what came before."""
    rng = np.random.default_rng(seed)
    X = [[f"word{k}" for k in rng.integers(30, size=rng.integers(1, 9))] for _ in range(n)]
    Y = [[f"L{(int(word[4:]) + t) % n_labels}" for t, word in enumerate(x)] for x in X]
    return X, Y


def attributes(X):
    return [TEMPLATES.attributes(x) for x in X]


def fitted(*data, **options):
    return mm.SequenceLabeler(**{"C": 5.0, "max_passes": 6, "tol": 1e-6, "random_state": 0, **options}).fit(*data)


def same(model, other):
    np.testing.assert_array_equal(model.w_, other.w_)
    assert model.classes_ == other.classes_
    assert (model.certificate_.primal, model.certificate_.dual) == (other.certificate_.primal, other.certificate_.dual)


pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::maxmargin.errors.NothingLearnt"),  # training ends early here
]


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "folder"


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"solver": "one_slack"},
        {"solver": "n_slack"},
        {"solver": "subgradient"},
        {"rescaling": "slack"},
        {"objective": "likelihood"},
        {"order": 2, "ngrams": "observed"},
        {"classes": ["L2", "L0", "L1", "never"]},
        {"per": "position"},
        {"n_jobs": 2},
        {"bounds": {"transitions": (0, None)}},
    ],
    ids=str,
)
def test_the_model_is_that_of_lists_to_the_last_bit(folder, options):
    X, Y = tagged(300)
    packed = mm.pack(zip(attributes(X), Y, strict=True), folder, "sequences")
    model = fitted(packed, **options)
    same(model, fitted(attributes(X), Y, **options))
    assert model.predict(attributes(X[:5])) == fitted(attributes(X), Y, **options).predict(attributes(X[:5]))


@pytest.mark.parametrize("bits", [None, 6])
def test_templates_and_hashing_are_part_of_the_folder(folder, tmp_path, bits):
    X, Y = tagged(80)
    packed = mm.pack(zip(X, Y, strict=True), folder, "sequences", features=TEMPLATES, hash_bits=bits)
    model, lists = fitted(packed), fitted(X, Y, features=TEMPLATES, hash_bits=bits)
    same(model, lists)
    model.save(tmp_path / "model.mm")
    assert mm.load(tmp_path / "model.mm").predict(X) == lists.predict(X)


def test_values_of_features_and_of_positions_are_kept(folder):
    X, Y = tagged(400)
    rng = np.random.default_rng(1)
    # the first piece has nothing but ones
    values = [[{f"word={w}": 1.0 if i < 300 else rng.normal(), "bias": 1} for w in x] for i, x in enumerate(X)]
    costs = [Weighted(y, (rng.random(len(y)) + 0.5).tolist()) if i % 2 else y for i, y in enumerate(Y)]
    weights = rng.random(len(X))
    packed = mm.pack(zip(values, costs, weights, strict=True), folder, "sequences")
    same(fitted(packed), mm.SequenceLabeler(C=5.0, max_passes=6, tol=1e-6).fit(values, costs, sample_weight=weights))
    others = np.arange(1.0, len(X) + 1)
    given = mm.SequenceLabeler(C=5.0, max_passes=6, tol=1e-6).fit(packed, sample_weight=others)
    same(given, mm.SequenceLabeler(C=5.0, max_passes=6, tol=1e-6).fit(values, costs, sample_weight=others))


def test_a_value_that_all_features_share_is_one_number(folder):
    X, Y = tagged(200)
    values = [[dict.fromkeys(token, 0.1) for token in x] for x in attributes(X)]
    packed = mm.pack(zip(values, Y, strict=True), folder, "sequences")
    assert packed.folder.arrays["values"].tolist() == [0.1]
    same(fitted(packed), fitted(values, Y))


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_rows_of_matrices_are_packed_too(folder, make):
    rng = np.random.default_rng(0)
    X = [make(rng.normal(size=(t, 4)) * (rng.random((t, 4)) < 0.7)) for t in rng.integers(1, 6, size=300)]
    Y = [rng.integers(3, size=x.shape[0]).tolist() for x in X]
    same(fitted(mm.pack(zip(X, Y, strict=True), folder, "sequences")), fitted(X, Y))


def test_missing_labels_are_packed_too(folder):
    X, Y = tagged(60)
    Y = [
        [{0: None, 1: {"L0", "L1"}, 2: {label}}.get((i + t) % 7, label) for t, label in enumerate(y)]
        for i, y in enumerate(Y)
    ]
    packed = mm.pack(zip(attributes(X), Y, strict=True), folder, "sequences")
    assert packed.choices == [None, frozenset({"L0", "L1"})]
    same(fitted(packed), fitted(attributes(X), Y))


def test_forbidden_transitions_are_treated_as_those_of_lists(folder):
    X, Y = tagged(100)
    packed = mm.pack(zip(attributes(X), Y, strict=True), folder, "sequences")
    with pytest.raises(ValueError, match=r"sequence \d+, position \d+: 'L1' may not follow 'L1'"):
        fitted(packed, forbidden=[("L1", "L1")])
    with pytest.warns(InvalidLabels):
        model = fitted(packed, forbidden=[("L1", "L1")], invalid="drop")
    with pytest.warns(InvalidLabels):
        same(model, fitted(attributes(X), Y, forbidden=[("L1", "L1")], invalid="drop"))


def test_certify_and_paths_take_folders(folder):
    X, Y = tagged(50)
    packed = mm.pack(zip(attributes(X), Y, strict=True), folder, "sequences")
    model = mm.SequenceLabeler(C=5).fit(packed)
    assert model.certify(packed).primal == model.certify(attributes(X), Y).primal
    for one, other in zip(
        mm.SequenceLabeler().fit_path(packed, None, [1, 2]),
        mm.SequenceLabeler().fit_path(attributes(X), Y, [1, 2]),
        strict=True,
    ):
        same(one, other)
    with pytest.raises(ValueError, match="packed with features that differ"):
        mm.SequenceLabeler(C=5).fit(attributes(X[:9]), Y[:9]).certify(packed)


def test_warm_starts_know_the_folder(folder):
    X, Y = tagged(50)
    packed = mm.pack(zip(attributes(X), Y, strict=True), folder, "sequences")
    model = mm.SequenceLabeler(C=5, warm_start=True).fit(packed)
    first = model.certificate_.passes
    assert model.fit(mm.open_packed(folder)).certificate_.passes < first


def test_data_are_read_once_and_a_few_at_a_time(folder, monkeypatch):
    monkeypatch.setattr(packed_sequences, "AT_ONCE", 8)
    given = 0
    X, Y = tagged(100)
    append = ArrayFolderWriter.append
    written = []

    def watched(self, name, numbers):
        if name == "offsets":
            written.append(given)
        append(self, name, numbers)

    def examples():
        nonlocal given
        for x, y in zip(attributes(X), Y, strict=True):
            given += 1
            yield x, y

    monkeypatch.setattr(ArrayFolderWriter, "append", watched)
    packed = mm.pack(examples(), folder, "sequences")
    assert written == [0, *range(8, 100, 8), 100]
    assert len(packed) == 100


# --- what travels


def test_a_part_is_a_name_and_a_range(folder):
    X, Y = tagged(3000)
    packed = mm.pack(zip(attributes(X), Y, strict=True), folder, "sequences")
    model = fitted(packed, max_passes=1)
    batch = model.task_.pack(packed)
    part = batch.take(np.arange(1000, 2000))
    check_that_it_travels(part, packed, model.w_, 4000)
    expected = part.planes(model.w_)
    assert len(pickle.dumps(expected.dpsi.atoms)) < 1000


def test_stretches_of_known_labels_travel_too(folder):
    X, Y = tagged(40)
    Y = [[None if t == 1 else label for t, label in enumerate(y)] for y in Y]
    batch = mm.tasks.Chain().setup_and_pack(
        packed := mm.pack(zip(attributes(X), Y, strict=True), folder, "sequences"), packed
    )
    stretches, _ = batch.stretches()
    again, w = pickle.loads(pickle.dumps(stretches)), np.arange(batch.dim, dtype=float)
    assert len(again) == len(stretches) > 40
    np.testing.assert_array_equal(again.planes(w).loss, stretches.planes(w).loss)


def test_of_labels_that_are_not_the_folders_a_part_takes_its_own(folder):
    X, Y = tagged(2000)
    packed = mm.pack(zip(attributes(X), Y, strict=True), folder, "sequences")
    model = fitted(packed, max_passes=1, classes=["L2", "L1", "L0"])
    batch = model.task_.pack(packed)
    assert batch.rows is not packed.rows
    part = batch.take(np.arange(100, 110))
    assert len(pickle.dumps(part)) < 6000
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(part)).planes(model.w_).loss, part.planes(model.w_).loss)


@pytest.mark.slow
def test_processes_read_the_folder_themselves(folder, pool):
    X, Y = tagged(2000)
    packed = mm.pack(zip(attributes(X), Y, strict=True), folder, "sequences")
    before = pool.sent
    model = fitted(packed, solver="one_slack", executor=pool, max_passes=3)
    one = pool.sent - before
    same(model, fitted(attributes(X), Y, solver="one_slack", max_passes=3))
    assert one < 3 * (4 * (8 * model.w_.size + 5000) + 2000 * 20)  # w to each of two, and numbers of examples


def test_a_worker_compares_its_own_part_with_the_checksums(folder):
    X, Y = tagged(500)
    packed = mm.pack(zip(attributes(X), Y, strict=True), folder, "sequences")
    batch = fitted(packed, max_passes=1).task_.pack(packed)
    content = pickle.dumps(batch.take(np.arange(100)))
    path = folder / "columns.npy"
    path.write_bytes(path.read_bytes()[:-1] + b"\7")
    with pytest.raises(ValueError, match="checksum is wrong"):
        pickle.loads(content)


# --- what is said


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda X, Y: Y.__setitem__(301, ["L0"]), r"^sequence 301 has 7 positions but 1 labels"),
        (lambda X, Y: Y.__setitem__(301, 7), r"^sequence 301 has the labels 7; expected a list"),
        (lambda X, Y: Y[301].__setitem__(0, float("nan")), r"^sequence 301: the label at position 0 is NaN"),
        (lambda X, Y: Y[301].__setitem__(0, set()), r"^sequence 301: the set of labels allowed at position 0 is empty"),
        (lambda X, Y: Y[301].__setitem__(0, []), r"^sequence 301: a label cannot be used"),
        (lambda X, Y: X[301].__setitem__(2, 5), r"^sequence 301, position 2: the token is 5"),
        (lambda X, Y: X[301].__setitem__(2, {"a": np.inf}), r"^sequence 301, position 2: features contain NaN"),
        (lambda X, Y: X.__setitem__(301, []), r"^sequence 301 is empty"),
        (lambda X, Y: X.__setitem__(301, np.ones((2, 2))), r"^sequence 301 is a matrix"),
    ],
)
def test_errors_name_the_sequence_and_leave_nothing_behind(folder, spoil, message):
    X, Y = tagged(310, seed=2)
    X[301], Y[301] = ["word1"] * 7, ["L1"] * 7
    X = attributes(X)
    spoil(X, Y)
    with pytest.raises(ValueError, match=message):
        mm.pack(zip(X, Y, strict=True), folder, "sequences")
    assert not any(folder.parent.iterdir())


def test_wrong_data_are_said(folder):
    with pytest.raises(ValueError, match=r"sequence 0 is neither a pair \(x, y\)"):
        mm.pack(["abc"], folder, "sequences")
    with pytest.raises(ValueError, match="at least one example"):
        mm.pack([], folder, "sequences")
    with pytest.raises(ValueError, match="weight -1"):
        mm.pack([([["a"]], ["x"], -1)], folder, "sequences")


def test_what_is_not_offered_is_said(folder):
    X, Y = tagged(20)
    packed = mm.pack(zip(attributes(X), Y, strict=True), folder, "sequences", hash_bits=5)
    for options, message in [
        ({"hash_bits": 6}, "packed tokens are already read"),
        ({"features": TEMPLATES}, "packed tokens are already read"),
        ({"min_count": 2}, "packed tokens are already read"),
        ({"kernel": "rbf"}, "kernel is not available for packed sequences"),
        ({"transition_features": True}, "transition_features is not available"),
        ({"invalid": "repair", "forbidden": "BIO"}, "invalid='repair' is not available"),
        ({"prior": fitted(attributes(X), Y)}, "a model as prior is not available"),
        ({"unknown": "error"}, "every feature is known"),
        ({"calibrate": 3}, "calibrate splits the examples into folds"),
        ({"classes": ["L0", "L1"]}, r"sequence \d+: the label 'L2' is not one of the classes"),
    ]:
        with pytest.raises(ValueError, match=message):
            fitted(packed, **options)
    with pytest.raises(ValueError, match="leave out Y"):
        fitted(packed, Y)
    with pytest.raises(ValueError, match="packed sequences are for training only: give a list"):
        fitted(packed).predict(packed)
    with pytest.raises(ValueError, match="a report shows single examples, which packed sequences do not offer"):
        fitted(packed).report(packed, None)
    with pytest.raises(ValueError, match="packed sequences cannot be split into folds: pack validation data"):
        mm.Tuned(mm.SequenceLabeler(), cv=3).fit(packed)
    with pytest.raises(ValueError, match="takes no packed data"):
        mm.StructuredSVM(mm.tasks.Chain()).fit(packed, None)
    with pytest.raises(ValueError, match="Y must be a list"):
        fitted(attributes(X))


# --- folders that nobody has packed so


@pytest.fixture
def small(folder):
    X, Y = tagged(30)
    values = [[dict.fromkeys(token, 2.0 + t) for t, token in enumerate(x)] for x in attributes(X)]
    data = ((x, Weighted(y, [2.0] * len(y)), 3.0) for x, y in zip(values, Y, strict=True))
    return mm.pack(data, folder, "sequences")


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("columns", lambda a: changed(a, 7, 2**31), "a column is not among the features"),
        ("columns", lambda a: changed(a, 7, a[6]), "columns of a row do not rise"),
        ("columns", lambda a: a[:-1], "array values of float64"),
        ("columns", lambda a: a.astype(np.int32), "array columns of uint32"),
        ("ends", lambda a: changed(a, 3, 0), "ends do not follow each other"),
        ("ends", lambda a: changed(a, 0, 1), "ends do not follow each other"),
        ("ends", lambda a: changed(a, -1, a[-1] + 1), "ends do not end where they should"),
        ("ends", lambda a: changed(a, 3, 2**64 - 1), "ends do not"),
        ("ends", lambda a: a[:-1], "array ends of uint64 of length"),
        ("values", lambda a: changed(a, 3, np.nan), "a feature is not finite"),
        ("values", lambda a: changed(a, 3, 1e300), "square overflows"),
        ("offsets", lambda a: changed(a, 3, a[2]), "offsets do not follow each other"),
        ("offsets", lambda a: changed(a, -1, a[-1] + 1), "offsets do not end"),
        ("offsets", lambda a: changed(a, 1, -1), "offsets do not follow each other"),
        ("rows", lambda a: changed(a, 3, 3), "a label is not in the manifest"),
        ("rows", lambda a: changed(a, 3, -1), "a label is not in the manifest"),
        ("rows", lambda a: None, "expected an array rows"),
        ("factors", lambda a: changed(a, 3, -1.0), "factors are not finite and >= 0"),
        ("factors", lambda a: a[1:], "array factors of float64 of length"),
        ("weights", lambda a: changed(a, 3, np.inf), "weights are not finite and >= 0"),
    ],
)
def test_crafted_arrays_never_reach_compiled_code(small, tmp_path, name, change, message):
    spoiled = crafted(small, tmp_path / "other", **{name: change(small.folder.arrays[name])})
    with pytest.raises(ValueError, match=message):
        spoiled.verify()
    with pytest.raises(ValueError, match=message):
        fitted(spoiled)


@given(st.data())
@examples(10, 60)
def test_whatever_is_accepted_can_be_trained_on(tmp_path_factory, data):
    base = tmp_path_factory.mktemp("folders")
    X, Y = tagged(12)
    packed = mm.pack(zip(attributes(X), Y, strict=True), base / "folder", "sequences")
    name = data.draw(st.sampled_from(["ends", "columns", "offsets", "rows"]))
    array = spoiled_numbers(data, packed.folder.arrays[name])
    spoiled = crafted(packed, base / "other", **{name: array})
    try:
        spoiled.verify()
    except ValueError:
        return
    fitted(spoiled, max_passes=1)


def test_a_folder_that_is_cut_off_is_refused_when_it_is_opened(small, folder):
    (folder / "rows.npy").write_bytes((folder / "rows.npy").read_bytes()[:-4])
    with pytest.raises(ValueError, match="type or size"):
        mm.open_packed(folder)


def test_the_folder_keeps_to_what_it_was(small):
    assert "30 packed sequences" in repr(small)
    assert isinstance(pickle.loads(pickle.dumps(small.folder)), ArrayFolder)
