"""maxmargin fit: train a model on files, with a given or a chosen C."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

from maxmargin.command.errors import NOT_CONVERGED, UsageError
from maxmargin.command.files.base import FileExamples, check_not_input
from maxmargin.command.kinds import KINDS, Kind
from maxmargin.command.options import given
from maxmargin.command.saying import say
from maxmargin.inputs.packed.packed_data import PackedData

FOLDS = 5
SINGULAR = {"queries": "query"}


def run(settings: argparse.Namespace) -> int:
    """Read the data, train, write the model and print a summary."""
    kind = KINDS[settings.kind]
    Cs = _values(settings.C)
    if settings.output is None and settings.cv is None:
        alone = ", or -v K for cross-validation alone" if kind.has_c else ""
        raise UsageError(f"give the file to write the model to, -o MODEL{alone}")
    if settings.output == "-":
        raise UsageError("a model cannot be written to standard output: give a file, -o MODEL")
    if settings.output is not None and not os.access(Path(settings.output).resolve().parent, os.W_OK):
        raise UsageError(f"{settings.output} cannot be written: its folder does not exist or is not writable")
    beside = (settings.valid, *(getattr(settings, option, None) for option, _ in kind.more_files))
    check_not_input(settings.output, [*settings.data, *beside])
    checkpoint = given(settings).get("checkpoint")
    check_not_input(checkpoint if isinstance(checkpoint, str) else None, [*settings.data, *beside], "--checkpoint")
    if isinstance(checkpoint, str) and settings.output and _same_path(settings.output, checkpoint):
        raise UsageError(f"-o and --checkpoint both name {settings.output}: give another file for one of them")
    if settings.cv is not None and settings.valid is not None:
        raise UsageError("-v and --valid exclude each other: give one of the two")
    if settings.cv is not None and settings.cv < 2:
        raise UsageError(f"-v is {settings.cv}; expected at least two folds")
    if Cs == "auto" and settings.valid is not None:
        raise UsageError("-c auto needs cross-validation: give values, as in -c 1,10,100, or leave --valid out")
    estimator = _estimator(kind, settings, Cs)
    examples = packed_or_read(kind, settings.data, estimator, settings)
    whole = isinstance(examples.X, PackedData) and not examples.X.divisible
    if whole and (settings.cv is not None or Cs == "auto" or (Cs and len(Cs) > 1 and not settings.valid)):
        raise UsageError(
            f"packed {settings.kind} cannot be split into folds: give one C, or validation data with --valid FILE"
        )
    valid = None if settings.valid is None else kind.module().read([settings.valid], estimator, settings, examples)
    if not settings.quiet:
        print(f"read {_read(kind, examples)} from {', '.join(settings.data)}", file=sys.stderr)
    try:
        model, report = _trained(kind, estimator, examples, valid, Cs, settings)
    except (ValueError, TypeError) as error:
        raise _blamed(error, settings) from None
    certificate = model.certificate_
    for name, value in examples.remembered.items():
        setattr(model, name, value)
    trade_off = {"C": float(model.solution_.C)} if kind.has_c else {"alpha": float(model.alpha_)}
    report = {
        "read": _read(kind, examples, model),
        **trade_off,
        "certificate": str(certificate),
        **numbers(certificate),
        **report,
    }
    if settings.output is not None:
        model.verbose = 0  # progress was for this run only
        model.save(settings.output)
        report["model"] = settings.output
    say(report, settings)
    if certificate.stop_reason == "interrupted" and settings.output is not None and not settings.json:
        print(f"maxmargin: the best model so far was saved to {settings.output}", file=sys.stderr)
    return NOT_CONVERGED if settings.strict and not certificate.converged else 0


def _same_path(one: str, other: str) -> bool:
    return Path(one).resolve() == Path(other).resolve()


def packed_or_read(kind: Kind, sources: list[str], estimator: Any, settings: argparse.Namespace) -> FileExamples:
    """Return the examples of files, or of a packed folder."""
    folders, module = [name for name in sources if os.path.isdir(name)], kind.module()
    if folders and (len(sources) > 1 or not kind.packs):
        alone = ", or one folder of `maxmargin pack` alone" * kind.packs
        raise UsageError(f"{folders[0]} is a folder; expected files{alone}")
    examples: FileExamples
    if folders:
        from maxmargin.packing import open_packed, packed_kind

        data = open_packed(folders[0])
        if data.kind != packed_kind(kind.name):
            raise ValueError(
                f"{folders[0]} holds packed {data.kind}; expected packed {packed_kind(kind.name)}, as "
                f"maxmargin pack {kind.name} writes them"
            )
        examples = module.packed(data, estimator)
    else:
        examples = module.read(sources, estimator, settings)
    return examples


def _trained(
    kind: Kind,
    estimator: Any,
    examples: FileExamples,
    valid: FileExamples | None,
    Cs: Any,
    settings: argparse.Namespace,
) -> tuple[Any, dict[str, Any]]:
    """Return the model, and the facts about the choice of C for the report."""
    several = Cs == "auto" or (Cs is not None and len(Cs) > 1)
    if settings.cv is not None or (several and valid is None):
        from maxmargin.training.tuning.tuned import Tuned

        tuned = Tuned(estimator, Cs=None if Cs == "auto" else Cs or [estimator.C], cv=settings.cv or FOLDS)
        tuned.set_params(verbose=not settings.quiet).fit(examples.X, examples.Y, **examples.others)
        tried = dict(zip(tuned.results_["C"].tolist(), tuned.results_["mean_score"].tolist(), strict=True))
        return tuned.best_estimator_, {"cross-validated score": float(tuned.best_score_), "tried": tried}
    if valid is None or not several:
        model = estimator.fit(examples.X, examples.Y, **examples.others)
        return model, {} if valid is None else {"on --valid": kind.module().measures(model, valid)}
    best, scores = None, {}
    for k, model in enumerate(estimator.path(examples.X, examples.Y, Cs, **examples.others), 1):
        scores[float(model.solution_.C)] = score = float(model.score(valid.X, valid.Y, **_for_score(valid)))
        if best is None or score > best[0]:
            best = score, model
        if not settings.quiet:
            said = f"C {k} of {len(Cs)}: {model.solution_.C:g}  score {score:.4g}  best so far {best[0]:.4g}"
            print(f"{said} at C = {best[1].solution_.C:g}", file=sys.stderr)
    assert best is not None
    return best[1], {"on --valid": kind.module().measures(best[1], valid), "tried": scores}


def _read(kind: Kind, examples: FileExamples, model: Any = None) -> str:
    """Return a sentence about the data: the number of examples, and the labels and features of the fitted model."""
    n = examples.X.shape[0] if hasattr(examples.X, "shape") else len(examples.X)
    counts = {kind.unit: n}
    if "qid" in examples.others:
        counts["queries"] = len(np.unique(examples.others["qid"]))
    if (labels := getattr(model, "classes_", None)) is not None:
        counts["labels"] = len(labels)
    task = getattr(model, "task_", None)
    features = getattr(model, "n_features_in_", None) or getattr(getattr(task, "packer_", None), "n_features", None)
    if features is not None:
        counts["features"] = int(features)
    return ", ".join(
        f"{count:,} {name if count != 1 else SINGULAR.get(name, name[:-1])}" for name, count in counts.items()
    )


def _for_score(examples: FileExamples) -> dict[str, Any]:
    return {name: value for name, value in examples.others.items() if name == "qid"}


def _estimator(kind: Kind, settings: argparse.Namespace, Cs: Any) -> Any:
    options = given(settings)
    if Cs is not None and Cs != "auto":
        options["C"] = Cs[0]
    if settings.tol is not None:
        options["tol"] = settings.tol
    return kind.estimator_class()(verbose=0 if settings.quiet else 1, **options)


def _values(text: str | None) -> Any:
    """Return None if no C is given, "auto", or increasing numbers."""
    if text is None or text == "auto":
        return text
    try:
        found = sorted({float(each) for each in text.split(",")})
    except ValueError:
        found = []
    if not found or not all(C > 0 for C in found):
        raise UsageError(f"-c is {text!r}; expected positive numbers, as in 10 or 1,10,100, or auto")
    return found


def _blamed(error: Exception, settings: argparse.Namespace) -> Exception:
    """Return an error of training as a UsageError if it concerns a given option, otherwise as a ValueError."""
    message = str(error)
    named = [*given(settings), *(name for name in ("C", "tol") if getattr(settings, name) is not None)]
    of_option = any(message.startswith((f"{name} ", f"{name}=")) or f" {name}=" in message for name in named)
    of_option = of_option or any(isinstance(each, str) and repr(each) in message for each in given(settings).values())
    return UsageError(message) if of_option or isinstance(error, TypeError) else ValueError(message)


def numbers(certificate: Any) -> dict[str, Any]:
    """Return the numbers of a certificate, for JSON."""
    return {
        "objective": float(certificate.primal),
        "lower bound": float(certificate.dual),
        "relative gap": float(certificate.relative_gap),
        "converged": bool(certificate.converged),
        "interrupted": certificate.stop_reason == "interrupted",
    }
