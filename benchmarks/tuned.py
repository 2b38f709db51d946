"""What choosing C is worth and what it costs: Tuned beside the default C, and beside a grid search of cold fits.

Every set has rows to train and to choose by, and others to test on, which no choice sees. The grid search is that of
scikit-learn over the same values of C and the same folds: it trains every model from the start, scores it, and trains
once more with the best C. All in one thread.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from rich.table import Table
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.loaders import (
    chunk_features,
    load_20newsgroups,
    load_conll2000,
    load_covertype,
    load_imclef07a,
    load_letor,
    load_ocr_letters,
    load_ptb_sample,
    load_usps,
)
from benchmarks.timing import Report, cpu_seconds
from maxmargin import (
    MeasureSVC,
    MulticlassSVC,
    Parser,
    Ranker,
    SequenceLabeler,
    TaxonomySVC,
    Tuned,
)
from maxmargin.training.tuning.splits import splits_of

PROBLEMS = ("tuned",)


@dataclass
class Part:
    """Examples, and what `fit` and `score` are given beside them."""

    X: Any
    Y: Any
    others: dict[str, Any] = field(default_factory=dict)


@dataclass
class Choice:
    """An estimator whose C is chosen on `train`."""

    model: Any
    train: Part
    test: Part
    settings: str = ""


def some(X: Any, Y: Any, n: int, seed: int = 0) -> Part:
    """n examples by lot."""
    chosen = np.sort(np.random.default_rng(seed).permutation(len(Y))[:n])
    if sparse.issparse(X) or isinstance(X, np.ndarray):
        return Part(X[chosen], np.asarray(Y)[chosen])
    return Part([X[i] for i in chosen], [Y[i] for i in chosen])


def letters() -> Choice:
    X, Y, folds = load_ocr_letters()
    parts = [([X[i] for i in np.flatnonzero(folds == k)], [Y[i] for i in np.flatnonzero(folds == k)]) for k in (0, 1)]
    return Choice(SequenceLabeler(), some(*parts[0], 300), some(*parts[1], 500))


def chunks() -> Choice:
    parts = []
    for split, n in (("train", 500), ("test", 500)):
        sentences, tags = load_conll2000(split)
        parts.append(some([chunk_features(s) for s in sentences[: 2 * n]], tags[: 2 * n], n))
    return Choice(SequenceLabeler(forbidden="BIO"), *parts)


def usps() -> Choice:
    return Choice(MulticlassSVC(), some(*load_usps("train"), 1000), some(*load_usps("test"), 1500))


def newsgroups() -> Choice:
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts, groups = load_20newsgroups("train")
    train = some(texts, groups, 1000)
    test = some(*load_20newsgroups("test"), 1500)
    reader = TfidfVectorizer(sublinear_tf=True, min_df=2).fit(train.X)
    return Choice(MulticlassSVC(), Part(reader.transform(train.X), train.Y), Part(reader.transform(test.X), test.Y))


def images_in_a_tree() -> Choice:
    train, test = (load_imclef07a(split) for split in ("train", "test"))
    return Choice(TaxonomySVC("/"), some(*train, 800), some(*test, 1000))


def trees_of_one_kind() -> Choice:
    X, y = load_covertype()
    rows = some(X, y == 3, 4000)
    model = make_pipeline(StandardScaler(), MeasureSVC("f1"))
    return Choice(model, Part(rows.X[:1000], rows.Y[:1000]), Part(rows.X[1000:], rows.Y[1000:]), '"f1"')


def documents(measure: str) -> Choice:
    parts = []
    for split in ("train", "test"):
        X, y, qid = load_letor("ohsumed", 1, split)
        parts.append(Part(X, y, {"qid": qid}))
    return Choice(Ranker(measure), *parts, f'"{measure}"')


def sentences() -> Choice:
    part = load_ptb_sample(max_words=10)
    data = some([tree.tokens() for tree in part], part, 300)
    return Choice(Parser(on_failure="flat"), Part(data.X[:150], data.Y[:150]), Part(data.X[150:], data.Y[150:]))


SETS: dict[str, Callable[[], Choice]] = {
    "ocr letters, 300 words": letters,
    "conll2000, 500 sentences": chunks,
    "usps, 1000": usps,
    "20newsgroups, 1000": newsgroups,
    "imclef07a, 800": images_in_a_tree,
    "covertype, one of seven, 1000": trees_of_one_kind,
    "ohsumed, 63 queries": lambda: documents("map"),
    "penn treebank, 150 of 10 words": sentences,
}
FEW = 3  # folds, sets and values of C in a quick run


def run(name: str, repeat: int, quick: bool, report: Report) -> Table:
    """Choose C for every set; the fastest of `repeat` runs counts."""
    table = Table(title="choosing C: scores on other data, and CPU s against a grid search of cold fits")
    headings = (
        "data", "estimator", "C from", "to", "values", "default C", "score", "chosen C", "score", "Tuned, s",
        "cold, s", "ratio",
    )  # fmt: skip
    for heading in headings:
        table.add_column(heading, justify="left" if heading in ("data", "estimator") else "right")
    for data, make in list(SETS.items())[: FEW if quick else None]:
        report(f"{data}: reading")
        choice = make()
        if quick:
            train = choice.train
            choice.train = Part(train.X[:150], train.Y[:150], {k: v[:150] for k, v in train.others.items()})
        cells = measured(choice, repeat, FEW if quick else 5, lambda step, of=data: report(f"{of}: {step}"))
        report(f"{data}: {', '.join(cells)}")
        table.add_row(data, *cells)
    table.caption = (
        "Scores are the estimators' own, in percent: labels that are right, F1, MAP. The "
        "grid search has the values of C that Tuned has tried, its folds, and one more training."
    )
    return table


def measured(choice: Choice, repeat: int, folds: int, report: Report) -> list[str]:
    """The cells of one row."""
    last = choice.model[-1] if isinstance(choice.model, Pipeline) else choice.model
    train, test = choice.train, choice.test
    report("default C")
    usual = clone(choice.model).fit(train.X, train.Y, **train.others)
    quickest = {"tuned": np.inf, "cold": np.inf}
    for i in range(repeat):
        report(f"choosing C, round {i + 1} of {repeat}")
        splits = splits_of(choice.model, folds, train.Y, train.others.get("qid"), 0)
        tuned = Tuned(choice.model, cv=splits, n_jobs=1)
        _, seconds = cpu_seconds(lambda tuned=tuned: tuned.fit(train.X, train.Y, **train.others))
        quickest["tuned"] = min(quickest["tuned"], seconds)
        report(f"cold fits, round {i + 1} of {repeat}")
        Cs = tuned.results_["C"].tolist()
        _, seconds = cpu_seconds(lambda Cs=Cs, splits=splits: cold(choice, Cs, splits))
        quickest["cold"] = min(quickest["cold"], seconds)
    kind = type(last).__name__ + (f"({choice.settings})" if choice.settings.startswith('"') else "")
    scores = [100 * model.score(test.X, test.Y, **test.others) for model in (usual, tuned)]
    return [
        kind,
        f"{Cs[0]:.2g}",
        f"{Cs[-1]:.2g}",
        f"{len(Cs)}",
        f"{last.C:g}",
        f"{scores[0]:.2f}",
        f"{tuned.best_C_:.3g}",
        f"{scores[1]:.2f}",
        f"{quickest['tuned']:.1f}",
        f"{quickest['cold']:.1f}",
        f"{quickest['tuned'] / quickest['cold']:.2f}",
    ]


def cold(choice: Choice, Cs: list[float], splits: list[tuple[Any, Any]]) -> None:
    """What a grid search does."""
    train = choice.train
    if train.others:  # which scikit-learn would not hand to `score`
        scores = np.zeros(len(Cs))
        for k, C in enumerate(Cs):
            for a, b in splits:
                own = [{name: value[index] for name, value in train.others.items()} for index in (a, b)]
                model = clone(choice.model).set_params(C=C).fit(train.X[a], train.Y[a], **own[0])
                scores[k] += model.score(train.X[b], train.Y[b], **own[1])
        clone(choice.model).set_params(C=Cs[int(np.argmax(scores))]).fit(train.X, train.Y, **train.others)
        return
    name = f"{choice.model.steps[-1][0]}__C" if isinstance(choice.model, Pipeline) else "C"
    GridSearchCV(choice.model, {name: Cs}, cv=splits).fit(train.X, train.Y)
