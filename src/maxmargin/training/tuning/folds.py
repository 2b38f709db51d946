"""Fold: a path of models over C that are trained on one part of the data and scored on another.

An executor places the folds and trains the next models of all folds in parallel. One fold has all of the data and no
held-out examples; the final model is chosen from its models.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from copy import copy
from math import nan
from threading import Event
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import Pipeline

from maxmargin.base.checks import is_true
from maxmargin.base.errors import NothingLearnt, TrainingInterrupted, hearing
from maxmargin.problem.oracle.risk_oracle import RiskOracle
from maxmargin.training.trainer import Trainer
from maxmargin.training.tuning.grid import Grid

OF_TRAINING = (ConvergenceWarning, NothingLearnt, TrainingInterrupted)  # issued once for all trainings together


class Given(NamedTuple):
    """The arguments of `fit` that have one entry per example."""

    X: Any  # the inputs
    y: Any  # the outputs
    others: dict[str, Any]  # further arguments by name, such as sample_weight


class Trained(NamedTuple):
    """A summary of one model of a fold."""

    C: float  # the value of C
    score: float  # nan if there are no held-out examples
    seconds: float  # the time for training and scoring
    passes: float  # the oracle calls of training, divided by the number of examples
    gap: float  # the relative duality gap at the end of training
    converged: bool  # whether the gap is within the tolerance
    complains: bool  # whether the gap is above the requested tolerance
    zero: bool  # whether w = 0
    interrupted: bool  # whether Ctrl-C has ended training
    risk: float  # the training loss, of the same problem for every C
    norm: float  # the length of w
    grid: Grid | None  # set if the grid is made from these data
    warnings: list[tuple[type[Warning], str]]  # the other warnings of training
    model: Any  # the fitted estimator, if it was trained on all data


class Fold:
    """One path of models. The last step of `estimator` is a Trainer; `test` is None if the fold has all of the data."""

    def __init__(self, name: str, estimator: Any, train: Given, test: Given | None, score: Callable[..., float] | None):
        self.name, self.estimator, self.train, self.test, self.score = name, estimator, train, test, score
        self.path: Generator[Trainer] | None = None
        self.C: float | None = None
        self.grid: Grid | None = None
        self.made = 0  # the number of models trained so far
        self.ended = False  # whether no more models will be requested

    def next_model(self, C: float | None, stop: Event | None) -> Trained:
        """Train for this C, starting from the last model.

        C : None for the first C of a grid that is made from these data.
        stop : an event; when it is set, training ends at the next step.
        """
        began = time.perf_counter()
        self.C = C
        if self.path is None:
            self.path = self._opened(stop)
        with hearing() as heard:
            try:
                model = next(self.path)
                score = nan
                if self.test is not None:
                    score = float(_score(self.score, model, self.test))
            except Exception as error:
                error.add_note(f"maxmargin: raised while choosing C, {self.name}, C = {self.C}")
                raise
        self.made += 1
        certificate, solution = model.certificate_, model.solution_
        if self.test is not None and np.isnan(score):
            raise ValueError(f"the score of {self.name} for C = {model.C:g} is nan: C cannot be chosen by it")
        return Trained(
            C=model.C,
            score=score,
            seconds=time.perf_counter() - began,
            passes=certificate.passes,
            gap=certificate.relative_gap,
            converged=certificate.converged,
            complains=any(category is ConvergenceWarning for category, _ in heard),
            zero=not np.any(model.w_),
            interrupted=certificate.stop_reason == "interrupted",
            risk=model.path_risk,
            norm=solution.norm,
            grid=self.grid,
            warnings=[each for each in heard if each[0] not in OF_TRAINING],
            model=self._whole(model) if self.test is None else None,
        )

    def _opened(self, stop: Event | None) -> Generator[Trainer]:
        """Begin the path of models."""
        estimator, train = clone(self.estimator), self.train
        if isinstance(estimator, Pipeline):
            self.transformer, estimator = estimator[:-1], estimator[-1]
            if len(self.transformer):
                train = train._replace(X=self.transformer.fit_transform(train.X, train.y))
                if self.test is not None:
                    self.test = self.test._replace(X=self.transformer.transform(self.test.X))
        if stop is not None:
            estimator.set_params(callback=_stopping(stop, estimator.callback))
        return estimator.path(train.X, train.y, self._values, **train.others)

    def _values(self, oracle: RiskOracle) -> Iterator[float]:
        if self.C is None:
            self.grid = Grid.of(oracle)
            self.C = self.grid.first
        while not self.ended:
            yield self.C

    def _whole(self, model: Trainer) -> Any:
        """Return the model with the transformers that were fitted for it, as a pipeline."""
        if not isinstance(self.estimator, Pipeline):
            return model
        pipeline = copy(self.estimator)
        pipeline.steps = [*self.transformer.steps, (self.estimator.steps[-1][0], model)]
        return pipeline

    def end(self) -> None:
        """End the path when the search is over, so that its checkpoint is complete."""
        self.ended = True
        if self.path is not None:
            next(self.path, None)

    def close(self) -> None:
        """Release the data and the state of training."""
        if self.path is not None:
            self.path.close()

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "path": None, "made": 0}  # the path is opened again in the process of the fold


def next_model(fold: Fold, asked: Sequence[float | None], stop: Event | None) -> Trained:
    """Train the model of a fold for the last C that was requested; an executor calls this.

    asked : all values of C that were requested from the fold so far. A fold that was lost with its process has fewer
        models and trains them again.
    stop : ends the training early when it is set, because Ctrl-C reaches the main thread only; None in other processes.
    """
    for C in asked[fold.made : -1]:
        fold.next_model(C, stop)
    return fold.next_model(asked[-1], stop)


def end(fold: Fold, _: None) -> None:
    """End the path of a fold; an executor calls this when no more models are requested."""
    fold.end()


def _stopping(stop: Event, callback: Callable[[Any], Any] | None) -> Callable[[Any], bool]:
    """Return a callback of training that stops it when `stop` is set, or when another callback does.

    It is a function, because scikit-learn's clone makes copies of other objects.
    """

    def call(record: Any) -> bool:
        answer = callback is not None and is_true(callback(record))
        return answer or stop.is_set()

    return call


def _score(scorer: Callable[..., float] | None, model: Trainer, test: Given) -> Any:
    if scorer is None:
        return model.score(test.X, test.y, **test.others)
    return scorer(model, test.X, test.y, **test.others)
