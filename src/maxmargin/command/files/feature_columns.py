"""The columns of a model that the features of a file belong to, by number or by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from maxmargin.inputs.matrices import moved_columns

LARGEST = 2**31 - 1  # the largest number of a feature


class FileRows(NamedTuple):
    """Rows of a file of any format."""

    file: str  # the name of the file
    X: sparse.csr_array  # the features of the rows
    y: Any  # the labels of the rows
    qid: Any = None  # the query of each row, if the file has queries
    names: list[str] | None = None  # names of the columns of X; None if feature j is column j
    ignored: int = 0  # features that the reader has skipped

    @classmethod
    def named(
        cls, file: str, X: sparse.csr_array, y: Any, qid: Any, names: Sequence[str], ignored: int = 0
    ) -> FileRows:
        """Return rows whose features have names, which may all be numbers."""
        if not all(map(_is_number, names)):
            return cls(file, X, y, qid, list(names), ignored)
        places = np.array([int(name) for name in names], dtype=np.int64)
        return cls(file, moved_columns(X, places, 1 + int(places.max(initial=-1))), y, qid, None, ignored)


class FeatureColumns(NamedTuple):
    """The columns of a model.

    width : the number of columns.   names : None if features are numbers, each the number of its column.
    """

    width: int
    names: list[str] | None

    @classmethod
    def of_model(cls, model: Any) -> FeatureColumns | None:
        """Return the columns of a fitted model, or None if it is not fitted."""
        if not hasattr(model, "n_features_in_"):
            return None
        names = getattr(model, "feature_names_in_", None)
        return cls(model.n_features_in_, None if names is None else list(names))

    @classmethod
    def of_files(cls, parts: Sequence[FileRows]) -> FeatureColumns:
        """Return the columns of some files, which must all have numbers or all have names."""
        first, width = parts[0], max(part.X.shape[1] for part in parts)
        for part in parts:
            if (part.names is None) != (first.names is None):
                kinds = ("numbers", "names") if part.names is None else ("names", "numbers")
                raise ValueError(
                    f"the features of {part.file} have {kinds[0]}, but those of {first.file} have {kinds[1]}"
                )
        names = [name for part in parts for name in part.names or ()]
        return cls(width, None) if first.names is None else cls(len(set(names)), list(dict.fromkeys(names)))

    @property
    def remembered(self) -> dict[str, Any]:
        """The attributes that a model keeps."""
        return {} if self.names is None else {"feature_names_in_": np.array(self.names, dtype=object)}

    def placed(self, part: FileRows) -> tuple[sparse.csr_array, int]:
        """Return rows with these columns, and the number of features that have no column."""
        if part.names is not None and self.names is None:
            strange = next(name for name in part.names if not _is_number(name))
            raise ValueError(f"{part.file} has the feature {strange!r}; the features of this model are numbers")
        if part.names is None and self.names is not None and part.X.nnz:
            some = ", ".join(self.names[:3])
            raise ValueError(f"features of {part.file} are numbers; those of this model have names: {some}, …")
        if self.names is None:
            if part.X.shape[1] <= self.width:
                X = sparse.csr_array((part.X.data, part.X.indices, part.X.indptr), (part.X.shape[0], self.width))
                return X, part.ignored
            new = len(np.unique(part.X.indices[part.X.indices >= self.width]))
            return part.X[:, : self.width], new + part.ignored
        number = {name: k for k, name in enumerate(self.names)}
        places = np.array([number.get(name, -1) for name in part.names or ()], dtype=np.int64)
        return moved_columns(part.X, places, self.width), int((places < 0).sum()) + part.ignored


def _is_number(name: str) -> bool:
    """Return whether this is the number of a feature, as in svmlight files."""
    plain = name.isascii() and name.isdecimal() and len(name) < 11 and str(int(name)) == name
    return plain and int(name) <= LARGEST
