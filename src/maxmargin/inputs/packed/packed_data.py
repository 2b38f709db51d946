"""PackedData: training data in a folder, which `fit` accepts in place of X and Y."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.base.files.array_folder import ArrayFolder
from maxmargin.base.files.fields import Whole
from maxmargin.base.files.objects import Dropped, Fields


class PackedData:
    """Examples in a folder that `maxmargin.pack` has written.

    Opening a folder reads only its manifest. The numbers are read, compared with their checksums and checked (`verify`)
    before the first training run; later, and in other processes, only checksums are compared again.
    """

    kind: ClassVar[str]  # the name of the kind in `pack`
    divisible: ClassVar[bool] = False  # whether cross-validation can split them into folds, see `in_parts`
    saved: ClassVar[Fields] = {"n": Whole(1), "folder": Dropped(), "_verified": Dropped(False)}
    n: int
    folder: ArrayFolder
    _verified: bool = False

    def __len__(self) -> int:
        return self.n

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_verified": False}  # in another process the numbers are verified again

    @property
    def weights(self) -> Array | None:
        """The weights of the examples, or None if they were packed without weights."""
        return self.folder.arrays.get("weights")

    @property
    def inputs(self) -> Any:
        """The value that replaces X in training: a matrix for rows, otherwise these data."""
        return self

    @property
    def outputs(self) -> Any:
        """The value that replaces Y in training."""
        return self

    def in_parts(self) -> tuple[Any, Any, dict[str, Any]]:
        """Return X, Y and further arguments of `fit`, each of which can be indexed by example."""
        raise ValueError(
            f"packed {self.kind} cannot be split into folds: pack validation data as well, and use fit_path"
        )

    def verify(self) -> None:
        """Read and check all numbers once; raise a ValueError if one has changed since packing or is impossible."""
        if not self._verified:
            self._check()
            self._verified = True

    def _check(self) -> None:
        """Check all numbers; every kind of packed data implements this."""
        raise NotImplementedError

    def __repr__(self) -> str:
        size = sum(array.nbytes for array in self.folder.arrays.values()) / 2**20
        return f"<{self.n:,} packed {self.kind} in {str(self.folder.folder)!r}, {size:,.1f} MB>"


def given_examples(packed: type[PackedData] | None, X: Any, Y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
    """Return X, Y and weights of a fit; packed data of the expected kind replace both X and Y."""
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
