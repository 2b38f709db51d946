"""Alignment models with one substitution matrix and constant gap costs: from matrices, from counts, and to Biopython.

Costs are positive if gaps are penalised: the first residue of a gap costs `gap_open`, each further one `gap_extend`.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.base.checks import is_finite, is_real
from maxmargin.structures.alignment.alignments import PairwiseAlignment
from maxmargin.structures.alignment.columns import RESIDUE, Columns
from maxmargin.structures.alignment.formats.ncbi import SubstitutionMatrix
from maxmargin.structures.alignment.substitution import Match
from maxmargin.structures.alignment.task import Alignment
from maxmargin.structures.alignment.views import Column

USUAL_GAPS = {"BLOSUM62": (11.0, 1.0), "BLOSUM50": (13.0, 2.0), "PAM250": (14.0, 2.0)}  # first residue, further ones


class SubstitutionScores(NamedTuple):
    """Scores of aligning one letter with another; the row is the letter of the first sequence."""

    alphabet: list[Hashable]  # the letters, in the order of rows and columns
    values: Array  # (letters, letters): the scores

    @property
    def symmetric(self) -> bool:
        return np.array_equal(self.values, self.values.T)


def scores_of(matrix: Any, alphabet: Iterable[Hashable] | None = None) -> SubstitutionScores:
    """Return substitution scores, given in any accepted form.

    Accepted are a SubstitutionMatrix, Biopython's (an array with an `alphabet`), a dict {(letter, letter): score} in
    which pairs may be given in one order only, or an array together with its alphabet.
    """
    if isinstance(matrix, Mapping):
        return _from_dict(matrix)
    if isinstance(matrix, SubstitutionMatrix):
        alphabet, matrix = matrix.alphabet, matrix.values
    elif getattr(matrix, "alphabet", None) is not None:
        alphabet = matrix.alphabet
    elif matrix is None or isinstance(matrix, str | os.PathLike):
        raise ValueError(
            f"{matrix!r} is not a matrix; formats.read_matrix reads one from a file, "
            "Bio.Align.substitution_matrices.load finds one by its name"
        )
    if alphabet is None:
        raise ValueError(
            "an array of scores needs its alphabet: alphabet='ACGT', or SubstitutionMatrix('ACGT', matrix)"
        )
    letters = list(alphabet)
    try:
        values = np.array(matrix, dtype=np.float64)
    except (TypeError, ValueError):
        found = f"array of {matrix.dtype}" if isinstance(matrix, np.ndarray) else type(matrix).__name__
        raise ValueError(f"the matrix is given as {found}; expected ({len(letters)}, {len(letters)}) numbers") from None
    if values.shape != (len(letters), len(letters)):
        expected = f"({len(letters)}, {len(letters)}) for its alphabet"
        raise ValueError(f"the matrix has shape {values.shape}; expected {expected}")
    if not np.isfinite(values).all():
        i, j = np.argwhere(~np.isfinite(values))[0]
        raise ValueError(f"the score of {letters[i]!r} and {letters[j]!r} is {values[i, j]}; expected a finite number")
    return SubstitutionScores(letters, values)


def _from_dict(matrix: Mapping[Any, Any]) -> SubstitutionScores:
    pairs = list(matrix)
    if not pairs or not all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
        raise ValueError("a matrix in a dict needs pairs of letters as its keys: {('A', 'C'): -1, …}")
    letters = list(dict.fromkeys(letter for pair in pairs for letter in pair))
    values = np.empty((len(letters), len(letters)))
    for i, a in enumerate(letters):
        for j, b in enumerate(letters):
            score = matrix.get((a, b), matrix.get((b, a)))
            if score is None:
                raise ValueError(f"the matrix has no score of {a!r} and {b!r}")
            if not is_real(score):
                raise ValueError(f"the score of {a!r} and {b!r} is {score!r}; expected a number")
            values[i, j] = score
    return scores_of(values, letters)


def log_odds(X: Sequence[Any], Y: Sequence[Any], task: Alignment) -> SubstitutionScores:
    """Return S[i, j] = log(P(i, j) / P(i) P(j)) with Laplace estimates (Tsochantaridis et al. 2004, section 4.4).

    P(i, j) is the share of aligned pairs with these letters, P(i) the share of a letter among all residues of that
    sequence (of both, in a symmetric model); every count begins with 1.
    """
    if len(X) != len(Y):
        raise ValueError(f"X has {len(X)} examples but Y has {len(Y)}")
    columns = Columns(task.alphabet, task.unknown).fit(X)
    columns.check(RESIDUE, 0)
    columns.check(RESIDUE, 1)
    n = columns.width(RESIDUE)
    joint, single = np.ones((n, n)), [np.ones(n), np.ones(n)]
    for i, (x, y) in enumerate(zip(X, Y, strict=True)):
        sides = columns.encode(x, i)
        codes = [side.codes[RESIDUE] for side in sides]
        pairs = PairwiseAlignment.of(y, (len(codes[0]), len(codes[1])), f"the alignment of example {i}").pairs
        first, second = codes[0][pairs[:, 0]], codes[1][pairs[:, 1]]
        known = (first >= 0) & (second >= 0)
        np.add.at(joint, (first[known], second[known]), 1.0)
        for count, code in zip(single, codes, strict=True):
            np.add.at(count, code[code >= 0], 1.0)
    if task.symmetric:
        joint = joint + joint.T
        single = [single[0] + single[1]] * 2
    shares = [count / count.sum() for count in single]
    return SubstitutionScores(list(columns.alphabets[RESIDUE]), np.log(joint / joint.sum() / np.outer(*shares)))


def matrix_task(scores: SubstitutionScores, task: Alignment) -> Alignment:
    """Set up `task` for this alphabet and return it."""
    whole = {RESIDUE: list(scores.alphabet)}
    task.setup([(whole, whole)])
    return task


def matrix_weights(scores: SubstitutionScores, gap_open: float, gap_extend: float, task: Alignment) -> Array:
    """Return the weights of a task with one column of letters that give it this matrix and these gap costs."""
    for name, cost in (("gap_open", gap_open), ("gap_extend", gap_extend)):
        if not is_finite(cost):
            raise ValueError(f"{name} is {cost!r}; expected a finite number")
    if task.symmetric and not scores.symmetric:
        i, j = np.argwhere(scores.values != scores.values.T)[0]
        raise ValueError(
            f"the scores of ({scores.alphabet[i]!r}, {scores.alphabet[j]!r}) and ({scores.alphabet[j]!r}, "
            f"{scores.alphabet[i]!r}) differ, which a symmetric model cannot have"
        )
    if task.gaps_.kind == "linear" and gap_open != gap_extend:
        raise ValueError(
            f"linear gaps have one cost; expected equal gap_open and gap_extend, got {gap_open} and {gap_extend}"
        )
    w = np.zeros(task.dim)
    of_gaps, of_maps = task.split(w)
    gaps = of_gaps.reshape(task.gaps_.shape)
    gaps[:, 0, 0], gaps[:, -1, 0] = -gap_open, -gap_extend
    pairs = residue_map(task)
    of_maps[task.maps_.index(pairs)][:] = pairs.weights_for(scores.values)
    return w


def named_matrix(name: str) -> SubstitutionMatrix:
    """Return a published matrix with its usual gap costs."""
    from Bio.Align import substitution_matrices

    if name not in USUAL_GAPS:
        known = ", ".join(map(repr, USUAL_GAPS))
        raise ValueError(
            f"prior is {name!r}; expected one of {known}, or another matrix through Aligner.from_matrix(matrix, "
            "gap_open, gap_extend)"
        )
    load: Any = substitution_matrices.load  # carries no types
    matrix = load(name)
    return SubstitutionMatrix(tuple(matrix.alphabet), np.array(matrix, dtype=float), *USUAL_GAPS[name])


def prior_weights(scores: SubstitutionScores, gap_open: float, gap_extend: float, task: Alignment) -> Array:
    """Return such weights for a task with other letters as well; letters that the matrix does not have score 0."""
    letters = task.columns_.alphabets.get(RESIDUE, [])
    places = {letter: k for k, letter in enumerate(scores.alphabet)}
    values = np.zeros((len(letters), len(letters)))
    known = [k for k, letter in enumerate(letters) if letter in places]
    chosen = [places[letters[k]] for k in known]
    values[np.ix_(known, known)] = scores.values[np.ix_(chosen, chosen)]
    return matrix_weights(SubstitutionScores(list(letters), values), gap_open, gap_extend, task)


def residue_map(task: Alignment) -> Match:
    """Return the feature map that is the substitution matrix of residues; raise an AttributeError if there is none."""
    for each in task.maps_:
        if isinstance(each, Match) and each.a == each.b == Column(RESIDUE) and RESIDUE in task.columns_.alphabets:
            return each
    raise AttributeError("the model has no substitution matrix: no feature map matches residues with residues")


def residue_scores(task: Alignment, w: Array) -> Array:
    """Return the (K, K) scores of aligning one residue with another."""
    pairs = residue_map(task)
    return pairs.weights(task.split(w)[1][task.maps_.index(pairs)])


def gap_costs(task: Alignment, w: Array) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return (open, extend) of gaps that skip residues of the first sequence, and of the second."""
    weights = -task.split(w)[0].reshape(task.gaps_.shape)[:, :, 0]
    first, second = ((float(costs[0]), float(costs[-1])) for costs in (weights[0], weights[-1]))
    return first, second


def check_plain(task: Alignment, what: str) -> None:
    """Raise a ValueError if a model has features that a matrix with gap costs cannot represent."""
    others = [str(each) for each in task.maps_ if each is not residue_map(task)]
    if task.gaps_.shape[-1] > 1:  # more than the constant
        others.append(repr(task.gaps_))
    if others:
        raise ValueError(f"{what} cannot represent the model's {', '.join(others)}")


def to_biopython(task: Alignment, w: Array) -> Any:
    """Return a Bio.Align.PairwiseAligner that gives the same alignments, with the first sequence as its target."""
    from Bio import Align
    from Bio.Align import substitution_matrices

    check_plain(task, "Biopython's aligner")
    letters = task.columns_.alphabets[RESIDUE]
    if not all(isinstance(letter, str) and len(letter) == 1 for letter in letters):
        raise ValueError(f"Biopython's aligner needs single characters as letters; the model has {letters[:10]}")
    first, second = gap_costs(task, w)
    for opened, extended in (first, second):
        if not opened >= extended >= 0:
            raise ValueError(
                f"opening a gap costs {opened:.6g} and extending it {extended:.6g}; where opening is cheaper or gaps "
                "are rewarded, Biopython splits gaps into pieces, which are one gap here"
            )
    if task.mode == "overlap" and first != second:
        raise ValueError(
            "Biopython treats end gaps differently where the gaps of the two sequences have different costs"
        )
    make: Any = Align.PairwiseAligner  # carries no types
    aligner = make()
    matrix: Any = substitution_matrices.Array
    aligner.substitution_matrix = matrix("".join(map(str, letters)), dims=2, data=residue_scores(task, w))
    aligner.mode = "local" if task.mode == "local" else "global"
    if first == second:
        aligner.open_gap_score, aligner.extend_gap_score = -first[0], -first[1]
    else:  # skipping residues of the target is a deletion
        aligner.open_deletion_score, aligner.extend_deletion_score = -first[0], -first[1]
        aligner.open_insertion_score, aligner.extend_insertion_score = -second[0], -second[1]
    if task.mode == "overlap":
        aligner.end_gap_score = 0.0
    return aligner
