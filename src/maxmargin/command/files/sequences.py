"""Label sequences: columns (conll), of which templates make features, or attributes (crfsuite)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

import numpy as np

from maxmargin.command.files.base import FileExamples, opened, some_at_a_time
from maxmargin.inputs.chunk_schemes import ANY, SCHEMES
from maxmargin.inputs.text_file import TextFile
from maxmargin.inputs.token_templates import TokenTemplates
from maxmargin.structures.sequences.conll import ConllSentence, iterate_conll
from maxmargin.structures.sequences.crfsuite import iterate_crfsuite
from maxmargin.structures.sequences.measures import chunk_f1


def read(sources: list[str], estimator: Any, settings: Any, like: FileExamples | None = None) -> FileExamples:
    """Sentences; an estimator without templates gets those that are given, or the usual ones."""
    fitted = hasattr(estimator, "w_")
    columns = templates(estimator) is not None if fitted else settings.format == "conll"
    if not columns:
        return _with_attributes(sources, settings)
    sentences = [each for name in sources for each in iterate_conll(opened(name), chunks=settings.chunks)]
    if not sentences:
        raise ValueError(f"there is no sentence in {', '.join(sources)}")
    known = templates(estimator) if fitted else estimator.features
    if known is None:
        known = estimator.features = _templates_for(sentences[0], settings)
    sentences = list(_checked(sentences, known.columns, sources))
    return FileExamples([sentence.tokens for sentence in sentences], [sentence.labels for sentence in sentences])


def templates(model: Any) -> TokenTemplates | None:
    """What a model makes features of columns by; those of packed data came with these."""
    found: TokenTemplates | None = model.task_.packer_.templates
    return found


def to_pack(sources: list[str], settings: Any) -> tuple[Iterator[tuple[Any, ...]], dict[str, Any]]:
    """Sentences one by one, and options of `pack`."""
    options = {"hash_bits": settings.hash_bits}
    if settings.format == "crfsuite":
        scheme = None if settings.chunks is None else SCHEMES[settings.chunks]
        sequences = (each for name in sources for each in iterate_crfsuite(opened(name)))
        return ((x, y if scheme is None else scheme.rewritten(y), weight) for x, y, weight in sequences), options
    sentences = (each for name in sources for each in iterate_conll(opened(name), chunks=settings.chunks))
    first = next(sentences, None)
    if first is None:
        raise ValueError(f"there is no sentence in {', '.join(sources)}")
    features = _templates_for(first, settings)
    return _checked(chain([first], sentences), features.columns, sources), {**options, "features": features}


def packed(folder: str, estimator: Any) -> FileExamples:
    """The sentences of a packed folder; an estimator gets the templates that they were packed with."""
    from maxmargin.packing import open_packed

    data = open_packed(folder)
    if not hasattr(estimator, "w_"):
        estimator.features = data.packer.templates
    return FileExamples(data, None)


def _templates_for(sentence: ConllSentence, settings: Any) -> TokenTemplates:
    """Those that are given, or the usual ones for so many columns."""
    if settings.features:
        return TokenTemplates.read(settings.features)
    return TokenTemplates.usual(len(sentence.tokens[0]))


def _checked(sentences: Iterable[ConllSentence], names: list[str], sources: list[str]) -> Iterator[ConllSentence]:
    for sentence in sentences:
        if len(sentence.tokens[0]) != len(names):
            raise ValueError(
                f"{', '.join(sources)}: a line has {len(sentence.tokens[0]) + 1} columns; expected {len(names)} "
                f"({', '.join(names)}) and a label"
            )
        yield sentence


def predicted(model: Any, source: TextFile, settings: Any) -> Iterator[tuple[str, Any]]:
    """Columns with one more, as conlleval reads them; of attributes, the labels."""
    known = templates(model)
    if known is None:
        for crfsuite in some_at_a_time(iterate_crfsuite(source)):
            for labels in model.predict([sequence.tokens for sequence in crfsuite]):
                yield "".join(f"{label}\n" for label in labels) + "\n", labels
        return
    width = len(known.columns)
    for some in some_at_a_time(iterate_conll(source, labelled=False)):
        found = len(some[0].tokens[0])
        if found not in (width, width + 1):
            names = ", ".join(known.columns)
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
