"""Tuned: an estimator whose C is chosen by cross-validation."""

from __future__ import annotations

import inspect
import os
import time
from collections.abc import Callable, Iterator
from itertools import count
from math import isfinite
from threading import Event
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.metrics import check_scoring
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from maxmargin.base.checks import check_whole, is_real
from maxmargin.base.interruptions import first_only
from maxmargin.base.progress_line import LiveLine
from maxmargin.base.time_left import TimeLeft
from maxmargin.executors import Executor, Serial
from maxmargin.inputs.packed.packed_data import PackedData
from maxmargin.solvers import Perceptron, as_solver
from maxmargin.training.options import checked_callback, executor_for, n_examples
from maxmargin.training.trainer import Trainer
from maxmargin.training.tuning.choice import RULES, Rule, Tried
from maxmargin.training.tuning.folds import Fold, Given, Trained, end, next_model
from maxmargin.training.tuning.grid import MOST, Grid
from maxmargin.training.tuning.search_warnings import warn_of_search
from maxmargin.training.tuning.splits import Split, examples_of, part_of, splits_of

if TYPE_CHECKING:
    from maxmargin.report.page import ModelReport


def _has(name: str) -> Callable[[Tuned], bool]:
    """Return a check whether the estimator has a method; scikit-learn asks before and after fitting."""

    def check(self: Tuned) -> bool:
        getattr(getattr(self, "best_estimator_", self.estimator), name)
        return True

    return check


class Tuned(MetaEstimatorMixin, BaseEstimator):
    """Choose C of an estimator by cross-validation, and train with it.

    In every fold, and on all of the data, models are trained from small to large C, each starting from the previous
    one. After every C, the mean score over the folds decides whether to continue. The final model is the one that was
    trained on all data with the chosen C; nothing is trained again.

    Parameters
    ----------
    estimator : estimator or Pipeline
        Any estimator of maxmargin that has C, or a pipeline whose last step is one; the transformers of a pipeline are
        fitted in every fold. The C of the estimator is not used. With a `checkpoint`, an interrupted search continues:
        every fold has its own file, named after the fold ("….fold_0", "….all_data").
    Cs : sequence or None
        Values of C to try, in rising order. None makes them from the data: the first lowers the training loss by about
        2%, each is three times the one before, and the last is where the training loss stops falling (see
        docs/howto/choosing_c.md), at most 16.
    cv : int, splitter or iterable
        The number of folds (shuffled; stratified for classifiers; whole groups where there are `groups` or `qid`), or
        anything that scikit-learn takes.
    scoring : None, str or callable
        None: the estimator's own `score`. Otherwise a scorer of scikit-learn, or its name.
    rule : "best" or "one_standard_error"
        Take the C with the best mean score, or the smallest C whose mean score is within one standard error of that.
    patience : int or None
        Stop when this many consecutive values of C have a mean score that is below the best earlier one by more than
        its standard error; None tries all values.
    n_jobs : int or None
        The number of threads in which folds are trained in parallel; -1 means one per core. None means the same, unless
        the estimator runs in parallel itself (n_jobs, executor) or calls your Python functions (a task, an optimiser);
        folds are then trained one after the other. Results do not depend on it.
    executor : None or Executor
        The executor that trains the folds instead of threads, such as executors.Processes(2).
    random_state : int, RandomState or None
        The seed of the random split into folds.
    verbose : bool
        Whether to show the progress of the search on standard error. The `verbose` of the estimator is not used.

    Attributes
    ----------
    best_C_ : float
        The C that was chosen.
    best_score_ : float
        Its mean score.
    best_index_ : int
        Its row in results_.
    best_estimator_ : estimator
        The model that was trained on all data with best_C_. Its methods and fitted attributes are available here, too.
    results_ : dict of arrays
        One entry per C, from which pandas.DataFrame makes a table: "C"; "mean_score" and "standard_error";
        "fold_0_score", …; "training_loss" (the mean slack) and "norm" (‖w‖, or the distance to the prior) on all of the
        data; for folds and all data together "seconds" and "passes" (sums), "gap" (the largest), "converged" (all of
        them), "zeros" (trainings that ended at w = 0).

    See Also
    --------
    StructuredSVM.fit_path : Models for several values of C, without a choice.

    Notes
    -----
    Ctrl-C ends the search, with the best model so far.

    Examples
    --------
    >>> from maxmargin import MulticlassSVC, Tuned
    >>> X, y = [[0.0], [0.1], [0.2], [1.0], [1.1], [1.2]], [0, 0, 0, 1, 1, 1]
    >>> model = Tuned(MulticlassSVC(), Cs=[1.0, 10.0], cv=3, n_jobs=1).fit(X, y)
    >>> model.predict([[0.0], [1.3]]).tolist()
    [0, 1]
    """

    def __init__(
        self,
        estimator: Any,
        Cs: Any = None,
        cv: Any = 5,
        scoring: Any = None,
        rule: Rule = "best",
        patience: int | None = 3,
        n_jobs: int | None = None,
        executor: Executor | None = None,
        random_state: Any = 0,
        verbose: int = 0,
    ):
        self.estimator = estimator
        self.Cs = Cs
        self.cv = cv
        self.scoring = scoring
        self.rule = rule
        self.patience = patience
        self.n_jobs = n_jobs
        self.executor = executor
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, *, groups: Any = None, **others: Any) -> Self:
        """Choose C and train.

        Parameters
        ----------
        X : sequence or packed data
            The inputs. Packed data replace X, y and all other arguments that they contain.
        y : sequence or None
            The outputs.
        groups : sequence or None
            The group of every example; a group is never split between training and test examples.
        **others
            Further arguments of the estimator's `fit`: sample_weight, position_weight, qid (queries are not split), …
            Arguments with one entry per example are split with the examples, and passed to `score` if it takes them.

        Returns
        -------
        self
            The fitted estimator.
        """
        last = self._checked()
        if isinstance(X, PackedData):
            if y is not None:
                raise ValueError("packed data contain their outputs; leave out y")
            X, y, own = X.in_parts()
            others = {**own, **others}
        if y is None:
            raise ValueError("Tuned needs y, because models are compared by their scores on outputs")
        n = n_examples(X, "X")
        if n_examples(y, "y") != n:
            raise ValueError(f"X has {n} examples but y has {n_examples(y, 'y')}")
        Cs = _checked_values(self.Cs)
        groups = others.get("qid") if groups is None else groups
        splits = splits_of(self.estimator, self.cv, y, groups, self.random_state)
        if self.rule == "one_standard_error" and len(splits) < 2:
            raise ValueError("rule='one_standard_error' needs at least two folds, got one")
        given = {name: value for name, value in others.items() if value is not None}
        folds = self._folds(Given(X, y, given), splits, last)
        tried = Tried()
        with LiveLine(self.verbose, "choosing C") as line, threadpool_limits(1, user_api="blas"):
            interrupted = self._search(folds, Cs, tried, last, line)
        self._choose(tried, last, interrupted)
        return self

    # --- the best model

    @available_if(_has("predict"))  # type: ignore[untyped-decorator]
    def predict(self, X: Any, *args: Any, **options: Any) -> Any:
        """Call this method of the best model."""
        return self._best().predict(X, *args, **options)

    @available_if(_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Any:
        """Call this method of the best model."""
        return self._best().decision_function(X)

    @available_if(_has("score"))  # type: ignore[untyped-decorator]
    def score(self, X: Any, y: Any, *args: Any, **options: Any) -> float:
        """Return the score of the best model by `scoring`."""
        model = self._best()
        scorer = model.score if self.scoring is None else self._scorer(model)
        return float(scorer(X, y, *args, **options) if self.scoring is None else scorer(model, X, y, **options))

    def report(self, X: Any, Y: Any, **options: Any) -> ModelReport:
        """Return a page about the best model and how its C was chosen; see its own `report`.

        For a pipeline, the page is about the last step, and shows X after the transformations of the other steps.
        """
        from maxmargin.training.tuning.findings import choice_section

        model = self._best()
        if isinstance(model, Pipeline):
            X, model = model[:-1].transform(X), model[-1]
        page: ModelReport = model.report(X, Y, sections=[choice_section(self)], **options)
        return page

    def _html_repr(self) -> str:
        """Return the HTML that notebooks show: the card of the best model, if there is one."""
        from maxmargin.report.card import card

        parameters: str = super()._html_repr()
        return card(_last(self.best_estimator_)) + parameters if "best_estimator_" in vars(self) else parameters

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the best model to a file, as its own `save` does; `maxmargin.load(path)` reads it."""
        best = self._best()
        if isinstance(best, Pipeline):
            steps = ", ".join(type(step).__name__ for _, step in best.steps[:-1])
            raise ValueError(
                f"the best model is a pipeline ({steps} before a {type(_last(best)).__name__}), but model files cannot "
                "hold steps of other libraries: best_estimator_[-1].save(path) keeps the last step; keep the others "
                "beside it, by pickle or skops"
            )
        best.save(path)

    def __getattr__(self, name: str) -> Any:
        """Return any other attribute of the best model."""
        if name.startswith("_") or name == "estimator" or name in ("best_estimator_", "results_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        if "best_estimator_" not in vars(self):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}; it is not fitted yet")
        return getattr(self.best_estimator_, name)

    def _best(self) -> Any:
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_

    # --- inside

    def _checked(self) -> Trainer:
        """Check all options; return the part of the estimator that has C."""
        last = _last(self.estimator)
        if not isinstance(last, Trainer):
            raise TypeError(_without_C(last))
        checked_callback(last.callback)
        if last.solver is not None and isinstance(as_solver(last.solver), Perceptron):
            raise ValueError("the perceptron does not use C: there is nothing to choose")
        if self.rule not in RULES:
            raise ValueError(f"rule must be one of {', '.join(map(repr, RULES))}, got {self.rule!r}")
        if self.patience is not None:
            check_whole("patience", self.patience, least=1)
        return last

    def _executor(self, last: Trainer) -> Executor:
        n_jobs = self.n_jobs
        if n_jobs is None:
            spreads = last.executor is not None or last.n_jobs not in (None, 1)
            n_jobs = 1 if spreads or last.calls_user_code else -1
        executor = executor_for(self.executor, n_jobs)
        return executor if executor.workers > 1 or self.executor is not None else Serial()

    def _folds(self, data: Given, splits: list[Split], last: Trainer) -> list[Fold]:
        """Return the folds; all of the data come first, because they take longest."""
        estimator = _with(clone(self.estimator), verbose=0, warm_start=False)
        scorer = None if self.scoring is None else self._scorer(estimator)
        judge: Any = getattr(last, "score", None) if scorer is None else getattr(scorer, "_score_func", scorer)
        taken, n = inspect.signature(judge).parameters, n_examples(data.X, "X")

        def part(index: Any, trained_on: Any, names: Any) -> Given:
            X, y = examples_of(estimator, data.X, data.y, index, trained_on)
            given = {name: value for name, value in data.others.items() if name in names}
            whole = last.whole_arguments
            return Given(X, y, {k: v if k in whole else part_of(v, index, n) for k, v in given.items()})

        folds = [Fold("all data", estimator, data, None, None)]
        for k, (train, test) in enumerate(splits):
            learnt, judged = part(train, None, data.others), part(test, train, taken)
            folds.append(Fold(f"fold {k}", estimator, learnt, judged, scorer))
        if last.checkpoint is not None:  # paths are trained in parallel: each has its own file
            for fold in folds:
                beside = f"{os.fspath(last.checkpoint)}.{fold.name.replace(' ', '_')}"
                fold.estimator = _with(clone(estimator), checkpoint=beside)
        return folds

    def _scorer(self, estimator: Any) -> Any:
        return check_scoring(estimator, scoring=self.scoring)

    def _search(self, folds: list[Fold], Cs: list[float] | None, tried: Tried, last: Trainer, line: LiveLine) -> bool:
        """Try one C after another; return whether Ctrl-C has ended the search."""
        executor, stop = self._executor(last), Event()
        shared, ended = stop if executor.shares_memory else None, False
        try:
            placed = executor.place(folds)
            for row in self._rows(executor, placed, Cs, tried, shared, line):
                if any(each.interrupted for each in row):
                    return True
                tried.add(row)
            if last.checkpoint is not None:
                list(executor.map(end, placed, [None] * len(placed)))
            ended = True
        except KeyboardInterrupt as pressed:
            first_only(pressed)
            return True
        finally:
            if not ended:
                stop.set()  # threads end at their next step
            if not ended or self.executor is None:
                executor.close()
            if executor.shares_memory:
                for fold in folds:
                    fold.close()
        return False

    def _rows(
        self, executor: Executor, placed: list[Any], Cs: list[float] | None, tried: Tried, stop: Any, line: LiveLine
    ) -> Iterator[list[Trained]]:
        """Yield the models of one C after the other, until no larger C is promising."""
        most, began = MOST if Cs is None else len(Cs), time.perf_counter()
        left = TimeLeft(0.0, most)
        grid: Grid | None = None
        asked: list[tuple[float | None, ...]] = [()] * len(placed)  # all values of C that were requested from each fold
        for k in count():
            C = Cs[k] if Cs is not None else None if grid is None else grid.value(k)
            where = f"C {k + 1} of {'at most ' if Cs is None or self.patience else ''}{most}"
            row: list[Trained] = []
            # if the grid is made from the data, the path on all data determines its first value before the folds begin
            for part in [placed] if C is not None else [placed[:1], placed[1:]]:
                if row:
                    C = row[0].C
                now = slice(len(row), len(row) + len(part))
                asked[now] = [(*before, C) for before in asked[now]]
                for each in executor.map(next_model, part, asked[now], stop):
                    row.append(each)
                    line.show(self._progress(where, row, len(placed), tried, left, time.perf_counter() - began))
            grid = row[0].grid
            yield row
            learnt = grid is not None and grid.has_learnt([each[0].risk for each in tried.rows])
            if k + 1 == most or (learnt and not tried.has_risen) or tried.has_fallen(self.patience):
                return

    def _progress(self, where: str, row: list[Trained], n: int, tried: Tried, left: TimeLeft, seconds: float) -> str:
        parts = [f"{where}: {row[-1].C:.3g}", f"{len(row)} of {n} trained"]
        if len(tried):
            k = tried.order(self.rule)[0]
            parts.append(f"best so far {tried.means[k]:.4g} at C = {tried.rows[k][0].C:.3g}")
        remaining = left.seconds(np.inf, len(tried) + len(row) / n, seconds)
        parts.append(f"{seconds:.1f} s")
        if remaining is not None and len(tried):
            parts.append(f"at most about {remaining:.0f} s left")
        return "  ".join(parts)

    def _choose(self, tried: Tried, last: Trainer, interrupted: bool) -> None:
        if not len(tried):
            raise KeyboardInterrupt("interrupted before any C was tried: there is no model to keep")
        order = tried.order(self.rule)
        learnt = [k for k in order if not tried.rows[k][0].zero]
        chosen = order[0] if not learnt else learnt[0]
        row = tried.rows[chosen]
        self.results_ = tried.results()
        self.best_index_ = chosen
        self.best_C_, self.best_score_ = float(row[0].C), float(tried.means[chosen])
        own = {name: getattr(last, name) for name in ("callback", "verbose", "warm_start", "checkpoint")}
        self.best_estimator_ = _with(row[0].model, **own)
        warn_of_search(tried, order[0], chosen, interrupted)

    def __sklearn_tags__(self) -> Any:
        tags, own = super().__sklearn_tags__(), get_tags(self.estimator)
        for name in ("estimator_type", "classifier_tags", "regressor_tags", "target_tags", "input_tags"):
            setattr(tags, name, getattr(own, name))
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return "best_estimator_" in vars(self)


def _last(estimator: Any) -> Any:
    return estimator[-1] if isinstance(estimator, Pipeline) else estimator


def _with(estimator: Any, **options: Any) -> Any:
    """Set options of training, and return the same estimator."""
    _last(estimator).set_params(**options)
    return estimator


def _without_C(estimator: Any) -> str:  # noqa: N802 - the parameter's name
    if type(estimator).__module__.startswith("maxmargin.counting"):
        return f"{type(estimator).__name__} has no C: it is trained by counting, and chooses its alpha itself"
    return (
        "Tuned chooses C of an estimator of maxmargin that is trained with a large margin (SequenceLabeler, "
        "MulticlassSVC, MeasureSVC, Ranker, GraphLabeler, StructuredSVM, …), or of a pipeline that ends in one; got "
        f"{estimator!r}"
    )


def _checked_values(Cs: Any) -> list[float] | None:
    """Return the values of C to try, each once, in rising order."""
    if Cs is None:
        return None
    try:
        values = list(Cs)
    except TypeError:
        raise TypeError(f"Cs must be None or a sequence of numbers, got {Cs!r}") from None
    if not values:
        raise ValueError("Cs is empty; expected at least one value of C")
    for C in values:
        if not is_real(C) or not isfinite(C) or float(C) <= 0:
            raise ValueError(f"Cs must be positive finite numbers, got {C!r}")
    return sorted({float(C) for C in values})
