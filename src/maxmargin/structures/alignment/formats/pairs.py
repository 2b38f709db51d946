"""Pairs of sequences in FASTA: the first and the second record, the third and the fourth, …, aligned or not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from maxmargin.inputs.readers.text_file import TextFile, reading, writing
from maxmargin.structures.alignment.formats.fasta import SequenceRecord, headed, write_fasta


class SequencePair(NamedTuple):
    """Two sequences that belong together; if they are aligned, they contain gaps and have the same length."""

    first: SequenceRecord  # the first sequence
    second: SequenceRecord  # the second sequence


def read_fasta_pairs(source: TextFile, aligned: bool = True) -> list[SequencePair]:
    """Return all pairs of sequences of a FASTA file.

    Parameters
    ----------
    source, aligned : str, path or text file; bool
        As for `iterate_fasta_pairs`.

    Returns
    -------
    list of SequencePair.

    See Also
    --------
    iterate_fasta_pairs : one pair at a time.   write_fasta_pairs : writes such files.
    """
    return list(iterate_fasta_pairs(source, aligned))


def iterate_fasta_pairs(source: TextFile, aligned: bool = True) -> Iterator[SequencePair]:
    """Yield the pairs of a file one by one, so that large files need little memory.

    Parameters
    ----------
    source : str, path or text file
        The file to read.
    aligned : bool
        True if both sequences of a pair must have the same length, gaps included.

    Returns
    -------
    iterator of SequencePair.

    See Also
    --------
    read_fasta_pairs : all pairs at once.
    """
    with reading(source) as lines:
        first = None
        number = 0
        for number, record in headed(lines):
            if first is None:
                first = record
                continue
            if aligned and len(first.sequence) != len(record.sequence):
                raise lines.error(
                    f"{record.name!r} has {len(record.sequence)} columns; expected {len(first.sequence)}, as "
                    f"{first.name!r}, with which it is aligned",
                    number,
                )
            yield SequencePair(first, record)
            first = None
        if first is not None:
            raise lines.error(
                f"{first.name!r} is the last sequence and has no partner; expected pairs of sequences", number
            )


def write_fasta_pairs(target: TextFile, pairs: Iterable[SequencePair], width: int = 60) -> None:
    """Write pairs of records, one after the other.

    Parameters
    ----------
    target : str, path or text file
        The file to write.
    pairs : iterable of SequencePair
        The pairs.
    width : int
        The number of letters per line.

    See Also
    --------
    read_fasta_pairs : reads such files.
    """
    with writing(target) as file:
        for pair in pairs:
            write_fasta(file, list(pair), width)
