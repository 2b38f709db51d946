"""Checkpoint: the state of a fit in a file.

A fit consists of one or several trainings (folds, values of C, candidates), always in the same order. The file has the
solutions of the finished trainings and the state of the current one. A second fit with the same data and settings runs
the same code: it reads the solutions of finished trainings from the file, and continues the training that was current.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from math import inf
from typing import Any

from maxmargin.base.errors import CheckpointDamaged, CheckpointMoved, warn_caller
from maxmargin.base.files.checkpoint_files import CheckpointFile
from maxmargin.base.files.container import Tensors, pieces
from maxmargin.base.files.learnt import Keeper
from maxmargin.base.files.plain_data import DataReader, DataWriter
from maxmargin.training.checkpoints.identity import Identity
from maxmargin.training.checkpoints.schedule import Schedule
from maxmargin.training.checkpoints.settings import CODE, DATA, described, difference, surroundings

FORMAT = 1
STOPPED = ("interrupted", "stopped by the callback")  # another fit continues from the last checkpoint
LIMITED = "max_passes reached"  # another fit with more passes may continue from there


class Training(Keeper):
    """One training of a fit; `ended` is the stored part of its solution, if it has ended before."""

    def __init__(
        self, checkpoint: Checkpoint, about: dict[str, str], max_passes: float, found: Any = None, ended: Any = None
    ):
        self.checkpoint, self.about, self.max_passes = checkpoint, about, max_passes
        self.found, self.ended = found, ended

    @property
    def begins(self) -> bool:
        """True if the file has no state of this training, so that it starts from scratch."""
        return self.found is None and self.ended is None

    def offer(self, passes: float, state: Callable[[], dict[str, Any]], last: bool = False) -> None:
        if last or self.checkpoint.schedule.due(passes):
            self.checkpoint.write(lambda: [self._entry(state=state())], at_once=last)

    def end(self, solution: Any, reason: str) -> None:
        """Record that the training has ended, and store its solution."""
        limit = self.max_passes if reason == LIMITED else 0.0
        self.checkpoint.trainings.append(self._entry(ended=solution, limit=limit))
        self.checkpoint.stays_open |= reason in STOPPED
        self.checkpoint.limited = reason == LIMITED

    def confirms(self, kept: float, measured: float, allowed: float) -> bool:
        """Return whether a finished model still has the objective that is stored in the file.

        If not, warn, and discard the stored state of this training, which then starts from scratch.

        allowed : the difference that rounding may cause.
        """
        if abs(measured - kept) <= allowed or measured == kept:
            return True
        warn_caller(
            f"{self.checkpoint.file.path} has a finished model with the objective {kept:.6g}, which is {measured:.6g} "
            "now: the data or the code that the model depends on have changed. It is trained again",
            CheckpointMoved,
        )
        self.found = self.ended = None
        self.checkpoint.reopen()
        return False

    def _entry(self, ended: Any = None, state: Any = None, limit: float = 0.0) -> dict[str, Any]:
        return {"about": self.about, "ended": ended, "state": state, "limit": float(limit)}


class Checkpoint:
    """The checkpoint of one fit."""

    def __init__(self, path: str | os.PathLike[str], every: Any, title: str, parameters: dict[str, Any]):
        self.schedule, self.file = Schedule(every), CheckpointFile(path)
        self.title, self.settings = title, described(parameters)
        self.surroundings = surroundings()
        self.trainings: list[dict[str, Any]] = []  # the finished trainings
        self.stays_open = False  # whether a training was interrupted
        self.limited = False  # whether the last training ended because of max_passes
        self._before: list[dict[str, Any]] = []  # the trainings in the file
        self._finished = False  # whether the file has all trainings of the fit
        found = self.file.read()
        if found is not None:
            self._before, self._finished = self._read(*found)

    # --- reading

    def _read(self, description: dict[str, Any], tensors: Tensors) -> tuple[list[dict[str, Any]], bool]:
        name = str(self.file.path)
        if description.get("checkpoint") != FORMAT:
            raise ValueError(
                f"{name} is not a checkpoint of this version of maxmargin (it is a model file or has another format); "
                "give another path, or delete it"
            )
        expected = {"checkpoint", "title", "settings", "surroundings", "parts", "fit"}
        if set(description) != expected or description["parts"] != []:
            raise ValueError(f"{name} is not a checkpoint: it has unexpected or missing entries")
        told = [description[each] for each in ("settings", "surroundings")]
        if not all(isinstance(each, dict) and all(isinstance(text, str) for text in each.values()) for each in told):
            raise ValueError(f"{name} is not a checkpoint: it does not say which fit it belongs to")
        settings, around = told
        if description["title"] != self.title:
            raise self.refusal(f"of a {description['title']}, not of a {self.title}")
        differs = difference(settings, self.settings)
        if differs is not None:
            raise self.refusal(f"of a fit with other parameters: {differs}")
        fit = DataReader(tensors, lambda name: None, limit=inf).read(description["fit"])
        fits = isinstance(fit, dict) and set(fit) == {"trainings", "finished"} and isinstance(fit["finished"], bool)
        if not fits or not isinstance(fit["trainings"], list) or not all(map(_is_training, fit["trainings"])):
            raise ValueError(f"{name} is not a checkpoint: it has no list of training runs")
        changed = difference(around, self.surroundings)
        if changed is not None:
            warn_caller(
                f"{name} was written in another environment ({changed}): training continues from it, but the last bits "
                "of the model may differ from an uninterrupted fit",
                CheckpointMoved,
            )
        return fit["trainings"], fit["finished"]

    def refusal(self, difference: str) -> ValueError:
        """Return the error that the checkpoint belongs to another fit."""
        return ValueError(
            f"{self.file.path} is a checkpoint {difference}. Give another path, or delete the file to begin anew"
        )

    def training(self, max_passes: float, identity: Identity | None, **settings: str) -> Training:
        """Return the next training of this fit; if the file has it, its problem and settings must be the same."""
        if identity is None or identity.data is None:
            raise ValueError(
                "a checkpoint must recognise its data, but these data or the task cannot be hashed (lambdas cannot, "
                "nor functions within functions): give functions of a module, or no checkpoint"
            )
        about = {**settings, DATA: identity.data, CODE: identity.code}
        k = len(self.trainings)
        self.schedule.begin()
        if k >= len(self._before):
            if self._finished and self._before:
                raise self.refusal(f"of a fit that ended after {k} training runs, but this one has more")
            return Training(self, about, max_passes)
        before = self._before[k]
        differs = difference(before["about"], about)
        if differs is not None:
            raise self.refusal(f"of another fit: {differs}")
        if before["limit"] and before["limit"] < max_passes:  # later trainings depend on that limit
            raise self.refusal(f"of a fit with other parameters: max_passes was {before['limit']:g}")
        return Training(self, about, max_passes, before["state"], before["ended"])

    # --- writing

    def write(self, goes_on: Callable[[], list[dict[str, Any]]], at_once: bool = False, finished: bool = False) -> None:
        """Write the finished trainings and the current one, unless the file is so large that writing must wait.

        If writing fails, a warning is issued, and training continues without a checkpoint.
        """
        began, writer = time.perf_counter(), DataWriter()
        fit = writer.write({"trainings": self.trainings + goes_on(), "finished": finished}, "the checkpoint")
        size = sum(each.nbytes for each in writer.tensors.values())
        if not at_once and not self.schedule.affords(size):
            return
        description = {
            "checkpoint": FORMAT,
            "title": self.title,
            "settings": self.settings,
            "surroundings": self.surroundings,
            "parts": writer.parts,
            "fit": fit,
        }
        try:
            self.file.write(pieces(description, writer.tensors))
        except (OSError, ValueError) as error:  # a full disk, or too much data for one file
            warn_caller(f"no checkpoint was written: {error}. Training continues without one", CheckpointDamaged)
        self.schedule.wrote(size, time.perf_counter() - began)

    def reopen(self) -> None:
        """Write the file again when the fit ends, although it was complete."""
        self._finished = False

    def finish(self) -> None:
        """Mark the checkpoint as complete, unless the fit could continue: with more passes, or after an interrupt."""
        if not self.stays_open and not self.limited and not self._finished:
            self.write(list, at_once=True, finished=True)


def _is_training(found: Any) -> bool:
    if not isinstance(found, dict) or set(found) != {"about", "ended", "state", "limit"}:
        return False
    if not isinstance(found["about"], dict) or not isinstance(found["limit"], float):
        return False
    if not all(isinstance(each, str) for each in (*found["about"], *found["about"].values())):
        return False
    return (found["ended"] is None) != (found["state"] is None)
