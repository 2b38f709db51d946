"""What estimators share that write checkpoints."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from maxmargin.training.checkpoints.checkpoint import Checkpoint, Training
from maxmargin.training.checkpoints.settings import DATA


class Checkpointed:
    """An estimator with the parameters `checkpoint` and `checkpoint_every`.

    What trains does so within `_checkpointed()`, and asks `_training` before every single training. A fit within a fit
    is a part of the outer one's checkpoint.
    """

    checkpoint: Any
    checkpoint_every: Any
    _open_checkpoint: Checkpoint | None = None

    @contextmanager
    def _checkpointed(self) -> Iterator[None]:
        """Open the checkpoint, if one is asked for and none is open; it is whole when the fit ends without an error."""
        if self.checkpoint is None or self._open_checkpoint is not None:
            yield
            return
        parameters = self.get_params(deep=False)  # type: ignore[attr-defined]
        self._open_checkpoint = Checkpoint(self.checkpoint, self.checkpoint_every, type(self).__name__, parameters)
        try:
            yield
            self._open_checkpoint.finish()
        finally:
            del self._open_checkpoint

    def _training(self, max_passes: float, fingerprint: str | None, **about: str) -> Training | None:
        """The next training, if there is a checkpoint; `fingerprint` is that of its data."""
        if self._open_checkpoint is None:
            return None
        if fingerprint is None:
            raise ValueError(
                "a checkpoint must know its data again, and these, or the task, cannot be hashed (lambdas cannot, nor "
                "functions within functions): give functions of a module, or no checkpoint"
            )
        return self._open_checkpoint.training({**about, DATA: fingerprint}, max_passes)
