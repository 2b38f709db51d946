"""What motif finding needs beside training: Markov chains for controls, patterns in IUPAC codes, and sites."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from maxmargin.arrays import Array
from maxmargin.structures.motifs.letters import Alphabet, Codes, Strings, markov_size

IUPAC = {
    "A": "A", "C": "C", "G": "G", "T": "T", "M": "AC", "R": "AG", "W": "AT", "S": "CG", "Y": "CT", "K": "GT",
    "V": "ACG", "H": "ACT", "D": "AGT", "B": "CGT", "N": "ACGT",
}  # fmt: skip
ANY = "."  # in patterns over other alphabets


class Site(NamedTuple):
    """A place of a motif."""

    sequence: int  # the number of the sequence
    start: int  # of its first letter on the plus strand, counted from 0
    strand: str  # "+", or "-" where the motif reads on the other strand
    score: float  # what the motif gains there over no motif
    text: str  # as the strand reads it


class MarkovChain:
    """Letters drawn given the `order` letters before them, as often as they follow these in some strings.

    Every context has seen one more letter, of all kinds in equal parts.
    """

    def __init__(self, strings: Strings, size: int, order: int):
        self.size, self.order = size, order
        self.chances = []  # of every letter after 0, 1, ... letters: (size ** depth, size), summed up along rows
        for depth in range(order + 1):
            first = markov_size(size, depth - 1)
            counts = np.bincount(strings.contexts(size, depth), minlength=markov_size(size, depth) + 1)[first:-1]
            table = counts.reshape(-1, size) + 1 / size
            self.chances.append(np.cumsum(table / table.sum(axis=1, keepdims=True), axis=1))

    def draw(self, lengths: Sequence[int], rng: np.random.Generator) -> list[Codes]:
        """Strings of these lengths."""
        longest = max(lengths, default=0)
        letters = np.zeros((len(lengths), longest), dtype=np.int32)
        context = np.zeros(len(lengths), dtype=np.int64)
        for t in range(longest):
            depth = min(t, self.order)
            below = rng.random(len(lengths))[:, None] > self.chances[depth][context]
            letters[:, t] = np.minimum(below.sum(axis=1), self.size - 1)
            context = (context * self.size + letters[:, t]) % self.size ** min(t + 1, self.order)
        return [row[:length] for row, length in zip(letters, lengths, strict=True)]


def pattern_weights(pattern: Any, length: int, alphabet: Alphabet) -> Array:
    """(length, letters) weights that look for a pattern, in the middle of the motif if it is shorter.

    pattern : a string of letters, IUPAC codes (DNA and RNA) and dots for any letter: 1 for every letter that agrees; or
        a matrix with a row per position, such as log-odds or frequencies.
    """
    rows = _rows_of_string(pattern, alphabet) if isinstance(pattern, str) else _rows_of_matrix(pattern, alphabet)
    if not 1 <= len(rows) <= length:
        raise ValueError(f"seed has {len(rows)} positions; expected 1 to {length}, the length of the motif")
    weights = np.zeros((length, len(alphabet)))
    begin = (length - len(rows)) // 2
    weights[begin : begin + len(rows)] = rows - rows.mean(axis=1, keepdims=True)
    return weights


def _rows_of_string(pattern: str, alphabet: Alphabet) -> Array:
    codes = _codes(alphabet)
    rows = np.zeros((len(pattern), len(alphabet)))
    for j, code in enumerate(pattern.upper()):
        if code not in codes:
            raise ValueError(f"seed has {code!r} at position {j}; expected one of {''.join(codes)}")
        rows[j, [alphabet.letters.index(letter) for letter in codes[code]]] = 1
    return rows


def _rows_of_matrix(pattern: Any, alphabet: Alphabet) -> Array:
    try:
        rows = np.asarray(pattern, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(
            f"seed is of type {type(pattern).__name__}; expected a string, or a matrix of numbers such as the "
            "probabilities of a motif"
        ) from None
    if rows.ndim != 2 or rows.shape[1] != len(alphabet) or not np.isfinite(rows).all():
        raise ValueError(
            f"seed is an array of shape {rows.shape}; expected a string, or finite numbers in the shape (positions, "
            f"{len(alphabet)}), a column for each of {alphabet.letters}"
        )
    return rows


def _codes(alphabet: Alphabet) -> dict[str, str]:
    """The letters that every code stands for."""
    if alphabet.complement is None:
        return {**{letter: letter for letter in alphabet.letters}, ANY: alphabet.letters}
    rna = "U" in alphabet.letters
    codes = {code: letters.replace("T", "U") if rna else letters for code, letters in IUPAC.items()}
    if rna:
        codes["U"] = codes.pop("T")
    return {**codes, ANY: alphabet.letters}


def consensus(frequencies: Array, alphabet: Alphabet) -> str:
    """A pattern for (length, letters) frequencies, by the rule of Cavener (Nucleic Acids Research 1987).

    A letter stands alone if it has more than half of a position and more than twice as much as the next one; two of
    DNA's letters share a code if they have more than three quarters; elsewhere N. In other alphabets a dot stands
    where no letter is alone.
    """
    by_letters = {"".join(sorted(letters)): code for code, letters in _codes(alphabet).items() if code != ANY}
    pattern = ""
    for row in frequencies:
        first, second = np.argsort(-row, kind="stable")[:2] if len(row) > 1 else (0, 0)
        pair = "".join(sorted(alphabet.letters[k] for k in (first, second)))
        if row[first] > 0.5 and (len(row) == 1 or row[first] > 2 * row[second]):
            pattern += alphabet.letters[first]
        elif alphabet.complement is None:
            pattern += ANY
        else:
            pattern += by_letters[pair] if row[first] + row[second] > 0.75 else "N"
    return pattern


def information(frequencies: Array) -> Array:
    """Bits per position: log2 of the number of letters, less the entropy."""
    shares = np.asarray(frequencies, dtype=float)
    logs = np.log2(np.where(shares > 0, shares, 1.0))
    return np.asarray(np.log2(shares.shape[1]) + (shares * logs).sum(axis=1))


def reading(text: str, strand: int, alphabet: Alphabet) -> str:
    """The letters of a window as its strand reads them, in upper case."""
    codes = alphabet.codes(text, "the window")
    if strand < 0:
        assert alphabet.complement is not None  # or there were no second strand
        codes = alphabet.complement[codes[::-1]]
    return alphabet.text(codes)


def apart(gains: Array, length: int, threshold: float) -> list[tuple[int, int]]:
    """(start, strand number) of windows above a threshold that do not overlap, the best ones first taken."""
    strands, starts = np.nonzero(gains > threshold)
    taken: list[tuple[int, int]] = []
    free = np.ones(gains.shape[1] + length, dtype=bool)
    for k in np.argsort(-gains[strands, starts], kind="stable"):
        start = int(starts[k])
        if free[start : start + length].all():
            free[start : start + length] = False
            taken.append((start, int(strands[k])))
    return sorted(taken)
