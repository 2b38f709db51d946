"""StructuredSVM: scikit-learn's interface to any task and any solver."""

from __future__ import annotations

from typing import Any, ClassVar, Unpack

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from maxmargin.base.predictions import Predictions
from maxmargin.problem.contract.task import Task
from maxmargin.solvers import Solver
from maxmargin.solvers.named import SolverName
from maxmargin.training.decoding import decoded
from maxmargin.training.options import Options
from maxmargin.training.probabilistic import ProbabilisticTrainer


class StructuredSVM(ProbabilisticTrainer):
    """Train the weights of any structured prediction task with a large margin, and prove how close to optimal they are.

    It minimises ½‖w‖² + C · mean structured hinge. The task says what an output is, what a mistake costs and how the
    best output is found.

    Parameters
    ----------
    task : Task
        The structured prediction task: one of maxmargin.tasks, or a class of your own.
    {C}
    solver : str, Solver or None
        The algorithm that trains. None: "bcfw" for the hinge, "lbfgs" for other objectives. A name in solvers.SOLVERS
        ("bcfw", "one_slack", …), or a solver object with options. If outputs have hidden parts, it becomes the inner
        solver of solvers.CCCP, which can be given, too.
    objective : "hinge", "likelihood" or "softmax_margin"
        The loss that is added to ½‖w‖²: C times the mean structured hinge, the negative mean log-likelihood, or the
        softmax-margin between them. The last two need a task that can sum over all outputs, or lists few outputs.
    {options}

    Attributes
    ----------
    w_ : array of shape (dim,)
        The weights.
    task_ : Task
        The task, after it was set up with the training data.
    certificate_ : Certificate
        The objective of the model, and a proved lower bound on the best possible one.
    history_ : list of dict
        One dict per step of training.
    n_examples_ : int
        The number of training examples.
    rounds_ : list of solvers.Round
        If outputs have hidden parts: one entry per round of completing them and training.
    weights_ : dict of Weights
        The weights by name.

    See Also
    --------
    Tuned : Chooses C by cross-validation.
    SequenceLabeler, MulticlassSVC, GraphLabeler, Parser : Estimators for common structures.

    Notes
    -----
    Ctrl-C ends training with a TrainingInterrupted warning and keeps the best model so far; so does an error, which is
    then raised. In a search over several fits, Ctrl-C ends only the current fit; a second Ctrl-C within two seconds,
    or while the first one is still being handled, is raised as a KeyboardInterrupt and ends everything.

    Examples
    --------
    >>> import maxmargin as mm
    >>> X = [[["word=the"], ["word=dog"]], [["word=dog"], ["word=barks"]]]
    >>> model = mm.StructuredSVM(mm.tasks.Chain(), C=10).fit(X, [["D", "N"], ["N", "V"]])
    >>> model.predict([[["word=the"], ["word=dog"], ["word=barks"]]])
    [['D', 'N', 'V']]
    """

    calls_user_code = True

    saved_others: ClassVar[bool] = True  # tasks may set further attributes

    def __init__(
        self,
        task: Task,
        C: float = 1.0,
        solver: SolverName | Solver | None = None,
        **options: Unpack[Options],
    ):
        self.task = task
        super().__init__(C=C, solver=solver, **options)

    def predict(self, X: Any) -> Any:
        """Return the best output for every x."""
        check_is_fitted(self)
        return Predictions(self.task_.label(z) for z in decoded(self, X))

    def score(self, X: Any, Y: Any) -> float:
        """Return the negative mean loss of the predictions, by the loss of the trained task: higher is better.

        It cannot compare models that were trained with different losses, because the smallest loss would win. A search
        over a parameter of the loss needs `scoring`, such as metrics.exact_match_scorer, or metrics.Scorer with your
        own measure.
        """
        check_is_fitted(self)
        found = decoded(self, X)
        if len(found) != len(Y):
            raise ValueError(f"X has {len(found)} examples but Y has {len(Y)}")
        if len(found) == 0:
            raise ValueError("no examples given: there is nothing to score")
        return -float(np.mean([self.task_.loss(y, z) for y, z in zip(Y, found, strict=True)]))

    def _make_task(self, Y: Any) -> Task:
        if not isinstance(self.task, Task):
            raise TypeError(f"task must be a maxmargin Task, got {self.task!r}")
        return clone(self.task)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.two_d_array = False  # the task decides what an input is
        return tags
