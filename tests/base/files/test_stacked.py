"""What is kept of single examples: back as it was, in as few arrays for many as for some, and checked."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from training.checkpoints.sessions import OFTEN, Killed, assert_same, killed_after

import maxmargin as mm
from maxmargin.base.files import container
from maxmargin.base.files.objects import WRONG
from maxmargin.base.files.plain_data import DataReader, DataWriter
from maxmargin.base.files.stacked import Stacked
from maxmargin.errors import CheckpointDamaged
from maxmargin.tasks import Nodes

ANY = st.one_of(
    st.none(),
    *(
        hnp.arrays(dtype, hnp.array_shapes(min_dims=dims, max_dims=dims, min_side=0, max_side=3))
        for dtype, dims in ((np.float64, 1), (np.int64, 2))
    ),
)
VALUES = st.one_of(
    st.none(),
    st.lists(ANY, max_size=5),
    st.integers(0, 3).flatmap(lambda m: st.lists(st.lists(ANY, min_size=m, max_size=m), max_size=5)),
    st.lists(st.lists(ANY, max_size=2), max_size=4),
    st.lists(st.one_of(st.integers(), ANY), max_size=3),
)


def same(one, other):
    if isinstance(one, list):
        return isinstance(other, list) and len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    return one == other


@given(VALUES)
def test_back_as_it_was(value):
    writer = DataWriter()
    written = writer.write(Stacked().left(value), "it")
    found = DataReader(writer.tensors, lambda name: None).read(written)
    again = Stacked().refilled(found, None, SimpleNamespace(n=0 if value is None else len(value)))
    assert same(value, again)


def test_many_take_no_more_arrays_than_some():
    def arrays(n):
        writer = DataWriter()
        writer.write(Stacked().left([[None if i % 2 else np.ones((i, 2)), np.arange(i)] for i in range(n)]), "it")
        return len(writer.tensors)

    assert arrays(3) == arrays(300) == 6


COLUMN = {"numbers": np.zeros(4), "shapes": np.array([[2], [2]]), "known": np.array([True, False, True])}


@pytest.mark.parametrize(
    "change",
    [
        {"numbers": np.zeros(5)},
        {"numbers": np.zeros((2, 2))},
        {"shapes": np.array([[2], [-2]])},
        {"shapes": np.array([[2], [2], [0]])},
        {"shapes": np.array([[2**62], [2**62]])},
        {"shapes": np.array([[2**62, 0, 2**62], [4, 1, 1]])},
        {"shapes": np.array([[2.0], [2.0]])},
        {"known": np.array([True, True, True])},
        {"known": np.array([True, True])},
        {"known": None},
        {"more": 1},
    ],
)
def test_what_cannot_have_been_left_is_refused(change):
    owner = SimpleNamespace(n=3)
    assert Stacked().refilled({"alone": True, "columns": [COLUMN]}, None, owner)[1] is None
    with pytest.raises(WRONG):
        Stacked().refilled({"alone": True, "columns": [{**COLUMN, **change}]}, None, owner)


@pytest.mark.parametrize(
    "found", [5, {}, {"each": 5}, {"each": [1]}, {"alone": 1, "columns": [COLUMN]}, {"alone": False, "columns": []}]
)
def test_other_things_are_refused(found):
    with pytest.raises(WRONG):
        Stacked().refilled(found, None, SimpleNamespace(n=3))


def graphs(n):
    rng = np.random.default_rng(0)
    Y = [rng.integers(3, size=(3, 3)) for _ in range(n)]
    return [Nodes.grid(np.eye(3)[y] + rng.normal(size=(3, 3, 3))) for y in Y], Y


def test_many_graphs_have_a_checkpoint(tmp_path, monkeypatch):
    """A file has room for some thousand arrays; searches of graphs remember several of every graph."""
    X, Y = graphs(30)
    options = {"C": 1.0, "tol": 1e-3, "method": "relaxation", "max_passes": 8}
    whole = mm.GraphLabeler(**options).fit(X, Y)
    monkeypatch.setattr(container, "MOST_ARRAYS", 100)
    options |= {"checkpoint": tmp_path / "checkpoint", "checkpoint_every": OFTEN}
    with pytest.raises(Killed):
        mm.GraphLabeler(**options, callback=killed_after(3)).fit(X, Y)
    assert_same(whole, mm.GraphLabeler(**options).fit(X, Y))


def test_a_state_for_which_a_file_has_no_room_ends_no_training(tmp_path, monkeypatch):
    X, Y = graphs(4)
    monkeypatch.setattr(container, "MOST_ARRAYS", 3)
    model = mm.GraphLabeler(checkpoint=tmp_path / "checkpoint", checkpoint_every=OFTEN, max_passes=3)
    with pytest.warns(CheckpointDamaged, match=r"no checkpoint was written: it has \d+ arrays .* Training continues"):
        model.fit(X, Y)
    assert not (tmp_path / "checkpoint").exists()
    assert model.w_.any()
    monkeypatch.setattr(container, "MOST_ARRAYS", 0)
    with pytest.raises(ValueError, match=r"can hold 0 arrays and about .* Use pickle to keep"):
        model.save(tmp_path / "model.mm")
