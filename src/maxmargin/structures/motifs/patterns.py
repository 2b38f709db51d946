"""Patterns in IUPAC codes and as matrices, and the consensus and the information of motifs."""

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
    """Return the letters that every code of a pattern stands for."""
    if alphabet.complement is None:
        return {**{letter: letter for letter in alphabet.letters}, ANY: alphabet.letters}
    rna = "U" in alphabet.letters
    codes = {code: letters.replace("T", "U") if rna else letters for code, letters in IUPAC.items()}
    if rna:
        codes["U"] = codes.pop("T")
    return {**codes, ANY: alphabet.letters}


def pattern_scores(pattern: str, alphabet: Alphabet) -> Array:
    """Return (positions, letters) scores: 1 for every letter that a pattern allows at a position, in either case.

    A pattern consists of letters, IUPAC codes (DNA and RNA) and dots for any letter.
    """
    codes = letter_codes(alphabet)
    scores = np.zeros((len(pattern), len(alphabet)))
    for j, code in enumerate(pattern.upper()):
        if code not in codes:
            raise ValueError(f"the pattern {pattern!r} has {code!r} at position {j}; expected one of {''.join(codes)}")
        scores[j, [alphabet.letters.index(letter) for letter in codes[code]]] = 1
    return scores


def centred(scores: Array, length: int) -> Array:
    """Return (length, letters) weights that favour high scores, in the middle of the motif if the scores are shorter.

    The mean of every position is subtracted, because it shifts all windows equally.
    """
    weights = np.zeros((length, scores.shape[1]))
    begin = (length - len(scores)) // 2
    weights[begin : begin + len(scores)] = scores - scores.mean(axis=1, keepdims=True)
    return weights


def consensus(frequencies: Array, alphabet: Alphabet) -> str:
    """Return a pattern for (length, letters) frequencies, by the rule of Cavener (Nucleic Acids Research 1987).

    A letter is used alone if its share exceeds one half and twice the next share; two letters of DNA share a code
    if their shares sum to more than three quarters; otherwise the code is N. Other alphabets use a dot if no letter is
    alone.
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
    """Return the information of each position in bits: log2 of the number of letters, minus the entropy."""
    shares = np.asarray(frequencies, dtype=float)
    logs = np.log2(np.where(shares > 0, shares, 1.0))
    return np.asarray(np.log2(shares.shape[1]) + (shares * logs).sum(axis=1))
