"""Checkpoints that nobody should have written: a warning and the one before, or a ValueError; never a crash."""

import warnings

import numpy as np
import pytest
from base.files.spoiling import change, damaged, other_array, parts_of
from estimators.problems import sequences
from hypothesis import given
from hypothesis import strategies as st
from training.checkpoints.sessions import OFTEN, Killed, assert_same, killed_after
from training.checkpoints.test_resuming import PROBLEMS

import maxmargin as mm
from maxmargin import solvers
from maxmargin.base.files.checkpoint_files import CheckpointFile
from maxmargin.base.files.container import pieces
from maxmargin.base.files.learnt import Lines, NumberList, RandomState

HIDDEN = [[None if (i + t) % 3 == 0 else y for t, y in enumerate(each)] for i, each in enumerate(sequences(8)[1])]
LATENT = (lambda: mm.SequenceLabeler(C=10.0, solver=solvers.CCCP(restarts=2, tol=1e-2)), (sequences(8)[0], HIDDEN))
KINDS = {
    **{
        name: PROBLEMS[name]
        for name in (
            "chain bcfw",
            "chain n_slack",
            "chain one_slack",
            "chain sampled_cuts",
            "chain perceptron",
            "chain subgradient",
            "squared bcfw",
            "likelihood lbfgs",
            "likelihood exponentiated_gradient",
            "classes bcfw",
            "own task bcfw",
            "own task bundle",
            "bounds",
            "kernel",
            "kernel one_slack",
        )
    },
    "latent": LATENT,
}
QUICK, SLOW = 6, 300


def left(kind, folder, steps):
    """The bytes of a checkpoint of this kind after so many steps, and its path."""
    (make, data), path = KINDS[kind], folder / "checkpoint"
    with pytest.raises(Killed):
        make().set_params(checkpoint=path, checkpoint_every=OFTEN, callback=killed_after(steps)).fit(*data)
    return path.read_bytes(), path


def resumed(kind, path):
    """The model, or the error of the library's; compiled code must survive whatever was read."""
    make, data = KINDS[kind]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return make().set_params(checkpoint=path, checkpoint_every=1e9, max_passes=12).fit(*data)
        except (ValueError, RuntimeError, ArithmeticError, np.linalg.LinAlgError) as error:
            return error


@np.errstate(all="ignore")
def spoiled(rng, content):
    """With a right checksum: other numbers, types, sizes, or another description of what goes on."""
    description, tensors = parts_of(content)
    tensors = dict(tensors)
    for _ in range(int(rng.integers(1, 3))):
        if rng.random() < 0.7:
            name = sorted(tensors)[int(rng.integers(len(tensors)))]
            tensors[name] = other_array(rng, tensors[name])
        else:
            change(rng, [description["fit"]])
    return b"".join(bytes(piece) for piece in pieces(description, tensors))


def attack(kind, n, folder, seed):
    """Go on from n spoiled files; how many were taken for good."""
    rng = np.random.default_rng([seed, sorted(KINDS).index(kind)])
    content, path = left(kind, folder, 3)
    taken = 0
    for _ in range(n):
        try:
            file = spoiled(rng, content)
        except (TypeError, ValueError):
            continue  # which no file can hold
        path.write_bytes(file)
        path.with_name("checkpoint.previous").unlink(missing_ok=True)
        taken += not isinstance(resumed(kind, path), Exception)
    return taken


@pytest.mark.every(4)
@pytest.mark.parametrize("kind", KINDS)
def test_crafted_files_do_no_harm(kind, tmp_path):
    attack(kind, QUICK, tmp_path, 0)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_many_crafted_files_do_no_harm(kind, tmp_path):
    attack(kind, SLOW, tmp_path, 1)


@pytest.mark.parametrize("kind", ["chain bcfw", "own task bundle"])
def test_torn_and_flipped_files_fall_back(kind, tmp_path):
    make, data = KINDS[kind]
    whole = make().fit(*data)
    content, path = left(kind, tmp_path, 4)
    before = path.with_name("checkpoint.previous").read_bytes()
    rng = np.random.default_rng(0)
    files = [content[:k] for k in range(0, len(content), max(len(content) // 7, 1))]
    files += [damaged(rng, content, [before]) for _ in range(8)]
    for file in files:
        if file == content:
            continue
        path.write_bytes(file)
        path.with_name("checkpoint.previous").write_bytes(before)
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            found = make().set_params(checkpoint=path, checkpoint_every=1e9).fit(*data)
        assert any("continues from the checkpoint before it" in str(each.message) for each in heard)
        assert_same(whole, found)


def test_both_files_damaged(tmp_path):
    content, path = left("chain bcfw", tmp_path, 4)
    path.write_bytes(content[:50])
    path.with_name("checkpoint.previous").write_bytes(content[:-1])
    make, data = KINDS["chain bcfw"]
    with pytest.raises(ValueError, match="Delete both, or give another path"):
        make().set_params(checkpoint=path).fit(*data)
    assert path.read_bytes() == content[:50]


def test_a_draft_that_was_left_is_no_obstacle(tmp_path):
    make, data = KINDS["chain bcfw"]
    (tmp_path / "checkpoint.unfinished").write_bytes(b"half of a")
    model = make().set_params(checkpoint=tmp_path / "checkpoint", checkpoint_every=OFTEN).fit(*data)
    assert_same(make().fit(*data), model)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["checkpoint", "checkpoint.previous"]


def test_a_full_disk_is_said_and_training_goes_on(tmp_path, monkeypatch):
    def full(self, content):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(CheckpointFile, "write", full)
    make, data = KINDS["chain bcfw"]
    with pytest.warns(UserWarning, match="no checkpoint was written: .*No space left"):
        model = make().set_params(checkpoint=tmp_path / "checkpoint", checkpoint_every=OFTEN).fit(*data)
    assert_same(make().fit(*data), model)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=8,
)


@given(ANYTHING)
def test_fields_take_what_they_have_left_and_nothing_else(found):
    for field, current in (
        (RandomState(), np.random.default_rng(3)),
        (Lines(["a"]), [{"a": 1.0}, {"a": 2.0}]),
        (NumberList(), [1.0, 2.0]),
    ):
        try:
            taken = field.refilled(found, current, None)
        except ValueError:
            continue
        assert taken == [] or found == field.left(taken)


@given(st.integers(0, 2**63), st.integers(0, 50))
def test_random_states_go_on(seed, drawn):
    first, second = np.random.default_rng(seed), np.random.default_rng(0)
    first.integers(10, size=drawn, dtype=np.uint32)
    RandomState().refilled(RandomState().left(first), second, None)
    assert first.random(5).tobytes() == second.random(5).tobytes()


@given(st.lists(st.tuples(st.floats(), st.floats()), max_size=5))
def test_lines_round_trip(rows):
    lines = [{"one": a, "two": b} for a, b in rows]
    assert repr(Lines(["one", "two"]).refilled(Lines(["one", "two"]).left(lines), [], None)) == repr(lines)
