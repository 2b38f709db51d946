"""read_meme: read motifs from a file in MEME's minimal format."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from maxmargin.inputs.readers.text_file import TextFile, TextLines, reading
from maxmargin.structures.motifs.meme.content import MemeFile, MemeMotif

_KEYS = re.compile(r"(\w+)=\s*(\S+)")


def read_meme(source: TextFile) -> MemeFile:
    """Read the motifs of a file in MEME's minimal format.

    The alphabet must be given by a line such as "ALPHABET= ACGT"; log-odds matrices are skipped.

    Parameters
    ----------
    source : path or text file
        The file to read.

    Returns
    -------
    MemeFile

    See Also
    --------
    write_meme : Writes such files.

    Examples
    --------
    >>> import io
    >>> from maxmargin import formats
    >>> matrix = "letter-probability matrix: alength= 4 w= 1" + chr(10) + "0.5 0.5 0 0"
    >>> text = chr(10).join(["MEME version 4", "ALPHABET= ACGT", "MOTIF m", matrix])
    >>> formats.read_meme(io.StringIO(text)).motifs[0].name
    'm'
    """
    with reading(source) as lines:
        return _MemeReader(lines).read()


class _MemeReader:
    """State of reading one file."""

    def __init__(self, lines: TextLines):
        self.lines, self.stream = lines, iter(lines)
        self.alphabet, self.strands = "", ""
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
        if not self.alphabet:
            raise self.lines.error("the file ends here without a line such as 'ALPHABET= ACGT'")
        return MemeFile(
            self.alphabet,
            tuple(self.motifs),
            None if self.background is None else np.array(self.background),
            self.strands,
        )

    def _line(self, words: list[str]) -> None:
        text = " ".join(words)
        if text.startswith("ALPHABET="):
            self.alphabet = text.removeprefix("ALPHABET=").strip()
            if not self.alphabet or len(self.alphabet.split()) > 1 or list(self.alphabet) != sorted(set(self.alphabet)):
                raise self.lines.error(f"the alphabet is {self.alphabet!r}; expected sorted letters such as ACGT")
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
        self._need_alphabet("the background")
        words: list[str] = []
        while len(words) < 2 * len(self.alphabet):
            more = self._next_words()
            if not more:
                raise self.lines.error("the file ends inside the background frequencies")
            words += more
        if "".join(words[::2]) != self.alphabet:
            raise self.lines.error(
                f"the background has the letters {' '.join(words[::2])}; "
                f"expected {' '.join(self.alphabet)} in this order"
            )
        self.background = self._numbers(words[1::2], "the background")

    def _read_matrix(self, text: str) -> None:
        self._need_alphabet("a matrix")
        if self.open is None or "probabilities" in self.open:
            raise self.lines.error("found a letter-probability matrix; expected a line 'MOTIF name' before it")
        keys = dict(_KEYS.findall(text))
        if "alength" in keys and keys["alength"] != str(len(self.alphabet)):
            raise self.lines.error(f"alength is {keys['alength']}; expected {len(self.alphabet)}, as in the alphabet")
        for key, name in (("nsites", "nsites"), ("E", "evalue")):
            if key in keys:
                self.open[name] = self._numbers([keys[key]], key)[0]
        rows = []
        for j in range(self._width(text)):
            words = self._next_words()
            if len(words) != len(self.alphabet):
                raise self.lines.error(
                    f"motif {self.open['name']!r}, position {j}: found {' '.join(words)!r:.60}; "
                    f"expected {len(self.alphabet)} probabilities"
                )
            rows.append(self._numbers(words, f"a probability of motif {self.open['name']!r}"))
        self.open["probabilities"] = np.array(rows)
        self._made()  # raises errors here, not at the next motif

    def _close(self) -> None:
        """Finish the motif that ends here."""
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

    def _need_alphabet(self, what: str) -> None:
        if not self.alphabet:
            raise self.lines.error(f"found {what} before the alphabet; expected a line such as 'ALPHABET= ACGT'")

    def _numbers(self, words: list[str], what: str) -> list[float]:
        try:
            return [float(word) for word in words]
        except ValueError:
            raise self.lines.error(f"{what} is {' '.join(words)!r:.60}; expected numbers") from None

    def _next_words(self) -> list[str]:
        """Return the words of the next line that is not empty; none at the end of the file."""
        for line in self.stream:
            if line.strip():
                return line.split()
        return []
