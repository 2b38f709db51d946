"""Packed rows with classes: a fit from the folder is that from a matrix to the last bit; others are refused."""

import json
import pickle

import numpy as np
import pytest
from base.files.crafted_folders import changed, crafted, spoiled_numbers
from base.files.travelling_parts import check_that_it_travels
from hypothesis import given
from hypothesis import strategies as st
from inputs.packed.rows_to_pack import classes, in_blocks, rows, same
from scipy import sparse
from thorough import THOROUGH, examples

import maxmargin as mm
from maxmargin.base.files import array_folder
from maxmargin.base.files.array_folder import MANIFEST

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::maxmargin.errors.NothingLearnt"),  # training ends early here
]

X = rows()
Y = classes(X)


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "folder"


def fitted(*data, kind=mm.MulticlassSVC, sample_weight=None, **options):
    return kind(**{"C": 5.0, "max_passes": 6, "tol": 1e-6, **options}).fit(*data, sample_weight=sample_weight)


# --- the same model


@pytest.mark.parametrize("make", [sparse.csr_array, lambda matrix: matrix.toarray()], ids=["sparse", "dense"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"solver": "one_slack"},
        {"solver": "n_slack"},
        {"solver": "bundle"},
        {"solver": "subgradient"},
        {"solver": "perceptron"},
        {"rescaling": "slack"},
        {"slack": "l2"},
        {"costs": {1: 3.0}},
        {"fit_intercept": False},
        {"memory_mb": 1},
        {"n_jobs": 2},
        {"bounds": (0, None)},
        {"prior": np.ones(31 * 4)},
    ],
    ids=str,
)
def test_the_model_is_that_of_a_matrix_to_the_last_bit(folder, options, make):
    given = make(X)
    packed = mm.pack(in_blocks(given, Y), folder, "classes")
    model, other = fitted(packed, **options), fitted(given, Y, **options)
    same(model, other)
    np.testing.assert_array_equal(model.predict(packed), other.predict(X))
    np.testing.assert_array_equal(model.decision_function(packed), other.decision_function(X))
    assert model.score(packed) == other.score(given, Y)
    assert model.classes_.dtype == other.classes_.dtype


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (mm.OrdinalSVC, {}),
        (mm.OrdinalSVC, {"directions": "separate", "measure": "error"}),
        (mm.OrdinalSVC, {"solver": "one_slack", "order": [2, 0, 1, 3]}),
        (mm.OrdinalSVC, {"slack": "l2"}),
        (mm.TaxonomySVC, {"taxonomy": {0: "a", 1: "a", 2: "b", 3: "b", "a": None, "b": None}, "fit_intercept": False}),
    ],
    ids=str,
)
def test_other_estimators_of_classes_take_them_too(folder, kind, options):
    packed = mm.pack(in_blocks(X, Y), folder, "ordinal")
    assert not packed.constant
    same(fitted(packed, kind=kind, **options), fitted(X, Y, kind=kind, **options))


@pytest.mark.parametrize(
    ("measure", "options"),
    [
        ("f1", {}),
        ("f1", {"train_for": "measure", "rescaling": "slack"}),
        ("f1", {"slack": "l2", "cut": "trained"}),
        ("f1", {"solver": "bcfw"}),
        ("f1", {"fit_intercept": False}),
        ("error", {}),
        ("roc_auc", {}),  # sees rows without the constant
        ("prbep", {}),  # is tried without it, and its substitute with it
        ("recall_at_k", {"k": 30}),
    ],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_measures_have_their_folds_too(folder, measure, options, weighted):
    truth, weights = np.where(Y > 1, "yes", "no"), (np.arange(400) % 3).astype(float) if weighted else None
    data = (X, truth) if weights is None else (X, truth, weights)
    packed = mm.pack(in_blocks(*data), folder, "measure")
    given = {"kind": mm.MeasureSVC, "measure": measure, "max_passes": 30, "tol": 1e-2, **options}
    model, other = fitted(packed, **given), fitted(X, truth, sample_weight=weights, **given)
    same(model, other)
    assert (model.offset_, model.cut_by_, model.trained_for_) == (other.offset_, other.cut_by_, other.trained_for_)
    assert model.cv_scores_ == other.cv_scores_
    if not (weighted and measure in ("prbep", "recall_at_k")):
        assert model.score(packed) == other.score(X, truth, weights)
    np.testing.assert_array_equal(model.predict(packed), other.predict(X))
    assert model.certify(packed).primal == other.certify(X, truth, weights).primal


def test_weights_are_packed_and_can_be_given_later(folder):
    weights = np.arange(400) % 5 + 0.5
    packed = mm.pack(in_blocks(X, Y, weights), folder, "classes")
    same(fitted(packed), fitted(X, Y, sample_weight=weights))
    assert fitted(packed).score(packed) == fitted(packed).score(X, Y, weights)
    others = np.arange(400.0)
    same(fitted(packed, sample_weight=others), fitted(X, Y, sample_weight=others))


@pytest.mark.parametrize("value", [1.0, 0.1])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_value_that_all_features_share_is_one_number(folder, value, fit_intercept):
    given = X.copy()
    given.data[:] = value
    packed = mm.pack(in_blocks(given, Y), folder, "classes", fit_intercept=fit_intercept)
    alone = value != 1 and fit_intercept
    assert len(packed.folder.arrays.get("values", ())) == (X.nnz + 400 if alone else int(value != 1))
    for options in ({"fit_intercept": fit_intercept}, {"fit_intercept": False}):
        same(fitted(packed, **options), fitted(given, Y, **options))


@pytest.mark.parametrize(
    "labels",
    [
        Y + 1.0,
        Y.astype(np.uint8),
        Y.astype(np.float32),
        [f"c{y}" for y in Y],
        np.array([f"c{y}" for y in Y], dtype=object),
        Y > 1,
        Y - 2,
    ],
    ids=["floats", "bytes", "short", "texts", "objects", "booleans", "negative"],
)
def test_labels_are_what_they_were(folder, labels):
    packed = mm.pack(in_blocks(X, np.asarray(labels)), folder, "classes")
    model, other = fitted(packed), fitted(X, labels)
    same(model, other)
    assert model.classes_.tolist() == other.classes_.tolist()
    assert model.classes_.dtype == other.classes_.dtype
    assert model.predict(X[:3]).tolist() == other.predict(X[:3]).tolist()


def test_paths_certify_and_partial_fit_take_folders(folder):
    packed = mm.pack(in_blocks(X, Y), folder, "classes")
    model = mm.MulticlassSVC(C=5).fit(packed)
    assert model.certify(packed).primal == model.certify(X, Y).primal
    for one, other in zip(
        mm.MulticlassSVC().fit_path(packed, None, [1, 2]), mm.MulticlassSVC().fit_path(X, Y, [1, 2]), strict=True
    ):
        same(one, other)
    online, other = mm.MulticlassSVC(solver="subgradient"), mm.MulticlassSVC(solver="subgradient")
    for _ in range(2):
        same(online.partial_fit(packed, classes=range(4)), other.partial_fit(X, Y, classes=range(4)))


@pytest.mark.parametrize("kind", [mm.MulticlassSVC, mm.MeasureSVC, mm.OrdinalSVC])
def test_folds_of_a_folder_are_those_of_a_matrix(folder, kind):
    weights, labels = np.arange(400) % 3 + 1.0, Y // 2 if kind is mm.MeasureSVC else Y
    packed = mm.pack(in_blocks(X, labels, weights), folder, "classes", fit_intercept=kind is not mm.OrdinalSVC)
    estimator = kind(memory_mb=1, max_passes=5)
    tuned = mm.Tuned(estimator, Cs=[0.1, 10], cv=3).fit(packed)
    other = mm.Tuned(estimator, Cs=[0.1, 10], cv=3).fit(X, labels, sample_weight=weights)
    assert tuned.results_["mean_score"].tolist() == other.results_["mean_score"].tolist()
    assert tuned.best_C_ == other.best_C_
    same(tuned.best_estimator_, other.best_estimator_)
    with pytest.raises(ValueError, match="leave out y"):
        mm.Tuned(estimator, cv=3).fit(packed, labels)


def test_warm_starts_and_checkpoints_know_the_folder(folder, tmp_path):
    packed = mm.pack(in_blocks(X, Y), folder, "classes")
    model = mm.MulticlassSVC(C=5, warm_start=True).fit(packed)
    first = model.certificate_.passes
    assert model.fit(mm.open_packed(folder)).certificate_.passes < first
    kept = {"checkpoint": tmp_path / "job.checkpoint", "checkpoint_every": 1}
    same(fitted(packed, **kept), fitted(X, Y))
    other = mm.pack(in_blocks(X, Y[::-1]), tmp_path / "other", "classes")
    with pytest.raises(ValueError, match="the data differ"):
        fitted(other, **kept)


def test_models_of_folders_are_saved(folder, tmp_path):
    model = fitted(mm.pack(in_blocks(X, Y), folder, "classes"))
    model.save(tmp_path / "model.mm")
    np.testing.assert_array_equal(mm.load(tmp_path / "model.mm").predict(X), model.predict(X))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))


# --- what travels


def test_a_part_is_a_name_and_a_range(folder):
    many = sparse.vstack([X] * 10, format="csr")
    packed = mm.pack(in_blocks(many, np.tile(Y, 10)), folder, "classes")
    model = fitted(packed, max_passes=1)
    batch = model.task_.pack(packed.inputs, packed.outputs)
    part = batch.take(np.arange(1000, 2000))
    check_that_it_travels(part, packed, model.w_, 3000)


def test_of_classes_in_another_order_a_part_takes_its_own_labels(folder):
    packed = mm.pack(in_blocks(X, Y), folder, "ordinal")
    model = fitted(packed, kind=mm.OrdinalSVC, order=[3, 1, 0, 2], max_passes=1)
    batch = model.task_.pack(packed.inputs, packed.outputs)
    part = batch.take(np.arange(100, 110))
    content = pickle.dumps(part)
    assert len(content) < 4000
    np.testing.assert_array_equal(pickle.loads(content).planes(model.w_).loss, part.planes(model.w_).loss)


def test_processes_read_the_folder_themselves(folder, pool):
    many = sparse.vstack([X] * 10, format="csr")
    packed = mm.pack(in_blocks(many, np.tile(Y, 10)), folder, "classes")
    models, sent = [], []
    for data in ((packed,), (many, np.tile(Y, 10))):
        before = pool.sent
        models.append(fitted(*data, solver="one_slack", executor=pool, max_passes=3))
        sent.append(pool.sent - before)
    same(*models)
    assert sent[0] < sent[1] - 12 * many.nnz  # columns and values of all rows


def test_a_worker_compares_its_own_part_with_the_checksums(folder, monkeypatch):
    monkeypatch.setattr(array_folder, "BLOCK", 4096)
    packed = mm.pack(in_blocks(X, Y), folder, "classes")
    batch = fitted(packed, max_passes=1).task_.pack(packed.inputs, packed.outputs)
    first, last = (pickle.dumps(batch.take(np.arange(*reach))) for reach in ((0, 50), (350, 400)))
    path = folder / "columns.npy"
    path.write_bytes(path.read_bytes()[:-1] + b"\7")
    assert len(pickle.loads(first)) == 50
    with pytest.raises(ValueError, match="checksum is wrong"):
        pickle.loads(last)


def test_folders_that_travel_are_compared_again(folder):
    packed = mm.pack(in_blocks(X, Y), folder, "classes")
    packed.verify()
    contents = [pickle.dumps(each) for each in (packed, packed.inputs, packed.inputs[:10])]
    assert pickle.loads(contents[0]).inputs.shape == (400, 31)
    assert pickle.loads(contents[2]).shape == (10, 31)
    path = folder / "columns.npy"
    path.write_bytes(path.read_bytes()[:-1] + b"\7")
    for content in contents:
        with pytest.raises(ValueError, match="checksum is wrong"):
            pickle.loads(content).verify()


# --- what is said


def test_what_is_not_offered_is_said(folder, tmp_path):
    packed = mm.pack(in_blocks(X, Y), folder, "classes", fit_intercept=False)
    for data, options, message in [
        (packed, {}, "packed without a constant feature: give fit_intercept=False, or pack"),
        (packed, {"kernel": "rbf", "fit_intercept": False}, "kernel is not available for packed rows"),
        (packed, {"kind": mm.MeasureSVC, "fit_intercept": False}, "Only binary classification"),
        (packed, {"kind": mm.Ranker}, "X has packed classes; this estimator takes packed ranking"),
    ]:
        with pytest.raises(ValueError, match=message):
            fitted(data, **options)
    with pytest.raises(ValueError, match="leave out Y"):
        mm.MulticlassSVC().fit(packed, Y)
    with pytest.raises(ValueError, match="requires y"):
        mm.MulticlassSVC().fit(X)
    model = fitted(X[:, :20], Y)
    for use in (model.predict, model.certify, model.score):
        with pytest.raises(ValueError, match="have 30 features; expected 20"):
            use(packed)
    one = mm.pack([(X, np.zeros(400, dtype=int))], tmp_path / "one", "classes")
    with pytest.raises(ValueError, match="only one class"):
        fitted(one)
    with pytest.raises(ValueError, match=r"example 7: the label 2 is a third class besides .*; expected two classes"):
        mm.pack([(X[:8], [0, 0, 1, 0, 0, 1, 1, 2])], tmp_path / "other", "measure")


def test_a_kernel_map_before_packing_is_the_way_to_kernels(folder):
    mapped = mm.kernels.KernelMap("rbf", n_components=20).fit(X)
    blocks = [(mapped.transform(x), y) for x, y in in_blocks(X, Y)]
    packed = mm.pack(blocks, folder, "classes")
    # The matrix of the same blocks: BLAS may round the transform of all rows at once in another way.
    same(fitted(packed), fitted(np.vstack([x for x, _ in blocks]), Y))


# --- folders that nobody has packed so


@pytest.fixture
def small(folder):
    return mm.pack([(X[:40], Y[:40], np.arange(40) + 1.0)], folder, "classes")


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("columns", lambda a: changed(a, 7, 2**31), "a column is not among the features"),
        ("columns", lambda a: changed(a, 1, a[0]), "columns of a row do not rise"),
        ("columns", lambda a: a[:-1], "array values of float64"),
        ("columns", lambda a: a.astype(np.int32), "array columns of uint32"),
        ("columns", lambda a: changed(a, -1, 29), "a row does not end with the constant feature"),
        ("ends", lambda a: changed(a, 3, 0), "ends do not follow each other"),
        ("ends", lambda a: changed(a, 0, 1), "ends do not follow each other"),
        ("ends", lambda a: changed(a, 1, 0), "a row does not end with the constant feature|columns of a row do not"),
        ("ends", lambda a: changed(a, -1, a[-1] + 1), "ends do not end where they should"),
        ("ends", lambda a: a[:-1], "array ends of uint64 of length"),
        ("values", lambda a: changed(a, 3, np.nan), "a feature is not finite"),
        ("values", lambda a: changed(a, 3, 1e300), "square overflows"),
        ("values", lambda a: changed(a, -1, 2.0), "the constant feature is not 1"),
        ("values", lambda a: np.array([2.0]), "the constant feature is not 1"),
        ("values", lambda a: a[:5], "array values of float64 of length"),
        ("labels", lambda a: changed(a, 3, 4), "a label is not in the manifest"),
        ("labels", lambda a: changed(a, 3, -1), "a label is not in the manifest"),
        ("labels", lambda a: None, "expected an array labels"),
        ("labels", lambda a: a[1:], "array labels of int32 of length"),
        ("weights", lambda a: changed(a, 3, np.inf), "weights are not finite and >= 0"),
        ("weights", lambda a: a[1:], "array weights of float64 of length"),
    ],
)
def test_crafted_arrays_never_reach_compiled_code(small, tmp_path, name, change, message):
    spoiled = crafted(small, tmp_path / "other", **{name: change(small.folder.arrays[name])})
    with pytest.raises(ValueError, match=message):
        spoiled.verify()
    with pytest.raises(ValueError, match=message):
        fitted(spoiled)
    with pytest.raises(ValueError, match=message):
        fitted(X, Y).predict(spoiled)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda fields: fields.update(n=0), "PackedClasses.n: "),
        (lambda fields: fields.update(n_features=0), "PackedClasses.n_features: "),
        (lambda fields: fields.update(n_features="x"), "PackedClasses.n_features: "),
        (lambda fields: fields.update(constant=1), "PackedClasses.constant: "),
        (lambda fields: fields.update(names=["a"]), "PackedClasses.names: "),
        (lambda fields: fields.update(labels=[0, 0]), "PackedClasses.labels: "),
        (lambda fields: fields.update(labels=[]), "PackedClasses.labels: "),
        (lambda fields: fields.update(label_type="int64; os"), "labels is"),
        (lambda fields: fields.update(kind="x"), "PackedClasses has no field 'kind'"),
        (lambda fields: fields.pop("labels"), "PackedClasses has no labels"),
    ],
)
def test_crafted_manifests_are_refused(small, folder, change, message):
    told = json.loads((folder / MANIFEST).read_text())
    del told["sha256"]
    change(told["parts"][-1]["fields"])
    signed = {**told, "sha256": array_folder._digest(array_folder._text(told).encode())}
    (folder / MANIFEST).write_text(json.dumps(signed))
    with pytest.raises(ValueError, match=message):
        mm.open_packed(folder)


@pytest.mark.parametrize("changes", [{"n": 39}, {"n": 41}, {"n_features": 29}, {"constant": False}])
def test_manifests_that_are_not_of_these_arrays_are_refused(small, folder, changes):
    told = json.loads((folder / MANIFEST).read_text())
    del told["sha256"]
    told["parts"][-1]["fields"].update(changes)
    signed = {**told, "sha256": array_folder._digest(array_folder._text(told).encode())}
    (folder / MANIFEST).write_text(json.dumps(signed))
    with pytest.raises(ValueError, match="is damaged"):
        mm.open_packed(folder).verify()


@given(st.data())
@examples(10, 60)
def test_whatever_is_accepted_can_be_trained_on(tmp_path_factory, data):
    base = tmp_path_factory.mktemp("folders")
    packed = mm.pack([(X[:12], Y[:12])], base / "folder", "classes", fit_intercept=data.draw(st.booleans()))
    name = data.draw(st.sampled_from(["ends", "columns", "labels"]))
    array = spoiled_numbers(data, packed.folder.arrays[name])
    spoiled = crafted(packed, base / "other", **{name: array})
    try:
        spoiled.verify()
        fitted(spoiled, max_passes=1, fit_intercept=False)
    except ValueError:
        return


@pytest.mark.thorough
@pytest.mark.parametrize("file", ["ends", "columns", "values", "labels", "weights"])
def test_every_byte_counts(folder, file):
    mm.pack([(X[:4], [0, 1, 0, 1], [1.0, 2.0, 1.0, 1.0])], folder, "classes")
    path = folder / f"{file}.npy"
    content = path.read_bytes()
    for k in range(0, len(content), 1 if THOROUGH else 7):
        for spoiled in (content[:k], content[:k] + bytes([content[k] ^ 0x11]) + content[k + 1 :]):
            path.write_bytes(spoiled)
            with pytest.raises(ValueError, match="damaged"):
                mm.open_packed(folder).verify()
