"""Rows of features with classes in a packed folder.

In addition to the rows (packed_rows.py) a folder has the number of the class of every row (`labels`), and `weights`
unless all of them are 1.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.checks import is_real
from maxmargin.base.files.array_folder import ArrayFolderWriter
from maxmargin.base.files.fields import LabelList, Text
from maxmargin.base.files.objects import Fields
from maxmargin.inputs.labels.labels import Labels, NumberedLabels, in_order, label_array, plain
from maxmargin.inputs.packed.packed_matrix import PackedRows, packing_rows
from maxmargin.inputs.packed.packed_rows import MostlySame, deny, expect
from maxmargin.inputs.packed.row_blocks import checked_outputs, checked_weights, row_blocks

WHOLE = tuple(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))
TYPES = ("bool", *WHOLE, "float16", "float32", "float64", "str", "object")  # the types of labels


class PackedClasses(PackedRows):
    """Packed training data for classifiers (MulticlassSVC, OrdinalSVC, TaxonomySVC, MeasureSVC); see maxmargin.pack."""

    kind = "classes"
    saved: ClassVar[Fields] = {"labels": LabelList(least=1), "label_type": Text()}
    labels: list[Hashable]  # the different labels, sorted
    label_type: str  # numpy's name of their type

    def __init__(self, rows: PackedRows, labels: list[Hashable], label_type: str):
        super().__init__(rows.n, rows.n_features, rows.constant, rows.names)
        self.labels, self.label_type = labels, label_type

    def _check_saved(self) -> None:
        if self.label_type not in TYPES:
            raise ValueError(f"the type of the labels is {self.label_type!r}; expected one of {', '.join(TYPES)}")

    @property
    def outputs(self) -> NumberedLabels:
        """The label of every row, after verification."""
        self.verify()
        names = label_array(self.labels, np.empty(0, dtype=self.label_type))
        return NumberedLabels(names, self.folder.arrays["labels"])

    def _check(self) -> None:
        super()._check()
        expect(self.folder, "labels", np.int32, self.n)
        for _, some in self.folder.pieces("labels"):
            wrong = some.min() < 0 or some.max() >= len(self.labels)
            deny(self.folder, wrong, "a label is not in the manifest")


def pack_classes(data: Iterable[Any], folder: ArrayFolderWriter, fit_intercept: bool = True) -> PackedClasses:
    """Write blocks or single rows to a folder in one pass, with few of them in memory; see row_blocks.py."""
    return _packed(data, folder, fit_intercept)


def pack_ordinal(data: Iterable[Any], folder: ArrayFolderWriter) -> PackedClasses:
    """Write rows for OrdinalSVC, which has thresholds instead of a constant feature."""
    return _packed(data, folder, constant=False)


def pack_measure(data: Iterable[Any], folder: ArrayFolderWriter, fit_intercept: bool = True) -> PackedClasses:
    """Write rows for MeasureSVC, which takes two classes."""
    return _packed(data, folder, fit_intercept, most=2)


def _packed(data: Iterable[Any], folder: ArrayFolderWriter, constant: bool, most: int | None = None) -> PackedClasses:
    """Write rows to a folder.

    most : the largest number of different labels.
    """
    labels, weights = _ClassNumbers(most), MostlySame(folder, "weights")
    with packing_rows(folder, constant) as rows, folder.draft_of("labels") as numbers:
        for block in row_blocks(data, queries=False):
            first, n = rows.n, rows.append(block)
            numbers.append(labels.read(checked_outputs(block.y, "labels", n, first), first))
            weights.append(checked_weights(block.weights, n, first))
        packed = rows.finished()
        names, kind, final = labels.finished()
        for found in numbers.pieces(np.int32):
            folder.append("labels", final[found])
    return PackedClasses(packed, names, kind)


class _ClassNumbers:
    """A numbering of labels in order of appearance."""

    def __init__(self, most: int | None):
        self.most = most
        self.numbers: dict[Any, int] = {}
        self.kinds: set[np.dtype[Any]] = set()
        self.first: tuple[int, Any] | None = None

    def read(self, y: NDArray[Any], first: int) -> Labels:
        """Return the numbers of the labels of some rows, the first of which is example `first`."""
        if len(y) == 0:
            return np.zeros(0, dtype=np.int32)
        self.kinds.add(y.dtype)
        try:
            found, where, which = np.unique(y, return_index=True, return_inverse=True)
        except TypeError as error:
            raise ValueError(f"example {first}: labels cannot be compared: {error}") from None
        places = sorted(zip(where.tolist(), found.tolist(), range(len(found)), strict=True))
        numbers = np.empty(len(found), dtype=np.int32)
        for i, label, k in places:  # in order of appearance
            numbers[k] = self._number(plain(label), first + i)
        return numbers[which]

    def _number(self, label: Any, i: int) -> int:
        known = self.numbers.get(label)
        if known is not None:
            return known
        real = is_real(label) or isinstance(label, bool)
        if not (real or isinstance(label, str)) or (real and label != label):
            raise ValueError(f"example {i}: the label is {label!r:.40}; expected a text or a whole number")
        if isinstance(label, float) and not label.is_integer():
            raise ValueError(f"example {i}: the label is {label!r}; expected a class, a text or a whole number")
        if self.first is None:
            self.first = i, label
        if isinstance(self.first[1], str) != isinstance(label, str):
            j, other = self.first
            raise ValueError(
                f"labels have several types: example {j} has {other!r} and example {i} has {label!r}; "
                "expected all strings or all numbers"
            )
        if self.most is not None and len(self.numbers) == self.most:
            known_ones = ", ".join(map(repr, self.numbers))
            raise ValueError(
                f"example {i}: the label {label!r} is a third class besides {known_ones}; expected two classes"
            )
        return self.numbers.setdefault(label, len(self.numbers))

    def finished(self) -> tuple[list[Any], str, Labels]:
        """Return the sorted labels, the common type of the labels of all blocks, and the new number of each label."""
        labels = in_order(self.numbers)
        kind = "object" if any(each.kind not in "biufU" for each in self.kinds) else np.result_type(*self.kinds).name
        if kind.startswith("str"):
            kind = "str"
        elif kind != "object":  # merges 1 and 1.0 of different blocks
            labels = np.array(labels, dtype=kind).tolist()
        places = {label: k for k, label in enumerate(labels)}
        return labels, kind, np.array([places[label] for label in self.numbers], dtype=np.int32)
