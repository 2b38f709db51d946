"""Open the checkpoint that the parameters of an estimator request."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from maxmargin.training.checkpoints.checkpoint import Checkpoint


@contextmanager
def open_checkpoint(estimator: Any) -> Iterator[Checkpoint | None]:
    """Open the checkpoint of an estimator for one fit; yield None if its parameter `checkpoint` is None.

    A fit may consist of several trainings, also of clones of the estimator: all of them share the same checkpoint.
    The file is marked as complete if the fit ends without an error.
    """
    if estimator.checkpoint is None:
        yield None
        return
    parameters = estimator.get_params(deep=False)
    checkpoint = Checkpoint(estimator.checkpoint, estimator.checkpoint_every, type(estimator).__name__, parameters)
    yield checkpoint
    checkpoint.finish()
