r"""Label sequences in the data format of CRFsuite: a line per token, an empty line after every sequence.

A line is the label and the attributes of a token with tabs between them. An attribute may have a value, name:value, and
has 1 without; in names \: stands for a colon and \\ for a backslash, and any other backslash for itself. A line
@weight:2 gives a sequence that weight. https://www.chokkan.org/software/crfsuite/manual.html
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Sequence
from math import isfinite
from sys import intern
from typing import Any, NamedTuple

from maxmargin.inputs.readers.text_file import LONGEST_TOKEN, TextFile, TextLines, reading, writing
from maxmargin.inputs.tokens.token_features import pairs_of

PIECES = re.compile(r"\\[:\\]|:")  # escapes and the colon before a value
WEIGHT = "@weight"


class CrfsuiteSequence(NamedTuple):
    """A sequence as SequenceLabeler takes it: X, Y, weights = zip(*read_crfsuite(path))."""

    tokens: list[Any]  # for each token the list of its attributes, or a dict of numbers if a value is not 1
    labels: list[str]  # the label of each token
    weight: float = 1.0  # the weight of the sequence


def read_crfsuite(source: TextFile) -> list[CrfsuiteSequence]:
    r"""Return all sequences of a file in CRFsuite's format.

    Parameters
    ----------
    source : str, path or text file
        The file to read.

    Returns
    -------
    list of CrfsuiteSequence.

    Examples
    --------
    >>> import io
    >>> from maxmargin.formats import read_crfsuite
    >>> read_crfsuite(io.StringIO("B-PER\tw=Ada\tcapital\n"))[0].tokens
    [['w=Ada', 'capital']]

    See Also
    --------
    iterate_crfsuite : one sequence at a time.   write_crfsuite : writes such files.
    """
    return list(iterate_crfsuite(source))


def iterate_crfsuite(source: TextFile) -> Iterator[CrfsuiteSequence]:
    """Yield the sequences of a file one by one, so that large files need little memory.

    If a token has an attribute twice, the values add up, as in CRFsuite. An empty label or name, a value that is not a
    finite number, and a colon too many raise a ValueError with file and line.

    Parameters
    ----------
    source : str, path or text file
        The file to read.

    Returns
    -------
    iterator of CrfsuiteSequence.

    See Also
    --------
    read_crfsuite : all sequences at once.
    """
    with reading(source, LONGEST_TOKEN) as lines:
        begun = CrfsuiteSequence([], [])
        for line in lines:
            if line:
                begun = _with(begun, line, lines)
            elif begun.tokens:
                yield begun
                begun = CrfsuiteSequence([], [])
            elif begun.weight != 1:
                raise lines.error(f"{WEIGHT} is followed by an empty line; expected the tokens of its sequence")
        if begun.tokens:
            yield begun


def write_crfsuite(target: TextFile, X: Iterable[Any], Y: Iterable[Sequence[Hashable]], weights: Any = None) -> None:
    """Write sequences in CRFsuite's format.

    Parameters
    ----------
    target : str, path or text file
        The file to write; the suffix of a path decides the compression.
    X : iterable
        Sequences of tokens, each a list of attributes or a dict of features.
    Y : iterable
        The labels of each sequence, which are written as strings.
    weights : sequence of float or None
        The weights of the sequences, or None.

    See Also
    --------
    read_crfsuite : reads such files.
    """
    with writing(target) as file:
        for i, (x, y, *weight) in enumerate(zip(X, Y, *([] if weights is None else [weights]), strict=True)):
            if len(x) != len(y):
                raise ValueError(f"sequence {i} has {len(x)} positions but {len(y)} labels")
            if len(x) == 0:
                raise ValueError(f"sequence {i} is empty; leave out sequences without tokens")
            if weight and weight[0] != 1:
                file.write(f"{WEIGHT}:{float(weight[0])!r}\n")
            for t, (token, label) in enumerate(zip(x, y, strict=True)):
                try:
                    file.write(_line(token, label) + "\n")
                except ValueError as error:
                    raise ValueError(f"sequence {i}, position {t}: {error}") from None
            file.write("\n")


# --- reading


def _with(begun: CrfsuiteSequence, line: str, lines: TextLines) -> CrfsuiteSequence:
    """Return the sequence with one more line."""
    if line[0] == "\t":
        raise lines.error("the line begins with a tab; expected a label")
    first, *fields = filter(None, line.split("\t"))
    if first[0] == "@":
        if begun.tokens or fields or not first.startswith(f"{WEIGHT}:"):
            raise lines.error(
                f"{line!r} is neither a label (which cannot begin with @) nor {WEIGHT} before the first token"
            )
        return begun._replace(weight=_number(first[len(WEIGHT) + 1 :], lines))
    label, value = _split(first, lines)
    if value or not label:
        raise lines.error(f"the label is {first!r}; a colon in it is written as \\:")
    begun.labels.append(intern(label))
    plain = not (":" in line or "\\" in line) and len(set(fields)) == len(fields)
    # Every name is stored once, and the copies of lists have no unused space.
    begun.tokens.append(list(map(intern, fields)).copy() if plain else _token(fields, lines))
    return begun


def _token(fields: list[str], lines: TextLines) -> list[str] | dict[str, float]:
    values: dict[str, float] = {}
    ones = True
    for field in fields:
        name, value = _split(field, lines)
        if not name:
            raise lines.error(f"the attribute {field!r} has no name; a colon in a name is written as \\:")
        number = _number(value, lines) if value else 1.0
        ones = ones and number == 1 and name not in values
        values[intern(name)] = values.get(name, 0.0) + number
    return list(values) if ones else values


def _split(field: str, lines: TextLines) -> tuple[str, str]:
    """Return name and value; the value is empty if there is none."""
    if "\\" not in field:
        name, _, value = field.partition(":")
        if ":" not in value:
            return name, value
    parts, begin = [""], 0
    for piece in PIECES.finditer(field):
        parts[-1] += field[begin : piece.start()]
        begin = piece.end()
        if piece.group() == ":":
            parts.append("")
        else:
            parts[-1] += piece.group()[1]
    parts[-1] += field[begin:]
    if len(parts) > 2:
        raise lines.error(f"{field!r} has {len(parts) - 1} colons; those in names are written as \\:")
    return parts[0], parts[1] if len(parts) == 2 else ""


def _number(value: str, lines: TextLines) -> float:
    try:
        number = float(value)
    except ValueError:
        number = float("nan")
    if not isfinite(number):
        raise lines.error(f"the value {value!r} is not a finite number; a colon in a name is written as \\:")
    return number


# --- writing


def _line(token: Any, label: Hashable) -> str:
    fields = [_escaped(str(label), "label")]
    if fields[0][0] == "@":
        raise ValueError(f"the label is {label!r}; labels that begin with @ have another meaning in CRFsuite files")
    for name, value in pairs_of(token):
        field = _escaped(name, "attribute")
        if not isfinite(value):
            raise ValueError(f"the feature {name!r} is {value!r}; expected a finite number")
        fields.append(field if value == 1 else f"{field}:{float(value)!r}")
    return "\t".join(fields)


def _escaped(name: str, what: str) -> str:
    if not name or "\t" in name or "\n" in name or "\r" in name:
        raise ValueError(f"the {what} {name!r} cannot be written; expected text without tabs or line breaks")
    return name.replace("\\", "\\\\").replace(":", "\\:")
