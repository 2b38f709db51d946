"""Features of aligned pairs, which score the match of position i of one sequence with position j of the other.

Ψ(x, z) sums φ(i, j) over the pairs of z, so a feature map must provide the scores ⟨w, φ(i, j)⟩ of all pairs at once,
and the sum of φ over some of them. `Match` is bilinear in a view of each sequence,

    φ(i, j) = A_i ⊗ B_j,      ⟨w, φ(i, j)⟩ = A_i W B_jᵀ,

a substitution matrix if both are letters. Maps in a list add up. The named models are those of Joachims et al. 2009,
section 3.2; each contains the ones before it:

    "simple"    every column of a with every column of b, such as residue with residue, residue with structure
    "anova2"    pairs of columns with pairs of columns
    "tensor"    all columns of letters together with all together
    "window"    every column of letters with itself, one and two positions before and after
    "profile"   every column of numbers with every one and with all columns of letters, and with itself one and two
                positions before and after
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from itertools import combinations
from typing import Any, ClassVar, NamedTuple

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.base.files.fields import Part, afford
from maxmargin.base.files.objects import Fields
from maxmargin.base.named_weights import SymmetricWeights, Weights
from maxmargin.structures.alignment.columns import Codes, Columns, EncodedSequence
from maxmargin.structures.alignment.views import (
    Column,
    Entries,
    PositionFeatures,
    Product,
    ScoreRows,
    View,
    as_view,
    outer_sum,
    view_width,
)

MODELS = ("simple", "anova2", "tensor", "window", "profile")
NEIGHBOURS = 2  # the window of the models "window" and "profile"


class PairSizes(NamedTuple):
    """Bounds on the scores and features of one example, for rounding errors."""

    score: float  # bound on Σ_k |w_k φ_k(i, j)|
    length: float  # bound on ‖φ(i, j)‖
    terms: int  # the most products that a score is a sum of


class PairFeatures:
    """A feature map of aligned pairs. A subclass defines fit, scores and counts (and encode, if it saves time).

    If the array is not too large, a function x -> (n, m, F) array of φ can be used instead.
    """

    size: int  # length of φ; set by fit

    def fit(self, X: Sequence[Any], columns: Columns, symmetric: bool) -> None:
        """Set `size`. It runs on a copy of the user's object; `columns` has the alphabets of all columns."""
        raise NotImplementedError

    def encode(self, x: Any, sides: tuple[EncodedSequence, EncodedSequence]) -> Any:
        """Return an example prepared for scores and counts, which is done once; by default x itself."""
        return x

    def scores(self, w: Array, code: Any) -> Array:
        """Return the (n, m) scores ⟨w, φ(i, j)⟩."""
        raise NotImplementedError

    def counts(self, code: Any, pairs: Codes) -> Any:
        """Return Σ φ(i, j) over the rows (i, j) of `pairs`: (size,) numbers, or (indices, values)."""
        raise NotImplementedError

    def written_out(self, code: Any) -> Array:
        """Return the (n, m, F) array φ(i, j) of all pairs, for smooth objectives; it is computed from scores."""
        return np.stack([np.asarray(self.scores(unit, code), dtype=np.float64) for unit in np.eye(self.size)], axis=2)

    def expected(self, code: Any, shares: Array) -> Array:
        """Return Σ_{i, j} shares[i, j] φ(i, j)."""
        return np.tensordot(shares, self.written_out(code), 2)

    def sizes(self, w: Array, code: Any) -> PairSizes:
        """Return bounds on the scores and features of this example."""
        array = np.abs(self.written_out(code))
        lengths = np.sqrt(np.sum(array * array, axis=2))
        return PairSizes(float(np.max(array @ np.abs(w), initial=0.0)), float(np.max(lengths, initial=0.0)), self.size)

    def named_weights(self, w: Array) -> dict[str, Weights]:
        """Return the named weights, with the kinds of weights as keys."""
        return {type(self).__name__: Weights(w, feature=range(len(w)))}

    def prepare(self, w: Array) -> Any:
        """Return the weights prepared for score_rows, which is done once for many examples."""
        return w

    def score_rows(self, prepared: Any, code: Any) -> ScoreRows:
        """Return the scores, as distinct rows if that saves time."""
        return ScoreRows(np.asarray(self.scores(prepared, code), dtype=np.float64), None)


class Match(PairFeatures):
    """The feature map φ(i, j) = A_i ⊗ B_j of two views.

    In a symmetric model W is symmetric for equal views; for different views the pair counts in both orders, A_i ⊗ B_j
    of (a, b) and of (b, a), with the same weights.

    Parameters
    ----------
    a : str or View
        A view of the first sequence, or the name of a column.
    b : str, View or None
        A view of the second sequence; None for the same view.

    Examples
    --------
    >>> from maxmargin.tasks import Match, Product
    >>> features = [Match("residue"), Match(Product("residue", "ss"))]

    See Also
    --------
    Column, Product, Window, Average : the views.
    """

    saved: ClassVar[Fields] = {"a": Part(View), "b": Part(View)}
    saved_as: ClassVar[str] = "__init__"

    def __init__(self, a: str | View, b: str | View | None = None):
        self.a = as_view(a)
        self.b = self.a if b is None else as_view(b)

    def __repr__(self) -> str:
        return f"Match({self.a!r})" if self.a == self.b else f"Match({self.a!r}, {self.b!r})"

    def __str__(self) -> str:
        return f"{self.a} × {self.b}"

    def fit(self, X: Sequence[Any], columns: Columns, symmetric: bool) -> None:
        both = (0, 1)
        self.columns = columns
        self.shape = (
            view_width(self.a, columns, both if symmetric else (0,)),
            view_width(self.b, columns, both if symmetric else (1,)),
        )
        self.triangular = symmetric and self.a == self.b
        self.mirrored = symmetric and not self.triangular
        self.size = self.shape[0] * self.shape[1]
        afford(self.size, f"weights of {self}")
        if self.triangular:
            p, q = np.triu_indices(self.shape[0])
            self.size = len(p)
            # Number of the weight that features (p, q) and (q, p) share.
            self.number = np.zeros(self.shape, dtype=np.int64)
            self.number[p, q] = self.number[q, p] = np.arange(len(p))

    def names(self) -> tuple[list[Any], list[Any]]:
        """Return the names of the rows and columns of W."""
        return self.a.names(self.columns), self.b.names(self.columns)

    def weights(self, w: Array) -> Array:
        """Return W as a matrix."""
        return w[self.number] if self.triangular else w.reshape(self.shape)

    def weights_for(self, W: Array) -> Array:
        """Return the weights w for which W is this matrix, which must be symmetric in a symmetric model."""
        return W[np.triu_indices(len(W))] if self.triangular else W.ravel()

    def encode(
        self, x: Any, sides: tuple[EncodedSequence, EncodedSequence]
    ) -> list[tuple[PositionFeatures, PositionFeatures]]:
        first, second = sides
        code = [(self.a.features(first, self.columns), self.b.features(second, self.columns))]
        if self.mirrored:
            code.append((self.b.features(first, self.columns), self.a.features(second, self.columns)))
        return code

    def prepare(self, w: Array) -> Array:
        return self.weights(w)

    def score_rows(self, prepared: Array, code: list[tuple[PositionFeatures, PositionFeatures]]) -> ScoreRows:
        W = prepared
        (A, B), *mirrored = code
        rows, row_of = A.times(W)
        scored = ScoreRows(B.spread(rows), row_of)
        for A, B in mirrored:
            rows, row_of = A.times(W.T)
            scored = ScoreRows(scored.full() + ScoreRows(B.spread(rows), row_of).full(), None)
        return scored

    def scores(self, w: Array, code: list[tuple[PositionFeatures, PositionFeatures]]) -> Array:
        return self.score_rows(self.prepare(w), code).full()

    def counts(self, code: list[tuple[PositionFeatures, PositionFeatures]], pairs: Codes) -> Entries:
        i, j = pairs[:, 0], pairs[:, 1]
        (A, B), *mirrored = code
        places, values = outer_sum(A, i, B, j)
        if self.triangular:
            return self.number.ravel()[places], values
        for A, B in mirrored:
            turned, more = outer_sum(A, i, B, j)
            q, p = np.divmod(turned, self.shape[0])
            places, values = np.concatenate([places, p * self.shape[1] + q]), np.concatenate([values, more])
        return places, values

    def expected(self, code: list[tuple[PositionFeatures, PositionFeatures]], shares: Array) -> Array:
        (A, B), *mirrored = code
        total = A.dense().T @ shares @ B.dense()
        if self.triangular:
            return np.asarray(np.bincount(self.number.ravel(), total.ravel(), self.size), dtype=np.float64)
        for A, B in mirrored:
            total = total + (A.dense().T @ shares @ B.dense()).T
        return total.ravel()

    def sizes(self, w: Array, code: list[tuple[PositionFeatures, PositionFeatures]]) -> PairSizes:
        W, score, length = np.abs(self.weights(w)), 0.0, 0.0
        for k, (A, B) in enumerate(code):
            first, second = np.abs(A.dense()), np.abs(B.dense())
            score += float(np.max(first @ (W if k == 0 else W.T) @ second.T, initial=0.0))
            rows = [float(np.max(np.linalg.norm(each, axis=1), initial=0.0)) for each in (first, second)]
            length += 2 * rows[0] * rows[1]  # because features (p, q) and (q, p) share a weight
        return PairSizes(score, length, 2 * sum(self.shape))

    def named_weights(self, w: Array) -> dict[str, Weights]:
        """Return W; its rows belong to the first sequence (to either one if the pair counts in both orders)."""
        first, second = self.names()
        kind = SymmetricWeights if self.triangular else Weights
        return {str(self): kind(self.weights(w), first=first, second=second)}


class ComputedFeatures(PairFeatures):
    """The features that a function x -> (n, m, F) array returns."""

    def __init__(self, function: Callable[[Any], Any]):
        self.function = function

    def fit(self, X: Sequence[Any], columns: Columns, symmetric: bool) -> None:
        self.size = self._array(X[0]).shape[2]

    def encode(self, x: Any, sides: tuple[EncodedSequence, EncodedSequence]) -> Array:
        array, expected = self._array(x), (sides[0].length, sides[1].length, self.size)
        if array.shape != expected:
            raise ValueError(f"the function of features returned an array of shape {array.shape}; expected {expected}")
        if not np.isfinite(array).all():
            i, j, k = np.argwhere(~np.isfinite(array))[0]
            raise ValueError(f"feature {k} of the pair ({i}, {j}) is {array[i, j, k]}; expected finite numbers")
        return array

    def scores(self, w: Array, code: Array) -> Array:
        return code @ w

    def written_out(self, code: Array) -> Array:
        return code

    def counts(self, code: Array, pairs: Codes) -> Array:
        return np.asarray(code[pairs[:, 0], pairs[:, 1]].sum(axis=0))

    def named_weights(self, w: Array) -> dict[str, Weights]:
        name = getattr(self.function, "__name__", type(self.function).__name__)
        return {name: Weights(w, feature=range(len(w)))}

    def _array(self, x: Any) -> Array:
        array = np.asarray(self.function(x), dtype=np.float64)
        if array.ndim != 3:
            raise ValueError(f"the function of features returned an array of shape {array.shape}; expected (n, m, F)")
        return array


def feature_maps(features: Any, columns: Columns, symmetric: bool) -> list[PairFeatures]:
    """Return copies of the feature maps that `features` names: a model, a map, a function, or a list of these."""
    maps: list[PairFeatures] = []
    for each in features if isinstance(features, list | tuple) else [features]:
        if isinstance(each, str):
            maps += named_model(each, columns, symmetric)
        elif isinstance(each, PairFeatures):
            maps.append(deepcopy(each))
        elif isinstance(each, type):
            raise ValueError(f"features has the class {each.__name__}; expected an object of it, {each.__name__}(…)")
        elif callable(each):
            maps.append(ComputedFeatures(each))
        else:
            kinds = f"one of {', '.join(map(repr, MODELS))}, a PairFeatures, a function, or a list of these"
            raise ValueError(f"features must be {kinds}; got {each!r}")
    if not maps:
        raise ValueError("features is an empty list: aligned pairs need features")
    return maps


def named_model(name: str, columns: Columns, symmetric: bool) -> list[PairFeatures]:
    """Return the feature maps of a named model, for these columns."""
    if name not in MODELS:
        raise ValueError(f"features must be one of {', '.join(map(repr, MODELS))}, got {name!r}")
    level = MODELS.index(name)
    letters = [[Column(each) for each in names if each in columns.alphabets] for names in columns.names]
    numbers = [[Column(each) for each in names if each in columns.widths] for names in columns.names]
    fewest = min(map(len, letters))
    if any(numbers) and name != "profile":
        found = (*numbers[0], *numbers[1])[0]
        raise ValueError(f"the model {name!r} does not use the numbers of column {str(found)!r}; use 'profile'")
    if name == "profile" and not all(numbers):
        raise ValueError("the model 'profile' needs a column of numbers in both sequences")
    if name in ("anova2", "tensor") and fewest < level + 1:
        raise ValueError(
            f"the model {name!r} needs {level + 1} or more columns of letters, the sequences have {fewest}"
        )
    maps = _crossed(letters[0], letters[1], symmetric)
    if level >= MODELS.index("anova2"):
        first, second = ([Product(*two) for two in combinations(side, 2)] for side in letters)
        maps += _crossed(first, second, symmetric)
    if level >= MODELS.index("tensor") and fewest > 2:
        maps.append(Match(Product(*letters[0]), Product(*letters[1])))
    if level >= MODELS.index("window"):
        maps += _neighbours(letters[0], letters[1])
    if level >= MODELS.index("profile"):
        maps += _crossed(numbers[0], numbers[1], symmetric)
        maps += _crossed(numbers[0], letters[1], symmetric)
        if not symmetric:
            maps += _crossed(letters[0], numbers[1], symmetric)
        maps += _neighbours(numbers[0], numbers[1])
    return list(maps)


def _crossed(first: Sequence[View], second: Sequence[View], symmetric: bool) -> list[PairFeatures]:
    """Return every view of a with every view of b; in a symmetric model, the two orders are the same map."""
    maps: dict[Any, Match] = {}
    for u in first:
        for v in second:
            key = frozenset([u, v]) if symmetric else (u, v)
            maps.setdefault(key, Match(u, v))
    return list(maps.values())


def _neighbours(first: Sequence[Column], second: Sequence[Column]) -> list[PairFeatures]:
    """Return matches of positions at the same distance from i and from j, for every column of both sequences."""
    offsets = [d for d in range(-NEIGHBOURS, NEIGHBOURS + 1) if d]
    return [Match(Column(column.name, d)) for column in first if column in second for d in offsets]
