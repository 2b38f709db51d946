"""pack, open_packed: training data in a folder, for fits of more than memory holds.

The folder's arrays are files/array_folder.py's; which there are is the matter of the room whose data they are. What is
no array (how tokens are read, the labels) stands in the manifest as in model files, and is read as strictly.
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


def pack(data: Iterable[Any], folder: str | os.PathLike[str], kind: str, **options: Any) -> Any:
    """Write training data to a new folder, from which `fit` reads them without holding them in memory.

    data : the examples, as many as there may be: iterators are read once, and some examples at a time.
        Sequences: pairs (x, y), or triples (x, y, weight), such as formats.iterate_conll(path); lists are zip(X, Y).
        Rows: blocks (X, y) or (X, y, weights) with a dense or sparse matrix X, for "ranking" with the queries behind y;
        what formats.iterate_svmlight(path) and other readers of rows yield; or the same of single rows.
    folder : where to write to; it must not be there yet. It gets its name when it is whole.
    kind : "sequences", for SequenceLabeler; x and y are what its fit takes. Of rows, "classes" for MulticlassSVC and
        TaxonomySVC, "ordinal" for OrdinalSVC, "measure" for MeasureSVC, "ranking" for Ranker.
    options : of sequences, features=TokenTemplates(…) and hash_bits, as those of SequenceLabeler. Without hash_bits the
        names of all features are in memory while the data are packed, and in the model.
        Of classes and measures, fit_intercept: whether rows get a constant feature, which is True by default.

    Returns what `open_packed(folder)` returns, for `fit` in the place of X and Y.
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
    """The data that `pack` has written to a folder.

    Reads the manifest, and checks that the files of the arrays have the types and sizes that it says; the numbers
    themselves are checked once before the first training (`verify`). A ValueError is raised where something is not as
    it should be: it is safe to open folders of people whom one does not trust.
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
