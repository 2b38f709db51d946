"""Annotated texts in the standoff format of brat: a text in NAME.txt, and its spans in NAME.ann.

    T1	PER 0 3	Ada

Lines of NAME.ann that begin with another letter than T (relations, events, attributes, notes) are ignored. A span of
several pieces is refused, because labels of tokens cannot express it. A text without NAME.ann is not annotated.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from maxmargin.inputs.readers.compressed import replacing_compressed
from maxmargin.inputs.spans.span import AnnotatedText, Span, checked_span, in_order

LINE = re.compile(r"(T\S*)\t(\S+) (\d+) (\d+)\t(.*)")
BOM = "\ufeff"  # some editors write it at the beginning of a file; in a text it counts as a character
PIECES = re.compile(r"T\S*\t\S+ \d+ \d+(;\d+ \d+)+\t")


def iterate_brat(source: str | os.PathLike[str]) -> Iterator[AnnotatedText]:
    """Yield the texts of a folder, in the order of their names, or the one whose .txt or .ann file is given."""
    path = Path(source)
    if not path.is_dir():
        yield _read(path.with_suffix(".txt"))
        return
    texts = sorted(path.glob("*.txt"))
    alone = sorted({each.stem for each in path.glob("*.ann")} - {each.stem for each in texts})
    if alone:
        raise ValueError(f"{path.name} has {alone[0]}.ann without {alone[0]}.txt; expected the text as well")
    if not texts:
        raise ValueError(f"{path.name} has no file that ends in .txt; expected NAME.txt and NAME.ann for every text")
    for text in texts:
        yield _read(text)


def write_brat(target: str | os.PathLike[str], documents: Iterable[AnnotatedText]) -> None:
    """Write NAME.txt and NAME.ann for every text into a folder, which is made; texts without a name are numbered."""
    folder, names = Path(target), set()
    folder.mkdir(parents=True, exist_ok=True)
    for i, document in enumerate(documents):
        name = document.name or f"document{i:05}"
        if name in names or Path(name).name != name or name.startswith("."):
            raise ValueError(f"document {i} has the name {name!r}; expected different names of files without a folder")
        names.add(name)
        if document.spans is None and (folder / f"{name}.ann").exists():
            raise ValueError(
                f"document {i} is not annotated, but {folder.name} has {name}.ann already, which would become its "
                "annotation; expected a folder without it"
            )
        _write(folder / f"{name}.txt", document.text)
        if document.spans is not None:
            _write(folder / f"{name}.ann", "".join(_lines(i, document)))


def _lines(i: int, document: AnnotatedText) -> Iterator[str]:
    for k, (start, end, label, _) in enumerate(document.spans or (), 1):
        if re.search(r"\s", label):
            raise ValueError(f"document {i}, span {start}:{end}: brat's format has no labels with blanks, as {label!r}")
        yield f"T{k}\t{label} {start} {end}\t{_on_one_line(document.text[start:end])}\n"


def _read(path: Path) -> AnnotatedText:
    text, other = _decoded(path), path.with_suffix(".ann")
    if not other.exists():
        return AnnotatedText(text, None, path.stem)
    spans = []
    for number, line in enumerate(_decoded(other).removeprefix(BOM).split("\n"), 1):
        line = line.removesuffix("\r")
        if line.startswith("T"):
            try:
                spans.append(_span(text, line))
            except ValueError as error:
                raise ValueError(f"{other.name}, line {number}: {error}") from None
    return AnnotatedText(text, in_order(spans), path.stem)


def _span(text: str, line: str) -> Span:
    found = LINE.fullmatch(line)
    if found is None:
        if PIECES.match(line):
            raise ValueError(f"the span {line[:60]!r} has several pieces; expected one, because labels cannot say more")
        raise ValueError(f"found {line[:60]!r}; expected T1, a label with its offsets, and a text, between tabs")
    _, label, start, end, said = found.groups()
    span = checked_span(text, int(start), int(end), label)
    if said != _on_one_line(text[span.start : span.end]):
        checked_span(text, span.start, span.end, label, said)  # raises
    return span


def _on_one_line(text: str) -> str:
    return re.sub(r"[\r\n]", " ", text)


def _decoded(path: Path) -> str:
    """Return the text of a file with its line ends, because offsets count them."""
    try:
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path.name}, byte {error.start}: this is not UTF-8 text: {error.reason}") from None


def _write(path: Path, text: str) -> None:
    with replacing_compressed(path) as stream:
        stream.write(text.encode("utf-8"))
