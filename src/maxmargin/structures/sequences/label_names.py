"""LabelNames: the labels of sequences by name and by number."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.inputs.labels.labels import Labels
from maxmargin.structures.sequences.given_labels import checked_labels
from maxmargin.structures.sequences.partial_labels import Choices


class LabelNames(NamedTuple):
    """The names of labels, and the number of each name."""

    classes: Sequence[Hashable]  # the labels, by number
    numbers: dict[Hashable, int]  # the number of each label

    @classmethod
    def of(cls, classes: Sequence[Hashable]) -> LabelNames:
        """Number the labels in their order."""
        return cls(classes, {label: k for k, label in enumerate(classes)})

    def named(self, labels: Labels) -> list[Hashable]:
        """Return the names of labels given by number."""
        classes = self.classes
        return [classes[k] for k in labels.tolist()]

    def allowed(self, Y: Any, offsets: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return (positions, K): True if Y permits the label at the position; False for unknown labels."""
        if len(Y) != len(offsets) - 1:
            raise ValueError(f"there are {len(offsets) - 1} sequences of features but {len(Y)} of labels")
        rows, choices = np.zeros(offsets[-1], dtype=np.int32), Choices(self.numbers)
        for i, y in enumerate(Y):
            names, _ = checked_labels(y, i)
            if len(names) != offsets[i + 1] - offsets[i]:
                raise ValueError(f"sequence {i} has {offsets[i + 1] - offsets[i]} positions but {len(names)} labels")
            rows[offsets[i] : offsets[i + 1]] = choices.read_any(names)
        return np.asarray(choices.allowed[rows])
