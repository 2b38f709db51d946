"""Sequences that share a motif, in FASTA, and sequences without it, in a separate file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from maxmargin.command.errors import UsageError
from maxmargin.command.files.base import FileExamples, opened, some_at_a_time
from maxmargin.structures.alignment.formats.fasta import SequenceRecord, iterate_fasta
from maxmargin.structures.alignment.formats.multiple import GAPS

NO_GAPS = str.maketrans("", "", GAPS)


def read(sources: list[str], estimator: Any, settings: Any, like: FileExamples | None = None) -> FileExamples:
    """Return strings, and whether they have the motif; None instead if all of them have it."""
    if like is not None:
        raise UsageError(
            "models of motifs are validated by cross-validation, -v K: --valid has no file for sequences "
            "without the motif"
        )
    having = [_letters(record) for name in sources for record in iterate_fasta(opened(name))]
    if not having:
        raise ValueError(f"there is no sequence in {', '.join(sources)}")
    if settings.without is None:
        if getattr(settings, "cv", None) is not None or "," in str(getattr(settings, "C", "")):
            raise UsageError("comparing models needs sequences without the motif: give them with --without FILE")
        return FileExamples(having, None)
    others = [_letters(record) for record in iterate_fasta(opened(settings.without))]
    if not others:
        raise ValueError(f"there is no sequence in {settings.without}")
    return FileExamples(having + others, np.array([True] * len(having) + [False] * len(others)))


def predicted(model: Any, source: str, settings: Any) -> Iterator[tuple[str, Any]]:
    """Yield a record for every sequence: its name, whether it has the motif, and its best site.

    A site has begin, end, strand, score and letters.
    """
    yes = bool(model.classes_[1] == model.positive_)
    for some in some_at_a_time(iterate_fasta(opened(source))):
        X = [_letters(record) for record in some]
        gains = model.decision_function(X) * (1 if yes else -1)
        for record, gain, site in zip(some, gains.tolist(), model.find_sites(X), strict=True):
            end = site.start + len(site.text)
            found = {"name": record.name, "motif": gain > 0, "begin": site.start + 1, "end": end}
            found |= {"strand": site.strand, "score": site.score, "site": site.text}
            said = {**found, "motif": "yes" if gain > 0 else "no", "score": f"{site.score:.4f}"}
            yield "\t".join(map(str, said.values())) + "\n", found


def measures(model: Any, examples: FileExamples) -> dict[str, float]:
    """Return the share of correct answers; without negative sequences, the share in which the motif is found."""
    found = model.predict(examples.X) == model.positive_
    if examples.Y is None:
        return {"with the motif": float(np.mean(found))}
    return {"right sequences": float(np.mean(found == examples.Y))}


def _letters(record: SequenceRecord) -> str:
    return record.sequence.translate(NO_GAPS)
