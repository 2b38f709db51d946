"""JSON lines: a record, in curly brackets, on every line. What is asked of one and is not there is told with its line.

    {"label": "red", "features": {"size": 2.5, "round": 1}}

Keys that nobody asks for may be there, too. https://jsonlines.org
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from scipy import sparse

from maxmargin.checks import check_whole
from maxmargin.inputs.labelled_rows import LabelledRows, RowsCollected, as_text_or_number, fits_float
from maxmargin.inputs.text_file import TextFile, TextLines, reading, writing


@dataclass(frozen=True, slots=True)
class JsonRecord:
    """The record of a line."""

    fields: dict[str, Any]
    lines: TextLines
    number: int  # of the line

    def error(self, message: str) -> ValueError:
        """What to raise about it."""
        return self.lines.error(message, self.number)

    def __contains__(self, key: object) -> bool:
        return key in self.fields

    def value(self, key: str, expected: str) -> Any:
        """What it says of this key."""
        if key not in self.fields:
            raise self.error(f"there is no {key!r}; expected {expected}")
        return self.fields[key]

    def listed(self, key: str, expected: str) -> list[Any]:
        """A list that it must have."""
        value = self.value(key, expected)
        if not isinstance(value, list):
            raise self.error(f"{key!r} is {value!r:.40}; expected {expected}")
        return value


def iterate_records(source: TextFile) -> Iterator[JsonRecord]:
    """The records of a file one by one; empty lines are left out."""
    with reading(source) as lines:
        for line in lines:
            if line.strip():
                yield JsonRecord(_record(line, lines), lines, lines.number)


def write_records(target: TextFile, records: Iterable[dict[str, Any]]) -> None:
    """Write a line for each."""
    with writing(target) as file:
        for record in records:
            file.write(json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n")


def iterate_jsonl_rows(
    source: TextFile, names: Sequence[str] | None = None, at_once: int = 10_000
) -> Iterator[LabelledRows]:
    """Rows, `at_once` at a time: {"label": …, "query": …, "features": {name: number} or [numbers]}.

    Features in a list are named "0", "1", … Those that a row does not have are 0. Labels and queries are texts or
    numbers, the same for all rows; either may be left out everywhere.

    names : of the columns to take; None: all. Without it, later parts may have more columns than earlier ones.
    """
    check_whole("at_once", at_once, least=1)
    records, rows = iterate_records(source), RowsCollected(names)
    keys: set[str] | None = None
    while True:
        for record in islice(records, at_once):
            has = {key for key in ("label", "query") if key in record}
            keys = has if keys is None else keys
            if has != keys:
                key = min(has ^ keys)
                which = ("a", "none") if key in has else ("no", "one")
                raise record.error(f"there is {which[0]} {key!r}, but the first row has {which[1]}")
            complaint = rows.add(_features(record), **{key: record.fields[key] for key in sorted(has)})
            if complaint:
                raise record.error(complaint)
        if not len(rows):
            return
        yield rows.taken()
        rows.clear()


def read_jsonl_rows(source: TextFile, names: Sequence[str] | None = None) -> LabelledRows:
    """All rows of a file; see iterate_jsonl_rows."""
    return _only(list(iterate_jsonl_rows(source, names, at_once=2**62)), names)


def write_jsonl_rows(target: TextFile, X: Any, y: Any = None, qid: Any = None, names: Any = None) -> None:
    """Write rows, of a sparse or dense matrix; features that are 0 are left out where they have names.

    names : of the columns; None: features are lists.
    """
    write_records(target, _row_records(X, y, qid, names))


def _only(parts: list[LabelledRows], names: Sequence[str] | None) -> LabelledRows:
    return parts[0] if parts else RowsCollected(names or ()).taken()


def _row_records(X: Any, y: Any, qid: Any, names: Any) -> Iterator[dict[str, Any]]:
    matrix = sparse.csr_array(X)
    for i in range(matrix.shape[0]):
        said = {key: as_text_or_number(each[i]) for key, each in (("label", y), ("query", qid)) if each is not None}
        part = slice(matrix.indptr[i], matrix.indptr[i + 1])
        values = dict(zip(matrix.indices[part].tolist(), matrix.data[part].tolist(), strict=True))
        if names is None:
            features: Any = [values.get(j, 0.0) for j in range(matrix.shape[1])]
        else:
            features = {str(names[j]): value for j, value in values.items() if value}
        yield {**said, "features": features}


def _features(record: JsonRecord) -> Iterator[tuple[str, float]]:
    features = record.value("features", '{"name": number, …} or a list of numbers')
    if isinstance(features, dict):
        pairs: Iterable[tuple[str, Any]] = features.items()
    elif isinstance(features, list):
        pairs = ((str(j), value) for j, value in enumerate(features))
    else:
        raise record.error(f"'features' is {features!r:.40}; expected {{name: number, …}} or a list of numbers")
    for name, value in pairs:
        if not fits_float(value):
            raise record.error(f"the feature {name!r} is {value!r:.40}; expected a finite number")
        yield name, float(value)


def _record(line: str, lines: TextLines) -> dict[str, Any]:
    try:
        record = json.loads(line, object_pairs_hook=_with_different_keys, parse_constant=_refused)
    except RecursionError:
        raise lines.error("lists or records are within each other too deep") from None
    except json.JSONDecodeError as error:
        raise lines.error(f"this is no JSON: {error.msg} at character {error.pos + 1}") from None
    except ValueError as error:
        raise lines.error(str(error)) from None
    if not isinstance(record, dict):
        raise lines.error(f"found {line[:40]!r}; expected a record in curly brackets")
    return record


def _with_different_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        keys: set[str] = set()
        twice = next(key for key, _ in pairs if key in keys or keys.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"the key {twice!r:.40} is there twice")
    return record


def _refused(text: str) -> Any:
    raise ValueError(f"there is {text}; expected finite numbers")
