"""maxmargin explain: print which weights a prediction is made of, or why a mistake was preferred to the truth."""

from __future__ import annotations

import argparse
import json
from typing import Any

from maxmargin.command.errors import UsageError
from maxmargin.command.kinds import kind_of
from maxmargin.loading import load
from maxmargin.report.explanation import Explanation
from maxmargin.training.explaining import member


def run(settings: argparse.Namespace) -> int:
    """Read the data and print the explanation of one prediction, or of the worst mistakes."""
    if settings.top < 1:
        raise UsageError(f"-n is {settings.top}; expected a number of contributions >= 1")
    if settings.worst < 1:
        raise UsageError(f"--worst is {settings.worst}; expected a number of examples >= 1")
    model: Any = load(settings.model)
    model.verbose = int(not settings.quiet)
    examples = kind_of(model).module().read(settings.data, model, settings)
    model.verbose = 0
    if settings.example is not None:
        found = [(settings.example, _one(model, examples.X, settings))]
    else:
        others = {name: value for name, value in examples.others.items() if name == "qid"}
        found = model.explain_mistakes(examples.X, examples.Y, settings.worst, **others)
    for i, explanation in found:
        explanation.n = settings.top
        if settings.json:
            print(json.dumps({"example": i, **_plain(explanation)}))
        else:
            print(f"example {i}\n{explanation}\n")
    if not found and not settings.json:
        print("there is no mistake to explain; --example I explains the prediction of an example")
    return 0


def _one(model: Any, X: Any, settings: argparse.Namespace) -> Explanation:
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    if not 0 <= settings.example < n:
        raise UsageError(f"--example is {settings.example}; expected a number from 0 to {n - 1}")
    at = {} if settings.at is None else {"at": settings.at}
    try:
        explanation: Explanation = model.explain(member(X, settings.example), **at)
    except TypeError:  # scores of rows have no parts
        raise UsageError(f"--at is for outputs with parts, but this is a model of {kind_of(model).name}") from None
    return explanation


def _plain(explanation: Explanation) -> dict[str, Any]:
    """Return an explanation as plain data; outputs are text."""
    kept = ("unit", "name", "value", "weight", "contribution")
    return {
        "output": str(explanation.output),
        "against": None if explanation.against is None else str(explanation.against),
        "total": explanation.total,
        "contributions": [{name: getattr(each, name) for name in kept} for each in explanation.top()],
    }
