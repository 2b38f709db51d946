"""Read models from files, including files from sources that are not trusted.

A file may name only the classes of a fixed table (base/files/known_classes.py). Fields are checked before objects are
created from them (base/files/objects.py).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Protocol, cast

from maxmargin.base.files.container import read
from maxmargin.base.files.known_classes import known_class
from maxmargin.base.files.plain_data import DataReader
from maxmargin.base.files.saving import FORMAT, SavedModel


class FittedModel(Protocol):
    """The type of a model that was read from a file, with the members that all estimators share.

    Estimators have further members. Check the class (`isinstance(model, mm.SequenceLabeler)`) so that editors and type
    checkers know them.
    """

    def predict(self, X: Any) -> Any:
        """Return the best output for every input."""

    def score(self, X: Any, Y: Any, **others: Any) -> float:
        """Return how good the predictions for inputs X with true outputs Y are; higher is better."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file again."""

    def report(self, X: Any, Y: Any, **options: Any) -> Any:
        """Return a page about the model and its predictions for inputs X with true outputs Y."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters of the estimator by name."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Let type checkers accept the members that only some estimators have."""


def load(path: str | os.PathLike[str], task: type | None = None, limit: float | None = None) -> FittedModel:
    """Read a model from a file that its `save` method has written.

    Loading is safe for files from people whom you do not trust: nothing is unpickled, and no code runs that the file
    names.

    Parameters
    ----------
    path : str or path
        The file.
    task : type or None
        For a StructuredSVM with a task of your own: the class of the task. It is not called; the attributes of the
        task are set from the file.
    limit : number or None
        The most bytes that the model may take in memory. None: 1 GB, or 100 times the size of the file if that is more,
        so that a small file cannot fill the memory. Give more for a file that you trust, such as a model with very many
        hashed features.

    Returns
    -------
    estimator
        The fitted model, of the class that was saved. Its predictions equal the saved model's to the last bit.

    Raises
    ------
    ValueError
        If the file is damaged, was not written by `save`, describes a model that cannot exist, or takes more memory
        than `limit`.

    Examples
    --------
    >>> import os, tempfile
    >>> import maxmargin as mm
    >>> model = mm.MulticlassSVC().fit([[0.0], [1.0], [2.0]], ["low", "mid", "high"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(os.path.join(folder, "model.mm"))
    ...     again = mm.load(os.path.join(folder, "model.mm"))
    >>> bool((again.predict([[0.1], [2.1]]) == model.predict([[0.1], [2.1]])).all())
    True
    """
    description, tensors = read(path)
    name = os.fspath(path)
    form = description.get("format")
    if type(form) is not int or not 1 <= form <= FORMAT:
        raise ValueError(f"{name} has format {form!r}; this version of maxmargin knows the formats 1 to {FORMAT}")
    parts, number = description.get("parts"), description.get("model")
    if not isinstance(parts, list) or type(number) is not int or not 0 <= number < len(parts):
        raise ValueError(f"{name} is damaged: it does not say which of its entries is the model")
    try:
        reader = DataReader(tensors, known_class, task, limit)
        for entry in parts:
            reader.add_part(entry)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{name} cannot be loaded: {error}") from None
    model = reader.parts[number]
    if not isinstance(model, SavedModel):
        raise ValueError(f"{name} is damaged: it describes a {type(model).__name__}, which is not a model")
    return cast(FittedModel, model)
