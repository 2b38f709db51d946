"""SavedModel: the method `save` of fitted models. `maxmargin.load` reads the files (loading.py)."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from typing import Any

from sklearn.utils.validation import check_is_fitted

from maxmargin.base.files.container import written
from maxmargin.base.files.drafts import write_file
from maxmargin.base.files.plain_data import DataWriter

FORMAT = 1  # version of the description; readers accept this one and all earlier ones


class SavedModel:
    """A mixin with the method `save` for estimators whose fields are declared (objects.py)."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write this fitted model to a file of plain data; `maxmargin.load(path)` reads it.

        The loaded model predicts the same to the last bit, and loading runs no code that the file names, so it is safe
        to load files from others. State of a run is left out (callback, executor, the dual point of a warm start).
        Functions, such as a kernel of your own, and objects of other libraries are refused with a ValueError.
        """
        check_is_fitted(self)
        write_file(path, model_bytes(self))


def model_bytes(model: Any) -> bytes:
    """Return the content of the file of a model."""
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
