"""ModelFiles: the fields of a trained estimator in model files and in pickles."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator

from maxmargin.base.arrays import Array
from maxmargin.base.files.fields import Each, LabelArray, MostlyZeros, NumberArray, OneOf, Part, Seed, Text, Whole
from maxmargin.base.files.objects import Dropped, Field, Fields, Sometimes, parameters_of
from maxmargin.base.files.saving import SavedModel
from maxmargin.base.pickled_weights import PickledWeights
from maxmargin.kernels.map import KernelMap
from maxmargin.problem.contract.task import Task
from maxmargin.problem.dual.objective import Certificate
from maxmargin.solvers import Solution
from maxmargin.solvers.latent_runs import Round
from maxmargin.solvers.subgradient import Walk
from maxmargin.training.warm_starts import lasting


class ModelFiles(SavedModel, BaseEstimator):
    """A mixin for trained estimators that defines which of their fields `save`, `pickle` and `clone` keep."""

    w_: Array
    prior: Any

    saved: ClassVar[Fields] = {
        "callback": Dropped(),  # this and the next two belong to a run
        "executor": Dropped(),
        "checkpoint": Dropped(),
        "random_state": Seed(),
        "task_": Part(Task),
        "w_": MostlyZeros("task_.dim"),
        "certificate_": Sometimes(OneOf(None, Part(Certificate))),
        "solution_": Sometimes(Part(Solution)),
        "history_": Sometimes(Field()),
        "n_examples_": Sometimes(Whole()),
        "n_features_in_": Sometimes(Whole()),
        "feature_names_in_": Sometimes(LabelArray("n_features_in_")),
        "rounds_": Sometimes(Each(Part(Round))),
        "support_": Sometimes(NumberArray(np.int64, None)),
        "kernel_map_": Sometimes(Part(KernelMap)),
        "kernel_evaluations_": Sometimes(Whole()),
        "_shown": Sometimes(Each(Text(), kind=tuple)),
        "_fitted_to": Dropped(),
    }

    @classmethod
    def _saved_parameters(cls) -> Fields:
        return parameters_of(cls)

    def _check_saved(self) -> None:
        """Complete a model that was read from a file; drop a solver state that does not belong to its weights."""
        solution = getattr(self, "solution_", None)
        if solution is None:
            return
        memory = solution.memory
        if not (isinstance(memory, Walk) and len(memory.w) == len(self.w_)):  # with a kernel the state has all units
            object.__setattr__(solution, "memory", None)
        object.__setattr__(solution, "w", self.w_)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "w_")

    def __sklearn_clone__(self) -> Self:
        """Clone the parameters, except that a fitted model that serves as `prior` stays fitted."""
        model: Self = super().__sklearn_clone__()
        model.prior = self.prior
        return model

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the model without the plane cache that trained it; the state of an online solver is kept."""
        state: dict[str, Any] = dict(super().__getstate__())
        if "w_" in state:
            state["w_"] = PickledWeights.of(state["w_"])
        if "solution_" in state:
            state["solution_"] = lasting(state["solution_"], state["w_"])
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        w = state.get("w_")
        if isinstance(w, PickledWeights):
            state = {**state, "w_": w.unpacked()}
            if "solution_" in state:
                state["solution_"] = replace(state["solution_"], w=state["w_"])
        super().__setstate__(state)
