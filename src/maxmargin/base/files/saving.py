"""SavedModel: model files of fitted models. The other way is `maxmargin.load` (loading.py)."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from typing import Any

from sklearn.utils.validation import check_is_fitted

from maxmargin.base.files.container import write, written
from maxmargin.base.files.plain_data import DataWriter

FORMAT = 1  # of the description; readers know this one and all before it


class SavedModel:
    """What an estimator has whose fields are declared (objects.py)."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write this fitted model to a file that holds plain data alone; `maxmargin.load(path)` reads it.

        Predictions of the loaded model are the same to the last bit, and loading runs no code that the file names: it
        is safe to load a file of somebody else. What belongs to a run is left out (callback, executor, the dual point
        of a warm start); functions, such as a kernel of your own, and objects of other libraries are refused.
        """
        check_is_fitted(self)
        write(path, model_bytes(self))


def model_bytes(model: Any) -> bytes:
    """The content of the file of a model."""
    writer = DataWriter()
    number = writer.write(model, type(model).__name__)
    return written(
        {
            "format": FORMAT,
            "estimator": type(model).__name__,
            "certificate": str(getattr(model, "certificate_", "")),
            "versions": {
                "python": platform.python_version(),
                **{name: version(name) for name in ("maxmargin", "numpy", "scipy", "scikit-learn", "numba")},
            },
            "parts": writer.parts,
            "model": number["part"],
        },
        writer.tensors,
    )
