"""TrainingSketch: hashes of some training examples, by which a report recognises data that a model was trained on.

A score on training data says little about new data, so a report must say so. A model therefore remembers the hashes of
up to 100 of its training examples, spread evenly. A hash depends only on the content of an example: a row has the same
hash in a dense and in a sparse matrix, and a label as a number of Python and of numpy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.base.files.fields import NumberArray, Whole
from maxmargin.base.files.objects import Fields

REMEMBERED = 100  # the most training examples whose hashes a model keeps
COMPARED = 2000  # the most examples of a report that are compared with them


class SeenExamples(NamedTuple):
    """The number of examples that are known to be training examples."""

    compared: int  # the number of examples that were compared
    found: int  # how many of them are among the remembered training examples
    share: float  # the estimated share of the examples that are training examples
    all_of_them: bool  # whether these are the training data themselves

    @property
    def notice(self) -> str:
        """Return a warning for readers of scores on these examples; empty if none is known to be a training example."""
        if not self.found:
            return ""
        if self.all_of_them:
            return (
                "These are the data that the model was trained on: the scores say how well it fits them, not how well "
                "it predicts new data"
            )
        examples = "1 of these examples" if self.found == 1 else f"{self.found:,} of these examples"
        about = f", probably about {self.share:.0%} of them," if self.found < self.compared else ""
        was = "was" if self.found == 1 else "were"
        return f"At least {examples}{about} {was} used to train the model: the scores flatter it"


class TrainingSketch:
    """The number of training examples, and the hashes of some of them.

    hashes : sorted whole numbers.
    """

    saved: ClassVar[Fields] = {"n": Whole(1), "hashes": NumberArray(np.int64, None)}

    def __init__(self, n: int, hashes: NDArray[np.int64]):
        self.n, self.hashes = n, hashes

    @classmethod
    def of(cls, X: Any, Y: Any) -> TrainingSketch | None:
        """Return the sketch of training data; None if examples cannot be taken one by one, as of packed data."""
        n, hashes = _length(X), _hashes(X, Y, REMEMBERED)
        return None if n is None or hashes is None else cls(n, np.unique(hashes))

    def seen(self, X: Any, Y: Any) -> SeenExamples | None:
        """Return how many of these examples are training examples; None if that cannot be found out."""
        n, hashes = _length(X), _hashes(X, Y, REMEMBERED)
        if n is None or hashes is None:
            return None
        if n == self.n and np.array_equal(np.unique(hashes), self.hashes):
            return SeenExamples(n, n, 1.0, True)
        hashes = _hashes(X, Y, COMPARED)
        assert hashes is not None
        found = int(np.isin(hashes, self.hashes).sum())
        remembered = min(self.n, REMEMBERED) / self.n
        return SeenExamples(len(hashes), found, min(1.0, found / (len(hashes) * remembered)), False)

    def notice(self, X: Any, Y: Any) -> str:
        """Return what to tell people who read scores on these examples; empty if none is known to be seen."""
        seen = self.seen(X, Y)
        return "" if seen is None else seen.notice


def _length(data: Any) -> int | None:
    """Return the number of examples of a list, matrix or table, or None for any other object."""
    if isinstance(data, np.ndarray) or sparse.issparse(data) or hasattr(data, "iloc"):
        return int(data.shape[0]) if len(data.shape) and data.shape[0] else None
    return len(data) or None if isinstance(data, Sequence) and not isinstance(data, str | bytes) else None


def _hashes(X: Any, Y: Any, most: int) -> NDArray[np.int64] | None:
    """Return the hashes of examples, of `most` evenly spread ones if there are more; None if there can be none."""
    n = _length(X)
    if n is None or (Y is not None and _length(Y) != n):
        return None
    places = np.unique(np.linspace(0, n - 1, min(n, most)).round().astype(int)).tolist()
    X = X.tocsr() if sparse.issparse(X) else X
    digests = (
        blake2b(_content(_example(X, i)) + b"\0" + (b"" if Y is None else _content(_example(Y, i))), digest_size=8)
        for i in places
    )
    try:
        return np.array([int.from_bytes(each.digest(), "little", signed=True) for each in digests], dtype=np.int64)
    except (
        TypeError,
        ValueError,
        LookupError,
        AttributeError,
        RecursionError,
        OverflowError,
    ):  # data that `fit` may yet accept
        return None  # data that `fit` may yet accept


def _example(data: Any, i: int) -> Any:
    if sparse.issparse(data):
        return data[[i]]
    if hasattr(data, "iloc"):
        return data.iloc[i].tolist() if data.ndim > 1 else data.iloc[i]
    return data[i]


def _numbers_content(shape: tuple[int, ...], places: NDArray[Any], values: NDArray[Any]) -> bytes:
    """Return the content of an array with some nonzero values at some places, in ascending order."""
    return repr(shape).encode() + places.astype(np.int64).tobytes() + values.astype(float).tobytes()


def _sparse_content(matrix: Any) -> bytes:
    """Return the content of the same dense array; a matrix of one row is a vector.

    No dense array is made: rows of hashed features may be longer than the memory.
    """
    matrix = (matrix.reshape(1, -1) if matrix.ndim == 1 else matrix).tocsr(copy=True)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    rows, columns = matrix.shape
    row = np.repeat(np.arange(rows, dtype=np.int64), np.diff(matrix.indptr))
    places = row * columns + matrix.indices
    return _numbers_content((columns,) if rows == 1 else (rows, columns), places, matrix.data)


def _content(value: Any) -> bytes:
    """Return bytes that depend on the content of a value, and neither on types of numbers nor on addresses."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, str):
        return repr(value).encode("utf-8", "backslashreplace")
    if isinstance(value, bool | int | float):
        return np.float64(value).tobytes()
    if sparse.issparse(value):
        return _sparse_content(value)
    if isinstance(value, Sequence) and value and all(isinstance(each, int | float | np.number) for each in value):
        value = np.asarray(value, dtype=float)
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        flat = np.ascontiguousarray(value, dtype=float).ravel()
        kept = np.flatnonzero(flat)
        return _numbers_content(value.shape, kept, flat[kept])
    if isinstance(value, Mapping):
        parts = sorted(_content(key) + b":" + _content(each) for key, each in value.items())
    elif isinstance(value, set | frozenset):
        parts = sorted(map(_content, value))
    elif isinstance(value, Sequence | np.ndarray):
        parts = [_content(each) for each in value]
    elif type(value).__module__.partition(".")[0] != __name__.partition(".")[0]:
        raise TypeError(f"the content of a {type(value).__name__} is not known")
    else:  # an object of a structure
        fields = getattr(value, "__dict__", None) or {
            name: getattr(value, name, None) for name in getattr(value, "__slots__", ())
        }
        # Private fields may be cached hashes, which differ from process to process.
        names = sorted(name for name in fields if not name.startswith("_")) or sorted(fields)
        parts = [type(value).__name__.encode(), *(_content(fields[name]) for name in names)]
    return b"(" + b",".join(parts) + b")"
