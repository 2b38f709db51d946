"""CRF: a linear-chain conditional random field with the parameters of sklearn-crfsuite."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from math import ceil
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from maxmargin.base.checks import is_real, is_whole
from maxmargin.base.errors import warn_caller
from maxmargin.structures.sequences.estimator import SequenceLabeler

ALGORITHMS = (None, "lbfgs", "l2sgd")  # both minimise (1)
TOL = 1e-4  # the relative gap at which training ends


class CRF(BaseEstimator):
    """Label sequences by a conditional random field, with the parameters and methods of sklearn_crfsuite.CRF.

    It is a SequenceLabeler with objective="likelihood", which is kept as `labeler_`. CRFsuite minimises

        -Σ_i log p(y_i | x_i) + c2 ‖w‖²                                                                     (1)

    over n sequences, which is the objective of SequenceLabeler with C = n / (2 · c2), multiplied by 2 · c2.

    Parameters
    ----------
    algorithm : "lbfgs" or "l2sgd"
        Names of algorithms that minimise (1). Others train something else and are refused.
    c1 : float
        The weight of the L1 norm, which is ignored with a warning unless it is 0; `labeler_.sparsify(X)` makes a model
        with few weights.
    c2 : float
        The weight of ‖w‖² in (1).
    max_iterations : int or None
        The maximum number of passes over the data; None for the default of the solver.
    all_possible_states, all_possible_transitions : bool or None
        All features have weights at all labels, and all pairs of labels have weights, whatever is given here.
    min_freq : float or None
        Features of fewer training tokens get no weight.
    epsilon, delta, period, num_memories : number or None
        Settings of CRFsuite's stopping rule and optimiser, which are not used: training ends at a proved relative
        duality gap of 0.01%.
    verbose : bool
        Show progress.

    Attributes
    ----------
    labeler_ : SequenceLabeler
        The model. It explains predictions, computes sums and n-best lists, and is saved by `labeler_.save(path)`.
    classes_ : list
        The labels.
    state_features_ : dict
        Weights by (feature, label), those that are not 0.
    transition_features_ : dict
        Weights by (label before, label after), those that are not 0.
    attributes_ : list of str
        The names of the features.

    See Also
    --------
    maxmargin.SequenceLabeler : The estimator for new programs.

    Notes
    -----
    Two weights of every label that CRFsuite does not have are learnt besides: of the first and of the last position.
    CRFsuite trains the same model if the first and the last token have a feature of their own, and if
    all_possible_states and all_possible_transitions are True.

    Features are named as by python-crfsuite: {"word": "the", "suffix": {"he": 0.5}, "title": True} has the features
    "word:the" and "title" with the value 1, and "suffix:he" with 0.5.

    Examples
    --------
    >>> from maxmargin.compat import CRF
    >>> X = [[{"word": "the"}, {"word": "dog"}], [{"word": "dog"}, {"word": "barks"}]]
    >>> crf = CRF(algorithm="lbfgs", c2=0.1, max_iterations=100).fit(X, [["D", "N"], ["N", "V"]])
    >>> crf.predict([[{"word": "the"}, {"word": "dog"}]])
    [['D', 'N']]
    """

    labeler_: SequenceLabeler

    def __init__(
        self,
        algorithm: str | None = None,
        min_freq: float | None = None,
        all_possible_states: bool | None = None,
        all_possible_transitions: bool | None = None,
        c1: float | None = None,
        c2: float | None = None,
        max_iterations: int | None = None,
        num_memories: int | None = None,
        epsilon: float | None = None,
        period: int | None = None,
        delta: float | None = None,
        verbose: bool = False,
    ):
        self.algorithm = algorithm
        self.min_freq = min_freq
        self.all_possible_states = all_possible_states
        self.all_possible_transitions = all_possible_transitions
        self.c1 = c1
        self.c2 = c2
        self.max_iterations = max_iterations
        self.num_memories = num_memories
        self.epsilon = epsilon
        self.period = period
        self.delta = delta
        self.verbose = verbose

    def fit(self, X: Any, y: Any) -> Self:
        """Train on sequences X of tokens, given by dicts or lists of features, and their labels y."""
        if self.algorithm not in ALGORITHMS:
            raise ValueError(
                f"algorithm is {self.algorithm!r}; expected 'lbfgs' or 'l2sgd'. For large-margin training use "
                "SequenceLabeler(), and SequenceLabeler(solver='perceptron') for a perceptron"
            )
        c1, c2 = 0.0 if self.c1 is None else self.c1, 1.0 if self.c2 is None else self.c2
        for name, value, least in (("c1", c1, "0 or more"), ("c2", c2, "a positive number")):
            if not is_real(value) or not 0 <= value < float("inf") or (name == "c2" and value == 0):
                raise ValueError(f"{name} is {value!r}; expected {least}")
        if self.max_iterations is not None and (not is_whole(self.max_iterations) or self.max_iterations < 1):
            raise ValueError(f"max_iterations is {self.max_iterations!r}; expected a whole number >= 1")
        if self.min_freq is not None and (not is_real(self.min_freq) or not 0 <= self.min_freq < float("inf")):
            raise ValueError(f"min_freq is {self.min_freq!r}; expected a finite number >= 0")
        if c1 > 0:
            warn_caller(
                f"c1={c1:g} is ignored, because this CRF has no L1 norm; labeler_.sparsify(X) sets weights to 0 that "
                "predictions do not need",
                UserWarning,
            )
        n = len(X)
        options: dict[str, Any] = {
            "C": n / (2 * c2) if n else 1.0,
            "objective": "likelihood",
            "min_count": max(1, ceil(self.min_freq or 0)),
            "tol": TOL,
            "max_passes": self.max_iterations,
            "verbose": int(bool(self.verbose)),
        }
        self.labeler_ = SequenceLabeler(**options).fit(_sequences(X), y)
        return self

    def predict(self, X: Any) -> list[list[Hashable]]:
        """Return the best labels of every sequence."""
        return self._fitted().predict(_sequences(X))

    def predict_single(self, xseq: Any) -> list[Hashable]:
        """Return the best labels of one sequence."""
        return self.predict([xseq])[0]

    def predict_marginals(self, X: Any) -> list[list[dict[Hashable, float]]]:
        """Return {label: probability} of every position of every sequence."""
        labels, proba = self.classes_, self._fitted().predict_proba(_sequences(X))
        return [[dict(zip(labels, row, strict=True)) for row in each.tolist()] for each in proba]

    def predict_marginals_single(self, xseq: Any) -> list[dict[Hashable, float]]:
        """Return {label: probability} of every position of one sequence."""
        return self.predict_marginals([xseq])[0]

    def score(self, X: Any, y: Any) -> float:
        """Return the share of positions with the right label."""
        return self._fitted().score(_sequences(X), y)

    def explain(self, x: Any, z: Any = None, **options: Any) -> Any:
        """Return the contributions of weights to the score of a prediction; see SequenceLabeler.explain."""
        return self._fitted().explain(_sequences([x])[0], z, **options)

    @property
    def classes_(self) -> list[Hashable]:
        return self._fitted().task_.classes_

    @property
    def attributes_(self) -> list[str]:
        return list(self._fitted().task_.packer_.feature_names)

    @property
    def state_features_(self) -> dict[tuple[Hashable, Hashable], float]:
        return self._weights("features")

    @property
    def transition_features_(self) -> dict[tuple[Hashable, Hashable], float]:
        return self._weights("transitions")

    def _fitted(self) -> SequenceLabeler:
        check_is_fitted(self, "labeler_")
        return self.labeler_

    def _weights(self, kind: str) -> dict[tuple[Hashable, Hashable], float]:
        array = self._fitted().weights_[kind]
        first, second = array.names
        rows, columns = array.values.nonzero()
        pairs = zip(rows.tolist(), columns.tolist(), array.values[rows, columns].tolist(), strict=True)
        return {(first[i], second[j]): weight for i, j, weight in pairs}


def _sequences(X: Any) -> list[list[dict[str, float]]]:
    """Return the tokens of all sequences as {feature: value}."""
    return [[_token(token, f"token {t} of sequence {i}") for t, token in enumerate(x)] for i, x in enumerate(X)]


def _token(token: Any, where: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, value in _features(token, "", where):
        found[name] = found.get(name, 0.0) + value
    return found


def _features(given: Any, prefix: str, where: str) -> Iterator[tuple[str, float]]:
    """Yield (name, value) of the features of a token, as python-crfsuite names them."""
    if isinstance(given, Mapping):
        for name, value in given.items():
            own = f"{prefix}{name}"
            if isinstance(value, bool | np.bool_) or is_real(value):
                yield own, float(value)
            else:
                yield from _features(value, f"{own}:", where)
    elif isinstance(given, str | bytes):
        name = given.decode() if isinstance(given, bytes) else given
        yield f"{prefix}{name}", 1.0
    elif isinstance(given, Sequence | set | frozenset):
        for each in given:
            yield from _features(each, prefix, where)
    else:
        raise ValueError(f"{where} has the feature {prefix}{given!r}; expected dicts, lists, strings and numbers")
