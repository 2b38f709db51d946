"""Messages: what is read is what was written, bit for bit, and nobody else's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from maxmargin.executors.messages import LONG, Ledger, Message


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


# --- placed objects, and messages that refer to their contents


def placed(thing):
    """Return the ledgers of both sides after placing, and the copy on the other side."""
    message, contents = Message.placing(thing)
    there, found = message.read_placed(Ledger())
    here, other = Ledger(), Ledger()
    here.keep(0, contents)
    other.keep(0, found)
    return here, other, there


def test_contents_that_both_sides_have_are_references():
    long, short, words = np.arange(10_000.0), np.arange(3), ["a", "b"]
    here, other, copy = placed({"long": long, "inside": [words, long, short], "again": words})
    assert copy["inside"][0] is copy["again"]
    assert copy["inside"][1] is copy["long"]
    answer = Message.of(other, (copy["long"], copy["again"], copy["inside"], copy["inside"][2], 2 * copy["long"]))
    assert len(answer) < long.nbytes + 1000  # what is new
    again = answer.read(here)
    assert again[0] is long
    assert again[1] is words
    assert again[2][0] is words
    np.testing.assert_array_equal(again[3], short)
    np.testing.assert_array_equal(again[4], 2 * long)
    assert Message.of(here, [long]).read(other)[0] is copy["long"]


class Node:
    def __init__(self, siblings, parent):
        self.siblings, self.parent = siblings, parent


def test_lists_that_contain_themselves_are_placed():
    """As those of trees whose nodes know their parents and each other."""
    root = Node([], None)
    children = [Node(None, root), Node(None, root)]
    for child in children:
        child.siblings = children
    children.append(children)
    here, other, copy = placed((root, children))
    assert copy[1][0].siblings is copy[1] is copy[1][2]
    assert copy[1][1].parent is copy[0]
    assert Message.of(other, copy[1]).read(here) is children


def test_what_is_forgotten_is_sent_in_full():
    first, second = np.arange(100.0), np.arange(100.0)
    here = Ledger()
    here.keep(0, [first])
    here.keep(1, [first, second])
    short = len(Message.of(here, [first, second]))
    here.forget(1)
    assert len(Message.of(here, second)) > first.nbytes > short
    here.forget(0)
    assert not here.numbers
