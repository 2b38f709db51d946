"""Label sequences: columns (conll), of which templates make features, or attributes (crfsuite)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from maxmargin.command.files.base import FileExamples, opened, some_at_a_time
from maxmargin.inputs.chunk_schemes import ANY, SCHEMES
from maxmargin.inputs.text_file import TextFile
from maxmargin.inputs.token_templates import TokenTemplates
from maxmargin.structures.sequences.conll import iterate_conll
from maxmargin.structures.sequences.crfsuite import iterate_crfsuite
from maxmargin.structures.sequences.measures import chunk_f1


def read(sources: list[str], estimator: Any, settings: Any, like: FileExamples | None = None) -> FileExamples:
    """Sentences; an estimator without templates gets those that are given, or the usual ones."""
    fitted = hasattr(estimator, "w_")
    columns = estimator.features is not None if fitted else settings.format == "conll"
    if not columns:
        return _with_attributes(sources, settings)
    sentences = [each for name in sources for each in iterate_conll(opened(name), chunks=settings.chunks)]
    if not sentences:
        raise ValueError(f"there is no sentence in {', '.join(sources)}")
    if estimator.features is None:
        usual = TokenTemplates.usual(len(sentences[0].tokens[0]))
        estimator.features = TokenTemplates.read(settings.features) if settings.features else usual
    names = estimator.features.columns
    for sentence in sentences:
        if len(sentence.tokens[0]) != len(names):
            raise ValueError(
                f"{', '.join(sources)}: a line has {len(sentence.tokens[0]) + 1} columns; expected {len(names)} "
                f"({', '.join(names)}) and a label"
            )
    return FileExamples([sentence.tokens for sentence in sentences], [sentence.labels for sentence in sentences])


def predicted(model: Any, source: TextFile, settings: Any) -> Iterator[tuple[str, Any]]:
    """Columns with one more, as conlleval reads them; of attributes, the labels."""
    if model.features is None:
        for crfsuite in some_at_a_time(iterate_crfsuite(source)):
            for labels in model.predict([sequence.tokens for sequence in crfsuite]):
                yield "".join(f"{label}\n" for label in labels) + "\n", labels
        return
    width = len(model.features.columns)
    for some in some_at_a_time(iterate_conll(source, labelled=False)):
        found = len(some[0].tokens[0])
        if found not in (width, width + 1):
            names = ", ".join(model.features.columns)
            raise ValueError(f"the file has {found} columns; expected {width} ({names}), or these and a label")
        X = [sentence.tokens if found == width else [t[:width] for t in sentence.tokens] for sentence in some]
        for sentence, labels in zip(some, model.predict(X), strict=True):
            separator = "\t" if any(" " in column for token in sentence.tokens for column in token) else " "
            lines = (f"{separator.join((*t, label))}\n" for t, label in zip(sentence.tokens, labels, strict=True))
            yield "".join(lines) + "\n", labels


def measures(model: Any, examples: FileExamples) -> dict[str, float]:
    """The share of right labels and, of chunks, precision, recall and F1 in hundredths as conlleval has them."""
    found = model.predict(examples.X)
    right = sum(a == b for y, z in zip(examples.Y, found, strict=True) for a, b in zip(y, z, strict=True))
    result = {"right labels": right / sum(map(len, examples.Y))}
    labels = {label for y in examples.Y for label in y}
    if all(map(ANY.knows, labels)) and labels != {"O"}:  # broken chunks are read as conlleval reads them
        bio = SCHEMES["BIO"]
        score = chunk_f1([bio.rewritten(y) for y in examples.Y], [bio.rewritten(z) for z in found])
        result |= {"precision": score.precision, "recall": score.recall, "F1": score.f1}
    return result


def _with_attributes(sources: list[str], settings: Any) -> FileExamples:
    sequences = [each for name in sources for each in iterate_crfsuite(opened(name))]
    if not sequences:
        raise ValueError(f"there is no sequence in {', '.join(sources)}")
    labels = [sequence.labels for sequence in sequences]
    if settings.chunks is not None:
        labels = [SCHEMES[settings.chunks].rewritten(y) for y in labels]
    weights = np.array([sequence.weight for sequence in sequences])
    others = {} if (weights == 1).all() else {"sample_weight": weights}
    return FileExamples([sequence.tokens for sequence in sequences], labels, others)
