"""StructuredSVM: scikit-learn's interface to any task and any solver."""

from __future__ import annotations

from typing import Any, ClassVar, Unpack

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from maxmargin.base.predictions import Predictions
from maxmargin.problem.contract.task import Task
from maxmargin.report.findings import Findings
from maxmargin.solvers import Solver
from maxmargin.training.decoding import decoded
from maxmargin.training.options import Options
from maxmargin.training.probabilistic import ProbabilisticTrainer


class StructuredSVM(ProbabilisticTrainer):
    """Learn the weights of any structure: minimise ½‖w‖² + C · mean structured hinge, and prove how close that came.

    Parameters
    ----------
    task : Task
        What an output is, what a mistake costs, how the best output is found; see maxmargin.tasks.
    C : float
        Weight of the mean slack against ½‖w‖². inf asks for a hard margin.
    solver : str, Solver or None
        None: "bcfw" for the hinge, "lbfgs" for other objectives. A name in solvers.SOLVERS ("bcfw", "one_slack", …), or
        a solver object with options. For a task with hidden parts it becomes the inner solver of solvers.CCCP, which
        can be given, too.
    objective : "hinge", "likelihood" or "softmax_margin"
        What is minimised beside ½‖w‖²: C times the mean structured hinge, minus the mean log-likelihood, or the
        softmax-margin between them. The smooth ones need a task that sums over all outputs, or lists few of them.
    sharpness : float
        Of "softmax_margin": the larger, the nearer to the hinge.
    calibrate : int or None
        Probabilities: find temperature_ by cross-validation in so many parts; None leaves that to calibrate_on(X, Y).
    rescaling : "margin" or "slack"
    slack : "l1" or "l2"
    bounds : None, pair or dict
        Limits of weights: (low, high) for all, each a number, an array or None, or a dict of such pairs by names of
        weights_: {"transitions": (None, 0), ("features", "bias", None): (0, None)}. low = high fixes a weight.
    prior : None, number, array or dict
        Weights that learning is drawn to in the place of 0: ½‖w - prior‖² is minimised instead of ½‖w‖². A dict names
        them as for bounds.
    tol : float or None
        Relative duality gap to stop at; None leaves the solver's own. It must be positive: rounding keeps the gap from
        ever being exactly 0, so for the last digit give a tiny tol and let the solver stop where it gains no more.
    max_passes : float or None
        Limit on oracle calls divided by the number of examples; None leaves the solver's own, inf sets none.
    n_jobs : int or None
        Threads for the oracle; -1 for one per core, None for 1. The model does not depend on it.
    executor : Executor or None
        Where the oracle runs instead.
    random_state : int, RandomState or None
        The same number gives the same model, in every process and on any number of threads; None draws one.
    warm_start : bool
        Start from the last fit's dual point when fitting the same problem again with another C, tol or max_passes.
        Other data, weights, costs or classes start cold, for a dual point of one problem proves nothing about another.
    memory_mb : float or None
        Megabytes of memory for what training makes beside the data and the model, such as dual points and cuts; what
        has no room there lies in temporary files without names. A plane cache gets a quarter of it, and folds planes
        when it is full. Packed data (maxmargin.pack) are read from their folder, so that this bounds training on any
        amount of them. None sets no limit.
    callback : callable or None
        Called with a Record after every step; training stops when it returns True.
    verbose : bool or int
        True or 1 shows progress on standard error: pass, objective, bound, gap and time left. On a terminal and in a
        notebook (with ipywidgets) that is one live line; in a pipe or a log, a plain line after two seconds and then
        ever more rarely. False or 0 is silent.
    checkpoint : str, path or None
        A file that `fit` and `fit_path` leave where they are, now and then. If it is there, of the same data and
        parameters, they go on from it, and end with the same model to the last bit as if nothing had stopped them.
        n_jobs, executor, callback, verbose and max_passes may be others than before.
    checkpoint_every : float or str
        How often it is written: a number of seconds, or passes, as "10 passes". Seconds become more where writing would
        take more than a fiftieth of the time.

    Ctrl-C ends training with a TrainingInterrupted warning and keeps the best model so far; so does an error, which is
    then raised. In a search over several fits, Ctrl-C ends only the one that runs; a second one within two seconds, or
    while the first is still being obeyed, is raised as a KeyboardInterrupt and ends everything.

    Attributes
    ----------
    w_ : the weights.   task_ : the task that was set up.   certificate_ : the proof.   history_ : one dict per step.
    n_examples_ : how many examples it was trained on.
    rounds_ : of tasks with hidden parts, one solvers.Round per round of completing and training.
    """

    calls_user_code = True

    saved_others: ClassVar[bool] = True  # tasks may show what they have found

    def __init__(
        self,
        task: Task,
        C: float = 1.0,
        solver: str | Solver | None = None,
        **options: Unpack[Options],
    ):
        self.task = task
        super().__init__(C=C, solver=solver, **options)

    def predict(self, X: Any) -> Any:
        """The best output for every x."""
        check_is_fitted(self)
        return Predictions(self.task_.label(z) for z in decoded(self, X))

    def score(self, X: Any, Y: Any) -> float:
        """Minus the mean loss of the predictions, by the loss of the task that was trained: higher is better.

        Models of different losses cannot be compared by it: the smallest loss would win. In a search over a parameter
        of the loss give `scoring`, such as metrics.exact_match_scorer, or metrics.Scorer with a measure of yours.
        """
        check_is_fitted(self)
        found = decoded(self, X)
        if len(found) != len(Y):
            raise ValueError(f"X has {len(found)} examples but Y has {len(Y)}")
        if len(found) == 0:
            raise ValueError("no examples given: there is nothing to score")
        return -float(np.mean([self.task_.loss(y, z) for y, z in zip(Y, found, strict=True)]))

    def _findings(self, X: Any, Y: Any) -> Findings:
        from maxmargin.report.any_task import task_findings

        return task_findings(self, list(decoded(self, X)), Y)

    def _make_task(self, Y: Any) -> Task:
        if not isinstance(self.task, Task):
            raise TypeError(f"task must be a maxmargin Task, got {self.task!r}")
        return clone(self.task)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.two_d_array = False  # what an input is, the task decides
        return tags
