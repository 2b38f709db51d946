"""Where the data sets are: the folder that the environment variable ``MAXMARGIN_DATA`` names, one folder a set."""

from __future__ import annotations

import os
from pathlib import Path

ENVIRONMENT_VARIABLE = "MAXMARGIN_DATA"


class DataNotFound(FileNotFoundError):  # noqa: N818 - what happened is the better name
    """A data set was asked for that is not on this machine."""


def data_folder(name: str) -> Path:
    """The folder of the data set ``name`` inside the folder that ``MAXMARGIN_DATA`` names."""
    root = os.environ.get(ENVIRONMENT_VARIABLE)
    if not root:
        raise DataNotFound(
            f"The data set {name!r} was not found because the environment variable {ENVIRONMENT_VARIABLE}, "
            "which names the folder of data sets, is not set."
        )
    folder = Path(root) / name
    if not folder.is_dir():
        raise DataNotFound(
            f"The data set {name!r} was not found because the folder {root!r}, which {ENVIRONMENT_VARIABLE} "
            "names, does not contain it."
        )
    return folder


def data_file(name: str, file: str) -> Path:
    """One file of the data set ``name``."""
    path = data_folder(name) / file
    if not path.is_file():
        raise DataNotFound(f"The data set {name!r} is incomplete because its folder has no file {file!r}.")
    return path


def check_choice(argument: str, value: object, *choices: object) -> None:
    """Refuse a value of an argument that is none of two or more choices."""
    if value not in choices:
        names = [repr(choice) for choice in choices]
        raise ValueError(f"{argument} must be {', '.join(names[:-1])} or {names[-1]}, not {value!r}.")
