"""Aligned pairs of sequences: FASTA with consecutive pairs, or multiple alignments."""

from __future__ import annotations

from collections.abc import Iterator
from io import StringIO
from itertools import combinations
from typing import Any

from maxmargin.command.files.base import FileExamples, format_of, opened, some_at_a_time
from maxmargin.structures.alignment.alignments import PairwiseAlignment
from maxmargin.structures.alignment.formats.a3m import read_a3m
from maxmargin.structures.alignment.formats.fasta import SequenceRecord, read_aligned_fasta, write_fasta
from maxmargin.structures.alignment.formats.multiple import GAPS, MultipleAlignment
from maxmargin.structures.alignment.formats.pairs import iterate_fasta_pairs
from maxmargin.structures.alignment.formats.stockholm import iterate_stockholm

AT_ONCE = 200  # pairs at once, because alignment is slow
NO_GAPS = str.maketrans("", "", GAPS)


def read(sources: list[str], estimator: Any, settings: Any, like: FileExamples | None = None) -> FileExamples:
    """Return pairs of sequences and their alignments."""
    found = [pair for name in sources for pair in _pairs(name, estimator, True, settings)]
    if not found:
        raise ValueError(f"there is no pair of sequences in {', '.join(sources)}")
    return FileExamples([(a, b) for _, a, b, _ in found], [alignment for *_, alignment in found])


def predicted(model: Any, source: str, settings: Any) -> Iterator[tuple[str, Any]]:
    """Yield every pair, aligned, in FASTA."""
    for some in some_at_a_time(_pairs(source, model, False, settings), AT_ONCE):
        for (names, a, b, _), alignment in zip(some, model.predict([(a, b) for _, a, b, _ in some]), strict=True):
            rows = alignment.gapped(a, b)
            text = StringIO()
            write_fasta(text, [SequenceRecord(name, "", row) for name, row in zip(names, rows, strict=True)])
            yield text.getvalue(), {"names": list(names), "rows": list(rows)}


def measures(model: Any, examples: FileExamples) -> dict[str, float]:
    """Return the mean share of correctly aligned pairs of residues."""
    return {"right pairs": float(model.score(examples.X, examples.Y))}


def _pairs(
    name: str, estimator: Any, aligned: bool, settings: Any
) -> Iterator[tuple[tuple[str, str], str, str, PairwiseAlignment | None]]:
    """Yield names, sequences and, if they are aligned, the alignment of every pair."""
    source = opened(name)
    match format_of(name, estimator, settings):
        case "msa":
            yield from _all_pairs(read_aligned_fasta(source))
        case "stockholm":
            for several in iterate_stockholm(source):
                yield from _all_pairs(several)
        case "a3m":
            several = read_a3m(source)
            yield from (_pair(several, 0, j) for j in range(1, len(several)))
        case _:
            for first, second in iterate_fasta_pairs(source, aligned):
                a, b = (record.sequence.translate(NO_GAPS) for record in (first, second))
                known = PairwiseAlignment.from_gapped(first.sequence, second.sequence) if aligned else None
                yield (first.name, second.name), a, b, known


def _all_pairs(several: MultipleAlignment) -> Iterator[tuple[tuple[str, str], str, str, PairwiseAlignment]]:
    return (_pair(several, i, j) for i, j in combinations(range(len(several)), 2))


def _pair(several: MultipleAlignment, i: int, j: int) -> tuple[tuple[str, str], str, str, PairwiseAlignment]:
    return (several.names[i], several.names[j]), *several.pair(i, j)
