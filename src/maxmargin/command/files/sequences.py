"""Label sequences and segments: columns of tokens, from which templates make features, or features themselves."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np

from maxmargin.command.errors import UsageError
from maxmargin.command.files.base import FileExamples, format_of, named_format, opened, some_at_a_time
from maxmargin.command.files.span_files import SpansFile, predicted_file
from maxmargin.command.files.token_files import FileSentence, TokenFile, token_file
from maxmargin.command.kinds import KINDS, SPANS
from maxmargin.inputs.tokens.chunk_schemes import ANY, SCHEMES
from maxmargin.inputs.tokens.token_templates import TokenTemplates
from maxmargin.structures.sequences.conll import ConllSentence
from maxmargin.structures.sequences.measures import chunk_f1


def read(sources: list[str], estimator: Any, settings: Any, like: FileExamples | None = None) -> FileExamples:
    """Return sentences; an estimator without templates receives the given ones, or common ones."""
    new = like is None and not hasattr(estimator, "w_")
    scheme = _scheme(estimator, settings)
    sentences = list(_sentences(sources, estimator, new, settings))
    if not sentences:
        raise ValueError(f"there is no sentence in {', '.join(sources)}")
    if new and hasattr(estimator, "segment_features") and estimator.features is not None:
        from maxmargin.structures.segments.segment_text import SegmentText

        estimator.segment_features = SegmentText(0)
    labels = [sentence.labels if scheme is None else scheme.rewritten(sentence.labels) for sentence in sentences]
    weights = np.array([getattr(sentence, "weight", 1.0) for sentence in sentences])
    others = {} if (weights == 1).all() else {"sample_weight": weights}
    return FileExamples([sentence.tokens for sentence in sentences], labels, others)


def templates(estimator: Any) -> TokenTemplates | None:
    """Return the templates with which a model makes features from columns; packed data bring their own."""
    found: TokenTemplates | None = estimator.task_.packer_.templates if hasattr(estimator, "w_") else estimator.features
    return found


def to_pack(sources: list[str], settings: Any) -> tuple[Iterator[tuple[Any, ...]], dict[str, Any]]:
    """Return sentences one by one, and the options of `pack`."""
    estimator = KINDS[settings.kind].estimator_class()()
    scheme = _scheme(estimator, settings)
    sentences = _sentences(sources, estimator, True, settings)
    first = next(sentences, None)
    if first is None:
        raise ValueError(f"there is no sentence in {', '.join(sources)}")
    examples = (
        # And a weight, if there is one.
        (each.tokens, each.labels if scheme is None else scheme.rewritten(each.labels), *each[2:])
        for each in chain([first], sentences)
    )
    options = {"hash_bits": settings.hash_bits}
    return examples, options if estimator.features is None else {**options, "features": estimator.features}


def packed(data: Any, estimator: Any) -> FileExamples:
    """Return the sentences of a packed folder; the estimator receives the templates they were packed with."""
    if not hasattr(estimator, "w_"):
        estimator.features = data.packer.templates
    return FileExamples(data, None)


def _sentences(sources: list[str], estimator: Any, new: bool, settings: Any) -> Iterator[FileSentence]:
    """Yield the checked sentences of all files; if the first one has columns, a new estimator gets templates."""
    if new and settings.features:
        estimator.features = TokenTemplates.read(opened(settings.features))
    begun = not new
    for name in sources:
        spans = settings.format in SPANS
        file = _spans_file(name, estimator, settings) if spans else _file(name, estimator, True, settings)
        for sentence, _ in file:
            if not begun and estimator.features is None and isinstance(sentence, ConllSentence):
                tokeniser = file.tokeniser if isinstance(file, SpansFile) else None
                estimator.features = TokenTemplates.usual(len(sentence.tokens[0]), file.names, tokeniser)
            begun = True
            _check(sentence, estimator, name)
            yield sentence


def predicted(model: Any, source: str, settings: Any) -> Iterator[tuple[str, Any]]:
    """Yield sentences with predictions in the format of the file: an additional column or key, or labels alone."""
    if settings.format in SPANS:
        yield from predicted_file(model, source, format_of(source, model, settings))
        return
    file = _file(source, model, False, settings)
    for some in some_at_a_time(file):
        for sentence, _ in some:
            _check(sentence, model, source, labelled=False)
        found = model.predict([sentence.tokens for sentence, _ in some])
        for (_, written), labels in zip(some, found, strict=True):
            yield file.with_labels(written, labels), labels


def measures(model: Any, examples: FileExamples) -> dict[str, float]:
    """Return the share of correct labels and, for chunks, precision, recall and F1 in percent as conlleval does."""
    found = model.predict(examples.X)
    right = sum(a == b for y, z in zip(examples.Y, found, strict=True) for a, b in zip(y, z, strict=True))
    result = {"right labels": right / sum(map(len, examples.Y))}
    labels = {label for y in examples.Y for label in y}
    if all(map(ANY.knows, labels)) and labels != {"O"}:  # invalid chunks are read as conlleval reads them
        bio = SCHEMES["BIO"]
        score = chunk_f1([bio.rewritten(y) for y in examples.Y], [bio.rewritten(z) for z in found])
        result |= {"precision": score.precision, "recall": score.recall, "F1": score.f1}
    return result


def _file(name: str, estimator: Any, labelled: bool, settings: Any) -> TokenFile:
    form = format_of(name, estimator, settings)
    if settings.format is None and named_format(name) is None and hasattr(estimator, "w_") and not templates(estimator):
        form = "crfsuite"  # a model without templates was trained on features
    known = templates(estimator)
    columns = None if known is None else known.columns
    return token_file(form, name, columns, labelled, settings)


def _spans_file(name: str, estimator: Any, settings: Any) -> SpansFile:
    return SpansFile(name, format_of(name, estimator, settings), templates(estimator))


def _scheme(estimator: Any, settings: Any) -> Any:
    """Return the chunk scheme to convert labels to: BIO for segments, otherwise only on request."""
    if not hasattr(estimator, "segment_features"):
        return None if settings.chunks is None else SCHEMES[settings.chunks]
    if settings.chunks not in (None, "BIO"):
        raise UsageError(f"--chunks is {settings.chunks}; expected BIO, because segments are trained on BIO labels")
    return SCHEMES["BIO"]


def _check(sentence: FileSentence, estimator: Any, name: str, labelled: bool = True) -> None:
    """Raise a ValueError unless the estimator can take the sentence: tokens with its columns, or with features."""
    known = templates(estimator)
    names = None if known is None else known.columns
    columns = isinstance(sentence, ConllSentence)
    if columns and names is None:
        raise ValueError(
            f"{name} has columns of tokens; expected features as in crfsuite files, on which this model was trained"
        )
    if names is not None and not columns:
        raise ValueError(
            f"{name} has features of tokens; expected the columns {', '.join(names)}, from which this "
            "model makes features"
        )
    if names is not None and len(sentence.tokens[0]) != len(names):
        raise ValueError(
            f"{name}: a line has {len(sentence.tokens[0]) + 1} columns; expected {len(names)} ({', '.join(names)}) "
            "and a label"
        )
    if labelled and not sentence.labels:
        raise ValueError(f"{name} has no labels; expected one for every token")
