"""LabelReader: label sequences as users give them, with costs of positions, missing labels, and repair of chunks."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import chain
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.base.errors import InvalidLabels, warn_caller
from maxmargin.inputs.labels.labels import Labels
from maxmargin.inputs.labels.weighted import Weighted
from maxmargin.inputs.tokens.chunk_schemes import SCHEMES
from maxmargin.inputs.tokens.transitions import chunk_scheme
from maxmargin.structures.sequences.partial_labels import Choices, LabelPositions, as_choice, different, is_partial

Invalid = Literal["error", "repair", "drop"]
INVALID = get_args(Invalid)


class GivenLabels(NamedTuple):
    """The labels of one sequence."""

    names: Sequence[Hashable]  # the label of each position
    costs: Sequence[float] | None  # the cost of a mistake at each position; None if all are 1
    repaired: int  # the number of repaired labels


class ReadPositions(NamedTuple):
    """The labels of all sequences, one sequence after the other."""

    rows: Labels  # the number of the choice of each position
    factors: Array  # the cost of a mistake at each position
    repaired: list[int]  # the number of repaired labels of each sequence; empty if no label was repaired


def split_costs(y: Any) -> tuple[Sequence[Hashable], Sequence[float] | None]:
    """Return the labels of y and the costs of its positions, or None if it has no costs."""
    return (y.labels, y.costs) if isinstance(y, Weighted) else (y, None)


def checked_labels(y: Any, i: int) -> tuple[Sequence[Hashable], Sequence[float] | None]:
    """Return the labels and the costs of sequence i; raise a ValueError if y is not a list of labels."""
    if not hasattr(split_costs(y)[0], "__len__"):
        raise ValueError(f"Y[{i}] is {y!r}; expected the list of labels of sequence {i}, one per position")
    return split_costs(y)


def check_invalid(invalid: Any, forbidden: Any) -> None:
    """Raise a ValueError unless `invalid` is one of INVALID that suits these forbidden transitions."""
    if invalid not in INVALID:
        raise ValueError(f"invalid must be one of {', '.join(map(repr, INVALID))}, got {invalid!r}")
    if invalid == "repair" and chunk_scheme(forbidden) is None:
        raise ValueError(
            f"invalid='repair' needs a chunk scheme, forbidden={' or '.join(map(repr, SCHEMES))}; sequences with "
            "other forbidden transitions can only be dropped, by invalid='drop'"
        )


class LabelReader:
    """A reader of label sequences that repairs chunks if `invalid` asks for it."""

    def __init__(self, forbidden: Any, invalid: str):
        self.forbidden, self.repairs = forbidden, invalid == "repair"

    def mentioned(self, Y: Any) -> list[Any]:
        """Return all labels and sets of labels in Y, without duplicates if they are hashable."""
        if self._plain(Y):
            return different(list(chain.from_iterable(Y)))
        return different([name for i, y in enumerate(Y) for name in self._read(y, i).names])

    def positions(self, Y: Any, numbers: dict[Hashable, int]) -> LabelPositions:
        """Return the numbers of all labels of Y, concatenated, and the beginning of each sequence."""
        offsets = np.concatenate(
            [[0], np.cumsum([len(checked_labels(y, i)[0]) for i, y in enumerate(Y)], dtype=np.int64)]
        )
        choices = Choices(numbers)
        return LabelPositions(self.numbered(Y, choices, offsets).rows, offsets, choices)

    def numbered(self, Y: Any, choices: Choices, offsets: NDArray[np.int64]) -> ReadPositions:
        """Return the numbers of the labels of Y, whose sequence i must have the positions offsets[i]:offsets[i + 1]."""
        factors = np.ones(offsets[-1])
        if self._plain(Y) and list(map(len, Y)) == np.diff(offsets).tolist():
            rows = choices.read_single(chain.from_iterable(Y), int(offsets[-1]))
            if rows is not None:  # each position has one label
                return ReadPositions(rows, factors, [])
        rows = np.zeros(offsets[-1], dtype=np.int32)
        bounds = offsets.tolist()
        repaired = []
        for i, y in enumerate(Y):
            here = slice(bounds[i], bounds[i + 1])
            repaired.append(self._fill(i, y, choices, rows[here], factors[here]))
        return ReadPositions(rows, factors, repaired)

    def warn_repaired(self, repaired: list[int]) -> None:
        """Warn if labels were repaired, given the number of repairs of each sequence."""
        if any(repaired):
            sequences = np.flatnonzero(repaired)
            warn_caller(
                f"{sum(repaired)} labels in {len(sequences)} of {len(repaired)} sequences were repaired, because they "
                f"break the rules of {self.forbidden} (the first: sequence {sequences[0]})",
                InvalidLabels,
            )

    def _plain(self, Y: Any) -> bool:
        """Return whether all labels are in lists without costs, and none may need repair."""
        return not self.repairs and set(map(type, Y)) <= {list, tuple}

    def _read(self, y: Any, i: int) -> GivenLabels:
        """Return the labels and costs of sequence i, repaired if requested."""
        names, costs = checked_labels(y, i)
        scheme = chunk_scheme(self.forbidden) if self.repairs else None
        if scheme is None or any(map(is_partial, names)):
            return GivenLabels(names, costs, 0)
        right = scheme.repaired([as_choice(name) for name in names])
        changed = sum(bool(a != b) for a, b in zip(right, map(as_choice, names), strict=True))
        return GivenLabels(right, costs, changed) if changed else GivenLabels(names, costs, 0)

    def _fill(self, i: int, y: Any, choices: Choices, rows: Labels, factors: Array) -> int:
        """Write the numbers and costs of sequence i into `rows` and `factors`; return the number of repaired labels."""
        names, costs, changed = self._read(y, i)
        if len(names) != len(rows):
            raise ValueError(f"sequence {i} has {len(rows)} positions but {len(names)} labels")
        try:
            rows[:] = choices.read(names)
        except ValueError as error:
            raise ValueError(f"sequence {i}: {error}") from None
        if costs is not None:
            if len(costs) != len(rows):
                raise ValueError(f"sequence {i} has {len(rows)} positions but {len(costs)} costs")
            factors[:] = costs
            if not (np.isfinite(factors).all() and (factors >= 0).all()):
                raise ValueError(f"sequence {i}: position costs must be finite and >= 0")
        return changed
