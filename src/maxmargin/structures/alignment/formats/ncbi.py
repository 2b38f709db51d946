"""Substitution matrices in the text format of NCBI: comments, a line of letters, and a row of scores per letter."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.inputs.readers.text_file import TextFile, TextLines, reading, writing

# The names of gap scores in the comments of Biopython's matrices; a gap of k residues scores open + (k - 1) · extend.
_GAP = re.compile(r"gap (open|extend) score:\s*(\S+)$")


@dataclass(frozen=True, eq=False)
class SubstitutionMatrix:
    """Scores of aligning one letter with another, and the costs of gaps.

    Parameters
    ----------
    alphabet : tuple of str
        K names, mostly single letters.
    values : array of shape (K, K)
        Scores; the row is the letter of the first sequence. The matrix need not be symmetric.
    gap_open, gap_extend : float or None
        The costs of the first residue and of each further residue of a gap, which are positive if gaps are penalised;
        None if they are not known.
    comments : tuple of str
        Lines about the matrix.
    """

    alphabet: tuple[str, ...]
    values: Array
    gap_open: float | None = None
    gap_extend: float | None = None
    comments: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        letters, values = tuple(self.alphabet), np.array(self.values, dtype=np.float64) + 0.0  # no -0.0
        if not letters or len(set(letters)) != len(letters):
            raise ValueError(f"the alphabet is {' '.join(letters)!r}; expected one letter or more, each only once")
        if values.shape != (len(letters), len(letters)):
            raise ValueError(f"values have the shape {values.shape}; expected ({len(letters)}, {len(letters)})")
        if not np.isfinite(values).all():
            i, j = np.argwhere(~np.isfinite(values))[0]
            raise ValueError(f"the score of {letters[i]} and {letters[j]} is {values[i, j]}; expected a finite number")
        for name in ("gap_open", "gap_extend"):
            cost = getattr(self, name)
            if cost is not None and not np.isfinite(cost):
                raise ValueError(f"{name} is {cost}; expected a finite number, or None")
        values.flags.writeable = False
        for name, value in (("alphabet", letters), ("values", values), ("comments", tuple(self.comments))):
            object.__setattr__(self, name, value)

    def __getitem__(self, pair: tuple[str, str]) -> float:
        """Return the score of two letters."""
        for letter in pair:
            if letter not in self.alphabet:
                raise KeyError(f"{letter!r} is not one of the letters {' '.join(self.alphabet)}")
        first, second = map(self.alphabet.index, pair)
        return float(self.values[first, second])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SubstitutionMatrix):
            return NotImplemented
        return (self.alphabet, self.gap_open, self.gap_extend, self.comments) == (
            other.alphabet,
            other.gap_open,
            other.gap_extend,
            other.comments,
        ) and np.array_equal(self.values, other.values)

    def __hash__(self) -> int:
        return hash((self.alphabet, self.values.tobytes(), self.gap_open, self.gap_extend, self.comments))


def read_matrix(source: TextFile) -> SubstitutionMatrix:
    """Read a substitution matrix in NCBI's text format.

    Gap costs are read from comment lines such as "gap open score: -11" and "gap extend score: -1".

    Parameters
    ----------
    source : str, path or text file
        The file to read.

    Returns
    -------
    SubstitutionMatrix.

    See Also
    --------
    write_matrix : writes such files.
    """
    letters: list[str] = []
    rows: list[list[float]] = []
    comments: list[str] = []
    gaps: dict[str, float] = {}
    with reading(source) as lines:
        for line in lines:
            words = line.split()
            if line.startswith("#"):
                comment = line[1:].strip()
                found = _GAP.match(comment)
                if found:
                    gaps[found[1]] = -_number(lines, found[2], f"the gap {found[1]} score")
                else:
                    comments.append(comment)
            elif words and not letters:
                letters = words
                if len(set(letters)) != len(letters):
                    raise lines.error(f"the letters {' '.join(letters)} are not all different")
            elif words:
                rows.append(_row(lines, words, letters, len(rows)))
        if len(rows) != len(letters) or not letters:
            raise lines.error(
                f"the file ends here with {len(rows)} rows for {len(letters)} letters; expected one row per letter"
            )
    return SubstitutionMatrix(tuple(letters), np.array(rows), gaps.get("open"), gaps.get("extend"), tuple(comments))


def write_matrix(target: TextFile, matrix: SubstitutionMatrix) -> None:
    """Write a substitution matrix so that it reads back unchanged.

    The scores are written as integers if all of them are integers.

    Parameters
    ----------
    target : str, path or text file
        The file to write.
    matrix : SubstitutionMatrix
        The matrix.

    See Also
    --------
    read_matrix : reads such files.   maxmargin.Aligner.to_matrix : the matrix of a trained model.
    """
    if not isinstance(matrix, SubstitutionMatrix):
        raise ValueError(
            f"got {type(matrix).__name__}; expected a SubstitutionMatrix: use aligner.to_matrix(), or "
            "SubstitutionMatrix(alphabet, values)"
        )
    for letter in matrix.alphabet:
        if letter.split() != [letter] or letter.startswith("#"):
            raise ValueError(f"{letter!r} cannot be a letter of a matrix file")
    for comment in matrix.comments:
        if comment != comment.strip() or "\n" in comment or "\r" in comment or _GAP.match(comment):
            raise ValueError(
                f"{comment!r} cannot be a comment: it has outer white space or line ends, or is a gap score"
            )
    header = [f"# {comment}".rstrip() for comment in matrix.comments]
    for name, cost in (("open", matrix.gap_open), ("extend", matrix.gap_extend)):
        if cost is not None:
            header.append(f"# gap {name} score: {_text(-cost, whole=float(cost).is_integer())}")
    whole = bool((matrix.values == np.round(matrix.values)).all())
    table = [["", *matrix.alphabet]]
    for letter, row in zip(matrix.alphabet, matrix.values.tolist(), strict=True):
        table.append([letter, *(_text(value, whole) for value in row)])
    first, *others = (max(map(len, column)) for column in zip(*table, strict=True))
    body = [" ".join([row[0].ljust(first), *(word.rjust(max(others)) for word in row[1:])]) for row in table]
    with writing(target) as file:
        file.writelines(f"{line}\n" for line in header + body)


def _text(value: float, whole: bool) -> str:
    return str(int(value)) if whole else repr(float(value))


def _row(lines: TextLines, words: list[str], letters: list[str], row: int) -> list[float]:
    if row == len(letters):
        raise lines.error(f"found a row {words[0]!r} after the rows of all {len(letters)} letters")
    if words[0] != letters[row]:
        raise lines.error(f"found the row of {words[0]!r}; expected {letters[row]!r}, as in the line of letters")
    if len(words) != len(letters) + 1:
        raise lines.error(f"the row of {words[0]!r} has {len(words) - 1} scores; expected {len(letters)}")
    return [
        _number(lines, word, f"the score of {words[0]} and {letter}")
        for letter, word in zip(letters, words[1:], strict=True)
    ]


def _number(lines: TextLines, word: str, what: str) -> float:
    try:
        value = float(word)
    except ValueError:
        value = np.nan
    if not np.isfinite(value):
        raise lines.error(f"{what} is {word!r}; expected a finite number")
    return value
