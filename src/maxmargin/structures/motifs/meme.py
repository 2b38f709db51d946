"""Motifs in the minimal text format of MEME: an alphabet, a background, and a probability matrix per motif."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from maxmargin.arrays import Array
from maxmargin.inputs.text_file import TextFile, TextLines, reading, writing

ROUNDING = 0.01  # by which probabilities in a file, which have few digits, may miss a sum of 1

_KEYS = re.compile(r"(\w+)=\s*(\S+)")


@dataclass(frozen=True, eq=False)
class MemeMotif:
    """A motif: a probability for every letter at every position.

    name : without white space.   probabilities : (length, letters), rows that sum to 1.   alternate : another name.
    nsites : how many sites it was counted from.   evalue : the E-value.   url : where to read about it.
    None or "" where nothing is known.
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
            raise ValueError("a motif has no name")
        values = np.array(self.probabilities, dtype=np.float64) + 0.0  # no -0.0
        if values.ndim != 2 or not values.size:
            raise ValueError(
                f"motif {self.name!r} has probabilities of shape {values.shape}; expected (length, letters)"
            )
        if not np.isfinite(values).all() or values.min() < 0 or values.max() > 1 + ROUNDING:
            raise ValueError(f"motif {self.name!r} has a number that is no probability; expected 0 to 1")
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
    """Motifs over one alphabet.

    letters : such as "ACGT", sorted.   motifs : in the order of the file.   background : the letters' frequencies, or
    None.   strands : "+", "+ -", or "" where nothing is said.
    """

    letters: str
    motifs: tuple[MemeMotif, ...]
    background: Array | None = None
    strands: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.letters, str) or not self.letters or len(set(self.letters)) < len(self.letters):
            raise ValueError(f"the letters are {self.letters!r}; expected one or more, each of them once")
        if self.letters.split() != [self.letters] or list(self.letters) != sorted(self.letters):
            raise ValueError(f"the letters are {self.letters!r}; expected them sorted and without white space")
        if self.strands not in ("", "+", "+ -"):
            raise ValueError(f"strands is {self.strands!r}; expected '+', '+ -' or '' where nothing is known")
        motifs = tuple(self.motifs)
        for motif in motifs:
            if not isinstance(motif, MemeMotif):
                raise ValueError(f"found {type(motif).__name__}; expected a MemeMotif")
            if motif.probabilities.shape[1] != len(self.letters):
                raise ValueError(
                    f"motif {motif.name!r} has {motif.probabilities.shape[1]} columns; expected {len(self.letters)}, "
                    f"one for each of {self.letters}"
                )
        object.__setattr__(self, "motifs", motifs)
        if self.background is not None:
            values = np.array(self.background, dtype=np.float64) + 0.0
            if values.shape != (len(self.letters),) or not np.isfinite(values).all() or values.min() < 0:
                raise ValueError(
                    f"the background is {values.tolist()}; expected a frequency for each of {self.letters}"
                )
            if abs(values.sum() - 1) > ROUNDING:
                raise ValueError(f"the background frequencies sum to {values.sum():.6g}; expected 1")
            values.flags.writeable = False
            object.__setattr__(self, "background", values)

    def __getitem__(self, name: str) -> MemeMotif:
        """The motif of this name."""
        for motif in self.motifs:
            if motif.name == name:
                return motif
        raise KeyError(f"there is no motif {name!r}; the file has {', '.join(m.name for m in self.motifs) or 'none'}")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MemeFile):
            return NotImplemented
        backgrounds = [None if each.background is None else each.background.tolist() for each in (self, other)]
        return (self.letters, self.motifs, self.strands) == (
            other.letters,
            other.motifs,
            other.strands,
        ) and backgrounds[0] == backgrounds[1]

    def __hash__(self) -> int:
        return hash((self.letters, self.motifs, self.strands))


def read_meme(source: TextFile) -> MemeFile:
    """The motifs of a file in MEME's minimal format; `source` as in `read_fasta`.

    Alphabets are those named by one line such as "ALPHABET= ACGT"; log-odds matrices may stand beside probabilities and
    are passed over.
    """
    with reading(source) as lines:
        return _Reader(lines).read()


class _Reader:
    """What was read so far of one file."""

    def __init__(self, lines: TextLines):
        self.lines, self.stream = lines, iter(lines)
        self.letters, self.strands = "", ""
        self.background: list[float] | None = None
        self.motifs: list[MemeMotif] = []
        self.open: dict[str, Any] | None = None  # the motif that is being read

    def read(self) -> MemeFile:
        first = self._next_words()
        if first[:2] != ["MEME", "version"] or len(first) < 3:
            raise self.lines.error(f"found {' '.join(first)!r:.40}; expected 'MEME version 4' in the first line")
        if first[2].split(".")[0] not in ("4", "5"):
            raise self.lines.error(f"found the version {first[2]}; expected 4 or 5")
        while words := self._next_words():
            self._line(words)
        self._close()
        if not self.letters:
            raise self.lines.error("the file ends here without a line such as 'ALPHABET= ACGT'")
        return MemeFile(self.letters, tuple(self.motifs), _array(self.background), self.strands)

    def _line(self, words: list[str]) -> None:
        text = " ".join(words)
        if text.startswith("ALPHABET="):
            self.letters = text.removeprefix("ALPHABET=").strip()
            if not self.letters or len(self.letters.split()) > 1 or list(self.letters) != sorted(set(self.letters)):
                raise self.lines.error(f"the alphabet is {self.letters!r}; expected sorted letters such as ACGT")
        elif words[0] == "ALPHABET":
            raise self.lines.error("found the definition of an alphabet; expected a line such as 'ALPHABET= ACGT'")
        elif words[0] == "strands:":
            self.strands = " ".join(words[1:])
            if self.strands not in ("+", "+ -"):
                raise self.lines.error(f"the strands are {self.strands!r}; expected '+' or '+ -'")
        elif text.startswith("Background letter frequencies"):
            self._read_background()
        elif words[0] == "MOTIF":
            self._close()
            if not 2 <= len(words) <= 3:
                raise self.lines.error(f"found {text!r:.60}; expected 'MOTIF name' or 'MOTIF name alternate'")
            self.open = {"name": words[1], "alternate": words[2] if len(words) == 3 else ""}
        elif text.startswith("letter-probability matrix:"):
            self._read_matrix(text)
        elif text.startswith("log-odds matrix:"):
            for _ in range(self._width(text)):
                self._next_words()
        elif words[0] == "URL" and self.open is not None and len(words) == 2:
            self.open["url"] = words[1]
        else:
            raise self.lines.error(f"found {text!r:.60}; expected a motif, or a line of MEME's minimal format")

    def _read_background(self) -> None:
        self._need_letters("the background")
        words: list[str] = []
        while len(words) < 2 * len(self.letters):
            more = self._next_words()
            if not more:
                raise self.lines.error("the file ends inside the background frequencies")
            words += more
        if "".join(words[::2]) != self.letters:
            raise self.lines.error(
                f"the background is that of {' '.join(words[::2])}; expected {' '.join(self.letters)} in this order"
            )
        self.background = self._numbers(words[1::2], "the background")

    def _read_matrix(self, text: str) -> None:
        self._need_letters("a matrix")
        if self.open is None or "probabilities" in self.open:
            raise self.lines.error("found a letter-probability matrix; expected a line 'MOTIF name' before it")
        keys = dict(_KEYS.findall(text))
        if "alength" in keys and keys["alength"] != str(len(self.letters)):
            raise self.lines.error(f"alength is {keys['alength']}; expected {len(self.letters)}, as in the alphabet")
        for key, name in (("nsites", "nsites"), ("E", "evalue")):
            if key in keys:
                self.open[name] = self._numbers([keys[key]], key)[0]
        rows = []
        for j in range(self._width(text)):
            words = self._next_words()
            if len(words) != len(self.letters):
                raise self.lines.error(
                    f"motif {self.open['name']!r}, position {j}: found {' '.join(words)!r:.60}; "
                    f"expected {len(self.letters)} probabilities"
                )
            rows.append(self._numbers(words, f"a probability of motif {self.open['name']!r}"))
        self.open["probabilities"] = np.array(rows)
        self._made()  # complains here, not where the next motif begins

    def _close(self) -> None:
        """The motif that ends here."""
        if self.open is None:
            return
        if "probabilities" not in self.open:
            raise self.lines.error(f"motif {self.open['name']!r} has no letter-probability matrix")
        self.motifs.append(self._made())
        self.open = None

    def _made(self) -> MemeMotif:
        assert self.open is not None
        try:
            return MemeMotif(**self.open)
        except ValueError as error:
            raise self.lines.error(str(error)) from None

    def _width(self, text: str) -> int:
        width = dict(_KEYS.findall(text)).get("w", "")
        if not width.isdecimal() or int(width) < 1:
            raise self.lines.error(f"found {text!r:.60}; expected the number of positions, such as w= 11")
        return int(width)

    def _need_letters(self, what: str) -> None:
        if not self.letters:
            raise self.lines.error(f"found {what} before the alphabet; expected a line such as 'ALPHABET= ACGT'")

    def _numbers(self, words: list[str], what: str) -> list[float]:
        try:
            return [float(word) for word in words]
        except ValueError:
            raise self.lines.error(f"{what} is {' '.join(words)!r:.60}; expected numbers") from None

    def _next_words(self) -> list[str]:
        """The words of the next line that is not empty; none at the end of the file."""
        for line in self.stream:
            if line.strip():
                return line.split()
        return []


def write_meme(target: TextFile, content: MemeFile) -> None:
    """Write motifs so that they read back as they were, and other programs understand them."""
    if not isinstance(content, MemeFile):
        raise ValueError(f"got {type(content).__name__}; expected a MemeFile: use finder.to_meme()")
    parts = ["MEME version 4", f"ALPHABET= {content.letters}"]
    if content.strands:
        parts.append(f"strands: {content.strands}")
    if content.background is not None:
        pairs = zip(content.letters, content.background.tolist(), strict=True)
        parts.append("Background letter frequencies\n" + " ".join(f"{letter} {value!r}" for letter, value in pairs))
    for motif in content.motifs:
        n_positions, n_letters = motif.probabilities.shape
        head = f"letter-probability matrix: alength= {n_letters} w= {n_positions}"
        if motif.nsites is not None:
            head += f" nsites= {_text(motif.nsites)}"
        if motif.evalue is not None:
            head += f" E= {_text(motif.evalue)}"
        rows = [" ".join(repr(value) for value in row) for row in motif.probabilities.tolist()]
        parts.append("\n".join([f"MOTIF {motif.name} {motif.alternate}".rstrip(), head, *rows]))
        if motif.url:
            parts.append(f"URL {motif.url}")
    with writing(target) as file:
        file.write("\n\n".join(parts) + "\n")


def _text(number: float) -> str:
    return str(int(number)) if float(number).is_integer() and abs(number) < 1e15 else repr(float(number))


def _array(values: Iterable[float] | None) -> Array | None:
    return None if values is None else np.array(values)
