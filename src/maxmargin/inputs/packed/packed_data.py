"""PackedData: training data in a folder, which `fit` takes in the place of X and Y."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.base.files.array_folder import ArrayFolder
from maxmargin.base.files.fields import Whole
from maxmargin.base.files.objects import Dropped, Fields


class PackedData:
    """Examples in a folder that `maxmargin.pack` has written.

    Opening one reads the manifest alone. The numbers are read, compared with their checksums and checked (`verify`)
    before the first training; later, and in other processes, only what changed places is compared again.
    """

    kind: ClassVar[str]  # what `pack` calls it
    divisible: ClassVar[bool] = False  # whether cross-validation can cut them into folds, see `in_parts`
    saved: ClassVar[Fields] = {"n": Whole(1), "folder": Dropped(), "_verified": Dropped(False)}
    n: int
    folder: ArrayFolder
    _verified: bool = False

    def __len__(self) -> int:
        return self.n

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_verified": False}  # elsewhere, or later, the numbers are looked at again

    @property
    def weights(self) -> Array | None:
        """The weights of the examples, where they were packed with such."""
        return self.folder.arrays.get("weights")

    @property
    def inputs(self) -> Any:
        """What stands for X in training: of rows, a matrix; of others, these data."""
        return self

    @property
    def outputs(self) -> Any:
        """What stands for Y."""
        return self

    def in_parts(self) -> tuple[Any, Any, dict[str, Any]]:
        """X, Y and what else `fit` takes, each of which has parts by numbers of examples."""
        raise ValueError(
            f"packed {self.kind} cannot be split into folds: pack validation data as well, and use fit_path"
        )

    def verify(self) -> None:
        """Read all numbers once; ValueError where one of them is not what was packed, or cannot be."""
        if not self._verified:
            self._check()
            self._verified = True

    def _check(self) -> None:
        """That is for each kind to write."""
        raise NotImplementedError

    def __repr__(self) -> str:
        size = sum(array.nbytes for array in self.folder.arrays.values()) / 2**20
        return f"<{self.n:,} packed {self.kind} in {str(self.folder.folder)!r}, {size:,.1f} MB>"


def given_examples(packed: type[PackedData] | None, X: Any, Y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
    """X, Y and weights of a fit; of packed data, which an estimator takes of this kind alone, X stands for both."""
    if not isinstance(X, PackedData):
        return X, Y, sample_weight
    if packed is None or not isinstance(X, packed):
        takes = "no packed data" if packed is None else f"packed {packed.kind}"
        raise ValueError(f"X has packed {X.kind}; this estimator takes {takes}")
    if Y is not None:
        raise ValueError("packed data contain their outputs; leave out Y")
    if sample_weight is None and X.weights is not None:
        X.folder.verify("weights")
        sample_weight = np.array(X.weights)
    return X.inputs, X.outputs, sample_weight
