"""pack, open_packed: training data in a folder, for data sets that are larger than memory.

The arrays are stored by base/files/array_folder.py; each structure decides which arrays it has. All other data, such as
the labels and the templates of features, are in the manifest, in the format of model files and with the same checks.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterable
from importlib.metadata import version
from typing import Any

from maxmargin.base.files.array_folder import ArrayFolder, ArrayFolderWriter
from maxmargin.base.files.known_classes import known_class
from maxmargin.base.files.plain_data import DataReader, DataWriter
from maxmargin.inputs.packed.packed_classes import pack_classes, pack_measure, pack_ordinal
from maxmargin.inputs.packed.packed_data import PackedData
from maxmargin.structures.ranking.packed_queries import pack_ranking
from maxmargin.structures.sequences.packed_sequences import pack_sequences

KINDS: dict[str, Callable[..., PackedData]] = {
    "sequences": pack_sequences,
    "classes": pack_classes,
    "ordinal": pack_ordinal,
    "measure": pack_measure,
    "ranking": pack_ranking,
}


def packed_kind(kind: str) -> str:
    """Return the kind that a packed folder names: rows with one label each are packed alike."""
    return "classes" if kind in ("ordinal", "measure") else kind


def pack(data: Iterable[Any], folder: str | os.PathLike[str], kind: str, **options: Any) -> Any:
    """Write training data to a new folder, from which `fit` reads them without holding them in memory.

    Parameters
    ----------
    data : iterable
        The examples. They are read once and a few at a time, so that an iterator may be larger than memory.
        For sequences: pairs (x, y) or triples (x, y, weight), such as formats.iterate_conll(path) or zip(X, Y).
        For rows: blocks (X, y) or (X, y, weights) with a dense or sparse matrix X, where "ranking" has the queries
        after y; the blocks that formats.iterate_svmlight(path) and other readers of rows yield; or single rows in the
        same form.
    folder : str or path
        The folder to create; it must not exist yet. It gets its final name only when all data are written.
    kind : str
        "sequences" for SequenceLabeler, whose `fit` takes the same x and y. For rows: "classes" for MulticlassSVC and
        TaxonomySVC, "ordinal" for OrdinalSVC, "measure" for MeasureSVC, "ranking" for Ranker.
    **options
        For sequences: `features` (TokenTemplates) and `hash_bits`, as in SequenceLabeler. Without `hash_bits`, the
        names of all features are kept in memory while the data are packed, and in the model.
        For classes and measures: `fit_intercept`, whether rows get a constant feature (True by default).

    Returns
    -------
    PackedData
        The result of `open_packed(folder)`, which `fit` takes instead of X and Y.
    """
    if kind not in KINDS:
        raise ValueError(
            f"kind must be one of {', '.join(map(repr, KINDS))}, got {kind!r}; other kinds of data are "
            "trained from lists"
        )
    with ArrayFolderWriter(folder) as writer:
        packed, plain = KINDS[kind](data, writer, **options), DataWriter()
        number = plain.write(packed, type(packed).__name__)
        for name, tensor in plain.tensors.items():
            writer.append(name, tensor)
        versions = {"python": platform.python_version(), **{name: version(name) for name in ("maxmargin", "numpy")}}
        writer.finish({"kind": kind, "versions": versions, "parts": plain.parts, "data": number["part"]})
    return open_packed(folder)


def open_packed(folder: str | os.PathLike[str]) -> Any:
    """Open a folder that `pack` has written, for `fit`.

    Opening is safe for folders from people whom you do not trust. The manifest is read, and the types and sizes of the
    files of arrays are compared with it; the numbers themselves are checked once, before the first training.

    Parameters
    ----------
    folder : str or path
        The folder.

    Returns
    -------
    PackedData
        The training data, which `fit` takes instead of X and Y.

    Raises
    ------
    ValueError
        If the folder is damaged or was not written by `pack`.
    """
    found, name = ArrayFolder(folder), os.fspath(folder)
    parts, number = found.about.get("parts"), found.about.get("data")
    if not isinstance(parts, list) or type(number) is not int or not 0 <= number < len(parts):
        raise ValueError(f"{name} is damaged: its manifest does not say what the data are")
    try:
        for each in found.arrays:
            if each[0] == "t" and each[1:].isdigit():
                found.verify(each)
        reader = DataReader(found.arrays, known_class)
        for entry in parts:
            reader.add_part(entry)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{name} cannot be opened: {error}") from None
    data = reader.parts[number]
    if not isinstance(data, PackedData):
        raise ValueError(f"{name} is damaged: it describes a {type(data).__name__}, which is not packed data")
    data.folder = found
    return data
