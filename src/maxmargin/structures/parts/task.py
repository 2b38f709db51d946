"""Parts: structured prediction for any problem with a decoder that maximises a sum of scores over chosen parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.base.arrays import Array
from maxmargin.base.checks import check_whole
from maxmargin.base.files.fields import Whole
from maxmargin.base.files.objects import Fields
from maxmargin.kernels.units import UnitTask
from maxmargin.problem.contract.pieces import Pieces, Unit
from maxmargin.problem.planes.atoms import Atoms
from maxmargin.structures.parts.batch import PackedParts, PartsBatch
from maxmargin.structures.parts.numbers import PartNumbers, PricedParts, as_numbers
from maxmargin.structures.parts.part_space import PartDecoder, PartSpace, TrueParts
from maxmargin.structures.parts.rows import checked_rows, part_rows, stacked_rows
from maxmargin.structures.parts.scored import ScoredParts


class Parts(UnitTask):
    """Structured prediction with outputs that are sets of parts, found by the user's decoder.

    An input x has parts p = 0, 1, … with a row of features each, and an output is a set z of them:

        ⟨w, Ψ(x, z)⟩ = Σ_{p in z} ⟨w, φ_p⟩                                                                          (1)
        Δ(y, z)      = Σ_{p in z, not in y} extra_p + Σ_{p in y, not in z} missing_p      (Hamming: all prices 1)    (2)

    Only `best`, the user's decoder, knows which sets are outputs: a tree of arcs, a matching of pairs, a path of steps,
    a knapsack. Both (1) and (2) are sums over parts, so the same decoder serves training, with prices added to the
    scores; it must accept scores of any sign. Slack rescaling and squared slacks are searched exactly by branch and
    bound over parts (branching.py) if that ends within `most_decodes` calls of the decoder for an example, and
    otherwise with proved bounds.

    A label is the numbers of its parts or a mask, or PricedParts(parts, extra, missing) with prices of its own.

    Parameters
    ----------
    best : callable
        best(scores, x) -> the chosen parts with the highest total score: their numbers, or a mask.
    parts : callable or None
        parts(x) -> (P, F) matrix, dense or sparse, one row of features per part; by default x is that matrix.
    costs : tuple
        (extra, missing), the prices of wrong and of missing parts for labels without prices of their own.
    most_decodes : int
        The most calls of the decoder for an example in one exact search with rescaled losses.
    kernel : None, str, callable or Kernel
        A kernel of parts (maxmargin.kernels), whose features replace φ_p.

    See Also
    --------
    PricedParts : Labels with prices.
    Decisions : Learns the costs of an optimiser.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import StructuredSVM, tasks
    >>> task = tasks.Parts(lambda scores, x: [np.argmax(scores)])  # choose one of several rows
    >>> X = [np.array([[1.0], [2.0]]), np.array([[3.0], [0.0], [1.0]])]
    >>> model = StructuredSVM(task, C=10).fit(X, [[1], [0]])
    >>> [chosen.tolist() for chosen in model.predict(X)]
    [[1], [0]]
    """

    saved: ClassVar[Fields] = {"n_features_": Whole(1)}

    def __init__(
        self,
        best: Callable[[Array, Any], Any],
        parts: Callable[[Any], Any] | None = None,
        costs: tuple[float, float] = (1.0, 1.0),
        most_decodes: int = 200,
        kernel: Any = None,
    ):
        self.best = best
        self.parts = parts
        self.costs = costs
        self.most_decodes = most_decodes
        self.kernel = kernel

    def _check_saved(self) -> None:
        self._check_length(self.n_features_, 1, 0)

    def setup(self, X: Sequence[Any], Y: Sequence[Any]) -> None:
        if not callable(self.best):
            raise TypeError(f"best must be a function best(scores, x) -> chosen parts, got {self.best!r}")
        if self.parts is not None and not callable(self.parts):
            raise TypeError(f"parts must be None or a function parts(x) -> matrix, got {self.parts!r}")
        check_whole("most_decodes", self.most_decodes, least=1)
        self._prices(self.costs, 1, "costs")
        if len(X) == 0:
            raise ValueError("no examples given: X is empty; expected at least one example")
        first = self._matrix(X[0], 0)
        self.n_features_ = int(first.shape[1])
        if self.n_features_ == 0:
            raise ValueError(f"example 0 has parts of shape {first.shape}: they have no features to learn from")
        if self.kernel is None:
            self._set_dim(first, 1, 0)
            return
        units = stacked_rows([self._checked(x, i) for i, x in enumerate(X)])
        if units.shape[0] == 0:
            raise ValueError("no example has a part to fit a kernel to; expected at least one")
        self._set_dim(units, 1, 0)

    def setup_and_pack(self, X: Sequence[Any], Y: Sequence[Any]) -> PartsBatch:
        self.setup(X, Y)
        batch = self.pack(X, Y)
        batch.check_decoder()
        return batch

    # --- the plain form: one example at a time

    def pieces(self, x: Any, z: Any) -> Pieces:
        """Return Ψ(x, z) by parts."""
        self._refuse_kernel("psi(x, z)")
        matrix = sparse.csr_array(self._checked(x))
        parts = as_numbers(z, "z", matrix.shape[0])
        return Pieces.of_rows([Unit("part", p) for p in parts.tolist()], matrix[parts])

    def psi(self, x: Any, z: Any) -> tuple[NDArray[np.int64], Array]:
        self._refuse_kernel("psi(x, z)")
        matrix = sparse.csr_array(self._checked(x))
        total = np.asarray(matrix[as_numbers(z, "z", matrix.shape[0])].sum(axis=0)).ravel()
        indices = np.flatnonzero(total)
        return indices, total[indices]

    def loss(self, y: Any, z: Any) -> float:
        truth, found = as_numbers(y, "y"), as_numbers(z, "z")
        size = 1 + int(max(truth.max(initial=0), found.max(initial=0)))
        given = [each if np.ndim(each) == 0 else np.asarray(each)[:size] for each in self._given(y)]
        extra, missing = self._prices(given, size, "y")
        return float(extra[np.setdiff1d(found, truth)].sum() + missing[np.setdiff1d(truth, found)].sum())

    def argmax(self, w: Array, x: Any, y: Any = None) -> PartNumbers:
        scores = self._unit_scores(w, self._checked(x), 1, 0)[:, 0]
        if y is not None:
            scores = scores + self._true_parts(y, len(scores), "y").added
        return self.chosen(scores, x, "")

    def decode(self, w: Array, X: Sequence[Any]) -> list[PartNumbers]:
        each = [self._unit_scores(w, self._checked(x, i), 1, 0)[:, 0] for i, x in enumerate(X)]
        bounds = np.append(0, np.cumsum([len(scores) for scores in each])).astype(np.int64)
        return PartSpace(bounds, self._decoder(X)).found(np.concatenate([*each, np.zeros(0)]))

    def chosen(self, scores: Array, x: Any, where: str) -> PartNumbers:
        """Return the parts that the decoder chooses; a note on its errors names the example."""
        try:
            return as_numbers(self.best(scores, x), "best(scores, x)", len(scores))
        except Exception as error:
            error.add_note(f"maxmargin: raised by best(scores, x){where}")
            raise

    # --- the compiled form

    def pack(self, X: Sequence[Any], Y: Sequence[Any]) -> PartsBatch:
        atoms, bounds = self._atoms(X)
        packed = [
            PackedParts(x, a, b, self._true_parts(y, b - a, f"the label of example {i}"))
            for i, (x, y, a, b) in enumerate(zip(X, Y, bounds[:-1].tolist(), bounds[1:].tolist(), strict=True))
        ]
        return PartsBatch(self, atoms, packed)

    def scored(self, X: Sequence[Any], Y: Sequence[Any] | None = None) -> ScoredParts:
        """Return the score space of the inputs, with truths if Y is given."""
        if Y is not None:
            return self.pack(X, Y).scored()
        atoms, bounds = self._atoms(X)
        return ScoredParts(atoms, bounds[:-1], np.diff(bounds), self._decoder(X))

    # --- inside

    def _atoms(self, X: Sequence[Any]) -> tuple[Atoms, NDArray[np.int64]]:
        """Return the features of all parts, and the first part of every input."""
        matrices = [self._checked(x, i) for i, x in enumerate(X)]
        bounds = np.append(0, np.cumsum([matrix.shape[0] for matrix in matrices])).astype(np.int64)
        owner = np.repeat(np.arange(len(X)), np.diff(bounds))
        return self._unit_atoms(stacked_rows(matrices), 1, 0, owner), bounds

    def _decoder(self, X: Sequence[Any]) -> PartDecoder:
        """Return the user's decoder for these inputs."""
        return lambda j, scores: self.chosen(scores, X[j], f" on example {j}")

    def _true_parts(self, y: Any, size: int, name: str) -> TrueParts:
        truth = as_numbers(y, name, size)
        return TrueParts.of(truth, *self._prices(self._given(y), size, name))

    def _given(self, y: Any) -> Any:
        """Return (extra, missing) as given."""
        return (y.extra, y.missing) if isinstance(y, PricedParts) else self.costs

    def _prices(self, given: Any, size: int, name: str) -> tuple[Array, Array]:
        """Return the costs (extra, missing) of choosing each part wrongly and of missing it."""
        if not isinstance(given, tuple | list) or len(given) != 2:
            raise ValueError(f"{name}: the prices are {given!r}; expected (extra, missing)")
        found = []
        for kind, values in zip(("extra", "missing"), given, strict=True):
            try:
                prices = np.array(np.broadcast_to(np.asarray(values, dtype=float), size))
            except (TypeError, ValueError):
                raise ValueError(
                    f"{name}: the {kind} prices have shape {np.shape(values)}; expected ({size},), one per part"
                ) from None
            good = np.isfinite(prices) & (prices >= 0)
            if not good.all():
                p = int(np.argmin(good))
                raise ValueError(f"{name}: the {kind} price of part {p} is {prices[p]}; expected a finite number >= 0")
            found.append(prices)
        return found[0], found[1]

    def _matrix(self, x: Any, i: int) -> Any:
        return part_rows(x if self.parts is None else self.parts(x), i)

    def _checked(self, x: Any, i: int = 0) -> Any:
        return checked_rows(self._matrix(x, i), self.n_features_, i)
