"""Rows of features: classes, measures and rankings. Feature j of an svmlight file is column j; others have names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from maxmargin.base.arrays import Array
from maxmargin.command.errors import UsageError
from maxmargin.command.files.base import FileExamples, format_of, opened, say
from maxmargin.command.files.feature_columns import FeatureColumns, FileRows
from maxmargin.command.kinds import KINDS
from maxmargin.command.light_start import import_scikit_learn
from maxmargin.inputs.packed.packed_matrix import PackedRows
from maxmargin.inputs.readers.jsonl_rows import iterate_jsonl_rows
from maxmargin.inputs.readers.named_rows import NamedRows
from maxmargin.inputs.readers.svmlight import SvmlightRows, iterate_svmlight
from maxmargin.inputs.readers.tables import MissingColumnError, TextCellError, iterate_table_rows

AT_ONCE = 10_000
ALL = 2**62


def read(sources: list[str], estimator: Any, settings: Any, like: FileExamples | None = None) -> FileExamples:
    """Return the rows of all files, one after the other; queries of different files are different."""
    columns = FeatureColumns.of_model(estimator) if like is None else columns_of(like)
    parts = [part for name in sources for part in _parts(name, estimator, columns, settings, ALL)]
    if not parts:
        raise ValueError(f"there is no row in {', '.join(sources)}")
    _read_tree(estimator, settings)
    columns = FeatureColumns.of_files(parts) if columns is None else columns
    X = placed(parts, columns)
    y = np.concatenate([_labels(part, settings) for part in parts])
    others = {"qid": _queries(parts, settings)} if _ranks(estimator) else {}
    if not others and y.dtype != object:
        y = _plain(y)
    if _wants_texts(estimator) and y.dtype != object:
        y = np.array(list(map(str, y.tolist())), dtype=object)
    return FileExamples(X, y, others, columns.remembered)


def columns_of(like: FileExamples) -> FeatureColumns:
    """Return the columns of training data."""
    if isinstance(like.X, PackedRows):
        return FeatureColumns(like.X.n_features, like.X.names)
    return FeatureColumns(like.X.shape[1], like.remembered.get("feature_names_in_"))


def to_pack(sources: list[str], settings: Any) -> tuple[Iterator[Any], dict[str, Any]]:
    """Return rows, some at a time, and the options of `pack`."""
    kind = KINDS[settings.kind]
    options = {"fit_intercept": settings.fit_intercept == "yes"} if "fit_intercept" in kind.pack_options else {}
    return _rows_to_pack(sources, kind.estimator_class()(), settings), options


def _rows_to_pack(sources: list[str], estimator: Any, settings: Any) -> Iterator[Any]:
    queries: dict[Any, int] = {}  # queries of different files are different
    for k, name in enumerate(sources):
        for part in _parts(name, estimator, None, settings, AT_ONCE):
            y, qid = _labels(part, settings), None
            if _ranks(estimator):
                keys = [(k, query) for query in _own_queries(part, settings).tolist()]
                qid = np.array([queries.setdefault(key, len(queries)) for key in keys])
            elif y.dtype != object:
                y = _plain(y)
            if part.names is None:
                yield SvmlightRows(part.X, y, qid)
            else:
                yield NamedRows(part.X, y, qid, part.names)


def packed(data: Any, estimator: Any) -> FileExamples:
    """Return the rows of a packed folder."""
    return FileExamples(data, None)


def placed(parts: list[FileRows], columns: FeatureColumns) -> sparse.csr_array:
    """Return all rows with these columns."""
    found = [columns.placed(part) for part in parts]
    say_ignored(sum(ignored for _, ignored in found))
    return sparse.vstack([X for X, _ in found], format="csr")


def predicted(model: Any, source: str, settings: Any) -> Iterator[tuple[str, Any]]:
    """Yield a line for every row: its class or, for rankings and with --scores, its score or scores."""
    columns = FeatureColumns.of_model(model)
    assert columns is not None
    most = 0
    for part in _parts(source, model, columns, settings, AT_ONCE):
        X, ignored = columns.placed(part)
        most = max(most, ignored)
        values = model.decision_function(X) if settings.scores and not _ranks(model) else model.predict(X)
        for value in np.asarray(values).tolist():
            yield " ".join(map(str, value if isinstance(value, list) else [value])) + "\n", value
    say_ignored(most)


def measures(model: Any, examples: FileExamples) -> dict[str, float]:
    """Return the score of the estimator: the share of correct classes, or its measure."""
    name = str(model.measure) if hasattr(model, "k") else "right classes"
    if getattr(model, "k", None) is not None:
        name = f"{name} ({model.k})"
    return {name: float(model.score(examples.X, examples.Y, **examples.others))}


def _parts(
    name: str, estimator: Any, columns: FeatureColumns | None, settings: Any, at_once: int
) -> Iterator[FileRows]:
    """Yield the rows of a file, `at_once` at a time."""
    names, source = None if columns is None else columns.names, opened(name)
    match format_of(name, estimator, settings):
        case "table":
            yield from (
                FileRows.named(name, *rows) for rows in _table_rows(source, estimator, names, settings, at_once)
            )
        case "jsonl":
            yield from (FileRows.named(name, *rows) for rows in iterate_jsonl_rows(source, names, at_once))
        case "arff":
            from maxmargin.datasets.clus import read_clus

            X, labels = read_clus(source)
            if labels:
                yield FileRows(name, sparse.csr_array(X), np.array(labels, dtype=object))
        case _:
            import_scikit_learn("sklearn.datasets")  # whose parser is used
            yield from (FileRows(name, *rows) for rows in iterate_svmlight(source, zero_based=True, at_once=at_once))


def _table_rows(
    source: Any, estimator: Any, names: list[str] | None, settings: Any, at_once: int
) -> Iterator[NamedRows]:
    """Yield the rows of a table; every command except predict needs labels, and queries for rankings."""
    label, query = settings.label or "label", settings.id or "query"
    needed = [] if settings.command == "predict" else [label, *([query] if _ranks(estimator) else [])]
    given = [] if names is not None else [each for each in (settings.categorical or "").split(",") if each]
    texts = _wants_texts(estimator)
    try:
        yield from iterate_table_rows(source, label, query, names, texts, at_once, given, needed)
    except MissingColumnError as error:
        option = {label: "--label", query: "--id"}.get(error.name)
        remedy = f"; name the right one with {option} COLUMN" if option else ""
        raise ValueError(f"{error}{remedy}") from None
    except TextCellError as error:
        if names is not None:
            raise
        raise ValueError(f"{error}, or --categorical COLUMN for a feature of every text in it") from None


def _labels(part: FileRows, settings: Any) -> Array:
    if part.y is None:
        raise ValueError(f"{part.file} has no labels; expected {settings.label or 'label'!r} for every row")
    return part.y


def _ranks(estimator: Any) -> bool:
    return type(estimator).__name__ == "Ranker"


def _wants_texts(estimator: Any) -> bool:
    """Return whether classes are nodes of a taxonomy, whose names are texts."""
    return type(estimator).__name__ == "TaxonomySVC"


def _read_tree(estimator: Any, settings: Any) -> None:
    if getattr(settings, "tree", None) is not None:
        from maxmargin.inputs.readers.taxonomy_file import read_taxonomy

        if estimator.taxonomy is not None:
            raise UsageError("--tree and --taxonomy exclude each other: give one of the two")
        estimator.taxonomy = read_taxonomy(opened(settings.tree))
    elif _wants_texts(estimator) and estimator.taxonomy is None and not hasattr(estimator, "w_"):
        raise UsageError("give the taxonomy: --tree FILE, or --taxonomy SEPARATOR for labels such as fruit/round/apple")


def _queries(parts: list[FileRows], settings: Any) -> Array:
    numbers, before = [], 0
    for part in parts:
        _, number = np.unique(_own_queries(part, settings), return_inverse=True)
        numbers.append(number + before)
        before += int(number.max(initial=-1)) + 1
    return np.concatenate(numbers)


def _own_queries(part: FileRows, settings: Any) -> Any:
    if part.qid is None:
        raise ValueError(f"{part.file} has no queries; expected qid:NUMBER or {settings.id or 'query'!r} for every row")
    return part.qid


def _plain(y: Array) -> Any:
    """Return labels as integers if all are whole, so that 3 is not written as 3.0."""
    whole = y.astype(np.int64)
    return whole if (whole == y).all() else y


def say_ignored(n: int) -> None:
    """Report the number of ignored features."""
    if n:
        features = "1 feature that does" if n == 1 else f"{n:,} features that do"
        say(f"{features} not occur in the training data {'is' if n == 1 else 'are'} ignored")
