"""Motifs position by position: patterns in IUPAC codes and as matrices, their consensus and their information."""

from __future__ import annotations

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.structures.motifs.alphabet import Alphabet

IUPAC = {
    "A": "A", "C": "C", "G": "G", "T": "T", "M": "AC", "R": "AG", "W": "AT", "S": "CG", "Y": "CT", "K": "GT",
    "V": "ACG", "H": "ACT", "D": "AGT", "B": "CGT", "N": "ACGT",
}  # fmt: skip
ANY = "."  # stands for any letter, in every alphabet


def letter_codes(alphabet: Alphabet) -> dict[str, str]:
    """The letters that every code of a pattern stands for."""
    if alphabet.complement is None:
        return {**{letter: letter for letter in alphabet.letters}, ANY: alphabet.letters}
    rna = "U" in alphabet.letters
    codes = {code: letters.replace("T", "U") if rna else letters for code, letters in IUPAC.items()}
    if rna:
        codes["U"] = codes.pop("T")
    return {**codes, ANY: alphabet.letters}


def pattern_scores(pattern: str, alphabet: Alphabet) -> Array:
    """(positions, letters): 1 for every letter that a pattern allows at a position; upper and lower case are the same.

    A pattern is made of letters, IUPAC codes (DNA and RNA) and dots for any letter.
    """
    codes = letter_codes(alphabet)
    scores = np.zeros((len(pattern), len(alphabet)))
    for j, code in enumerate(pattern.upper()):
        if code not in codes:
            raise ValueError(f"the pattern {pattern!r} has {code!r} at position {j}; expected one of {''.join(codes)}")
        scores[j, [alphabet.letters.index(letter) for letter in codes[code]]] = 1
    return scores


def centred(scores: Array, length: int) -> Array:
    """(length, letters) weights that look for what scores well, in the middle of the motif if that is shorter.

    From every position its mean is taken, which moves all windows alike.
    """
    weights = np.zeros((length, scores.shape[1]))
    begin = (length - len(scores)) // 2
    weights[begin : begin + len(scores)] = scores - scores.mean(axis=1, keepdims=True)
    return weights


def consensus(frequencies: Array, alphabet: Alphabet) -> str:
    """A pattern for (length, letters) frequencies, by the rule of Cavener (Nucleic Acids Research 1987).

    A letter stands alone if it has more than half of a position and more than twice as much as the next one; two of
    DNA's letters share a code if they have more than three quarters; elsewhere N. In other alphabets a dot stands
    where no letter is alone.
    """
    by_letters = {"".join(sorted(letters)): code for code, letters in letter_codes(alphabet).items() if code != ANY}
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
