"""Links: the bipartite matching of rows and columns with the highest score."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from maxmargin.base.arrays import Array
from maxmargin.base.files.fields import Each, Whole
from maxmargin.base.files.objects import Fields
from maxmargin.problem.contract.pieces import Pieces, Unit
from maxmargin.structures.assignment.frames import ColumnNumbers, Frames, read_columns, read_frames
from maxmargin.structures.parts.batch import PartsBatch
from maxmargin.structures.parts.numbers import PartNumbers, PricedParts
from maxmargin.structures.parts.scored import ScoredParts
from maxmargin.structures.parts.task import Parts

LinkMeasure = Literal["hamming", "share"]

MEASURES = get_args(LinkMeasure)


class Links(Parts):
    """Bipartite matching of rows and columns, such as detections in two frames of a film.

    An output z gives every row a different column, or -1 if the row stays alone; columns that no row has stay alone
    too. With s_ij, s_i and s_j the three kinds of terms in (1),

        ⟨w, Ψ(x, z)⟩ = Σ_linked ⟨u, pair_ij⟩ + Σ_rows alone (a + ⟨a', row_i⟩) + Σ_columns alone (b + ⟨b', column_j⟩) (1)
        Δ(y, z)      = number of links in only one of y and z                ("share": divided by twice the rows)    (2)

    Compared with leaving both alone, the link ij gains g_ij = s_ij - s_i - s_j, so that the best z solves

        z = argmax Σ_linked max(g_ij, 0),                                                                            (3)

    an assignment problem of rows and columns (scipy's linear_sum_assignment) in which links with g <= 0 are dropped.
    This is exact and equivalent to a square problem of n + m rows and columns, which is four times as large.

    Outputs are sets of parts: pairs, then rows alone, then columns alone (see Parts, the base class).

    x is an array (n, m, F), or Frames(pairs, rows, columns) with features of rows and columns that stay alone; or two
    lists of items, if `features` is given. y is a list of columns.

    Parameters
    ----------
    features : None or function
        features(rows, columns) -> array (n, m, F) or tasks.Frames, if x is two lists of items.
    measure : "hamming" or "share"
        The loss of a wrong assignment: the number of links that are wrong or missing, or that over twice the rows.
    most_decodes : int
        The largest number of searches per example if losses are rescaled (rescaling="slack", slack="l2").

    See Also
    --------
    Frames : Its inputs.
    maxmargin.Assigner : The estimator.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import tasks
    >>> near = np.array([[[2.0], [-5.0]], [[-4.0], [1.0]]])  # one feature of each pair of two rows and two columns
    >>> task = tasks.Links()
    >>> task.setup([near], [[0, 1]])
    >>> task.argmax(np.array([1.0, 0.0, 0.0]), near).tolist()  # weights of the feature and of staying alone
    [0, 1]
    """

    kernel = None
    costs = (1.0, 1.0)

    saved: ClassVar[Fields] = {"widths_": Each(Whole(), size=3, kind=tuple)}

    def __init__(
        self,
        features: Callable[[Any, Any], Any] | None = None,
        measure: LinkMeasure = "hamming",
        most_decodes: int = 200,
    ):
        self.features = features
        self.measure = measure
        self.most_decodes = most_decodes

    def _check_saved(self) -> None:
        super()._check_saved()
        if self.n_features_ != sum(self.widths_) + 2:
            raise ValueError(f"n_features_ is {self.n_features_}; expected {sum(self.widths_) + 2} by widths_")

    def setup(self, X: Sequence[Any], Y: Sequence[Any]) -> None:
        if self.measure not in MEASURES:
            raise ValueError(f"measure must be one of {', '.join(map(repr, MEASURES))}, got {self.measure!r}")
        if self.features is not None and not callable(self.features):
            raise TypeError(f"features must be None or a function features(rows, columns), got {self.features!r}")
        if len(X) == 0:
            raise ValueError("no examples given: X is empty; expected at least one example")
        self.widths_ = read_frames(X[0], 0, self.features).widths
        super().setup(self._read(X), Y)

    def setup_and_pack(self, X: Sequence[Any], Y: Sequence[Any]) -> PartsBatch:
        self.setup(X, Y)
        return self.pack(X, Y)

    # --- methods that Parts requires

    def parts(self, x: Frames) -> Array:
        """Return the features of all parts: pairs, rows alone and columns alone, each in columns of their own."""
        (n, m), (f, r, s) = x.sizes, x.widths
        matrix = np.zeros((n * m + n + m, f + r + s + 2))
        matrix[: n * m, :f] = x.pairs.reshape(-1, f)
        matrix[n * m : n * m + n, f] = 1.0
        matrix[n * m : n * m + n, f + 1 : f + 1 + r] = x.rows
        matrix[n * m + n :, f + 1 + r] = 1.0
        matrix[n * m + n :, f + 2 + r :] = x.columns
        return matrix

    def best(self, scores: Array, x: Frames) -> PartNumbers:
        """Return the parts of the output with the highest score by (3)."""
        return part_numbers(best_columns(scores, *x.sizes), x.sizes[1])

    # --- the plain form: one example at a time

    def psi(self, x: Any, z: Any) -> tuple[NDArray[np.int64], Array]:
        frames = self._read([x])[0]
        return super().psi(frames, part_numbers(read_columns(z, *frames.sizes, "z"), frames.sizes[1]))

    def pieces(self, x: Any, z: Any) -> Pieces:
        """Return Ψ(x, z) by linked pairs, rows alone and columns alone."""
        frames = self._read([x])[0]
        n, m = frames.sizes
        parts = part_numbers(read_columns(z, n, m, "z"), m)
        units = []
        for p in parts.tolist():
            if p < n * m:
                units.append(Unit("pair", (p // m, p % m), (p // m,)))
            else:
                units.append(Unit("row alone", p - n * m) if p < n * m + n else Unit("column alone", p - n * m - n, ()))
        return super().pieces(frames, parts)._replace(units=units)

    def loss(self, y: Any, z: Any) -> float:
        true = read_columns(y, len(y), None, "y")
        found = read_columns(z, len(y), None, "z")
        wrong = true != found
        return float(np.sum(wrong & (true >= 0)) + np.sum(wrong & (found >= 0))) * self._price(len(true))

    def argmax(self, w: Array, x: Any, y: Any = None) -> ColumnNumbers:
        frames = self._read([x])[0]
        return columns_of(super().argmax(w, frames, None if y is None else self._priced(y, frames, "y")), *frames.sizes)

    def outputs(self, x: Any) -> Iterator[ColumnNumbers]:
        n, m = self._read([x])[0].sizes
        for columns in product(range(-1, m), repeat=n):
            linked = [column for column in columns if column >= 0]
            if len(set(linked)) == len(linked):
                yield np.array(columns, dtype=np.int64)

    # --- all examples at a time

    def decode(self, w: Array, X: Sequence[Any]) -> list[ColumnNumbers]:
        frames = self._read(X)
        return [columns_of(z, *x.sizes) for x, z in zip(frames, super().decode(w, frames), strict=True)]

    def pack(self, X: Sequence[Any], Y: Sequence[Any]) -> PartsBatch:
        frames = self._read(X)
        labels = [
            self._priced(y, x, f"the label of example {i}") for i, (x, y) in enumerate(zip(frames, Y, strict=True))
        ]
        return super().pack(frames, labels)

    def scored(self, X: Sequence[Any], Y: Sequence[Any] | None = None) -> ScoredParts:
        """Return the inputs, with truths if Y is given, ready to be scored and searched; `parts` defines the parts."""
        return super().scored(self._read(X)) if Y is None else self.pack(X, Y).scored()

    # --- inside

    def _read(self, X: Sequence[Any]) -> list[Frames]:
        """Read all examples, and check that they have the features of training."""
        frames = [read_frames(x, i, self.features) for i, x in enumerate(X)]
        for i, x in enumerate(frames):
            if x.widths != self.widths_:
                names = ("pairs", "rows alone", "columns alone")
                found, expected = (
                    ", ".join(f"{k} of {name}" for k, name in zip(widths, names, strict=True))
                    for widths in (x.widths, self.widths_)
                )
                raise ValueError(f"example {i} has the features {found}; expected {expected}, as in the first example")
        return frames

    def _price(self, n: int) -> float:
        return 0.5 / max(n, 1) if self.measure == "share" else 1.0

    def _priced(self, y: Any, x: Frames, name: str) -> PricedParts:
        """Return y with prices by (2): the same for missing and wrong links, 0 for rows and columns alone."""
        n, m = x.sizes
        price = np.append(np.full(n * m, self._price(n)), np.zeros(n + m))
        return PricedParts(part_numbers(read_columns(y, n, m, name), m), extra=price, missing=price)


def best_columns(scores: Array, n: int, m: int) -> ColumnNumbers:
    """Return the best column of every row, given the scores of pairs, of rows alone and of columns alone."""
    pairs, rows, columns = np.split(scores, [n * m, n * m + n])
    gains = pairs.reshape(n, m) - rows[:, None] - columns[None, :]
    i, j = linear_sum_assignment(np.maximum(gains, 0.0), maximize=True)
    found = np.full(n, -1, dtype=np.int64)
    gain = gains[i, j] > 0
    found[i[gain]] = j[gain]
    return found


def part_numbers(columns: ColumnNumbers, m: int) -> PartNumbers:
    """Return the parts of an output: its pairs, rows alone and columns alone."""
    n, linked = len(columns), columns >= 0
    pairs = np.flatnonzero(linked) * m + columns[linked]
    alone = np.setdiff1d(np.arange(m), columns)
    return np.sort(np.concatenate([pairs, n * m + np.flatnonzero(~linked), n * m + n + alone])).astype(np.int64)


def columns_of(parts: PartNumbers, n: int, m: int) -> ColumnNumbers:
    """Return the output that has these parts."""
    columns = np.full(n, -1, dtype=np.int64)
    pairs = parts[parts < n * m]
    if len(pairs):
        columns[pairs // m] = pairs % m
    return columns
