"""Rows with any number of labels: Mulan's ARFF with its XML, svmlight, JSON lines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.command.errors import UsageError
from maxmargin.command.files.base import FileExamples, format_of, opened
from maxmargin.command.files.feature_columns import FeatureColumns, FileRows
from maxmargin.command.files.rows import ALL, AT_ONCE, columns_of, placed, say_ignored
from maxmargin.inputs.readers.jsonl_rows import iterate_multilabel_jsonl
from maxmargin.inputs.readers.mulan import iterate_mulan_rows, read_label_names
from maxmargin.inputs.readers.multilabel_rows import MultilabelRows
from maxmargin.inputs.readers.svmlight import iterate_multilabel_svmlight


def read(sources: list[str], estimator: Any, settings: Any, like: FileExamples | None = None) -> FileExamples:
    """Return rows, and a column of zeros and ones per label; a new estimator receives the names of the labels."""
    columns = FeatureColumns.of_model(estimator) if like is None else columns_of(like)
    found = [(name, rows) for name in sources for rows in _parts(name, estimator, columns, True, settings, ALL)]
    if not found:
        raise ValueError(f"there is no row in {', '.join(sources)}")
    if columns is None:
        estimator.classes = list(dict.fromkeys(label for _, rows in found for label in rows.labels))
    parts = [_row_part(name, rows) for name, rows in found]
    columns = FeatureColumns.of_files(parts) if columns is None else columns
    Y = np.vstack([_marks(rows, estimator, name) for name, rows in found])
    return FileExamples(placed(parts, columns), Y, {}, columns.remembered)


def predicted(model: Any, source: str, settings: Any) -> Iterator[tuple[str, Any]]:
    """Yield the labels of every row separated by commas or, with --scores, a score for every label."""
    columns = FeatureColumns.of_model(model)
    assert columns is not None
    most = 0
    names = _named(model)
    for rows in _parts(source, model, columns, False, settings, AT_ONCE):
        X, ignored = columns.placed(_row_part(source, rows))
        most = max(most, ignored)
        if settings.scores:
            for scores in model.decision_function(X).tolist():
                yield " ".join(map(str, scores)) + "\n", scores
            continue
        for marks in model.predict(X):
            labels = [names[k] for k in np.flatnonzero(marks)]
            yield ",".join(labels) + "\n", labels
    say_ignored(most)


def measures(model: Any, examples: FileExamples) -> dict[str, float]:
    """Return the shares of correct labels and of completely correct rows, and F1 of all labels together."""
    found, truth = model.predict(examples.X).astype(bool), examples.Y.astype(bool)
    both = int((found & truth).sum())
    return {
        "right labels": float((found == truth).mean()),
        "right rows": float((found == truth).all(axis=1).mean()),
        "F1": 2 * both / max(int(found.sum() + truth.sum()), 1),
    }


def _parts(
    name: str, estimator: Any, columns: FeatureColumns | None, labelled: bool, settings: Any, at_once: int
) -> Iterator[MultilabelRows]:
    source = opened(name)
    match format_of(name, estimator, settings):
        case "svmlight":
            return iterate_multilabel_svmlight(source, zero_based=True, at_once=at_once)
        case "jsonl":
            return iterate_multilabel_jsonl(source, at_once=at_once)
        case _:
            labels = _label_names(name, settings) if columns is None else _named(estimator)
            return iterate_mulan_rows(source, labels, labelled, at_once)


def _row_part(name: str, rows: MultilabelRows) -> FileRows:
    if isinstance(rows.names, list):
        return FileRows.named(name, rows.X, None, None, rows.names)
    return FileRows(name, rows.X, None)


def _label_names(name: str, settings: Any) -> list[str]:
    """Return the labels of the given XML file, or of the XML file next to a table.

    The latter is data.xml for data.arff and data-train.arff.
    """
    if settings.labels is not None:
        return read_label_names(opened(settings.labels))
    stem = Path(name).name.split(".arff")[0]
    beside = [Path(name).with_name(f"{each}.xml") for each in (stem, stem.rpartition("-")[0], stem.rpartition("_")[0])]
    for path in beside:
        if path.name != ".xml" and path.exists():
            return read_label_names(path)
    raise UsageError(
        f"there is no {beside[0].name} beside {name}: give the XML file that names its labels, --labels FILE"
    )


def _named(model: Any) -> list[str]:
    """Return the names of the labels of a model, or their numbers if it has no names."""
    return list(map(str, range(model.n_labels_) if model.classes is None else model.classes))


def _marks(rows: MultilabelRows, estimator: Any, name: str) -> NDArray[np.int64]:
    """Return a column for every label of the estimator."""
    places = {label: k for k, label in enumerate(map(str, estimator.classes or ()))}
    unknown = [label for label in rows.labels if label not in places]
    if unknown:
        raise ValueError(f"{name} has the label {unknown[0]!r}, which training has not seen")
    Y = np.zeros((len(rows.Y), len(places)), dtype=np.int64)
    Y[:, [places[label] for label in rows.labels]] = rows.Y
    return Y
