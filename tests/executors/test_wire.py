"""Messages: what is read is what was written, bit for bit, and nobody else's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from maxmargin.executors.wire import LONG, Ledger, Message


def crossed(thing):
    return Message.of(Ledger(), thing).read(Ledger())


@given(
    st.sampled_from([0, 100, LONG // 8 - 1, LONG // 8, 20_000]),
    st.floats(0, 1),
    arrays(float, 7, elements=st.floats(width=64)),
    st.integers(0, 2**32 - 1),
)
def test_vectors_arrive_bit_for_bit(length, share, values, seed):
    """With any share of zeros, and with values that are easily lost: -0.0, nan, numbers close to 0."""
    vector = np.where(np.random.default_rng(seed).random(length) < share, np.resize(values, length), 0.0)
    for sent in (vector, vector[::3], vector[::-1]):
        found, again = crossed((sent, [sent]))
        assert found.dtype == sent.dtype
        assert found.tobytes() == sent.tobytes() == again[0].tobytes()


@pytest.mark.parametrize(
    ("thing", "at_most"),
    [
        (np.eye(1, 100_000)[0], 2_000),
        (np.repeat([0.0, 1.0], [75_000, 25_000]), 16 * 25_000 + 2_000),
        (np.full(100_000, -0.0), 810_000),
        (np.zeros((300, 300)), 730_000),
        (np.zeros(100_000, dtype=int), 810_000),
    ],
    ids=["one", "a quarter", "negative zeros", "tables", "integers"],
)
def test_vectors_without_their_zeros(thing, at_most):
    message = Message.of(Ledger(), thing)
    assert len(message) <= at_most
    found = message.read(Ledger())
    assert (found.dtype, found.shape, found.tobytes()) == (thing.dtype, thing.shape, thing.tobytes())


@pytest.mark.parametrize("alone", [False, True])
def test_what_is_read_can_be_changed(alone):
    message = Message.of(Ledger(), np.ones(20_000))
    message.arrays[0].flags.writeable = False  # as what comes from a network may be
    found = message.read(Ledger(), alone=alone)
    found += 1
    assert (found == 2).all()
    assert (message.read(Ledger()) == 1).all()


def test_arrays_are_copied_unless_the_reader_is_alone():
    message = Message.of(Ledger(), np.ones(20_000))
    assert not np.shares_memory(message.read(Ledger()), message.arrays[0])
    assert np.shares_memory(message.read(Ledger(), alone=True), message.arrays[0])
