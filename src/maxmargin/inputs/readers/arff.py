"""Tables in Weka's ARFF, row by row: with all values separated by commas or, in curly brackets, without the zeros.

    @relation songs
    @attribute pace numeric
    @attribute mood {calm, 'very glad'}
    @data
    0.5, calm
    {1 'very glad'}

A value or a name may be quoted; quotation marks inside are escaped by a backslash. Values that a row in curly brackets
leaves out are 0 or, for an attribute with listed values, the first of them.
https://waikato.github.io/weka-wiki/formats_and_processing/arff/
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from maxmargin.inputs.readers.text_file import TextLines

_TEXT = r"""(?:'(?P<one>(?:\\.|[^'\\])*)'|"(?P<two>(?:\\.|[^"\\])*)"|(?P<plain>[^\s,'"{}]+))"""
_ATTRIBUTE = re.compile(rf"@attribute\s+{_TEXT}\s*(?P<kind>.*)", re.IGNORECASE)
_FIELD = re.compile(rf"\s*(?:(?P<place>\d+)\s+)?{_TEXT}\s*(?P<end>,|$)")
_MARKS = re.compile(r"""['"\\{}]""")
_NUMERIC = ("numeric", "real", "integer")


class ArffAttribute(NamedTuple):
    """A column: its name, whether it is numeric, and its possible values if they are listed."""

    name: str
    numeric: bool
    values: tuple[str, ...] = ()

    @property
    def left_out(self) -> str:
        """The value of this attribute in rows in curly brackets that leave it out."""
        return self.values[0] if self.values else "0"


class ArffRows:
    """The rows of a file, each a dict from the number of an attribute to the text of its value.

    attributes : the attributes in the header of the file, which has been read.
    """

    def __init__(self, lines: TextLines):
        self.lines, self._left = lines, iter(lines)
        self.attributes = self._head()

    def __iter__(self) -> Iterator[dict[int, str]]:
        for line in self._left:
            line = line.strip()
            if line and line[0] != "%":
                yield self._in_brackets(line) if line[0] == "{" else self._with_all(line)

    def _head(self) -> list[ArffAttribute]:
        found: list[ArffAttribute] = []
        for line in self._left:
            line = line.strip()
            word = line.split(maxsplit=1)[0].lower() if line else "%"
            if word == "@data":
                self._check_names(found)
                return found
            if word == "@attribute":
                found.append(self._attribute(line))
            elif word[0] != "%" and word != "@relation":
                raise self.lines.error(f"found {line[:40]!r}; expected @attribute NAME KIND, or @data")
        raise self.lines.error("the file ends; expected a line @data")

    def _attribute(self, line: str) -> ArffAttribute:
        match = _ATTRIBUTE.fullmatch(line)
        if match is None:
            raise self.lines.error(f"found {line[:40]!r}; expected @attribute NAME KIND")
        name, kind = _said(match), match["kind"]
        if kind[:1] == "{" and kind[-1:] == "}":
            return ArffAttribute(name, False, tuple(self._fields(kind[1:-1])))
        return ArffAttribute(name, kind.lower() in _NUMERIC)

    def _check_names(self, found: list[ArffAttribute]) -> None:
        names: set[str] = set()
        for attribute in found:
            if attribute.name in names:
                raise self.lines.error(f"two attributes above this line are named {attribute.name!r}")
            names.add(attribute.name)

    def _with_all(self, line: str) -> dict[int, str]:
        fields = self._fields(line)
        if len(fields) != len(self.attributes):
            raise self.lines.error(f"the row has {len(fields)} values; expected {len(self.attributes)}")
        return dict(enumerate(fields))

    def _in_brackets(self, line: str) -> dict[int, str]:
        if line[-1] != "}":
            raise self.lines.error(f"found {line[-20:]!r} at the end; expected a closing curly bracket")
        row: dict[int, str] = {}
        if not line[1:-1].strip():
            return row
        for place, text in self._matches(line[1:-1]):
            if place is None or len(place) > 9 or int(place) >= len(self.attributes) or int(place) in row:
                raise self.lines.error(
                    f"{place or text!r} is not an attribute; expected the number of each once, from 0 to "
                    f"{len(self.attributes) - 1}, and its value after a blank"
                )
            row[int(place)] = text
        return row

    def _fields(self, text: str) -> list[str]:
        if not _MARKS.search(text):  # the usual case
            fields = [field.strip() for field in text.split(",")]
            if "" in fields:
                raise self.lines.error(
                    f"value {fields.index('') + 1} is empty; expected a text (an empty text is written as '')"
                )
            return fields
        fields = []
        for place, field in self._matches(text):
            if place is not None:
                raise self.lines.error(f"found {place!r} before {field!r}; expected a comma between two values")
            fields.append(field)
        return fields

    def _matches(self, text: str) -> Iterator[tuple[str | None, str]]:
        """Yield, for all fields between commas, the number before a value, if there is one, and the value."""
        begin, more = 0, True
        while more:
            match = _FIELD.match(text, begin)
            if match is None:
                raise self.lines.error(f"found {text[begin : begin + 40].strip()!r}; expected a value")
            yield match["place"], _said(match)
            begin, more = match.end(), match["end"] == ","


def written(text: str) -> str:
    """Return a name or value, quoted if necessary; raise a ValueError if a line cannot hold it."""
    if any(end in text for end in "\n\r"):
        raise ValueError(f"{text!r} contains a line break, which no name or value in an ARFF file can have")
    if re.fullmatch(r"[\w.+-]+", text) and text != "?":
        return text
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _said(match: re.Match[str]) -> str:
    if match["plain"] is not None:
        return match["plain"]
    return re.sub(r"\\(.)", r"\1", match["one"] if match["two"] is None else match["two"])
