"""Kinds of data whose examples are records of JSON lines: graphs, clusters, assignments, documents, homologs.

A line of predictions is the record with an additional key, "predicted".
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from maxmargin.command.files.base import FileExamples, opened, some_at_a_time
from maxmargin.inputs.readers.json_lines import JsonRecord, iterate_records

AT_ONCE = 50  # examples at once, because some are large and slow to search


class RecordKind(NamedTuple):
    """The conversion of records to the examples of an estimator and back."""

    input: Callable[[JsonRecord], Any]  # converts a record to an input x
    output: Callable[[JsonRecord, Any], Any]  # converts a record and its input to an output y
    measure: str  # the name of the estimator's score
    answer: Callable[[Any], Any]  # converts a prediction to JSON


def read(sources: list[str], estimator: Any, settings: Any, like: FileExamples | None = None) -> FileExamples:
    """Return the examples of all files."""
    kind = KINDS[type(estimator).__name__]
    X, Y = [], []
    for name in sources:
        for record in iterate_records(opened(name)):
            X.append(_made(kind.input, record))
            Y.append(_made(kind.output, record, X[-1]))
    if not X:
        raise ValueError(f"there is no record in {', '.join(sources)}")
    return FileExamples(X, Y)


def predicted(model: Any, source: str, settings: Any) -> Iterator[tuple[str, Any]]:
    """Yield the records with their predictions."""
    kind = KINDS[type(model).__name__]
    for some in some_at_a_time(iterate_records(opened(source)), AT_ONCE):
        found = model.predict([_made(kind.input, record) for record in some])
        for record, z in zip(some, found, strict=True):
            answer = kind.answer(z)
            yield json.dumps({**record.fields, "predicted": answer}, ensure_ascii=False) + "\n", answer


def measures(model: Any, examples: FileExamples) -> dict[str, float]:
    """Return the score of the estimator."""
    return {KINDS[type(model).__name__].measure: float(model.score(examples.X, examples.Y))}


def _made(make: Callable[..., Any], record: JsonRecord, *others: Any) -> Any:
    try:
        return make(record, *others)
    except (ValueError, TypeError, OverflowError) as error:
        said = str(error)
        raise (error if said.startswith(record.lines.name) else record.error(said)) from None


def _numbers(record: JsonRecord, key: str, axes: str) -> Any:
    """Return an array of numbers with the named axes, or None if the record has none."""
    if key not in record:
        return None
    given = record.fields[key]
    try:
        array = np.asarray(given, dtype=np.float64)
    except (ValueError, TypeError, OverflowError):
        raise record.error(f"{key!r} are not numbers in lists of equal lengths; expected ({axes})") from None
    n_axes = axes.count(",") + 1
    if array.ndim != n_axes and array.size:
        raise record.error(f"{key!r} has {array.ndim} dimensions; expected {n_axes}, ({axes})")
    return array if array.size else array.reshape(len(given), *[0] * (n_axes - 1))


def _needed(record: JsonRecord, key: str, axes: str) -> Any:
    record.value(key, f"numbers in lists, ({axes})")
    return _numbers(record, key, axes)


def _whole(record: JsonRecord, key: str, axes: str) -> Any:
    """Return an array of whole numbers."""
    array = _needed(record, key, axes)
    if array.size and (np.abs(array) > 2**31).any() | (array != np.rint(array)).any():
        raise record.error(f"{key!r} has numbers that are not whole, or too large")
    return array.astype(np.int64)


def _listed(record: JsonRecord, key: str, n: int, what: str) -> list[Any]:
    """Return a text or number for each of n objects."""
    values = record.listed(key, f"a text or number for every {what}")
    if len(values) != n or not all(isinstance(value, str | int | float) for value in values):
        raise record.error(f"{key!r} is {values!r:.60}; expected a text or number for each of {n} {what}s")
    return values


# --- graphs


def _graph(record: JsonRecord) -> Any:
    from maxmargin.structures.graphs.nodes import Nodes

    features, edges = _needed(record, "nodes", "nodes, features"), _whole(record, "edges", "edges, 2")
    return Nodes(features, edges.reshape(-1, 2), _numbers(record, "edge_features", "edges, features"))


def _node_labels(record: JsonRecord, graph: Any) -> Any:
    return _listed(record, "labels", graph.n_nodes, "node")


# --- clusters


def _items(record: JsonRecord) -> Any:
    from maxmargin.structures.clustering.pairs import Pairs

    pairs = _whole(record, "pairs", "pairs, 2").reshape(-1, 2)
    names = record.fields.get("feature_names")
    return Pairs(record.value("items", "their number"), pairs, _needed(record, "features", "pairs, features"), names)


def _clusters(record: JsonRecord, items: Any) -> Any:
    return _listed(record, "clusters", items.n_items, "item")


# --- assignments


def _frames(record: JsonRecord) -> Any:
    from maxmargin.structures.assignment.frames import Frames, read_frames

    sides = (_numbers(record, side, f"{side}, features") for side in ("rows", "columns"))
    return read_frames(Frames(_needed(record, "pairs", "rows, columns, features"), *sides), 0, None)


def _columns(record: JsonRecord, frames: Any) -> Any:
    from maxmargin.structures.assignment.frames import read_columns

    n, m = frames.sizes
    return read_columns(_whole(record, "assignment", "rows"), n, m, "'assignment'")


# --- documents


def _documents(record: JsonRecord) -> Any:
    from maxmargin.structures.diversity.documents import Documents

    documents = record.listed("documents", "texts, or texts by field, for every document")
    fields = set(documents[0]) if documents and isinstance(documents[0], dict) else None
    for k, document in enumerate(documents):
        texts = document.values() if isinstance(document, dict) else [document]
        same = (set(document) if isinstance(document, dict) else None) == fields
        if not same or not all(isinstance(text, str) for text in texts):
            raise record.error(
                f"document {k} is {document!r:.60}; expected a text, or texts by the fields of the first"
            )
    if not documents:
        raise record.error("there are no documents")
    query = record.fields.get("query")
    if query is not None and not isinstance(query, str):
        raise record.error(f"the query is {query!r:.60}; expected a text")
    return Documents(documents, query, _numbers(record, "features", "documents, features"))


def _subtopics(record: JsonRecord, documents: Any) -> Any:
    values = record.listed("subtopics", "a list of texts for every document")
    good = all(isinstance(each, list) and all(isinstance(name, str | int) for name in each) for each in values)
    if len(values) != len(documents) or not good:
        raise record.error(f"'subtopics' is {values!r:.60}; expected a list for each of {len(documents)} documents")
    return [set(each) for each in values]


# --- homologs


def _relatives(record: JsonRecord) -> Any:
    native, candidates = record.value("native", "a sequence"), record.listed("candidates", "a list of sequences")
    for sequence in (native, *candidates):
        if not isinstance(sequence, str) or not sequence:
            raise record.error(f"a sequence is {sequence!r:.60}; expected letters")
    if not candidates:
        raise record.error("there are no candidates")
    return native, candidates


def _homolog(record: JsonRecord, relatives: Any) -> Any:
    number = record.value("homolog", "the number of the homologous candidate, counted from 0")
    rows = record.listed("alignment", "two rows with gaps, the native sequence and the homolog")
    if type(number) is not int or not 0 <= number < len(relatives[1]):
        raise record.error(f"'homolog' is {number!r:.40}; expected a number from 0 to {len(relatives[1]) - 1}")
    if len(rows) != 2 or not all(isinstance(row, str) for row in rows) or len(rows[0]) != len(rows[1]):
        raise record.error(f"'alignment' is {rows!r:.60}; expected two rows of equal length, with gaps")
    from maxmargin.structures.alignment.alignments import PairwiseAlignment

    alignment = PairwiseAlignment.from_gapped(*rows)
    sizes = (len(relatives[0]), len(relatives[1][number]))
    if tuple(alignment.lengths) != sizes:
        raise record.error(f"'alignment' is of sequences of {alignment.lengths} letters; expected {sizes}")
    return number, alignment


def _plain(z: Any) -> Any:
    return [each.item() if isinstance(each, np.generic) else each for each in z]


KINDS = {
    "GraphLabeler": RecordKind(_graph, _node_labels, "right labels", _plain),
    "Clusterer": RecordKind(_items, _clusters, "B-cubed F1", _plain),
    "Assigner": RecordKind(_frames, _columns, "right rows", _plain),
    "Diversifier": RecordKind(_documents, _subtopics, "subtopic recall", _plain),
    "HomologRanker": RecordKind(_relatives, _homolog, "right homologs", int),
}
