"""Dicts of names and values, out of the bytes that pickle writes of them.

To ask Python for the type of every value, and then for the value, takes several times as long as to pickle all dicts
and look at the bytes: pickle tells what is a string and what a number in one loop in C. Read are pickles of protocol 3
without memo (pickletools of the standard library describes them): behind every key of a dict stands its value, each
after a byte that says what it is. Whatever else stands there is left to others.

Names are rows of words, as in names.py.
"""

from __future__ import annotations

import numpy as np

from maxmargin.base.compiled.kernel import kernel
from maxmargin.inputs.tokens.compiled.names import EIGHT, HALF, HIGH, LAST, LOW, ONE, SEVEN, THREE, ZERO

BYTES, PAIRS = np.uint64(0x00FF00FF00FF00FF), np.uint64(0x0000FFFF0000FFFF)  # every other one
HEADER = np.uint64(2)  # the protocol's number, and the byte that announces it
LENGTH = np.uint64(4)  # bytes of the length of a string
EQUALS = np.uint64(ord("="))
DOT, TEXT, REAL = np.uint64(ord(".")), np.uint64(ord("X")), np.uint64(ord("G"))
TRUE, FALSE = np.uint64(0x88), np.uint64(0x89)
BYTE, PAIR, FOUR, FEW = np.uint64(ord("K")), np.uint64(ord("M")), np.uint64(ord("J")), np.uint64(0x8A)  # whole numbers
# The list and its dicts: beginnings, and the ends of parts of them.
LIST, DICT, MARK = np.uint64(ord("]")), np.uint64(ord("}")), np.uint64(ord("("))
APPEND, APPENDS, SET, SETS = np.uint64(ord("a")), np.uint64(ord("e")), np.uint64(ord("s")), np.uint64(ord("u"))


@kernel
def eight_bytes(text, p):
    """From byte p on."""
    i, shift = p >> THREE, (p & SEVEN) << THREE
    return (text[i] >> shift) | ((text[i + ONE] << ONE) << (LAST - shift))


@kernel
def first_bytes(text, p, n):
    """So many from byte p on, eight at most, and zeros."""
    word = eight_bytes(text, p)
    return word if n >= EIGHT else word & ((ONE << (n << THREE)) - ONE)


@kernel
def turned(word):
    """Its eight bytes in the other order: neighbours, then pairs, then halves change places."""
    word = ((word & BYTES) << EIGHT) | ((word >> EIGHT) & BYTES)
    word = ((word & PAIRS) << np.uint64(16)) | ((word >> np.uint64(16)) & PAIRS)
    return (word << HALF) | (word >> HALF)


@kernel
def copy_bytes(text, p, n, words, begin, done):
    """Write n bytes from p on behind the `done` ones of a row of words; whether none of them is zero.

    The word that the row goes on with is cleared, however many are filled.
    """
    whole = True
    end = p + n
    while p < end:
        left = end - p
        word = first_bytes(text, p, left)
        known = word if left >= EIGHT else word | ~((ONE << (left << THREE)) - ONE)
        if (known - LOW) & ~known & HIGH != ZERO:  # a zero byte (Mycroft 1987)
            whole = False
        q, shift = begin + (done >> THREE), (done & SEVEN) << THREE
        words[q] |= word << shift
        words[q + ONE] = (word >> ONE) >> (LAST - shift)
        taken = left if left < EIGHT else EIGHT
        p += taken
        done += taken
    return whole


@kernel
def split_pairs(text, words, begins, values, bits):
    """Read the pickle of a list of dicts; whether all there is are len(values) pairs of usual types.

    Pair e becomes the name words[begins[e] : begins[e + 1]] and its number values[e], or "name=value" and 1.0 where
    the value is a string. The text is made of whole words, at least one more than the pickle needs; `bits` are the same
    memory as `values`.
    """
    p, q, n = HEADER, ZERO, len(values)
    e = 0
    while True:
        kind = first_bytes(text, p, ONE)
        p += ONE
        if kind == DOT:
            begins[e] = q
            return e == n
        if kind != TEXT:
            if kind not in (LIST, DICT, MARK, APPEND, APPENDS, SET, SETS):
                return False
            continue
        if e == n:
            return False
        length = first_bytes(text, p, LENGTH)
        p += LENGTH
        begins[e] = q
        words[q] = ZERO
        if not copy_bytes(text, p, length, words, q, ZERO):
            return False
        p += length
        kind = first_bytes(text, p, ONE)
        p += ONE
        if kind == TEXT:
            words[q + (length >> THREE)] |= EQUALS << ((length & SEVEN) << THREE)
            length += ONE
            if length & SEVEN == ZERO:
                words[q + (length >> THREE)] = ZERO
            more = first_bytes(text, p, LENGTH)
            p += LENGTH
            if not copy_bytes(text, p, more, words, q, length):
                return False
            p += more
            length += more
            values[e] = 1.0
        elif kind == REAL:
            bits[e] = turned(eight_bytes(text, p))  # the highest byte comes first
            p += EIGHT
        elif kind == TRUE:
            values[e] = 1.0
        elif kind == FALSE:
            values[e] = 0.0
        elif kind == BYTE:
            values[e] = first_bytes(text, p, ONE)
            p += ONE
        elif kind == PAIR:
            values[e] = first_bytes(text, p, np.uint64(2))
            p += np.uint64(2)
        elif kind == FOUR:
            values[e] = np.int64(first_bytes(text, p, LENGTH) << np.uint64(32)) >> 32
            p += LENGTH
        elif kind == FEW:
            size = first_bytes(text, p, ONE)
            p += ONE
            if size > EIGHT or size == ZERO:
                return False
            unused = (EIGHT - size) << THREE  # bits above the sign
            values[e] = np.int64(first_bytes(text, p, size) << unused) >> np.int64(unused)
            p += size
        else:
            return False
        q += (length >> THREE) + ONE
        e += 1
