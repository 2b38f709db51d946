"""compat.CRF: the model that CRFsuite would train, under its parameters and names."""

import json
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import maxmargin as mm
from maxmargin.compat import CRF

LABELS = ["D", "N", "V"]


def tagged(n=20, seed=0):
    rng = np.random.default_rng(seed)
    X, Y = [], []
    for _ in range(n):
        z = rng.integers(3, size=int(rng.integers(1, 5))).tolist()
        words = [k if rng.random() < 0.7 else int(rng.integers(3)) for k in z]
        X.append([{"word": f"w{k}", "size": 0.5 + k, "title": k == 1} for k in words])
        Y.append([LABELS[k] for k in z])
    return X, Y


def log_likelihood(w, rows, Y):
    """Σ log p(y | x) by enumeration, and its gradient; w = (features × labels, transitions, start, end)."""
    K, F = 3, rows[0].shape[1]
    U, T, s, f = (
        each.reshape(shape)
        for each, shape in zip(np.split(w, np.cumsum([F * K, K * K, K])), [(F, K), (K, K), (K,), (K,)], strict=True)
    )
    total = 0.0
    for x, y in zip(rows, Y, strict=True):
        unary = x @ U
        scores = {}
        for z in product(range(K), repeat=len(x)):
            links = sum(T[a, b] for a, b in pairwise(z))
            scores[z] = s[z[0]] + f[z[-1]] + links + sum(unary[t, k] for t, k in enumerate(z))
        total += scores[tuple(LABELS.index(k) for k in y)] - np.logaddexp.reduce(list(scores.values()))
    return total


@pytest.mark.parametrize("c2", [0.1, 1.0])
def test_it_minimises_the_objective_of_crfsuite(c2):
    """-Σ log p + c2 ‖w‖², minimised by scipy over an enumeration of all label sequences."""
    X, Y = tagged(8)
    model = CRF(c2=c2, all_possible_transitions=True).fit(X, Y)
    names = model.attributes_
    values = lambda token: {f"word:{token['word']}": 1.0, "size": token["size"], "title": float(token["title"])}  # noqa: E731
    rows = [np.array([[values(token).get(name, 0.0) for name in names] for token in x]) for x in X]

    def objective(w):
        return -log_likelihood(w, rows, Y) + c2 * w @ w

    W = model.labeler_.weights_
    own = np.concatenate([W[kind].values.ravel() for kind in ("features", "transitions", "start", "end")])
    best = minimize(objective, np.zeros_like(own), tol=1e-10)
    assert np.isclose(objective(own), best.fun, rtol=2e-4)
    assert objective(own) >= best.fun - 1e-6
    certificate = model.labeler_.certificate_
    assert np.isclose(2 * c2 * certificate.primal, objective(own), rtol=1e-9)  # equal objectives: C = n / (2 c2)


def test_weights_are_those_of_crfsuite():
    """Where python-crfsuite is installed: with features of the first and last token, it trains the same weights."""
    pycrfsuite = pytest.importorskip("pycrfsuite")
    X, Y = tagged(40)
    model = CRF(c2=0.5).fit(X, Y)
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    trainer.set_params(
        {
            "c1": 0.0,
            "c2": 0.5,
            "feature.possible_states": True,
            "feature.possible_transitions": True,
            "epsilon": 1e-9,
            "delta": 1e-12,
            "max_iterations": 1000,
        }
    )
    for x, y in zip(X, Y, strict=True):
        tokens = [dict(token) for token in x]
        tokens[0]["first"], tokens[-1]["last"] = True, True
        trainer.append(pycrfsuite.ItemSequence(tokens), y)
    path = str(Path("model.crfsuite").absolute())
    trainer.train(path)
    tagger = pycrfsuite.Tagger()
    tagger.open(path)
    info = tagger.info()
    tagger.close()
    Path(path).unlink()
    W = model.labeler_.weights_
    known = {"first": W["start"], "last": W["end"]}
    for (name, label), weight in info.state_features.items():
        own = known[name][label] if name in known else model.state_features_[name, label]
        assert np.isclose(own, weight, atol=2e-2)
    for pair, weight in info.transitions.items():
        assert np.isclose(model.transition_features_[pair], weight, atol=2e-2)


def test_methods():
    X, Y = tagged()
    model = CRF(algorithm="lbfgs", c1=0.0, c2=0.1, max_iterations=200, epsilon=1e-5, period=10, delta=1e-5).fit(X, Y)
    assert model.classes_ == LABELS
    assert model.predict_single(X[0]) == model.predict(X)[0]
    right = [a == b for y, z in zip(Y, model.predict(X), strict=True) for a, b in zip(y, z, strict=True)]
    assert np.isclose(model.score(X, Y), np.mean(right))
    marginals = model.predict_marginals(X)
    assert marginals[0] == model.predict_marginals_single(X[0])
    for x, each in zip(X, marginals, strict=True):
        assert len(each) == len(x)
        for position in each:
            assert list(position) == LABELS
            assert np.isclose(sum(position.values()), 1.0)
    assert set(model.transition_features_) <= {(a, b) for a in LABELS for b in LABELS}
    assert {name for name, _ in model.state_features_} <= set(model.attributes_)
    assert "word:w0" in model.attributes_
    assert json.dumps(marginals)
    found = model.explain(X[0], against={0: "V"})
    assert np.isclose(found.total, model.explain(X[0]).total - model.explain(X[0], found.against).total)
    assert clone(model).get_params() == model.get_params()


def test_features_are_named_as_by_python_crfsuite():
    token = {"word": "the", "suffix": {"he": 0.5, "e": True}, "in": ["a", "b"], "title": True, "n": 2, "no": False}
    model = CRF().fit([[token, ["x", "y"]]], [["A", "B"]])
    names = ["word:the", "suffix:he", "suffix:e", "in:a", "in:b", "title", "n", "no", "x", "y"]
    assert set(model.attributes_) <= set(names)
    assert set(model.attributes_) >= set(names) - {"no"}
    with pytest.raises(ValueError, match="token 1 of sequence 0 has the feature word:None"):
        CRF().fit([[{"word": "a"}, {"word": None}]], [["A", "B"]])


def test_the_l1_norm_is_ignored_with_a_warning():
    X, Y = tagged()
    with pytest.warns(UserWarning, match=r"c1=0.1 is ignored.*sparsify"):
        model = CRF(c1=0.1, c2=0.1).fit(X, Y)
    assert model.transition_features_ == CRF(c2=0.1).fit(X, Y).transition_features_


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"algorithm": "ap"}, "algorithm is 'ap'; expected 'lbfgs' or 'l2sgd'"),
        ({"c2": 0}, "c2 is 0; expected a positive number"),
        ({"c2": -1.0}, "c2 is -1.0"),
        ({"c2": float("nan")}, "c2 is nan"),
        ({"c1": -1.0}, "c1 is -1.0; expected 0 or more"),
        ({"c1": "0.1"}, "c1 is '0.1'"),
        ({"max_iterations": 0}, "max_iterations is 0; expected a whole number >= 1"),
        ({"min_freq": -1}, "min_freq is -1; expected a finite number >= 0"),
        ({"min_freq": float("nan")}, "min_freq is nan; expected a finite number >= 0"),
        ({"min_freq": float("inf")}, "min_freq is inf; expected a finite number >= 0"),
    ],
)
def test_bad_parameters(options, message):
    X, Y = tagged(3)
    with pytest.raises(ValueError, match=message):
        CRF(**options).fit(X, Y)


def test_not_fitted():
    for ask in (lambda: CRF().predict([[["a"]]]), lambda: CRF().classes_, lambda: CRF().state_features_):
        with pytest.raises(NotFittedError):
            ask()


def test_the_labeler_can_be_saved(tmp_path):
    X, Y = tagged()
    model = CRF(c2=0.1).fit(X, Y)
    model.labeler_.save(tmp_path / "crf.mm")
    again = mm.load(tmp_path / "crf.mm")
    assert np.array_equal(again.w_, model.labeler_.w_)


def test_truth_values_of_arrays_are_features():
    X = [[{"title": np.bool_(True), "size": np.float64(2)}, {"title": np.bool_(False), "size": np.int64(1)}]]
    plain = [[{"title": True, "size": 2.0}, {"title": False, "size": 1.0}]]
    Y = [["A", "B"]]
    assert CRF().fit(X, Y).state_features_ == CRF().fit(plain, Y).state_features_
