"""ProbabilisticTrainer: probabilities of outputs, for estimators whose task can sum over all outputs (sums.py)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Literal, NamedTuple, Self, get_args

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from maxmargin.base.arrays import Array
from maxmargin.base.checks import check_whole
from maxmargin.base.errors import Uncalibrated, warn_caller
from maxmargin.base.files.fields import NumberArray, OneOf, Part, Real
from maxmargin.base.files.objects import Fields, Sometimes, declare
from maxmargin.inputs.packed.packed_data import PackedData
from maxmargin.problem.contract.batch import Batch
from maxmargin.problem.contract.capabilities.kernel_space import KernelSpace
from maxmargin.problem.contract.capabilities.latent import is_latent
from maxmargin.problem.contract.tangents import Softness
from maxmargin.problem.contract.task import Task
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.oracle.risk_oracle import RiskOracle
from maxmargin.problem.oracle.sample_weights import normalised_weights
from maxmargin.problem.oracle.soft_oracle import SoftOracle
from maxmargin.solvers import Solver
from maxmargin.solvers.named import SolverName
from maxmargin.training.checkpoints.checkpoint import Checkpoint
from maxmargin.training.temperature import best_temperature
from maxmargin.training.trainer import Trainer

ObjectiveName = Literal["hinge", "likelihood", "softmax_margin"]

OBJECTIVES = get_args(ObjectiveName)


class Calibration(NamedTuple):
    """Distances of the truths of held-out examples, from which prediction sets are made (conformal.py).

    They are differences of scores at temperature 1. Structures without prediction sets leave all arrays empty.
    """

    distances: Array = np.zeros(0)  # per example: the score of the best output minus the score of the truth
    truths: Array = np.zeros(0)  # unused; models of earlier versions have probabilities here
    shares: Array = np.zeros(0)  # per label: one divided by the number of labels of its example
    label_distances: Array = np.zeros(0)  # per label: the best score minus the best score of outputs with this label


declare(
    Calibration,
    {
        "distances": NumberArray(float, None, finite=False),
        "truths": NumberArray(float, None),
        "shares": NumberArray(float, None),
        "label_distances": Sometimes(
            NumberArray(float, lambda found: 0 if found.truths.size else found.shares.size, finite=False)
        ),
    },
)


class ProbabilisticTrainer(Trainer):
    """A Trainer with probabilities p(z | x) ∝ exp(⟨w, Ψ(x, z)⟩ / temperature_) of outputs and of their parts.

    objective : "hinge", "likelihood" (a conditional random field) or "softmax_margin"; see tangents.py.
    sharpness : the b of tangents.py, for "softmax_margin".
    calibrate : the number of folds for cross-validation in `fit`, which finds the temperature at which the outputs of
        each fold are most probable under the model of the other folds. None leaves it at 1, until calibrate_on(X, Y).
    """

    _smooth_solver: ClassVar[str] = "lbfgs"  # the default solver of smooth objectives

    saved: ClassVar[Fields] = {
        "temperature_": Sometimes(Real(least=0)),
        "calibration_": Sometimes(OneOf(None, Part(Calibration))),
    }

    temperature_: float = 1.0
    calibration_: Calibration | None = None

    def __init__(
        self,
        C: float,
        solver: SolverName | Solver | None,
        objective: ObjectiveName = "hinge",
        sharpness: float = 1.0,
        calibrate: int | None = None,
        **options: Any,
    ):
        self.objective = objective
        self.sharpness = sharpness
        self.calibrate = calibrate
        super().__init__(C=C, solver=solver, **options)  # type: ignore[arg-type]

    def calibrate_on(self, X: Any, Y: Any, sample_weight: Any = None) -> Self:
        """Find the temperature at which these outputs, which training has not seen, are most probable.

        sample_weight weights the examples for the temperature; prediction sets are made without weights.
        """
        check_is_fitted(self)
        weights = normalised_weights(sample_weight, len(Y))
        self.temperature_ = best_temperature(lambda beta: self._unlikeliness(beta, X, Y), weights)
        self.calibration_ = self._calibration([(self, X, Y)])
        return self

    @property
    def calibrated_(self) -> bool:
        """True if the temperature was fitted to data."""
        return self.calibration_ is not None

    def predict_marginals(self, X: Any) -> list[Any]:
        """Return the probabilities of the parts of outputs of every x."""
        return self._sums(X).marginals()

    def log_probability(self, X: Any, Y: Any) -> Array:
        """Return log p(y | x) for every x; if y leaves parts open, sum over all outputs that agree with it."""
        return self._sums(X).log_probabilities(Y)

    def entropy(self, X: Any) -> Array:
        """Return the entropy -Σ_z p(z | x) log p(z | x) for every x, in nats; it is 0 if the model is certain."""
        return self._sums(X).entropies

    def sample(self, X: Any, n: int = 1, random_state: Any = None) -> list[list[Any]]:
        """Draw n independent outputs for every x with their probabilities."""
        seed = check_random_state(random_state).randint(2**31)
        return self._sums(X).sample(np.random.default_rng(seed), check_whole("n", n, least=1))

    # --- inside

    def _fit(self, X: Any, Y: Any, sample_weight: Any, checkpoint: Checkpoint | None, task: Task | None = None) -> None:
        self._check_calibrate(X)
        super()._fit(X, Y, sample_weight, checkpoint, task)
        self._calibrate(X, Y, sample_weight, checkpoint)

    def _path(
        self, X: Any, Y: Any, Cs: Any, sample_weight: Any, checkpoint: Checkpoint | None, task: Task | None = None
    ) -> Iterator[Self]:
        self._check_calibrate(X)
        for model in super()._path(X, Y, Cs, sample_weight, checkpoint, task):
            model._calibrate(X, Y, sample_weight, checkpoint)
            self.temperature_, self.calibration_ = model.temperature_, model.calibration_
            yield model

    def _softness(self) -> Softness | None:
        """Return the softness of the objective, or None for the hinge."""
        if self.objective not in OBJECTIVES:
            raise ValueError(f"objective must be one of {', '.join(map(repr, OBJECTIVES))}, got {self.objective!r}")
        if self.objective == "hinge":
            return None
        if not (isinstance(self.sharpness, float | int) and 0 < self.sharpness < np.inf):
            raise ValueError(f"sharpness must be a positive number, got {self.sharpness!r}")
        if self.objective == "likelihood":
            return Softness()
        return Softness(float(self.sharpness), 1.0)

    def _oracle(self, batch: Batch, formulation: Formulation, **others: Any) -> RiskOracle:
        softness = self._softness()
        if softness is None:
            return super()._oracle(batch, formulation, **others)
        if not formulation.plain:
            raise ValueError(f"objective={self.objective!r} has neither rescaling='slack' nor slack='l2'")
        if is_latent(batch):
            raise ValueError(
                f"objective={self.objective!r} needs complete labels; latent variables are for objective='hinge' only"
            )
        if batch.offers(KernelSpace) is not None:
            raise ValueError(
                f"objective={self.objective!r} does not take a kernel; kernels.KernelMap makes features of one"
            )
        return SoftOracle(batch, softness, **others)

    @property
    def _named_solver(self) -> str | Solver:
        if self.solver is not None:
            return self.solver
        return "bcfw" if self._softness() is None else self._smooth_solver

    def _sums(self, X: Any) -> Any:
        """Return the Sums object of the task for these inputs, at the current temperature."""
        check_is_fitted(self)
        if not self.calibrated_ and self.objective != "likelihood":
            warn_caller(
                "these probabilities use unscaled scores (temperature 1), whose scale large-margin training does not "
                "determine: calibrate on held-out data by calibrate_on(X, Y), or during fit by calibrate=5",
                Uncalibrated,
            )
        return self._sums_at(1 / self.temperature_, X)

    def _sums_at(self, beta: float, X: Any) -> Any:
        return self.task_.sums(beta * self.w_, X)

    def _unlikeliness(self, beta: float, X: Any, Y: Any) -> Array:
        """Return the loss that calibration minimises, for every x, at the temperature 1/beta."""
        return -self._sums_at(beta, X).log_probabilities(Y)

    def _calibration(self, unseen: list[tuple[Self, Any, Any]]) -> Calibration:
        """Return the calibration of prediction sets from (model, X, Y) with unseen examples; by default it is empty."""
        return Calibration()

    def _set_calibration(self) -> Calibration:
        """Return the calibration for prediction sets; raise a ValueError if there is none."""
        check_is_fitted(self)
        if self.calibration_ is None:
            raise ValueError(
                "prediction sets with guaranteed coverage need held-out examples: call calibrate_on(X, Y), or give "
                "calibrate=5"
            )
        if len(self.calibration_.truths):
            raise ValueError(
                "this model was calibrated by an earlier version, whose prediction sets did not always have their "
                "coverage: call calibrate_on(X, Y) again"
            )
        return self.calibration_

    def _check_calibrate(self, X: Any) -> None:
        if self.calibrate is not None:
            check_whole("calibrate", self.calibrate, least=2)
            if isinstance(X, PackedData):
                raise ValueError(
                    "calibrate splits the examples into folds, which packed data do not allow: call calibrate_on(X, Y)"
                )

    def _calibrate(self, X: Any, Y: Any, sample_weight: Any, checkpoint: Checkpoint | None) -> None:
        """Find the temperature by cross-validation, with models of the same C."""
        self.temperature_, self.calibration_ = 1.0, None
        if self.calibrate is None:
            return
        from sklearn.model_selection import KFold  # slow to import

        n, weights = len(Y), normalised_weights(sample_weight, len(Y))
        if n < self.calibrate:
            raise ValueError(f"calibrate={self.calibrate} needs at least that many examples, but there are {n}")
        folds, order = [], []
        for seen, unseen in KFold(self.calibrate, shuffle=True, random_state=0).split(np.arange(n)):
            blind = clone(self).set_params(C=self.solution_.C, calibrate=None)
            own = None if sample_weight is None else weights[seen]
            blind._fit(_taken(X, seen), _taken(Y, seen), own, checkpoint)
            blind._warn()
            folds.append((blind, _taken(X, unseen), _taken(Y, unseen)))
            order.append(unseen)
        each = weights[np.concatenate(order)]
        self.temperature_ = best_temperature(
            lambda b: np.concatenate([m._unlikeliness(b, *some) for m, *some in folds]), each
        )
        for blind, _, _ in folds:
            blind.temperature_ = self.temperature_
        self.calibration_ = self._calibration(folds)


def _taken(examples: Any, index: Any) -> list[Any]:
    return [examples[i] for i in index]
