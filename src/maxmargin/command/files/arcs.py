"""Dependency trees in CoNLL-U files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from maxmargin.command.files.base import FileExamples, opened, some_at_a_time
from maxmargin.structures.dependencies.conllu import iterate_conllu, write_conllu
from maxmargin.structures.dependencies.measures import attachment_scores


def read(sources: list[str], estimator: Any, settings: Any, like: FileExamples | None = None) -> FileExamples:
    """Return sentences with their heads and labels."""
    roots = estimator.single_root
    sentences = [each for name in sources for each in iterate_conllu(opened(name), single_root=roots)]
    if not sentences:
        raise ValueError(f"there is no sentence in {', '.join(sources)}")
    return FileExamples([sentence.tokens for sentence in sentences], [sentence.arcs for sentence in sentences])


def predicted(model: Any, source: str, settings: Any) -> Iterator[tuple[str, Any]]:
    """Yield the sentences with predicted heads and labels."""
    from io import StringIO

    for some in some_at_a_time(iterate_conllu(opened(source), single_root=False)):
        for sentence, arcs in zip(some, model.predict([each.tokens for each in some]), strict=True):
            text = StringIO()
            write_conllu(text, [sentence.with_arcs(arcs)])
            yield text.getvalue(), arcs


def measures(model: Any, examples: FileExamples) -> dict[str, float]:
    """Return unlabelled and labelled attachment scores."""
    scores = attachment_scores(examples.Y, model.predict(examples.X))
    return {"UAS": scores.uas} | ({"LAS": scores.las} if scores.las is not None else {})
