"""ExplainsScores: contributions to the score ⟨f(x), φ(z)⟩ of an output, for models with the linear kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from maxmargin.base.arrays import Array
from maxmargin.base.named_weights import Weights
from maxmargin.base.weight_names import Layout
from maxmargin.problem.contract.pieces import WHOLE, Pieces
from maxmargin.training.explaining import Explains, as_row


class ExplainsScores(Explains):
    """A mixin for models with f(x) = W x + b; feature j of x and coordinate k of φ(z) contribute x_j W_jk φ_k(z)."""

    _weights_: Array | None
    intercept_: Any

    def _refuse_explaining(self) -> None:
        if self._weights_ is None:
            raise ValueError(
                f"{type(self).__name__} with a kernel has no weights of features whose contributions could be listed; "
                "a model with kernel='linear' has"
            )

    def _explained_attributes(self) -> tuple[Any, ...]:
        return self._weights_, self.intercept_

    def _explained_weights(self) -> tuple[Array, Layout]:
        assert self._weights_ is not None
        shape, constants = self._weights_.shape, np.ndim(self.intercept_)

        def layout(w: Array) -> dict[str, Weights]:
            rows = w.reshape(-1, shape[1])
            return self._laid_out(rows[: shape[0]], rows[-1] if constants else None)

        parts = [self._weights_.ravel(), *([self.intercept_] if constants else [])]
        return np.concatenate(parts), layout

    def _one_input(self, x: Any) -> tuple[Any, Any]:
        row = self._row(x)
        return x, sparse.csr_array(row)

    def _row(self, x: Any) -> Any:
        """Return one input as a matrix of numbers with one row."""
        return self._inputs(as_row(x))  # type: ignore[attr-defined]

    def _best_output(self, X: Any) -> Any:
        return self.predict(as_row(X))[0]  # type: ignore[attr-defined]

    def _full_output(self, x: Any, z: Any) -> Any:
        return z

    def _shown_output(self, z: Any) -> Any:
        return z

    def _pieces(self, x: Any, z: Any) -> Pieces:
        phi = sparse.csr_array(self._output_features(z)[None])
        if np.ndim(self.intercept_):
            x = sparse.hstack([x, sparse.csr_array([[1.0]])], format="csr")
        return Pieces.of_rows([WHOLE], sparse.kron(x, phi))

    def _laid_out(self, weights: Array, intercept: Array | None) -> dict[str, Weights]:
        """Return the named arrays of W and b."""
        raise NotImplementedError

    def _output_features(self, z: Any) -> Array:
        """Return φ(z)."""
        raise NotImplementedError
