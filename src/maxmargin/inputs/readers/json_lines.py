"""JSON lines: one record, in curly brackets, per line. Errors name the line.

    {"label": "red", "features": {"size": 2.5, "round": 1}}

Unknown keys are ignored. https://jsonlines.org
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from maxmargin.inputs.readers.text_file import TextFile, TextLines, reading, writing


@dataclass(frozen=True, slots=True)
class JsonRecord:
    """The record of a line."""

    fields: dict[str, Any]
    lines: TextLines
    number: int  # the line number

    def error(self, message: str) -> ValueError:
        """Return an error about the line of this record, to be raised."""
        return self.lines.error(message, self.number)

    def __contains__(self, key: object) -> bool:
        return key in self.fields

    def value(self, key: str, expected: str) -> Any:
        """Return the value of a key; raise an error if it is missing."""
        if key not in self.fields:
            raise self.error(f"there is no {key!r}; expected {expected}")
        return self.fields[key]

    def listed(self, key: str, expected: str) -> list[Any]:
        """Return the list of a key; raise an error if it is missing or not a list."""
        value = self.value(key, expected)
        if not isinstance(value, list):
            raise self.error(f"{key!r} is {value!r:.40}; expected {expected}")
        return value


def iterate_records(source: TextFile) -> Iterator[JsonRecord]:
    """Yield the records of a file; empty lines are skipped."""
    with reading(source) as lines:
        for line in lines:
            if line.strip():
                yield JsonRecord(_record(line, lines), lines, lines.number)


def write_records(target: TextFile, records: Iterable[dict[str, Any]]) -> None:
    """Write one line per record."""
    with writing(target) as file:
        for record in records:
            file.write(json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n")


def _record(line: str, lines: TextLines) -> dict[str, Any]:
    try:
        record = json.loads(line, object_pairs_hook=_with_different_keys, parse_constant=_refused)
    except RecursionError:
        raise lines.error("lists or records are nested too deeply") from None
    except json.JSONDecodeError as error:
        raise lines.error(f"this is not JSON: {error.msg} at character {error.pos + 1}") from None
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
        raise ValueError(f"the key {twice!r:.40} occurs twice")
    return record


def _refused(text: str) -> Any:
    raise ValueError(f"found {text}; expected finite numbers")
