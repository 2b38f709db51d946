"""warmup: compile kernels ahead of their first use, for containers, continuous integration and demonstrations.

A kernel is compiled for the types of its arguments when it is first called, so the way to compile the kernels of a kind
of data is to train a tiny model on artificial data, and to predict with it. The models are thrown away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from maxmargin.base.compile_clock import COMPILING
from maxmargin.base.errors import TrainingInterrupted, hearing
from maxmargin.base.progress_line import LiveLine
from maxmargin.base.suggestions import did_you_mean


class WarmedKind(NamedTuple):
    """The result of `warmup` for one kind of data.

    Attributes
    ----------
    kind : str
        The kind of data.
    compiled : int
        The number of functions that were compiled; 0 if all were in the cache.
    seconds : float
        The seconds that this took.
    """

    kind: str
    compiled: int
    seconds: float


class TinyFit(NamedTuple):
    """An estimator, by its name and parameters, with artificial data for it."""

    estimator: str
    X: Any
    Y: Any
    parameters: dict[str, Any]
    others: dict[str, Any]  # further arguments of fit


def warmup(kinds: str | Iterable[str] | None = None, *, verbose: int = 0) -> list[WarmedKind]:
    """Compile the inner loops for some kinds of data, so that the first fit does not have to.

    Compiled functions are kept on disk and are found by later processes with the same versions of Python and packages
    and the same processor: in the folder that the environment variable NUMBA_CACHE_DIR names, or beside the package, or
    in the user's cache folder. Unusual options may need further functions, which are compiled when they are used.

    Parameters
    ----------
    kinds : str, iterable of str or None
        Kinds of data as on the command line ("sequences", "classes", …), or names of estimators ("SequenceLabeler");
        None: all kinds.
    verbose : int
        1 shows progress on standard error.

    Returns
    -------
    list of WarmedKind
        For every kind, the number of functions that were compiled and the time that it took.

    Raises
    ------
    ValueError
        If a kind is unknown.

    Examples
    --------
    >>> import maxmargin as mm
    >>> [warmed.kind for warmed in mm.warmup("classes")]
    ['classes']
    """
    wanted = _wanted(kinds)
    with LiveLine(verbose, "compiling") as line:
        return [_warmed(kind, line, f"{k} of {len(wanted)}: {kind}") for k, kind in enumerate(wanted, 1)]


def _wanted(kinds: str | Iterable[str] | None) -> list[str]:
    if kinds is None:
        return list(TINY)
    by_estimator = {fit.estimator: kind for kind, fits in TINY.items() for fit in fits()}
    wanted = []
    for name in [kinds] if isinstance(kinds, str) else kinds:
        kind = by_estimator.get(name, name)
        if kind not in TINY:
            meant = did_you_mean(str(name), [*TINY, *by_estimator]) or "."
            raise ValueError(f"kinds has {name!r}{meant} Expected some of {', '.join(TINY)}, or names of estimators")
        wanted.append(kind)
    return list(dict.fromkeys(wanted))


def _warmed(kind: str, line: LiveLine, where: str) -> WarmedKind:
    package = import_module("maxmargin")  # by name, because the package imports this module
    before = COMPILING.times()
    line.doing(where)
    for fit in TINY[kind]():
        model = getattr(package, fit.estimator)(**fit.parameters)
        with hearing() as heard:  # warnings about these data are of no use
            model.fit(fit.X, fit.Y, **fit.others)
            if any(category is TrainingInterrupted for category, _ in heard):
                raise KeyboardInterrupt  # which a fit only takes for its own end
            model.predict(fit.X)
            if hasattr(model, "predict_proba"):
                model.predict_proba(fit.X)
    after = COMPILING.times()
    return WarmedKind(kind, after.begun - before.begun, after.seconds - before.seconds)


# --- artificial data


def _rows(n_classes: int = 3) -> tuple[Any, Any]:
    """Return 24 rows that are nearly separable, and their classes."""
    y = np.arange(24) % n_classes
    return np.random.default_rng(0).standard_normal((24, 4)) + 2 * np.eye(4)[y], y


def _of_rows(estimator: str, n_classes: int = 3, labels: Any = None, **others: Any) -> Callable[[], Iterator[TinyFit]]:
    """Return fits of dense and of sparse rows."""

    def fits() -> Iterator[TinyFit]:
        X, y = _rows(n_classes)
        y = y if labels is None else np.array(labels, dtype=object)[y]
        given = {"qid": np.arange(24) // 6} if estimator == "Ranker" else {}
        for form in (X, sparse.csr_array(X)):
            yield TinyFit(estimator, form, y, {"C": 10.0, "tol": 1e-3, **others}, given)
        k = np.arange(24)
        noise = np.column_stack([k**2 % 11, 3 * k % 5])  # which takes many passes
        hard = sparse.csr_array(np.column_stack([np.eye(4)[k % n_classes] * (1 + k[:, None] % 7 / 10), noise]))
        yield TinyFit(estimator, hard, y, {"C": 10.0, **others}, given)
        if estimator == "MulticlassSVC":  # with planes that are found one by one
            yield TinyFit(estimator, sparse.csr_array(X), y, {"rescaling": "slack"}, {})
        if estimator == "MeasureSVC":
            yield TinyFit(estimator, X, y, {"measure": "roc_auc"}, {})

    return fits


def _words() -> tuple[list[list[tuple[str, ...]]], list[list[str]]]:
    texts = ["Ada Lovelace lived in London", "Kurt Gödel came from Brno", "Emmy Noether was here", "Alan Turing"]
    tags = ["B-PER I-PER O O B-LOC", "B-PER I-PER O O B-LOC", "B-PER I-PER O O", "B-PER I-PER"]
    return [[(word,) for word in text.split()] for text in texts], [tag.split() for tag in tags]


def _chains() -> tuple[list[Any], list[list[str]]]:
    rng = np.random.default_rng(1)
    X = [rng.standard_normal((5, 3)) for _ in range(6)]
    return X, [["up" if row[0] > 0 else "down" for row in x] for x in X]


def _sequences() -> Iterator[TinyFit]:
    from maxmargin.inputs.tokens.token_templates import TokenTemplates

    columns, tags = _words()
    templates = TokenTemplates.usual(1)
    yield TinyFit("SequenceLabeler", columns, tags, {"C": 10.0, "features": templates, "forbidden": "BIO"}, {})
    yield TinyFit("SequenceLabeler", [templates.attributes(each) for each in columns], tags, {"C": 10.0}, {})
    yield TinyFit("SequenceLabeler", *_chains(), {"tol": 1e-4}, {})


def _segments() -> Iterator[TinyFit]:
    from maxmargin.inputs.tokens.token_templates import TokenTemplates
    from maxmargin.structures.segments.segment_text import SegmentText

    columns, tags = _words()
    templated = {"C": 10.0, "features": TokenTemplates.usual(1), "segment_features": SegmentText(0)}
    yield TinyFit("SegmentLabeler", columns, tags, templated, {})
    X, _ = _chains()
    yield TinyFit("SegmentLabeler", X, [[(0, 2, "x")]] * len(X), {}, {})


def _label_sets() -> Iterator[TinyFit]:
    X, y = _rows()
    yield TinyFit("CountingMultilabel", X, np.eye(3, dtype=int)[y], {"kernel": "linear"}, {})


def _parsing() -> Iterator[TinyFit]:
    trees = ["(S (NP (N a)) (VP (V b) (NP (N c))))", "(S (NP (D a) (N b)) (VP (V c)))"]
    yield TinyFit("Parser", [["N", "V", "N"], ["D", "N", "V"]], trees, {}, {})


def _dependencies() -> Iterator[TinyFit]:
    X = [[("a", "N"), ("b", "V"), ("c", "N")], [("a", "D"), ("b", "N"), ("c", "V")]]
    Y = [[(2, "subj"), (0, "root"), (2, "obj")], [(2, "det"), (3, "subj"), (0, "root")]]
    yield TinyFit("DependencyParser", X, Y, {}, {})


def _alignment() -> Iterator[TinyFit]:
    from maxmargin.datasets import mutated_pairs

    yield TinyFit("Aligner", *mutated_pairs(4, length=12), {"prior": None}, {})
    yield TinyFit("Aligner", *mutated_pairs(4, length=12, alphabet="ACDEFGHIKLMNPQRSTVWY"), {}, {})


def _homologs() -> Iterator[TinyFit]:
    X = [("ACDE", ["ACE", "FFFF"]), ("FGAC", ["DDDD", "FGC"])]
    yield TinyFit("HomologRanker", X, [(0, [(0, 0), (1, 1), (3, 2)]), (1, [(0, 0), (1, 1), (3, 2)])], {}, {})


def _motifs() -> Iterator[TinyFit]:
    rng = np.random.default_rng(3)
    X = ["".join(rng.choice(list("ACGT"), 12)) for _ in range(12)]
    X = [x[:4] + "TGACG" + x[4:] if i < 6 else x for i, x in enumerate(X)]
    for strands in (1, 2):
        yield TinyFit("MotifFinder", X, np.arange(12) < 6, {"length": 5, "restarts": 1, "strands": strands}, {})


def _graphs() -> Iterator[TinyFit]:
    X, Y = _chains()
    yield TinyFit("GraphLabeler", [(x, [(i, i + 1) for i in range(4)]) for x in X], Y, {}, {})
    round_trip = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)]
    yield TinyFit("GraphLabeler", [(x, round_trip) for x in X], Y, {}, {})


def _clustering() -> Iterator[TinyFit]:
    from maxmargin.structures.clustering.pairs import Pairs

    rng, X = np.random.default_rng(2), []
    Y = [[0, 0, 1, 1, 2], [0, 1, 0, 1, 1], [0, 0, 0, 1, 1]]
    for y in map(np.array, Y):
        first, second = np.triu_indices(len(y), 1)
        together = np.where(y[first] == y[second], 1.0, -1.0)
        X.append(Pairs(5, np.column_stack([first, second]), together[:, None] + rng.normal(0, 0.1, (10, 2))))
    yield TinyFit("Clusterer", X, Y, {}, {})


def _assignment() -> Iterator[TinyFit]:
    rng = np.random.default_rng(4)
    X = [rng.standard_normal((3, 3, 2)) + 3 * np.eye(3)[:, :, None] for _ in range(4)]
    yield TinyFit("Assigner", X, [[0, 1, -1]] * 4, {}, {})


def _diversity() -> Iterator[TinyFit]:
    X = [["red apple", "red pear", "green plum", "red"], ["cat", "grey cat", "blue dog", "grey"]]
    Y = [[{"red"}, {"red"}, {"green"}, set()], [{"cat"}, {"cat"}, {"dog"}, set()]]
    yield TinyFit("Diversifier", X, Y, {"k": 2, "C": 1e3}, {})


TAXONOMY = {"a": "low", "b": "low", "c": "high", "low": None, "high": None}
TINY: dict[str, Callable[[], Iterator[TinyFit]]] = {
    "sequences": _sequences,
    "segments": _segments,
    "classes": _of_rows("MulticlassSVC"),
    "ordinal": _of_rows("OrdinalSVC"),
    "taxonomy": _of_rows("TaxonomySVC", labels=["a", "b", "c"], taxonomy=TAXONOMY),
    "measure": _of_rows("MeasureSVC", 2),
    "ranking": _of_rows("Ranker"),
    "multilabel": _label_sets,
    "parsing": _parsing,
    "dependencies": _dependencies,
    "alignment": _alignment,
    "homologs": _homologs,
    "motifs": _motifs,
    "graphs": _graphs,
    "clustering": _clustering,
    "assignment": _assignment,
    "diversity": _diversity,
}
