"""A3M and A2M: alignments to a query, in which residues without a column of the query are lower-case.

A row has one upper-case letter or "-" for each match column. Lower-case letters between them are insertions, which are
not aligned; A2M pads rows with dots to equal length, A3M leaves the dots out. Files of the HH-suite may begin with rows
that annotate each residue of the query, such as its secondary structure.
"""

from __future__ import annotations

import re
from dataclasses import replace

from maxmargin.inputs.readers.text_file import TextFile, TextLines, reading, writing
from maxmargin.structures.alignment.formats.fasta import SequenceRecord, aligned_records, headed, header
from maxmargin.structures.alignment.formats.multiple import (
    GAPS,
    MultipleAlignment,
    strange_character,
    with_descriptions,
)

# The HH-suite's names of rows with one character for each residue of the query: amino acid, solvent accessibility and
# secondary structure, known (dssp) or predicted, and the confidence of the prediction.
ABOUT_THE_QUERY = frozenset({"aa_dssp", "aa_pred", "sa_dssp", "ss_conf", "ss_dssp", "ss_pred"})
_INSERTION = re.compile("[a-z]+")
_NOT_MATCHED = re.compile("[a-z.]+")


def read_a3m(source: TextFile) -> MultipleAlignment:
    """Read an alignment in A3M or A2M, padding its rows with dots to equal length.

    Insertions of two rows may then share a column, but `pair` does not count them as aligned. Annotations of the
    query's residues become annotations of the first row, and lines that begin with "#" before it become comments CC.

    Parameters
    ----------
    source : str, path or text file
        The file to read.

    Returns
    -------
    MultipleAlignment.

    See Also
    --------
    write_a3m : writes such files.
    """
    comments: list[str] = []
    with reading(source) as lines:
        notes_of_query, records = _checked(lines, list(headed(lines, _strange, comments)))
    insertions = [_insertions(record.sequence) for record in records]
    widths: dict[int, int] = {}
    for row in insertions:
        for place, letters in row.items():
            widths[place] = max(widths.get(place, 0), len(letters))
    filled = [_filled(_matched(record), inserted, widths) for record, inserted in zip(records, insertions, strict=True)]
    notes = [("CC", text) for text in comments]
    notes += [(record.name, record.description) for record in notes_of_query if record.description]
    of_query = {record.name: _filled(record.sequence, {}, widths) for record in notes_of_query}
    annotations = replace(
        with_descriptions([record.description for record in records]),
        of_file=tuple(notes),
        of_residues=(of_query, *({},) * (len(records) - 1)),
    )
    return MultipleAlignment(tuple(record.name for record in records), tuple(filled), annotations, "inserted")


def write_a3m(target: TextFile, alignment: MultipleAlignment) -> None:
    """Write an alignment in A3M.

    Only annotations that `read_a3m` reads are part of the format; others are not written.

    Parameters
    ----------
    target : str, path or text file
        The file to write.
    alignment : MultipleAlignment
        A MultipleAlignment whose lower-case letters are insertions, as `read_a3m` returns it.

    See Also
    --------
    read_a3m : reads such files.
    """
    if alignment.lowercase != "inserted":
        raise ValueError(
            f"lower-case letters of this alignment are {alignment.lowercase!r}; in A3M they are 'inserted'"
        )
    inserted = [any(row[c].islower() for row in alignment.rows) for c in range(alignment.width)]
    matched = [c for c in range(alignment.width) if not inserted[c]]
    annotations = alignment.annotations
    notes = dict(annotations.of_file)
    records = [
        SequenceRecord(name, notes.get(name, ""), "".join(text[c] for c in matched))
        for name, text in annotations.of_residues[0].items()
        if name in ABOUT_THE_QUERY
    ]
    for name, description, row in aligned_records(alignment):
        letters = [("" if inserted[c] else "-") if letter in GAPS else letter for c, letter in enumerate(row)]
        records.append(SequenceRecord(name, description, "".join(letters)))
    headers = [header(record) for record in records]
    with writing(target) as file:
        file.writelines(f"#{text}\n" for feature, text in annotations.of_file if feature == "CC")
        file.writelines(f"{line}\n{record.sequence}\n" for line, record in zip(headers, records, strict=True))


def _strange(name: str, text: str) -> str:
    """Return the message for a character that is not allowed; rows about the query may have any characters."""
    return "" if name in ABOUT_THE_QUERY else strange_character(text)


def _checked(
    lines: TextLines, numbered: list[tuple[int, SequenceRecord]]
) -> tuple[list[SequenceRecord], list[SequenceRecord]]:
    """Return the annotations of the query and the rows; raise unless all have the same number of match columns."""
    notes = {record.name: record for _, record in numbered if record.name in ABOUT_THE_QUERY}
    records = [record for _, record in numbered if record.name not in ABOUT_THE_QUERY]
    if not records:
        raise lines.error("no sequence in the file; expected the rows of an alignment")
    width = len(_matched(records[0]))
    for number, record in numbered:
        if record.name in notes and record is not notes[record.name]:
            raise lines.error(f"there are several rows {record.name!r}; expected one", number)
        found = len(record.sequence if record.name in notes else _matched(record))
        if found != width or not width:
            raise lines.error(
                f"row {record.name!r} has {found} match columns (upper-case letters and '-'); expected "
                f"{width or 'some'}, as many as the first sequence, {records[0].name!r}, has",
                number,
            )
    return list(notes.values()), records


def _matched(record: SequenceRecord) -> str:
    return _NOT_MATCHED.sub("", record.sequence)


def _insertions(row: str) -> dict[int, str]:
    """Return {number of match columns before: the insertion there}."""
    row = row.replace(".", "")
    found: dict[int, str] = {}
    lower = 0
    for insertion in _INSERTION.finditer(row):
        found[insertion.start() - lower] = insertion[0]
        lower += len(insertion[0])
    return found


def _filled(matched: str, insertions: dict[int, str], widths: dict[int, int]) -> str:
    """Return a row with all its insertions, padded with dots where other rows have longer ones."""
    parts, begin = [], 0
    for place in sorted(widths):
        parts += [matched[begin:place], insertions.get(place, "").ljust(widths[place], ".")]
        begin = place
    return "".join([*parts, matched[begin:]])
