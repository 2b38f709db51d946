"""Rows with any subset of labels, in the files of the project Mulan: an ARFF table, and an XML file of its labels.

    <labels><label name="calm"/><label name="glad"/></labels>

http://mulan.sourceforge.net/format.html
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, TypeAlias
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.base.checks import check_whole
from maxmargin.inputs.readers import arff
from maxmargin.inputs.readers.multilabel_rows import MultilabelRows
from maxmargin.inputs.readers.text_file import TextFile, finite, reading, writing

Labels: TypeAlias = "TextFile | list[str]"


def read_mulan_rows(table: TextFile, labels: Labels, labelled: bool = True) -> MultilabelRows:
    r"""Return all rows of a table; see iterate_mulan_rows.

    Parameters
    ----------
    table : str, path or text file
        A path or an open text file, in ARFF.
    labels : str, path, text file or list of str
        The XML file that names the labels, or a list of their names.
    labelled : bool
        Whether the table must have all label attributes.

    Returns
    -------
    MultilabelRows.

    Examples
    --------
    >>> import io
    >>> from maxmargin.formats import read_mulan_rows
    >>> table = "@relation r\n@attribute pace numeric\n@attribute calm {0,1}\n@data\n0.5,1\n"
    >>> rows = read_mulan_rows(io.StringIO(table), ["calm"])
    >>> rows.X.toarray().tolist(), rows.Y.tolist()
    ([[0.5]], [[1]])

    See Also
    --------
    write_mulan_rows : writes such files.
    """
    with reading(table) as lines:
        columns = _Columns(arff.ArffRows(lines), _names(labels), labelled)
        return columns.rows(iter(columns.table))


def iterate_mulan_rows(
    table: TextFile, labels: Labels, labelled: bool = True, at_once: int = 10_000
) -> Iterator[MultilabelRows]:
    """Yield the rows of a table, `at_once` at a time, so that large files need little memory.

    Parameters
    ----------
    table : str, path or text file
        A path or an open text file, in ARFF, with complete rows or rows in curly brackets. A numeric attribute is a
        column of X; an attribute with listed words has a column for each of them, "colour=red".
    labels : str, path, text file or list of str
        The XML file that names the attributes that are labels, or a list of these names. Their values are 0 and 1.
    labelled : bool
        If False, a table need not have all of these attributes; those that it has are left out of X.
    at_once : int
        The number of rows per part.

    Returns
    -------
    iterator of MultilabelRows.

    See Also
    --------
    read_mulan_rows : all rows at once.
    """
    check_whole("at_once", at_once, least=1)
    with reading(table) as lines:
        columns = _Columns(arff.ArffRows(lines), _names(labels), labelled)
        left = iter(columns.table)
        while (some := columns.rows(islice(left, at_once))).X.shape[0]:
            yield some


def read_label_names(source: TextFile) -> list[str]:
    """Return the names in an XML file of labels, in its order; labels may be nested."""
    found: dict[str, int] = {}
    with reading(source) as lines:

        def begin(tag: str, attributes: dict[str, str]) -> None:
            name = attributes.get("name")
            if tag == "label" and name is None:
                raise lines.error("a label has no name; expected <label name=…>", parser.CurrentLineNumber)
            if tag == "label" and name is not None:
                if name in found:
                    raise lines.error(f"the label {name!r} is named a second time", parser.CurrentLineNumber)
                found[name] = len(found)

        def declare(*_: Any) -> None:  # entities may expand to more text than fits into memory
            raise lines.error("there is a DOCTYPE; expected plain XML without one", parser.CurrentLineNumber)

        parser = expat.ParserCreate("utf-8")
        parser.StartElementHandler, parser.StartDoctypeDeclHandler = begin, declare
        try:
            for line in lines:
                parser.Parse(line + "\n", False)
            parser.Parse("", True)
        except expat.ExpatError as error:
            raise lines.error(f"this is not XML: {expat.ErrorString(error.code)}", error.lineno) from None
        if not found:
            raise lines.error("the file names no label; expected <labels><label name=…/>…</labels>")
    return list(found)


def write_mulan_rows(
    table: TextFile, labels: TextFile, X: Any, Y: Any, label_names: Sequence[str], names: Sequence[str] | None = None
) -> None:
    """Write a table, with rows in curly brackets if X is sparse, and the XML file of its labels.

    Parameters
    ----------
    table, labels : str, path or text file
        Paths, or open text files.
    X : array of shape (n, features)
        The matrix of features.
    Y : array of shape (n, labels)
        Zeros and ones: whether each row has each label.
    label_names : sequence of str
        The names of the labels.
    names : sequence of str or None
        The names of the columns of X; None: x0, x1, ….

    See Also
    --------
    read_mulan_rows : reads such files.
    """
    names = [f"x{j}" for j in range(X.shape[1])] if names is None else list(names)
    Y = np.asarray(Y)
    if len(names) != X.shape[1] or Y.shape != (X.shape[0], len(label_names)):
        raise ValueError(
            f"X has shape {X.shape} and {len(names)} names, Y {Y.shape} and {len(label_names)} labels; expected a row "
            "of each for every example, and a name for every column"
        )
    if len({*names, *label_names}) < len(names) + len(label_names):
        raise ValueError("two columns have the same name; expected different names for features and labels")
    if not np.isin(Y, (0, 1)).all():
        raise ValueError("Y must consist of zeros and ones")
    for name in label_names:
        if not name or any(ord(character) < 32 for character in name):
            raise ValueError(f"{name!r} cannot be the name of a label in an XML file")
    head = ["@relation rows", *(f"@attribute {arff.written(name)} numeric" for name in names)]
    head += [*(f"@attribute {arff.written(name)} {{0,1}}" for name in label_names), "@data"]
    with writing(table) as file:
        file.writelines(f"{line}\n" for line in head)
        for x, y in zip(sparse.csr_array(X) if sparse.issparse(X) else np.asarray(X, dtype=float), Y, strict=True):
            file.write(_written(x, y) + "\n")
    with writing(labels) as file:
        file.writelines(["<labels>\n", *(f"<label name={quoteattr(name)}/>\n" for name in label_names), "</labels>\n"])


def _names(labels: Labels) -> list[str]:
    return labels if isinstance(labels, list) else read_label_names(labels)


def _written(x: Any, y: NDArray[Any]) -> str:
    values = x.data if sparse.issparse(x) else x
    if not np.isfinite(values).all():
        raise ValueError("X has a number that is not finite")
    if not sparse.issparse(x):
        return ",".join([*map(repr, x.tolist()), *(str(int(mark)) for mark in y)])
    pairs = [f"{j} {value!r}" for j, value in sorted(zip(x.indices.tolist(), x.data.tolist(), strict=True))]
    pairs += [f"{x.shape[-1] + int(k)} 1" for k in np.flatnonzero(y)]
    return "{" + ", ".join(pairs) + "}"


class _Columns:
    """The columns of X and Y that the attributes of a table become."""

    def __init__(self, table: arff.ArffRows, labels: list[str], labelled: bool):
        self.table, self.lines = table, table.lines
        named = {attribute.name for attribute in table.attributes}
        missing = [label for label in labels if label not in named]
        if missing and labelled:
            raise self.lines.error(
                f"no attribute above this line is the label {missing[0]!r}; expected one for each of {len(labels)}"
            )
        self.labels: dict[int, int] = {}  # column of Y by the number of the attribute
        self.numbers: dict[int, int] = {}
        self.words: dict[int, dict[str, int]] = {}
        self.names: list[str] = []
        for j, attribute in enumerate(table.attributes):
            if attribute.name in set(labels):
                self.labels[j] = len(self.labels)
            elif attribute.numeric or (attribute.values and all(map(_is_number, attribute.values))):
                self.numbers[j] = len(self.names)
                self.names.append(attribute.name)
            elif attribute.values:
                self.words[j] = {value: len(self.names) + k for k, value in enumerate(attribute.values)}
                self.names += [f"{attribute.name}={value}" for value in attribute.values]
            else:
                raise self.lines.error(
                    f"the attribute {attribute.name!r}, above this line, holds free text; expected numbers, or listed "
                    "values"
                )

        several = ((j, attribute.left_out) for j, attribute in enumerate(table.attributes))
        self.left_out = {j: text for j, text in several if finite(text) != 0}  # values that rows in brackets leave out

    def rows(self, some: Iterator[dict[int, str]]) -> MultilabelRows:
        """Return X and Y of some rows of the table."""
        values, places, ends, marks = list[float](), list[int](), [0], list[list[int]]()
        for row in some:
            mark = [0] * len(self.labels)
            for j, text in {**self.left_out, **row}.items() if len(row) < len(self.table.attributes) else row.items():
                if j in self.numbers:
                    place, value = self.numbers[j], self.lines.finite(text, self._name(j))
                elif j in self.words:
                    place, value = self._place_of(j, text), 1.0
                else:
                    mark[self.labels[j]] = self._mark(j, text)
                    continue
                if value:
                    places.append(place)
                    values.append(value)
            ends.append(len(values))
            marks.append(mark)
        X = sparse.csr_array(
            (np.array(values, dtype=np.float64), np.array(places, dtype=np.int32), np.array(ends, dtype=np.int32)),
            shape=(len(marks), len(self.names)),
        )
        X.sort_indices()
        Y = np.array(marks, dtype=np.int64).reshape(len(marks), len(self.labels))
        return MultilabelRows(X, Y, [self.table.attributes[j].name for j in self.labels], self.names)

    def _name(self, j: int) -> str:
        return f"{self.table.attributes[j].name!r}"

    def _place_of(self, j: int, value: str) -> int:
        columns = self.words[j]
        if value not in columns:
            raise self.lines.error(f"{self._name(j)} is {value!r}; expected one of {', '.join(columns)}"[:300])
        return columns[value]

    def _mark(self, j: int, text: str) -> int:
        value = self.lines.finite(text, f"the label {self._name(j)}")
        if value not in (0.0, 1.0):
            raise self.lines.error(f"the label {self._name(j)} is {value:g}; expected 0 or 1")
        return int(value)


def _is_number(text: str) -> bool:
    return finite(text) is not None
