"""The coordinate of the weight of a key.

It is found in a table of known keys with open addressing: slots[i] is a key or 0, and numbers[i] the coordinate of its
weight; a key that is not in the table has none. If the table is empty, it is one of 2^bits buckets, which keys may
share.
"""

import numpy as np

from maxmargin.base.compiled.kernel import kernel

NOWHERE = -1
SPREAD = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio, odd: the high bits of products depend on all bits


@kernel
def bucket_of(key, bits):
    """Return a number below 2^bits, spread evenly."""
    mixed = (key ^ (key >> np.uint64(29))) * SPREAD
    mixed = (mixed ^ (mixed >> np.uint64(32))) * SPREAD
    return mixed >> np.uint64(64 - bits)


@kernel
def place_of(key, slots, numbers, bits):
    """Return the coordinate of a key, or NOWHERE."""
    slot = bucket_of(key, bits)
    if len(slots) == 0:
        return np.int64(slot)
    mask = np.uint64(len(slots) - 1)
    while slots[slot] != key:
        if slots[slot] == 0:
            return np.int64(NOWHERE)
        slot = (slot + np.uint64(1)) & mask
    return np.int64(numbers[slot])


@kernel
def fill_slots(keys, bits, slots, numbers):
    """Insert different keys into an empty table of 2^bits slots; key k has the number k."""
    mask = np.uint64(len(slots) - 1)
    for k in range(len(keys)):
        slot = bucket_of(keys[k], bits)
        while slots[slot] != 0:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = keys[k]
        numbers[slot] = k
