"""FoldTraits: the properties of an estimator that a search over folds reads."""

from __future__ import annotations

from typing import ClassVar

from maxmargin.solvers import Solution


class FoldTraits:
    """A mixin with the properties of an estimator that `Tuned` reads; training itself does not use them."""

    # Whether the search for outputs calls Python code of users, which may not be safe in two threads.
    calls_user_code: ClassVar[bool] = False

    # Arguments of `fit` that concern the whole data set: they are not split with the examples, whatever their length.
    whole_arguments: ClassVar[tuple[str, ...]] = ()

    solution_: Solution

    @property
    def path_risk(self) -> float:
        """The training loss of this model; all models of a path have it for the same problem."""
        return self.solution_.risk
