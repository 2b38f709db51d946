"""Label sequences in JSON lines: a sequence on every line, its tokens as columns or as features.

    {"tokens": [["Ada", "NNP"], ["slept", "VBD"]], "labels": ["B-PER", "O"]}
    {"features": [["w=Ada", "capital"], {"w=slept": 1, "length": 5}], "labels": ["B-PER", "O"], "weight": 2}

A token with one column may be a text. Features are names, or numbers by name, as SequenceLabeler takes them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from sys import intern
from typing import Any

from maxmargin.inputs.readers.json_lines import JsonRecord, iterate_records, write_records
from maxmargin.inputs.readers.named_rows import as_text_or_number, fits_float
from maxmargin.inputs.readers.text_file import TextFile
from maxmargin.inputs.tokens.chunk_schemes import named_scheme
from maxmargin.structures.sequences.conll import ConllSentence
from maxmargin.structures.sequences.crfsuite import CrfsuiteSequence

TOKENS, FEATURES = "tokens", "features"
A_SEQUENCE = f"{TOKENS!r}, a list of columns for every token, or {FEATURES!r}"

JsonlSequence = ConllSentence | CrfsuiteSequence


def read_jsonl_sequences(source: TextFile, chunks: str | None = None) -> list[JsonlSequence]:
    """Return all label sequences of a file in JSON lines.

    Parameters
    ----------
    source, chunks : str, path or text file; str or None
        As for `iterate_jsonl_sequences`.

    Returns
    -------
    list of ConllSentence or CrfsuiteSequence.

    Examples
    --------
    >>> import io
    >>> from maxmargin.formats import read_jsonl_sequences
    >>> read_jsonl_sequences(io.StringIO('{"tokens": ["Ada", "slept"], "labels": ["B-PER", "O"]}'))[0].labels
    ['B-PER', 'O']

    See Also
    --------
    iterate_jsonl_sequences : one sequence at a time.   write_jsonl_sequences : writes such files.
    """
    return list(iterate_jsonl_sequences(source, chunks))


def iterate_jsonl_sequences(source: TextFile, chunks: str | None = None) -> Iterator[JsonlSequence]:
    """Yield the sequences of a file one by one: a ConllSentence if tokens are columns, else a CrfsuiteSequence.

    Either all tokens have the same number of columns, or all have features. Labels are strings, or missing everywhere.

    Parameters
    ----------
    source : str, path or text file
        The file to read.
    chunks : str or None
        None, "BIO", "BILOU" or "IOBES", as for `iterate_conll`.

    Returns
    -------
    iterator of ConllSentence or CrfsuiteSequence.

    See Also
    --------
    read_jsonl_sequences : all sequences at once.
    """
    for _, sequence in numbered_sequences(source):
        if chunks is not None and sequence.labels:
            labels = named_scheme(chunks).rewritten(sequence.labels)
            sequence = sequence._replace(labels=labels)
        yield sequence


def numbered_sequences(source: TextFile) -> Iterator[tuple[JsonRecord, JsonlSequence]]:
    """Yield every sequence with the record that it was made of."""
    width, labelled = -1, True  # taken from the first sequence; features have the width 0
    for record in iterate_records(source):
        sequence = _with_columns(record) if TOKENS in record else _with_features(record)
        found = len(sequence.tokens[0]) if TOKENS in record else 0
        if width < 0:
            width, labelled = found, bool(sequence.labels)
        for t, token in enumerate(sequence.tokens):
            if (len(token) if TOKENS in record else 0) != width:
                expected = f"{width} columns" if width else FEATURES
                raise record.error(f"token {t} is {token!r:.60}; expected {expected}, as the first sequence has")
        if bool(sequence.labels) != labelled:
            which = ("no labels", "some") if labelled else ("labels", "none")
            raise record.error(f"the sequence has {which[0]}, but the first one has {which[1]}")
        yield record, sequence


def write_jsonl_sequences(
    target: TextFile, X: Iterable[Any], Y: Iterable[Sequence[Hashable]] | None = None, features: bool = False
) -> None:
    """Write label sequences in JSON lines.

    Parameters
    ----------
    target : str, path or text file
        The file to write; the suffix of a path decides the compression.
    X : iterable
        Sequences of tokens: tuples of columns, strings or, with features=True, lists of names or dicts.
    Y : iterable or None
        The labels of each sequence, or None.
    features : bool
        True if tokens are features, not columns.

    See Also
    --------
    read_jsonl_sequences : reads such files.
    """
    write_records(target, _records(X, Y, features))


def record_of(tokens: Any, labels: Any, features: bool) -> dict[str, Any]:
    """Return the record that is written for a sequence."""
    if not features:
        given: list[Any] = [token if isinstance(token, str) else list(token) for token in tokens]
    else:
        given = [dict(token) if isinstance(token, dict) else list(token) for token in tokens]
    said = {} if labels is None else {"labels": [as_text_or_number(label) for label in labels]}
    return {FEATURES if features else TOKENS: given, **said}


def _records(X: Iterable[Any], Y: Any, features: bool) -> Iterator[dict[str, Any]]:
    for i, (tokens, *labels) in enumerate(zip(X, *([] if Y is None else [Y]), strict=True)):
        if labels and len(labels[0]) != len(tokens):
            raise ValueError(f"sequence {i} has {len(tokens)} tokens but {len(labels[0])} labels")
        yield record_of(tokens, labels[0] if labels else None, features)


def _with_columns(record: JsonRecord) -> ConllSentence:
    tokens = []
    for t, token in enumerate(record.listed(TOKENS, A_SEQUENCE)):
        columns = [token] if isinstance(token, str) else token
        if not isinstance(columns, list) or not columns or not all(isinstance(text, str) for text in columns):
            raise record.error(f"token {t} is {token!r:.60}; expected a text, or a list of texts, its columns")
        tokens.append(tuple(map(intern, columns)))  # each text is stored once
    return ConllSentence(tokens, _labels(record, len(tokens)))


def _with_features(record: JsonRecord) -> CrfsuiteSequence:
    tokens = record.listed(FEATURES, A_SEQUENCE)
    for t, token in enumerate(tokens):
        if isinstance(token, dict):
            good = all(fits_float(value) for value in token.values())
        else:
            good = isinstance(token, list) and all(isinstance(name, str) for name in token)
        if not good:
            raise record.error(f"token {t} is {token!r:.60}; expected a list of names, or a finite number by name")
    weight = record.fields.get("weight", 1.0)
    if not fits_float(weight) or weight < 0:
        raise record.error(f"the weight is {weight!r:.40}; expected a number >= 0")
    return CrfsuiteSequence(list(map(_shared, tokens)), _labels(record, len(tokens)), float(weight))


def _shared(token: Any) -> list[str] | dict[str, float]:
    """Return a token whose names are interned, so that each is stored once."""
    return {intern(name): value for name, value in token.items()} if isinstance(token, dict) else [*map(intern, token)]


def _labels(record: JsonRecord, n: int) -> list[str]:
    if n == 0:
        raise record.error("the sequence has no token; leave it out")
    if "labels" not in record:
        return []
    labels = record.listed("labels", "a text for every token")
    if len(labels) != n or not all(isinstance(label, str) for label in labels):
        raise record.error(f"the labels are {labels!r:.60}; expected a text for each of {n} tokens")
    return list(map(intern, labels))
