"""Training data are recognised by their content, in any form, and nothing else is."""

import numpy as np
import pytest
from scipy import sparse

import maxmargin as mm
from maxmargin.base.training_sketch import REMEMBERED, TrainingSketch

X, Y = np.random.default_rng(0).standard_normal((300, 4)).round(1), np.arange(300) % 3


@pytest.mark.parametrize("form", [np.array, sparse.csr_array, sparse.csc_array, np.ndarray.tolist])
@pytest.mark.parametrize("labels", [np.array, np.ndarray.tolist, lambda y: y.astype(float)])
def test_the_same_data_in_any_form(form, labels):
    seen = TrainingSketch.of(X, Y).seen(form(X), labels(Y))
    assert seen.all_of_them
    assert seen.notice.startswith("These are the data that the model was trained on")


def test_a_part_of_the_training_data():
    sketch = TrainingSketch.of(X, Y)
    assert len(sketch.hashes) == REMEMBERED
    seen = sketch.seen(X[:150], Y[:150])
    assert not seen.all_of_them
    assert seen.found == sum(k < 150 for k in np.linspace(0, 299, REMEMBERED).round())
    assert seen.share == pytest.approx(1, abs=0.02)
    assert f"At least {seen.found} of these examples" in seen.notice


def test_other_data():
    sketch = TrainingSketch.of(X, Y)
    assert sketch.seen(X + 0.05, Y).found == 0
    assert sketch.seen(X, (Y + 1) % 3).notice == ""


def test_what_cannot_be_compared():
    assert TrainingSketch.of(iter([1]), [1]) is None
    assert TrainingSketch.of([object(), object()], [0, 1]) is None
    assert TrainingSketch.of([1, 2], [1]) is None


@pytest.mark.parametrize("shape", [(1, 12), (3, 4)])
def test_sparse_matrices_of_any_kind_have_the_content_of_dense_ones(shape):
    dense = np.arange(12).reshape(shape) * (np.arange(12).reshape(shape) % 3 > 0)
    duplicates = sparse.csr_array(([1.0, 2.0, 0.0, 5.0], ([0, 0, 0, 0], [2, 2, 1, 0])), shape=(1, 4))
    assert TrainingSketch.of([duplicates], [0]).seen([np.array([5.0, 0, 3, 0])], [0]).all_of_them
    for form in (sparse.csr_array, sparse.csc_array, sparse.coo_array, sparse.csr_matrix):
        assert TrainingSketch.of([form(dense)], [0]).seen([dense[0] if shape[0] == 1 else dense], [0]).all_of_them


def test_no_dense_row_is_made():
    """A dense row of these features would take 32 TB."""
    rows = sparse.csr_array(([1.0, 2.0], [7, 2**42 - 1], [0, 1, 2]), shape=(2, 2**42))
    assert len(TrainingSketch.of(rows, [0, 1]).hashes) == 2


def test_whole_numbers_beyond_the_largest_float():
    assert TrainingSketch.of([[1.0]], [10**400]) is None
    assert TrainingSketch.of([[10**400]], [1]) is None


def test_models_keep_it(tmp_path):
    model = mm.MulticlassSVC().fit(X, Y)
    model.save(tmp_path / "model.mm")
    again = mm.load(tmp_path / "model.mm")
    assert again.report(X, Y).notice == model.report(X, Y).notice != ""
    assert "Training data. " in again.report(X, Y).html
    assert again.report(X + 0.05, Y).notice == ""
    assert [each.training_sketch_.n for each in mm.MulticlassSVC().fit_path(X, Y, [1.0, 10.0])] == [300, 300]


def test_a_failed_fit_forgets_it():
    model = mm.MulticlassSVC().fit(X, Y)
    with pytest.raises(ValueError, match="inconsistent numbers"):
        model.fit(X, Y[:-1])
    assert not hasattr(model, "training_sketch_")
