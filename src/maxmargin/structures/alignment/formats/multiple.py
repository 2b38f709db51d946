"""MultipleAlignment: many sequences in rows of equal length, with annotations of rows, columns and residues."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np

from maxmargin.base.checks import is_whole
from maxmargin.structures.alignment.alignments import PairwiseAlignment

GAPS = "-._~"
Lowercase = Literal["aligned", "untrusted", "inserted"]
LOWERCASE = get_args(Lowercase)
_STRANGE = re.compile(r"[^A-Za-z*\-._~]")
_NO_GAPS = str.maketrans("", "", GAPS)

Notes = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Annotations:
    """The annotations of an alignment file; the two letters are the Stockholm format's names of the kinds.

    Parameters
    ----------
    of_file : tuple of pairs
        (feature, text) in the order of the file, a feature of several lines several times (GF).
    of_rows : tuple
        The same for every row (GS); the feature DE is a sequence's description.
    of_columns : mapping
        {feature: one character per column} (GC).
    of_residues : tuple of mappings
        For every row {feature: one character per column} (GR), such as its secondary structure SS.
    """

    of_file: Notes = ()
    of_rows: tuple[Notes, ...] = ()
    of_columns: Mapping[str, str] = field(default_factory=dict)
    of_residues: tuple[Mapping[str, str], ...] = ()


@dataclass(frozen=True)
class MultipleAlignment:
    """Sequences in rows of equal length; residues in one column are aligned.

    Parameters
    ----------
    names : sequence of str
        Names of the rows. They need not be unique, but `pair` finds only unique names.
    rows : tuple of str
        Letters, "*", and the gaps "-", ".", "_" and "~".
    annotations : Annotations
        May be omitted for alignments without any.
    lowercase : str
        The meaning of lower-case letters. "aligned": none. "untrusted": the residues are aligned, but without
        certainty, as in references made from structures. "inserted": they are not aligned, as in A3M and A2M. In the
        last two cases, `sequence`, `pair` and `columns` return residues in upper case.
    """

    names: tuple[str, ...]
    rows: tuple[str, ...]
    annotations: Annotations = field(default_factory=Annotations)
    lowercase: Lowercase = "aligned"

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(self.names))
        object.__setattr__(self, "rows", tuple(self.rows))
        if self.lowercase not in LOWERCASE:
            raise ValueError(f"lowercase must be one of {', '.join(map(repr, LOWERCASE))}; got {self.lowercase!r}")
        if not self.rows or len(self.names) != len(self.rows):
            raise ValueError(
                f"got {len(self.rows)} rows and {len(self.names)} names; expected equal numbers, at least one"
            )
        for name, row in zip(self.names, self.rows, strict=True):
            if len(row) != len(self.rows[0]) or not row:
                raise ValueError(
                    f"row {name!r} has {len(row)} columns and the first row, {self.names[0]!r}, has "
                    f"{len(self.rows[0])}; expected rows of equal length, and one column or more"
                )
            strange = strange_character(row)
            if strange:
                raise ValueError(f"row {name!r} has {strange}")
        object.__setattr__(self, "annotations", self._checked_annotations())
        if self.lowercase == "inserted":
            self._check_insertions()

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.rows[0])

    def sequence(self, row: int | str) -> str:
        """Return the residues of a row, given by its number or its name."""
        return self._letters(self.rows[self._number(row)].translate(_NO_GAPS))

    def pair(self, first: int | str, second: int | str) -> tuple[str, str, PairwiseAlignment]:
        """Return the sequences of two rows, and their pairwise alignment."""
        i, j = self._number(first), self._number(second)
        doubtful = self.lowercase != "aligned"
        alignment = PairwiseAlignment.from_gapped(self.rows[i], self.rows[j], GAPS, lowercase_untrusted=doubtful)
        if self.lowercase == "inserted":
            alignment = PairwiseAlignment(alignment.pairs[alignment.trusted], alignment.lengths)
        return self.sequence(i), self.sequence(j), alignment

    def columns(self, row: int | str) -> dict[str, str]:
        """Return the annotations of each residue of a row, {name: one character per residue}, as `Aligner` takes them.

        "residue" is the sequence; the others are the annotations of the row's residues and, for names that the row does
        not have, those of the alignment's columns.
        """
        i = self._number(row)
        residues = [c for c, letter in enumerate(self.rows[i]) if letter not in GAPS]
        found = {**self.annotations.of_columns, **self.annotations.of_residues[i]}
        if "residue" in found:
            raise ValueError(f"row {self.names[i]!r} has an annotation 'residue', which is the name of its sequence")
        picked = {name: "".join(text[c] for c in residues) for name, text in found.items()}
        return {"residue": self.sequence(i), **picked}

    def _letters(self, sequence: str) -> str:
        return sequence if self.lowercase == "aligned" else sequence.upper()

    def _number(self, row: int | str) -> int:
        n = len(self.rows)
        if not isinstance(row, str):
            if not is_whole(row) or not -n <= row < n:
                raise ValueError(
                    f"there is no row {row!r} among {n} rows; expected a name, or a whole number from 0 to {n - 1}"
                )
            return range(n)[row]
        found = [i for i, name in enumerate(self.names) if name == row]
        if len(found) != 1:
            raise ValueError(f"{len(found)} of the {n} rows are named {row!r}; expected one")
        return found[0]

    def _checked_annotations(self) -> Annotations:
        given = self.annotations
        n = len(self.rows)
        of_rows = tuple(given.of_rows) or ((),) * n
        of_residues = tuple(given.of_residues) or ({},) * n
        for kind, rows in (("of_rows", of_rows), ("of_residues", of_residues)):
            if len(rows) != n:
                raise ValueError(f"annotations.{kind} has {len(rows)} rows; expected {n}, as many as the alignment")
        for name, texts in [("the columns", given.of_columns), *zip(map(repr, self.names), of_residues, strict=True)]:
            for feature, text in texts.items():
                if len(text) != self.width or re.search(r"\s", text):
                    raise ValueError(
                        f"annotation {feature!r} of {name} is {text!r}; "
                        f"expected a character for each of the {self.width} columns, and no white space"
                    )
        return Annotations(tuple(given.of_file), of_rows, given.of_columns, of_residues)

    def _check_insertions(self) -> None:
        letters = np.array([np.frombuffer(row.encode(), dtype=np.uint8) for row in self.rows])
        lower = (letters >= ord("a")) & (letters <= ord("z"))
        upper = (letters >= ord("A")) & (letters <= ord("Z"))
        mixed = np.flatnonzero(lower.any(axis=0) & upper.any(axis=0))
        if len(mixed):
            c = mixed[0]
            inserted, aligned = (self.names[np.flatnonzero(which[:, c])[0]] for which in (lower, upper))
            raise ValueError(
                f"column {c + 1} has a lower-case letter in row {inserted!r} and an upper-case one in row {aligned!r}; "
                "with lowercase='inserted', insertions must have columns of their own"
            )


def strange_character(row: str) -> str:
    """Return a message about the first character that a row must not have; empty if there is none."""
    found = _STRANGE.search(row)
    return f"{found[0]!r} at position {found.start() + 1}; expected letters, '*' and gaps" if found else ""


def with_descriptions(descriptions: Sequence[str]) -> Annotations:
    """Return annotations with these descriptions of rows, as feature DE; an empty string stands for none."""
    return Annotations(of_rows=tuple((("DE", text),) if text else () for text in descriptions))
