"""Training a kind of model in many ways, and the digests of what it learns."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from itertools import product

import numpy as np
from scipy import sparse

import maxmargin as mm
from maxmargin import kernels, tasks
from maxmargin.base.named_weights import Weights

FORMULATIONS = list(product(("margin", "slack"), ("l1", "l2")))  # (rescaling, slack)
RESCALED = FORMULATIONS[1:]  # all but the default
CERTIFIED = ("bcfw", "n_slack", "one_slack", "bundle")
ONLINE = ("subgradient", "perceptron")
SOLVERS = (*CERTIFIED, "sampled_cuts", *ONLINE)

GROUPS = {}  # name: function(fits), which trains models by fits(kind, X, Y, …)


def group(name):
    def register(function):
        assert name not in GROUPS, name
        GROUPS[name] = function
        return function

    return register


def predicted(model, few):
    return model.predict(few)


def scored(model, few):
    return [model.predict(few), model.decision_function(few)]


class Fits:
    """Models of one kind, fitted to the same data in many ways; what each learns is put into `results`.

    `answer(model, few)` is recorded as predictions; `few` are the first five inputs unless told; `given` are further
    arguments of fit. Whatever a call says in addition counts for that call only: `data`, `answer`, `few`, `given`, or
    parameters of the estimator.
    """

    def __init__(self, results, kind, *data, answer=predicted, few=None, given=None, **options):
        self.results, self.kind, self.options = results, kind, options
        self.usual = {"data": data, "answer": answer, "few": few, "given": given or {}}

    def _chosen(self, changes):
        data, answer, few, given = (changes.pop(name, usual) for name, usual in self.usual.items())
        return self.kind(**{**self.options, **changes}), data, answer, data[0][:5] if few is None else few, given

    def record(self, label, train):
        """`train` returns a model and its predictions."""
        assert label not in self.results, label
        try:
            self.results[label] = digests(*train())
        except Exception as error:
            self.results[label] = failed(error)

    def __call__(self, label, **changes):
        model, data, answer, few, given = self._chosen(changes)
        self.refit(label, model, data, answer, few, given)

    def refit(self, label, model, data, answer, few, given):
        self.record(label, lambda: (model.fit(*data, **given), answer(model, few)))

    def each(self, chosen, prefix="", **changes):
        """`chosen` maps labels to further parameters."""
        for label, more in chosen.items():
            self(f"{prefix}{label}", **changes, **more)

    def solvers(self, chosen=SOLVERS, prefix="solver ", **changes):
        self.each({solver: {"solver": solver} for solver in chosen}, prefix, **changes)

    def formulations(self, chosen=FORMULATIONS, prefix="", **changes):
        self.each({f"{r} {s}": {"rescaling": r, "slack": s} for r, s in chosen}, prefix, **changes)

    def path(self, values, label="path", **changes):
        model, data, answer, few, given = self._chosen(changes)
        for value, each in zip(values, model.fit_path(*data, values, **given), strict=True):
            self.record(f"{label} {value!r}", lambda each=each: (each, answer(each, few)))

    def warm(self, then, label="warm", **changes):
        """Fitted twice, the second time with this C and from where the first ended."""
        model, *rest = self._chosen({"warm_start": True, **changes})
        self.refit(f"{label} first", model, *rest)
        self.refit(f"{label} second", model.set_params(C=then), *rest)

    def partial(self, pieces, label="partial", **changes):
        """Trained on one piece after another; `given` is for the first of them."""
        model, _, answer, few, given = self._chosen(changes)

        def train():
            for number, piece in enumerate(pieces):
                model.partial_fit(*piece, **(given if number == 0 else {}))
            return model, answer(model, few)

        self.record(label, train)

    def certify(self, label="certify", **changes):
        model, data, _, _, given = self._chosen(changes)

        def train():
            found = model.fit(*data, **given).certify(*data, **given)
            return model, [found.primal, found.dual, found.passes]

        self.record(label, train)

    def unfinished(self, label, **changes):
        """What is left of a training that ends with an error."""
        model, data, answer, few, given = self._chosen(changes)

        def train():
            try:
                model.fit(*data, **given)
                ended = "without an error"
            except Exception as error:
                ended = type(error).__name__
            return model, [ended, answer(model, few)]

        self.record(label, train)


def failed(error):
    return {"error": f"{type(error).__name__}: {error}"}


def plain(value):
    """A value of builtin types whose repr says all of it, in every process."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return [list(value.shape), [plain(each) for each in value.ravel().tolist()]]
    if sparse.issparse(value):
        return plain(value.toarray())
    if isinstance(value, Weights):
        return plain(value.values)
    if isinstance(value, mm.PairwiseAlignment):
        return [value.pairs.tolist(), list(value.lengths), value.trusted.tolist()]
    if isinstance(value, mm.Tree):
        return str(value)
    if isinstance(value, Mapping):
        return sorted(([plain(key), plain(each)] for key, each in value.items()), key=repr)
    if isinstance(value, set | frozenset):
        return sorted(map(plain, value), key=repr)
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, tasks.Pairs):
        return plain([value.n_items, value.pairs, value.features])
    if isinstance(value, tasks.Nodes):
        return plain([value.features, value.edges, value.edge_features])
    raise TypeError(f"{type(value).__name__} has no plain form")


def weights(model):
    """The numbers that training has found, as one vector."""
    if hasattr(model, "w_"):
        found = [model.w_]
    elif isinstance(model, kernels.KernelMap):
        found = [model.error_]  # its predictions are the mapped inputs
    else:  # counting, whose weights are trained feature by feature
        coef = getattr(model, "coef_", None)
        found = [None if coef is None else coef.T, model.intercept_, model.dual_coef_]
    return np.concatenate([np.ravel(np.asarray(each, dtype=np.float64)) for each in found if each is not None])


def digests(model, predictions):
    if hasattr(model, "steps"):  # a pipeline
        model = model[-1]
    certificate = getattr(model, "certificate_", None)
    value = getattr(certificate, "primal", getattr(certificate, "objective", None))
    return {
        "w": hashlib.sha256(weights(model).tobytes()).hexdigest(),
        "value": None if value is None else repr(float(value)),
        "predict": hashlib.sha256(repr(plain(predictions)).encode()).hexdigest(),
    }
