"""The content of a file in MEME's minimal format: motifs as probability matrices over one alphabet."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from maxmargin.base.arrays import Array

ROUNDING = 0.01  # tolerated deviation of sums of probabilities from 1, because files have few digits


@dataclass(frozen=True, eq=False)
class MemeMotif:
    """Motif with a probability for every letter at every position.

    Parameters
    ----------
    name : str
        A word without white space.
    probabilities : array of shape (length, letters)
        Rows that sum to 1.
    alternate : str
        Another name, or "".
    nsites : float or None
        The number of sites it was counted from.
    evalue : float or None
        The E-value.
    url : str
        An address with more information, or "".

    See Also
    --------
    MemeFile : Motifs over one alphabet.

    Examples
    --------
    >>> from maxmargin.formats import MemeMotif
    >>> MemeMotif("m", [[0.5, 0.5, 0.0, 0.0]]).name
    'm'
    """

    name: str
    probabilities: Array
    alternate: str = ""
    nsites: float | None = None
    evalue: float | None = None
    url: str = ""

    def __post_init__(self) -> None:
        for what, text in (("name", self.name), ("alternate", self.alternate), ("url", self.url)):
            if not isinstance(text, str) or text.split() != ([text] if text else []):
                raise ValueError(f"the {what} of a motif is {text!r}; expected a word without white space")
        if not self.name:
            raise ValueError("a motif has no name; expected a word without white space")
        values = np.array(self.probabilities, dtype=np.float64) + 0.0  # no -0.0
        if values.ndim != 2 or not values.size:
            raise ValueError(
                f"motif {self.name!r} has probabilities of shape {values.shape}; expected (length, letters)"
            )
        if not np.isfinite(values).all() or values.min() < 0 or values.max() > 1 + ROUNDING:
            raise ValueError(f"motif {self.name!r} has a number that is not a probability; expected 0 to 1")
        sums = values.sum(axis=1)
        if np.abs(sums - 1).max() > ROUNDING:
            j = int(np.argmax(np.abs(sums - 1)))
            raise ValueError(f"motif {self.name!r}: the probabilities of position {j} sum to {sums[j]:.6g}; expected 1")
        for what, number in (("nsites", self.nsites), ("evalue", self.evalue)):
            if number is not None and not (np.isfinite(number) and number >= 0):
                raise ValueError(f"motif {self.name!r} has the {what} {number!r}; expected a number >= 0, or None")
        values.flags.writeable = False
        object.__setattr__(self, "probabilities", values)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MemeMotif):
            return NotImplemented
        mine, theirs = ((each.name, each.alternate, each.nsites, each.evalue, each.url) for each in (self, other))
        return mine == theirs and np.array_equal(self.probabilities, other.probabilities)

    def __hash__(self) -> int:
        return hash((self.name, self.probabilities.tobytes()))


@dataclass(frozen=True, eq=False)
class MemeFile:
    """Content of a MEME file: motifs over one alphabet.

    Parameters
    ----------
    alphabet : str
        Sorted letters such as "ACGT".
    motifs : tuple of MemeMotif
        The motifs in the order of the file.
    background : array or None
        The frequencies of the letters.
    strands : {"+", "+ -", ""}
        The strands; "" if unknown.

    See Also
    --------
    read_meme, write_meme : Read and write such files.

    Examples
    --------
    >>> from maxmargin import formats
    >>> file = formats.MemeFile("ACGT", (formats.MemeMotif("m", [[0.5, 0.5, 0.0, 0.0]]),))
    >>> file["m"].probabilities.shape
    (1, 4)
    """

    alphabet: str
    motifs: tuple[MemeMotif, ...]
    background: Array | None = None
    strands: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.alphabet, str) or not self.alphabet or len(set(self.alphabet)) < len(self.alphabet):
            raise ValueError(f"the alphabet is {self.alphabet!r}; expected one or more letters, each of them once")
        if self.alphabet.split() != [self.alphabet] or list(self.alphabet) != sorted(self.alphabet):
            raise ValueError(
                f"the letters of the alphabet are {self.alphabet!r}; expected them sorted and without white space"
            )
        if self.strands not in ("", "+", "+ -"):
            raise ValueError(f"strands is {self.strands!r}; expected '+', '+ -', or '' if unknown")
        motifs = tuple(self.motifs)
        for motif in motifs:
            if not isinstance(motif, MemeMotif):
                raise ValueError(f"found {type(motif).__name__}; expected a MemeMotif")
            if motif.probabilities.shape[1] != len(self.alphabet):
                raise ValueError(
                    f"motif {motif.name!r} has {motif.probabilities.shape[1]} columns; expected {len(self.alphabet)}, "
                    f"one for each of {self.alphabet}"
                )
        object.__setattr__(self, "motifs", motifs)
        if self.background is not None:
            values = np.array(self.background, dtype=np.float64) + 0.0
            if values.shape != (len(self.alphabet),) or not np.isfinite(values).all() or values.min() < 0:
                raise ValueError(
                    f"the background is {values.tolist()}; expected a frequency for each of {self.alphabet}"
                )
            if abs(values.sum() - 1) > ROUNDING:
                raise ValueError(f"the background frequencies sum to {values.sum():.6g}; expected 1")
            values.flags.writeable = False
            object.__setattr__(self, "background", values)

    def __getitem__(self, name: str) -> MemeMotif:
        """Return the motif of this name."""
        for motif in self.motifs:
            if motif.name == name:
                return motif
        raise KeyError(f"there is no motif {name!r}; the file has {', '.join(m.name for m in self.motifs) or 'none'}")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MemeFile):
            return NotImplemented
        backgrounds = [None if each.background is None else each.background.tolist() for each in (self, other)]
        return (self.alphabet, self.motifs, self.strands) == (
            other.alphabet,
            other.motifs,
            other.strands,
        ) and backgrounds[0] == backgrounds[1]

    def __hash__(self) -> int:
        return hash((self.alphabet, self.motifs, self.strands))
