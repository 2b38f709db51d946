"""FASTA: sequences under header lines that begin with ">", aligned or not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from maxmargin.base.checks import is_whole
from maxmargin.inputs.readers.text_file import TextFile, TextLines, reading, writing
from maxmargin.structures.alignment.formats.multiple import (
    Lowercase,
    MultipleAlignment,
    strange_character,
    with_descriptions,
)


class SequenceRecord(NamedTuple):
    """A sequence with the name and description in its header."""

    name: str  # the first word of the header
    description: str  # the rest of the header
    sequence: str


def read_fasta(source: TextFile) -> list[SequenceRecord]:
    r"""Return all sequences of a FASTA file, with their gaps if they are aligned.

    The name of a sequence is the first word of its header. White space inside sequences and empty lines are ignored.

    Parameters
    ----------
    source : str, path or text file
        A path (the suffixes .gz, .xz and .bz2 are read as compressed), or an open text file.

    Returns
    -------
    list of SequenceRecord.

    Examples
    --------
    >>> import io
    >>> from maxmargin.formats import read_fasta
    >>> read_fasta(io.StringIO(">one first\nACDE\n"))[0].sequence
    'ACDE'

    See Also
    --------
    iterate_fasta : one sequence at a time.   read_aligned_fasta : the rows of an alignment.
    """
    return list(iterate_fasta(source))


def iterate_fasta(source: TextFile) -> Iterator[SequenceRecord]:
    """Yield the sequences of a file one by one, so that large files need little memory.

    Parameters
    ----------
    source : str, path or text file
        As for `read_fasta`.

    Returns
    -------
    iterator of SequenceRecord.

    See Also
    --------
    read_fasta : all sequences at once.
    """
    with reading(source) as lines:
        yield from (record for _, record in headed(lines))


def read_aligned_fasta(source: TextFile, lowercase: Lowercase = "aligned") -> MultipleAlignment:
    """Read a FASTA file whose sequences are the rows of an alignment.

    Parameters
    ----------
    source : str, path or text file
        The file to read.
    lowercase : str
        The meaning of lower-case letters; see MultipleAlignment.

    Returns
    -------
    MultipleAlignment.

    See Also
    --------
    read_fasta : sequences that need not be aligned.
    """
    with reading(source) as lines:
        records = list(headed(lines))
        if not records:
            raise lines.error("no sequence in the file; expected the rows of an alignment")
        width = len(records[0][1].sequence)
        for number, record in records:
            if len(record.sequence) != width:
                raise lines.error(
                    f"row {record.name!r} has {len(record.sequence)} columns; expected {width}, as in the first row",
                    number,
                )
    names, descriptions, rows = zip(*(record for _, record in records), strict=True)
    return MultipleAlignment(names, rows, with_descriptions(descriptions), lowercase)


def write_fasta(target: TextFile, records: Iterable[SequenceRecord] | MultipleAlignment, width: int = 60) -> None:
    """Write sequences to a FASTA file.

    The file reads back unchanged; records for which it would not are refused.

    Parameters
    ----------
    target : str, path or text file
        The file to write.
    records : iterable of SequenceRecord, or MultipleAlignment
        SequenceRecord objects; or a MultipleAlignment, whose rows are written, without annotations except DE.
    width : int
        The number of letters per line.

    See Also
    --------
    read_fasta : reads such files.
    """
    records = aligned_records(records) if isinstance(records, MultipleAlignment) else _checked(records)
    if not is_whole(width) or width < 1:
        raise ValueError(f"width is {width!r}; expected 1 letter or more")
    headers = [header(record) for record in records]
    for record in records:
        strange = strange_character(record.sequence)
        if strange or not record.sequence:
            raise ValueError(f"record {record.name!r} has {strange or 'no sequence'}")
    with writing(target) as file:
        for line, record in zip(headers, records, strict=True):
            file.write(line + "\n")
            for begin in range(0, len(record.sequence), width):
                file.write(record.sequence[begin : begin + width] + "\n")


def aligned_records(alignment: MultipleAlignment) -> list[SequenceRecord]:
    """Return the rows of an alignment with their descriptions."""
    notes = alignment.annotations.of_rows
    descriptions = [" ".join(text for feature, text in row if feature == "DE" and text) for row in notes]
    return list(map(SequenceRecord, alignment.names, descriptions, alignment.rows))


def _checked(records: Any) -> list[SequenceRecord]:
    expected = "SequenceRecord(name, description, sequence), three strings"
    if not isinstance(records, Iterable) or isinstance(records, str | Mapping):
        raise ValueError(f"the records are given as {type(records).__name__}; expected a list of {expected}")
    records = list(records)
    for i, record in enumerate(records):
        if not isinstance(record, SequenceRecord) or not all(isinstance(part, str) for part in record):
            raise ValueError(f"record {i} is {record!r:.60}; expected a {expected}")
    return records


def header(record: SequenceRecord) -> str:
    """Return the line above a sequence; raise unless it can be read back."""
    name, description, _ = record
    line = f">{name} {description}" if description else f">{name}"
    if _words(line) != (name, description) or not name or "\n" in line or "\r" in line:
        raise ValueError(
            f"a header cannot hold the name {name!r} with the description {description!r}; expected a name without "
            "white space, and a description without line ends and outer white space"
        )
    return line


def headed(
    lines: TextLines, strange: Callable[[str, str], str] | None = None, comments: list[str] | None = None
) -> Iterator[tuple[int, SequenceRecord]]:
    """Yield the records of a file, each with the line number of its header.

    strange(name, text) returns a message if a line of the record of that name has a character that is not allowed.
    `comments` collects the lines that begin with "#" before the first header, in formats that have such lines.
    """
    number, name, description, parts = 0, "", "", list[str]()
    for line in lines:
        if line.startswith(">"):
            if number:
                yield number, _record(lines, number, name, description, parts)
            number, parts = lines.number, []
            name, description = _words(line)
            if not name:
                raise lines.error("the header names no sequence; expected a name after '>'")
        elif line.strip():
            if not number and comments is not None and line.startswith("#"):
                comments.append(line[1:].strip())
                continue
            if not number:
                raise lines.error(f"found {line[:20]!r} before any header; expected a line that begins with '>'")
            parts.append("".join(line.split()))
            found = strange(name, parts[-1]) if strange else strange_character(parts[-1])
            if found:
                raise lines.error(f"record {name!r} has {found}")
    if number:
        yield number, _record(lines, number, name, description, parts)


def _words(line: str) -> tuple[str, str]:
    """Return name and description in a header, empty if it has none."""
    words = line[1:].split(maxsplit=1)
    return words[0] if words else "", words[1].rstrip() if len(words) > 1 else ""


def _record(lines: TextLines, number: int, name: str, description: str, parts: list[str]) -> SequenceRecord:
    if not parts:
        raise lines.error(f"record {name!r} has no sequence", number)
    return SequenceRecord(name, description, "".join(parts))
