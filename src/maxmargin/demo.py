"""Read strings of handwritten digits, with and without structure: ``python -m maxmargin.demo``.

The strings mostly count upwards; the digits are real images from scikit-learn. One model reads every digit alone. The
other model reads whole strings: it has the same pixels, plus one weight for every pair of neighbouring digits. Both
choose their C on a fifth of the training strings, and both are evaluated on strings that were not used in training.
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

import maxmargin as mm
from maxmargin.base.compile_clock import COMPILING
from maxmargin.base.errors import hearing
from maxmargin.base.files.drafts import replacing

N_TRAIN, N_TEST = 400, 1000
CS = (3.0, 10.0, 30.0, 100.0, 300.0)  # per string; for single digits, C · digits per string is equivalent
PLOTS = Path("plots")

DigitStrings = list[np.ndarray]
DigitLabels = list[list[int]]
Read = Sequence[Sequence[Hashable]]


class Outcome(NamedTuple):
    """The result of the demonstration."""

    model: Any  # trained with the best C
    read: Read  # the predictions for the test strings
    seconds: float  # the time for training and prediction


def main() -> None:
    """Train both models, compare them, and draw the pictures."""
    console = Console(highlight=False)
    X, Y, X_test, Y_test = mm.datasets.digit_strings(N_TRAIN, N_TEST)
    n_digits = sum(map(len, Y))
    console.print(f"{N_TRAIN} strings of handwritten digits to learn from ({n_digits} digits), {N_TEST} to test on.")
    warm_up(console)

    console.print("\n[bold]Every digit alone[/]  (MulticlassSVC)")
    alone = read_alone(X, Y, X_test)
    console.print("\n[bold]Whole strings[/]  (SequenceLabeler)")
    strings = read_strings(X, Y, X_test)

    table = Table("on the test strings", "wrong digits", "wrong strings", "C", "seconds")
    table.caption = "seconds: choosing C, training, and reading the test strings"
    for name, outcome in {"every digit alone": alone, "whole strings": strings}.items():
        digits, whole = errors(outcome.read, Y_test)
        table.add_row(name, f"{digits:.1%}", f"{whole:.1%}", f"{outcome.model.C:.4g}", f"{outcome.seconds:.1f}")
    console.print()
    console.print(table)
    certificate = strings.model.certificate_
    console.print(
        f"\nCertificate of the string model: {certificate}.\n"
        f"No weights whatsoever have an objective below {certificate.dual:.6g}.",
        soft_wrap=True,
    )
    draw(console, strings, alone, X_test, Y_test)


def warm_up(console: Console) -> None:
    """Compile the kernels, or load them from the cache, before anything is timed."""
    began, before = time.perf_counter(), COMPILING.times().begun
    console.print("Loading the inner loops; the first run compiles them, once only …")
    X, Y, _, _ = mm.datasets.digit_strings(4, 1)
    with hearing():  # these models are thrown away, so it does not matter that they do not converge
        mm.SequenceLabeler(tol=1e-6, max_passes=20).fit(X, Y).predict(X)
        mm.MulticlassSVC(tol=1e-6, max_passes=20).fit(np.vstack(X), np.concatenate(Y))
    compiled = COMPILING.times().begun - before
    said = f"{compiled} functions were compiled" if compiled else "they were compiled before"
    console.print(f"… done in {time.perf_counter() - began:.1f} s: {said}.")


def read_alone(X: DigitStrings, Y: DigitLabels, X_test: DigitStrings) -> Outcome:
    """Train the model without structure, and read the test strings with it."""
    began = time.perf_counter()
    length = sum(map(len, Y)) / len(Y)
    model = mm.MulticlassSVC(verbose=1)
    held_out = len(X) * 4 // 5
    tries = clone_quiet(model).fit_path(np.vstack(X[:held_out]), np.concatenate(Y[:held_out]), [C * length for C in CS])
    best = max(tries, key=lambda tried: tried.score(np.vstack(X[held_out:]), np.concatenate(Y[held_out:])))
    model.set_params(C=best.C).fit(np.vstack(X), np.concatenate(Y))
    return Outcome(model, [model.predict(x).tolist() for x in X_test], time.perf_counter() - began)


def read_strings(X: DigitStrings, Y: DigitLabels, X_test: DigitStrings) -> Outcome:
    """Train the model with structure, and read the test strings with it."""
    began = time.perf_counter()
    model = mm.SequenceLabeler(tol=1e-3, verbose=1)
    held_out = len(X) * 4 // 5
    tries = clone_quiet(model).fit_path(X[:held_out], Y[:held_out], CS)
    best = max(tries, key=lambda tried: tried.score(X[held_out:], Y[held_out:]))
    model.set_params(C=best.C).fit(X, Y)
    return Outcome(model, model.predict(X_test), time.perf_counter() - began)


def clone_quiet(model: Any) -> Any:
    """Return a copy of the estimator for the choice of C, with a larger tolerance and without a progress line."""
    from sklearn.base import clone

    return clone(model).set_params(verbose=0, tol=1e-2)


def errors(read: Read, truth: DigitLabels) -> tuple[float, float]:
    """Return the share of wrong digits, and the share of strings with at least one wrong digit."""
    wrong = [[a != b for a, b in zip(y, z, strict=True)] for y, z in zip(truth, read, strict=True)]
    return float(np.mean(np.concatenate(wrong))), float(np.mean([any(string) for string in wrong]))


def draw(console: Console, strings: Outcome, alone: Outcome, X_test: DigitStrings, Y_test: DigitLabels) -> None:
    """Write the pictures to the folder `plots`."""
    try:
        from matplotlib import style
    except ImportError:
        console.print("\nNo pictures were drawn, because matplotlib is not installed: pip install maxmargin[plot]")
        return
    with style.context(mm.plotting.STYLE):
        figures = drawn(strings, alone, X_test, Y_test)
    captions = {
        "gap.png": "objective and lower bound during training",
        "transitions.png": "weights of neighbouring digits: they count upwards",
        "strings.png": "test strings that the two models read differently",
    }
    PLOTS.mkdir(exist_ok=True)
    console.print(f"\nPictures in {PLOTS.resolve()}:", soft_wrap=True)
    for name, figure in figures.items():
        with replacing(PLOTS / name) as file:
            figure.savefig(file, dpi=120, format="png")
        console.print(f"  {name:<16} {captions[name]}")


def drawn(strings: Outcome, alone: Outcome, X_test: DigitStrings, Y_test: DigitLabels) -> dict[str, Any]:
    """Return the figures by the names of their files."""
    from matplotlib.figure import Figure

    from maxmargin.plotting import GapDisplay, ImageSequenceDisplay, TransitionDisplay

    gap = GapDisplay.from_estimator(strings.model)
    figure = Figure(figsize=(10, 3.6))
    left, right = figure.subplots(1, 2)
    gap.plot(left, kind="bounds")
    gap.plot(right, kind="gap")
    figures = {"gap.png": figure}

    figures["transitions.png"] = figure = Figure(figsize=(7, 6.2))
    TransitionDisplay.from_estimator(strings.model).plot(figure.subplots())

    differ = [i for i, (a, b) in enumerate(zip(alone.read, strings.read, strict=True)) if a != b][:6]
    predictions = {name: [o.read[i] for i in differ] for name, o in {"string": strings, "digit alone": alone}.items()}
    figures["strings.png"] = figure = Figure(figsize=(7, 9.5))
    ImageSequenceDisplay.from_predictions(
        [X_test[i] for i in differ], [Y_test[i] for i in differ], predictions, image_shape=(8, 8)
    ).plot(figure.subplots())
    return figures


if __name__ == "__main__":
    main()
