"""Conditional random fields and probabilities: SequenceLabeler beside CRFsuite's L-BFGS, with the same features.

CRFsuite minimises Σ -log p(y | x) + c2 ‖w‖² with c2 = 1, its default; SequenceLabeler(objective="likelihood") the same
with C = n / (2 c2), divided by 2 c2. CRFsuite has weights only of features with labels that were seen together, and
none of first and last labels: the two problems are not quite the same, so the objective of CRFsuite's weights is also
measured by maxmargin, to show that both count alike. CRFsuite forbids no transition, and neither does the model that is
compared with it; another one does. The hinge has the C of the other benchmarks of sequences.

Probabilities: the expected calibration error of labels on the test part, in points. The hinge's temperature comes from
calibrate=5, five more fits, whose time is shown, too. Sets with a promise are in coverage.py.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from benchmarks.loaders import chunk_features, load_conll2000, load_conll2002_es
from benchmarks.timing import Report, cpu_seconds
from maxmargin import SequenceLabeler
from maxmargin.metrics import calibration_error, chunk_f1

PROBLEMS = ("likelihood-conll2000", "likelihood-conll2002")
QUICK = 500
HINGE_C = 1000 / 8936  # per training sentence, as in benchmarks/sequences.py


def run(name: str, repeat: int, quick: bool, report: Report) -> Table:
    """Train each once a round; the fastest round counts."""
    load: Callable[[str], Any] = load_conll2000 if name.endswith("2000") else load_conll2002_es
    splits = ("train", "test")
    (X, Y), (X_new, Y_new) = (
        ([chunk_features(s) for s in sentences[: QUICK if quick else None]], tags[: QUICK if quick else None])
        for sentences, tags in map(load, splits)
    )
    options: dict[str, Any] = {"forbidden": "BIO", "invalid": "repair"}
    models = {
        "likelihood": SequenceLabeler(C=len(X) / 2, objective="likelihood"),
        "within BIO": SequenceLabeler(C=len(X) / 2, objective="likelihood", **options),
        "hinge": SequenceLabeler(C=HINGE_C * len(X), **options),
    }
    likelihood, hinge = models["likelihood"], models["hinge"]
    for model in models.values():
        model.fit(X[:20], Y[:20])  # compiles
    table = Table(title=f"{name}: {len(X):,} training sentences, {sum(map(len, X_new)):,} test tokens")
    headings = ("trained by", "CPU s", "time / likelihood's", "F1", "calibration error")
    for heading in headings:
        table.add_column(heading, justify="left" if heading == headings[0] else "right")
    best = dict.fromkeys((*models, "crfsuite"), np.inf)
    with tempfile.TemporaryDirectory() as folder:
        for i in range(repeat):
            for key, model in models.items():
                report(f"{name}: {key}, round {i + 1} of {repeat}")
                best[key] = min(best[key], cpu_seconds(lambda model=model: model.fit(X, Y))[1])
            if i == 0 or not quick:
                report(f"{name}: CRFsuite, round {i + 1} of {repeat}")
                trainer, path = _crfsuite(X, Y), str(Path(folder) / "crf")
                best["crfsuite"] = min(best["crfsuite"], cpu_seconds(lambda t=trainer, p=path: t.train(p))[1])
        report(f"{name}: CRFsuite's probabilities")
        tags, probabilities, info = _tagged(path, X_new, likelihood.classes_)
        reported = trainer.logparser.last_iteration["loss"]
        own = _objective(likelihood, info, X, Y)
    report(f"{name}: calibrating")
    _, more = cpu_seconds(lambda: hinge.set_params(calibrate=5).fit(X, Y))

    def row(title: str, key: str, predicted: Any, p: Any) -> None:
        seconds, f1 = best[key], chunk_f1(Y_new, predicted).f1
        error = 100 * calibration_error(Y_new, p, likelihood.classes_)
        table.add_row(title, f"{seconds:.1f}", f"{seconds / best['likelihood']:.1f}", f"{100 * f1:.2f}", f"{error:.2f}")

    row("CRFsuite L-BFGS, c2 = 1", "crfsuite", tags, probabilities)
    titles = {
        "likelihood": f'objective="likelihood" (gap {100 * likelihood.certificate_.relative_gap:.2f}%)',
        "within BIO": 'the same with forbidden="BIO"',
        "hinge": f"hinge, calibrated (calibrate=5 takes {more:.0f} s)",
    }
    for key, model in models.items():
        row(titles[key], key, model.predict(X_new), model.predict_proba(X_new))
    table.caption = (
        f"Σ -log p + c2 ‖w‖²: {reported:,.2f} by CRFsuite of its weights, {own:,.2f} by maxmargin of the same; "
        f"maxmargin's optimum over all weights {2 * likelihood.certificate_.primal:,.2f} "
        f"(bound {2 * likelihood.certificate_.dual:,.2f})."
    )
    return table


def _crfsuite(X: Any, Y: Any) -> Any:
    import pycrfsuite

    trainer = pycrfsuite.Trainer(algorithm="lbfgs", params={"c2": 1.0}, verbose=False)
    for x, y in zip(X, Y, strict=True):
        trainer.append(pycrfsuite.ItemSequence(x), y)
    return trainer


def _tagged(path: str, X: Any, classes: Any) -> tuple[Any, list[np.ndarray], Any]:
    """Tags and probabilities of all labels, and the weights."""
    import pycrfsuite

    tagger = pycrfsuite.Tagger()
    tagger.open(path)
    known, tags, probabilities = set(tagger.labels()), [], []
    for x in X:
        tags.append(tagger.tag(pycrfsuite.ItemSequence(x)))
        each = [[tagger.marginal(k, t) if k in known else 0.0 for k in classes] for t in range(len(x))]
        probabilities.append(np.array(each).reshape(len(x), len(classes)))
    return tags, probabilities, tagger.info()


def _objective(model: SequenceLabeler, info: Any, X: Any, Y: Any) -> float:
    """Σ -log p + ‖w‖² of CRFsuite's weights, by maxmargin's sums, over all label sequences."""
    task, K = model.task_, len(model.classes_)
    numbers, names = task.numbers_, {name: i for i, name in enumerate(task.packer_.feature_names)}
    w = np.zeros(task.dim)
    for (before, after), value in info.transitions.items():
        w[numbers[before] * K + numbers[after]] = value
    for (attribute, label), value in info.state_features.items():
        w[task.first_ + names[attribute] * K + numbers[label]] = value
    return float(-task.sums(w, X).log_probabilities(Y).sum() + w @ w)
