"""PCFG: a probabilistic context-free grammar with maximum-likelihood weights, the classical baseline."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator

from maxmargin.base.checks import is_real
from maxmargin.base.files.fields import NumberArray, Part
from maxmargin.base.files.objects import Fields, parameters_of
from maxmargin.base.files.saving import SavedModel
from maxmargin.report.reported import Reported
from maxmargin.structures.parsing.estimator import ParsesSentences
from maxmargin.structures.parsing.task import Grammar, OnFailure


class PCFG(ParsesSentences, SavedModel, Reported, BaseEstimator):
    """Parse sentences by a probabilistic context-free grammar with maximum-likelihood weights.

    The weight of a rule is the logarithm of its relative frequency, w_r = log (count(r) / count of all rules with its
    parent).

    This is the baseline of Tsochantaridis et al. 2004, section 4.5, without training and features. The best tree is the
    most probable one, and its score is the logarithm of its probability. Sentences are lists of tags, or of (word, tag)
    pairs. As in all grammars of this package, unary rules form only the chains that the training trees have; other
    chains would have a probability, too, so that those of all trees may sum to less than 1.

    Parameters
    ----------
    smoothing : float
        The number that is added to all counts. Without it, rules that the training trees do not have are never used;
        there are such rules only if `rules` is given.
    horizontal : int or None
        The number of siblings to the left that a rule remembers; None: all.
    vertical : int
        The number of generations that a label remembers, including itself.
    rules : None or strings
        A grammar of your own instead of the rules of the trees, as for Parser.
    on_failure : "error" or "flat"
        What predict does with a sentence that has no tree, as for Parser.

    Attributes
    ----------
    w_ : array
        Logarithms of probabilities.
    weights_ : dict of Weights
        The same by name, "rules" and "roots".
    task_ : Grammar
        The grammar.

    See Also
    --------
    Parser : A grammar whose weights are trained with a large margin.

    Examples
    --------
    >>> from maxmargin import PCFG
    >>> trees = ["(S (NP (D the) (N dog)) (V barks))", "(S (N Rex) (V barks))"]
    >>> model = PCFG().fit([["D", "N", "V"], ["N", "V"]], trees)
    >>> str(model.predict([["D", "N", "V"]])[0])
    '(S (NP (D D) (N N)) (V V))'
    """

    saved: ClassVar[Fields] = {"task_": Part(Grammar), "w_": NumberArray(float, "task_.dim", finite=False)}

    @classmethod
    def _saved_parameters(cls) -> Fields:
        return parameters_of(cls)

    def __init__(
        self,
        smoothing: float = 0.0,
        horizontal: int | None = 1,
        vertical: int = 1,
        rules: Any = None,
        on_failure: OnFailure = "error",
    ):
        self.smoothing = smoothing
        self.horizontal = horizontal
        self.vertical = vertical
        self.rules = rules
        self.on_failure = on_failure

    def _proved(self) -> list[str]:
        return [
            "A PCFG is counted, not optimised: its weights are logarithms of relative frequencies, and need no proof."
        ]

    def fit(self, X: Any, Y: Any) -> Self:
        """Count the rules of the trees Y of the sentences X, and return self."""
        if not is_real(self.smoothing) or not 0 <= self.smoothing < np.inf:
            raise ValueError(f"smoothing must be a finite number >= 0, got {self.smoothing!r}")
        task = Grammar(
            horizontal=self.horizontal,
            vertical=self.vertical,
            rules=self.rules,
            span_features=(),
            on_failure=self.on_failure,
        )
        if len(X) != len(Y) or len(X) == 0:
            raise ValueError(f"X has {len(X)} sentences and Y {len(Y)} trees; expected equal numbers, at least one")
        task.setup(X, Y)
        counted = np.concatenate([example.true_atoms for example in task.pack(X, Y).examples])
        counts = np.bincount(counted, minlength=task.dim) + self.smoothing
        rules, unary = task.features_.rules, list(task.productions_.unary)
        n_symbols = len(rules.label)
        parents = np.concatenate([rules.parent, [parent for parent, _ in unary], np.full(len(rules.roots), n_symbols)])
        totals = np.bincount(parents.astype(np.intp), counts, minlength=n_symbols + 1)
        with np.errstate(divide="ignore"):  # log 0 = -inf for rules that were never seen: they cannot be used
            self.w_ = np.log(counts / np.maximum(totals, 1e-300)[parents.astype(np.intp)])
        self.task_ = task
        return self
