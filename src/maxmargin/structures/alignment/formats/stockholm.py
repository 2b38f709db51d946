"""Stockholm: alignments in one or more blocks, with annotations of the file, rows, columns and residues."""

from __future__ import annotations

from collections.abc import Iterator

from maxmargin.base.checks import is_whole
from maxmargin.inputs.readers.text_file import TextFile, TextLines, reading, writing
from maxmargin.structures.alignment.formats.multiple import Annotations, Lowercase, MultipleAlignment, strange_character

FIRST_LINE = "# STOCKHOLM 1.0"
# Lines with one character per column: the number of words, and their names in messages.
FOLLOWED_BY = {
    "": (2, "the name of a row and its residues"),
    "#=GC": (3, "a feature and one character per column"),
    "#=GR": (4, "the name of a row, a feature and one character per column"),
}


def read_stockholm(source: TextFile, lowercase: Lowercase = "aligned") -> MultipleAlignment:
    """Read the alignment of a Stockholm file that holds one.

    All annotations are kept. Those of residues and columns (#=GR, #=GC), such as the secondary structure SS and the
    solvent accessibility SA, become columns of the sequences by `MultipleAlignment.columns`. Lines that begin with "#"
    but not with "#=" are ignored.

    Parameters
    ----------
    source : str, path or text file
        The file to read.
    lowercase : str
        The meaning of lower-case letters ("inserted" for files of HMMER); see MultipleAlignment.

    Returns
    -------
    MultipleAlignment.

    See Also
    --------
    iterate_stockholm : files with many alignments.   write_stockholm : writes such files.
    """
    with reading(source) as lines:
        found = list(_alignments(lines, lowercase))
        if len(found) != 1:
            raise lines.error(
                f"the file ends here and has {len(found)} alignments; expected one (see iterate_stockholm)"
            )
    return found[0]


def iterate_stockholm(source: TextFile, lowercase: Lowercase = "aligned") -> Iterator[MultipleAlignment]:
    """Yield the alignments of a file that holds many, such as a release of Pfam.

    Parameters
    ----------
    source, lowercase : str, path or text file; str
        As for `read_stockholm`.

    Returns
    -------
    iterator of MultipleAlignment.

    See Also
    --------
    read_stockholm : files with one alignment.
    """
    with reading(source) as lines:
        yield from _alignments(lines, lowercase)


def write_stockholm(target: TextFile, alignment: MultipleAlignment, width: int | None = None) -> None:
    """Write an alignment with its annotations.

    The file reads back unchanged; names and annotations for which it would not are refused.

    Parameters
    ----------
    target : str, path or text file
        The file to write.
    alignment : MultipleAlignment
        The alignment.
    width : int or None
        The number of columns per block; None for one block.

    See Also
    --------
    read_stockholm : reads such files.
    """
    if width is not None and (not is_whole(width) or width < 1):
        raise ValueError(f"width is {width!r}; expected 1 column or more, or None")
    text = "\n".join(_written(alignment, alignment.width if width is None else width))
    with writing(target) as file:
        file.write(text + "\n")


def _alignments(lines: TextLines, lowercase: Lowercase) -> Iterator[MultipleAlignment]:
    draft: _Draft | None = None
    for line in lines:
        if draft is None:
            if line.strip() and not line.startswith("# STOCKHOLM 1."):
                raise lines.error(f"found {line[:20]!r}; expected {FIRST_LINE!r}, which begins an alignment")
            draft = _Draft(lines) if line.strip() else None
        elif line.strip() == "//":
            yield draft.finished(lowercase)
            draft = None
        elif line.strip():
            draft.add(line)
    if draft is not None:
        raise lines.error("the file ends here, inside an alignment; expected '//'")


class _Draft:
    """An alignment while its lines are read.

    Texts with one character per column are kept in pieces, block by block, under the words before them: the name of a
    row; "#=GC" and a feature; "#=GR", a row's name and a feature.
    """

    def __init__(self, lines: TextLines):
        self.lines = lines
        self.parts: dict[tuple[str, ...], list[str]] = {}
        self.of_file: list[tuple[str, str]] = []
        self.of_rows: dict[str, list[tuple[str, str]]] = {}
        self.last_line: dict[tuple[str, ...], int] = {}  # the last line of each

    def add(self, line: str) -> None:
        kind = line.split(maxsplit=1)[0] if line.startswith("#") else ""
        if line.startswith("# STOCKHOLM"):
            raise self.lines.error("an alignment begins before the last one has ended; expected '//'")
        if kind == "#=GF":
            _, feature, text = self._words(line, 3, "a feature and text")
            self.of_file.append((feature, text))
        elif kind == "#=GS":
            _, name, feature, text = self._words(line, 4, "the name of a row, a feature and text")
            self.of_rows.setdefault(name, []).append((feature, text))
            self.last_line[kind, name] = self.lines.number
        elif kind in FOLLOWED_BY:
            *key, text = self._words(line, *FOLLOWED_BY[kind])
            strange = strange_character(text) if not kind else ""
            if strange:
                raise self.lines.error(f"row {key[0]!r} has {strange}")
            self.parts.setdefault(tuple(key), []).append(text)
            self.last_line[tuple(key)] = self.lines.number
        elif kind.startswith("#="):
            raise self.lines.error(f"found {kind!r}; expected a row, or an annotation #=GF, #=GS, #=GC or #=GR")

    def finished(self, lowercase: Lowercase) -> MultipleAlignment:
        """Return the alignment; raise unless the lines are consistent."""
        texts = {key: "".join(parts) for key, parts in self.parts.items()}
        rows = {key[0]: text for key, text in texts.items() if len(key) == 1}
        if not rows:
            raise self.lines.error("the alignment ends here and has no row")
        first, width = next((name, len(row)) for name, row in rows.items())
        for key, number in self.last_line.items():
            if key[0] in ("#=GS", "#=GR") and key[1] not in rows:
                raise self.lines.error(f"{key[0]} annotates {key[1]!r}, which is not a row", number)
            if key in texts and len(texts[key]) != width:
                raise self.lines.error(
                    f"{' '.join(key)!r} has {len(texts[key])} columns up to this line; expected {width}, as many as "
                    f"the first row, {first!r}, has",
                    number,
                )
        of_residues: dict[str, dict[str, str]] = {name: {} for name in rows}
        for key, text in texts.items():
            if len(key) == 3:
                of_residues[key[1]][key[2]] = text
        annotations = Annotations(
            tuple(self.of_file),
            tuple(tuple(self.of_rows.get(name, ())) for name in rows),
            {key[1]: text for key, text in texts.items() if len(key) == 2},
            tuple(of_residues.values()),
        )
        return MultipleAlignment(tuple(rows), tuple(rows.values()), annotations, lowercase)

    def _words(self, line: str, count: int, expected: str) -> list[str]:
        """Return the words of a line; the last may be empty, or contain white space, only if it is free text."""
        free = line.startswith(("#=GF", "#=GS"))
        words = line.split(maxsplit=count - 1) if free else line.split()
        if free and len(words) == count - 1:
            words.append("")
        if len(words) != count:
            raise self.lines.error(f"found {line[:60]!r}; expected {expected}")
        return [*words[:-1], words[-1].rstrip()]


def _written(alignment: MultipleAlignment, width: int) -> Iterator[str]:
    """Yield the lines of the file."""
    annotations = alignment.annotations
    texts: dict[tuple[str, ...], str] = {}
    for name, row, features in zip(alignment.names, alignment.rows, annotations.of_residues, strict=True):
        if (name,) in texts:
            raise ValueError(f"two rows are named {name!r}; a Stockholm file identifies rows by their names")
        texts[name,] = row
        texts.update({("#=GR", name, feature): text for feature, text in features.items()})
    texts.update({("#=GC", feature): text for feature, text in annotations.of_columns.items()})
    notes: list[tuple[str, ...]] = [("#=GF", *note) for note in annotations.of_file]
    notes += [
        ("#=GS", name, *note) for name, row in zip(alignment.names, annotations.of_rows, strict=True) for note in row
    ]
    for words in (*texts, *(note[:-1] for note in notes)):
        for place, word in enumerate(words):
            if word.split() != [word] or word == "//" or (word.startswith("#") and (place or len(words) == 1)):
                raise ValueError(f"{word!r} cannot be the name of a row or a feature in a Stockholm file")
    for note in notes:
        if note[-1] != note[-1].strip() or "\n" in note[-1] or "\r" in note[-1]:
            raise ValueError(f"the text {note[-1]!r} of {' '.join(note[:-1])!r} has line ends or outer white space")
    yield FIRST_LINE
    yield from (" ".join(note).rstrip() for note in notes)
    margin = max(len(" ".join(key)) for key in texts)
    for begin in range(0, alignment.width, width):
        yield ""
        for key, text in texts.items():
            yield f"{' '.join(key):{margin}} {text[begin : begin + width]}"
    yield "//"
