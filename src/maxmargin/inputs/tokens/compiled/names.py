"""Names as rows of eight-byte words, and their numbers.

A name is its bytes, none of them zero, followed by zeros up to a whole word: the last word, and no other, has a zero
in its highest byte. Names are compared word by word, eight characters at a time.

Words are unsigned, and so is everything computed with them: numba turns a mixed pair into a float.
"""

from __future__ import annotations

import numpy as np

from maxmargin.base.compiled.kernel import kernel

LOW = np.uint64(0x0101010101010101)  # the lowest bit of every byte
HIGH = np.uint64(0x8080808080808080)
MIX = np.uint64(0x9E3779B97F4A7C15)  # an odd number with well-spread bits: 2**64 / golden ratio
ONE, THREE, SEVEN, EIGHT = np.uint64(1), np.uint64(3), np.uint64(7), np.uint64(8)
HALF, TOP, LAST = np.uint64(32), np.uint64(56), np.uint64(63)
ZERO, NUMBER = np.uint64(0), np.uint64(2**32 - 1)


@kernel
def split_names(text, words, begins):
    """Write the names of a text as rows of words, name e at words[begins[e] : begins[e + 1]]; return the bytes read.

    Every name in the text ends with a zero byte. The text, of whole words, has one word more than its names need.
    """
    p, q = ZERO, ZERO  # bytes, words
    for e in range(len(begins) - 1):
        begins[e] = q
        while True:
            i, shift = p >> THREE, (p & SEVEN) << THREE
            word = (text[i] >> shift) | ((text[i + ONE] << ONE) << (LAST - shift))  # the eight bytes from p on
            zeros = (word - LOW) & ~word & HIGH  # its lowest bit belongs to the first zero byte (Mycroft 1987)
            if zeros != ZERO:
                break
            words[q] = word
            q += ONE
            p += EIGHT
        before = ((zeros & (~zeros + ONE)) >> SEVEN) - ONE  # ones in all bytes before the zero
        words[q] = word & before
        q += ONE
        p += (((before & LOW) * LOW) >> TOP) + ONE  # their number
    begins[len(begins) - 1] = q
    return p


@kernel
def name_hash(words, begin, end):
    """Return a hash of a name: its upper half depends on all bytes, the lower half less on the last bytes of words."""
    mixed = ZERO
    for p in range(np.uint64(begin), np.uint64(end)):
        mixed = (mixed ^ words[p]) * MIX
        mixed ^= mixed >> HALF
    return mixed


@kernel
def hash_names(words, begins, mask, numbers):
    """Set numbers[e] to the masked bits of a hash of name e. Saved models rely on it."""
    for e in range(len(numbers)):
        mixed = name_hash(words, begins[e], begins[e + 1]) * MIX
        numbers[e] = (mixed ^ (mixed >> HALF)) & mask


@kernel
def number_names(words, begins, learn, names, name_begins, slots, count, places, numbers):
    """Set numbers[e] = k if name e is name k of `names`; else -1 or, with `learn`, the next number.

    slots is a table with open addressing, of a length that is a power of two, and never full: 0 for an empty slot, else
    the beginning of a name (upper half) and its number + 1. Reads of distant memory are in loops of their own, so that
    the processor waits for many of them at a time; `places` has their results. Return the number of known names.
    """
    mask = np.uint64(len(slots)) - ONE
    for e in range(len(numbers)):
        places[0, e] = name_hash(words, begins[e], begins[e + 1]) & mask
    for e in range(len(numbers)):
        places[1, e] = slots[places[0, e]]
    for e in range(len(numbers)):
        begin, length = np.uint64(begins[e]), np.uint64(begins[e + 1] - begins[e])
        place, found = places[0, e], places[1, e]
        while True:
            n, at = ZERO, found >> HALF
            # ends at the shorter name's terminator at the latest
            while n < length and words[begin + n] == names[at + n]:
                n += ONE
            if n == length and found != ZERO:
                break
            if slots[place] == ZERO:
                if learn:
                    at = np.uint64(name_begins[count])
                    for j in range(length):
                        names[at + j] = words[begin + j]
                    count += 1
                    name_begins[count] = at + length
                    found = (at << HALF) | np.uint64(count)
                    slots[place] = found
                break
            if slots[place] == found:
                place = (place + ONE) & mask
            found = slots[place]
        numbers[e] = np.int64(found & NUMBER) - 1
    return count
