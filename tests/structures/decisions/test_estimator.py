"""CostLearner: what it learns, scikit-learn's ways with it, and how it refuses."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from structures.decisions.listed import EachByItself, Hasty, Listed, Nonnegative, Together, some_points, subsets

from maxmargin import CostLearner, metrics
from maxmargin.errors import NothingLearnt, TaskError

TWO_OF_FIVE = Together(subsets(5, 2))


def trips(n=60, seed=0, noise=0.3):
    """(X, costs): five parts, three features of the whole."""
    rng = np.random.default_rng(seed)
    X, weights = rng.standard_normal((n, 3)), np.random.default_rng(99).standard_normal((5, 3))
    return X, X @ weights.T + 2 + noise * rng.standard_normal((n, 5))


def parts(n=60, seed=0, noise=0.3):
    """(X, costs): five parts, four features of each."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 5, 4))
    return X, X @ [1.0, -2.0, 0.5, 0.0] + noise * rng.standard_normal((n, 5))


# --- what is learnt


@pytest.mark.parametrize("sense", ["min", "max"])
@pytest.mark.parametrize("data", [trips, parts])
def test_decisions_are_learnt(sense, data):
    optimiser = Together(subsets(5, 2), sense)
    (X, C), (X_test, C_test) = data(), data(seed=1)
    model = CostLearner(optimiser).fit(X, C)
    assert model.certificate_.converged
    assert metrics.regret(optimiser, model.predict_costs(X_test), C_test) < 0.1
    assert model.score(X_test, C_test) == 1 - metrics.regret(optimiser, model.predict_costs(X_test), C_test)
    D, D_test = optimiser.solve_many(C), optimiser.solve_many(C_test)
    model = CostLearner(optimiser, measure="parts", C=10.0).fit(X, D)
    assert model.score(X_test, D_test) > 0.8
    assert model.score(X_test, D_test) == np.mean(model.predict(X_test) == D_test)


def test_senses_are_mirrors():
    X, C = trips()
    low = CostLearner(Together(subsets(5, 2))).fit(X, C)
    high = CostLearner(Together(subsets(5, 2), "max")).fit(X, -C)
    np.testing.assert_array_equal(low.w_, -high.w_)
    plain = CostLearner(lambda costs: TWO_OF_FIVE(-costs), sense="max").fit(X, -C)
    assert plain.certificate_.primal == pytest.approx(high.certificate_.primal, rel=0.02)


def test_one_by_one_and_all_at_once_are_the_same():
    X, C = trips()
    at_once, one = CostLearner(TWO_OF_FIVE).fit(X, C), CostLearner(Listed(subsets(5, 2)))
    one.fit(X, C)
    assert at_once.certificate_.primal == pytest.approx(one.certificate_.primal, rel=0.02)
    threads = CostLearner(TWO_OF_FIVE, n_jobs=2).fit(X, C)
    np.testing.assert_array_equal(threads.w_, at_once.w_)


def test_unknown_parts_are_completed():
    rng = np.random.default_rng(0)
    (X, C), (X_test, C_test) = trips(n=120), trips(seed=1)
    D = TWO_OF_FIVE.solve_many(C)
    hidden = np.where(rng.random(D.shape) < 0.3, np.nan, D)
    model = CostLearner(TWO_OF_FIVE, measure="parts", C=10.0).fit(X, hidden)
    assert model.rounds_
    assert model.score(X_test, TWO_OF_FIVE.solve_many(C_test)) > 0.8
    as_none = [[None if np.isnan(v) else v for v in row] for row in hidden]
    again = CostLearner(TWO_OF_FIVE, measure="parts", C=10.0).fit(X, as_none)
    np.testing.assert_array_equal(model.w_, again.w_)
    assert 0 < model.score(X, hidden) <= 1
    nothing_known = np.vstack([hidden, np.full((1, 5), np.nan)])
    model.fit(np.vstack([X, np.ones((1, 3))]), nothing_known)  # is left out


def test_optimisers_of_their_own():
    rng = np.random.default_rng(0)
    sizes = rng.integers(3, 6, 40)
    own = [Listed(subsets(size, 2)) for size in sizes]
    X = [rng.standard_normal((size, 3)) for size in sizes]
    C = [x @ [1.0, -1.0, 0.0] + 0.1 * rng.standard_normal(len(x)) for x in X]
    model = CostLearner(own).fit(X, C)
    assert model.score(X, C, optimisers=own) > 0.9
    assert [len(z) for z in model.predict(X[:7], optimisers=own[:7])] == sizes[:7].tolist()
    with pytest.raises(ValueError, match="pass optimisers=, one for each x"):
        model.predict(X)
    with pytest.raises(ValueError, match="there are 7 examples but 40 optimisers"):
        model.predict(X[:7], optimisers=own)


def test_features_by_function():
    X, C = parts()
    boxes = [{"features": x} for x in X]
    model = CostLearner(TWO_OF_FIVE, features=box_features).fit(boxes, C)
    plain = CostLearner(TWO_OF_FIVE).fit(X, C)
    np.testing.assert_array_equal(model.w_, plain.w_)
    np.testing.assert_array_equal(np.array(list(model.predict(boxes))), plain.predict(X))
    listed = CostLearner(TWO_OF_FIVE).fit([sparse.csr_array(x) for x in X], list(C))
    np.testing.assert_array_equal(listed.w_, plain.w_)


def box_features(box):
    return box["features"]


def test_a_kernel_learns_costs_that_are_not_linear():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (300, 2))
    C = np.column_stack([X[:, 0] ** 2, X[:, 1] ** 2, np.ones(300), np.full(300, 0.5)])
    one_of_four = Together(subsets(4, 1))
    scores = [
        CostLearner(one_of_four, kernel=kernel).fit(X[:200], C[:200]).score(X[200:], C[200:])
        for kernel in (None, "rbf")
    ]
    assert scores[1] > scores[0] + 0.1
    linear = CostLearner(one_of_four, kernel="linear", tol=1e-6, C=10.0).fit(X[:50], C[:50])
    plain = CostLearner(one_of_four, tol=1e-6, C=10.0).fit(X[:50], C[:50])
    assert linear.certificate_.primal == pytest.approx(plain.certificate_.primal, rel=1e-5)
    with pytest.raises(AttributeError, match="with a kernel has no weights of features"):
        _ = linear.coef_


def test_real_decisions():
    """Shares of a portfolio, say."""
    rng = np.random.default_rng(0)
    optimiser = Together(np.abs(some_points(rng, 4, 12)), "max")
    X = rng.standard_normal((80, 3))
    C = X @ rng.standard_normal((3, 4)) + 0.1 * rng.standard_normal((80, 4))
    model = CostLearner(optimiser).fit(X[:60], C[:60])
    assert model.certificate_.converged
    assert model.score(X[60:], C[60:]) > 0.9


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_units_of_costs_do_not_matter(scale):
    """But for C, which is measured in them."""
    X, C = trips()
    one, other = CostLearner(TWO_OF_FIVE).fit(X, C), CostLearner(TWO_OF_FIVE, C=100 * scale).fit(X, scale * C)
    np.testing.assert_allclose(other.w_ / scale, one.w_, rtol=0.1, atol=0.1)
    assert other.certificate_.primal == pytest.approx(scale**2 * one.certificate_.primal, rel=0.02)


def test_weights_have_names():
    X, C = trips()
    table = pd.DataFrame(X, columns=["rain", "hour", "load"])
    model = CostLearner(TWO_OF_FIVE).fit(table, pd.DataFrame(C))
    assert model.coef_.shape == (5, 3)
    assert model.intercept_.shape == (5,)
    np.testing.assert_allclose(X @ model.coef_.T + model.intercept_, model.predict_costs(table))
    assert model.weights_["features"]["hour", 4] == model.coef_[4, 1]
    assert all("part=2" in each.name for each in model.top_weights(2, n=3))
    X, C = parts()
    model = CostLearner(TWO_OF_FIVE).fit(X, C)
    assert model.coef_.shape == (4,)
    np.testing.assert_allclose(X @ model.coef_ + model.intercept_, model.predict_costs(X))
    assert CostLearner(TWO_OF_FIVE, fit_intercept=False).fit(X, C).intercept_ == 0
    assert not hasattr(model, "n_features_in_")


def test_an_inexact_optimiser_is_said_to_be_one():
    X, C = trips()
    model = CostLearner(Hasty(subsets(5, 2))).fit(X, C)
    assert model.certificate_.search == "undergenerating"
    assert "not certified" in str(model.certificate_)
    lacks = "'bcfw' needs an exact search for rescaled and squared slacks, which Decisions does not have here"
    remedy = 'an inexact optimiser may find .*; use rescaling="margin" and slack="l1"'
    for options in ({"slack": "l2"}, {"rescaling": "slack"}):
        with pytest.raises(ValueError, match=f"{lacks}, because {remedy}"):
            CostLearner(Hasty(subsets(5, 2)), **options).fit(X, C)


@pytest.mark.parametrize("rescaling", ["margin", "slack"])
@pytest.mark.parametrize("slack", ["l1", "l2"])
def test_all_formulations(rescaling, slack):
    X, C = trips()
    model = CostLearner(TWO_OF_FIVE, rescaling=rescaling, slack=slack, max_passes=30, tol=0.5).fit(X, C)
    assert model.certificate_.dual <= model.certificate_.primal
    assert model.score(X, C) > 0.8


# --- scikit-learn


def test_pipelines_and_searches():
    X, C = trips()
    pipeline = make_pipeline(StandardScaler(), CostLearner(TWO_OF_FIVE))
    search = GridSearchCV(pipeline, {"costlearner__C": [0.01, 1.0, 100.0]}, cv=3).fit(X, C)
    assert search.best_score_ > 0.8
    assert search.predict(X).shape == C.shape
    D = TWO_OF_FIVE.solve_many(C)
    assert cross_val_score(CostLearner(TWO_OF_FIVE, measure="parts"), X, D, cv=3).mean() > 0.7
    X, C = parts()
    search = GridSearchCV(CostLearner(TWO_OF_FIVE), {"C": [1.0, 100.0]}, cv=3).fit(list(X), C)
    assert search.best_score_ > 0.8


def test_paths_are_warm_and_end_at_the_same():
    X, C = trips()
    path = CostLearner(TWO_OF_FIVE, tol=1e-4).fit_path(X, C, [1.0, 10.0, 100.0])
    for model, each in zip(path, (1.0, 10.0, 100.0), strict=True):
        alone = CostLearner(TWO_OF_FIVE, tol=1e-4, C=each).fit(X, C)
        assert model.certificate_.primal == pytest.approx(alone.certificate_.primal, rel=2e-4)
        assert model.certify(X, C).converged


def test_copies():
    X, C = trips()
    weights = np.arange(1.0, len(X) + 1)
    model = CostLearner(TWO_OF_FIVE, warm_start=True).fit(X, C, sample_weight=weights)
    copied = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copied.predict(X), model.predict(X))
    fresh = clone(model).fit(X, C, sample_weight=weights)
    np.testing.assert_array_equal(fresh.w_, model.w_)
    twice = CostLearner(TWO_OF_FIVE, tol=1e-5).fit(np.vstack([X, X[:5]]), np.vstack([C, C[:5]]))
    by_weight = CostLearner(TWO_OF_FIVE, tol=1e-5).fit(X, C, sample_weight=1.0 + (np.arange(len(X)) < 5))
    assert twice.certificate_.primal == pytest.approx(by_weight.certificate_.primal, rel=1e-4)


def test_partial_fit():
    X, C = trips()
    model = CostLearner(TWO_OF_FIVE, solver="subgradient")
    for first in range(0, 60, 20):
        model.partial_fit(X[first : first + 20], C[first : first + 20])
    assert model.score(X, C) > 0.7
    assert not hasattr(CostLearner(TWO_OF_FIVE), "partial_fit")


@parametrize_with_checks([CostLearner(EachByItself())])
def test_scikit_learn_check(estimator, check):
    check(estimator)


# --- what cannot be


def broken(change):
    """An optimiser whose answers are changed, from its second call on."""
    calls = []

    def optimiser(costs):
        calls.append(1)
        answer = TWO_OF_FIVE(costs)
        return answer if len(calls) <= 70 else change(answer, costs)

    return optimiser


class Many(Listed):
    """What solve_many returns is changed."""

    def __init__(self, change):
        super().__init__(subsets(5, 2))
        self.change = change

    def solve_many(self, costs):
        return self.change(TWO_OF_FIVE.solve_many(costs))


def failing(answer, costs):
    raise ZeroDivisionError("no way")


BAD_OPTIMISERS = {
    "None": (broken(lambda z, c: None), "returned None for example 10, at the costs"),
    "short": (broken(lambda z, c: z[:3]), r"returned an array of shape \(3,\) for example 10, at the costs"),
    "numbers of parts": (broken(lambda z, c: np.flatnonzero(z)), r"array of shape \(2,\) for example 10"),
    "NaN": (broken(lambda z, c: z * np.nan), "returned nan at part 0 for example 10, at the costs"),
    "infinite": (broken(lambda z, c: z + np.inf), "returned inf at part 0 for example 10"),
    "words": (broken(lambda z, c: ["a"] * 5), "values for example 10, at the costs"),
    "complex": (broken(lambda z, c: z * 1j), "complex128 values for example 10"),
    "worst": (broken(lambda z, c: TWO_OF_FIVE(-c)), r"missed the best decision of example \d+: at the costs"),
    "deaf": (lambda c: np.array([1.0, 1.0, 0, 0, 0]), "either it ignores its costs, or there is nothing"),
    "deaf later": (broken(lambda z, c: np.array([1.0, 1.0, 0, 0, 0])), "missed the best decision of example"),
    "sizes only": (lambda c: TWO_OF_FIVE(np.abs(c)), "missed the best decision of example|does not look at its costs"),
    "cut off at 0": (lambda c: TWO_OF_FIVE(np.maximum(c, 0)), "missed the best decision of example"),
    "maximiser": (lambda c: TWO_OF_FIVE(-c), r"missed the best decision of example 0.*sense='min'"),
    "many: none": (Many(lambda Z: None), r"solve_many of the optimiser returned None for costs of shape \(60, 5\)"),
    "many: fewer": (Many(lambda Z: Z[1:]), r"solve_many .* shape \(59, 5\) for costs of shape \(60, 5\)"),
    "many: NaN": (Many(lambda Z: np.where(np.arange(len(Z))[:, None] == 3, np.nan, Z)), "nan at part 0 for example 3"),
    "many: short": (Many(lambda Z: Z[:, :4]), r"shape \(4,\) for example 0, at the costs"),
    "infeasible": (Many(lambda Z: Z * 0.5), "the optimiser's check rejects .* it is"),
}


@pytest.mark.parametrize("case", BAD_OPTIMISERS)
def test_bad_optimisers_are_named(case):
    optimiser, message = BAD_OPTIMISERS[case]
    with pytest.raises(TaskError, match=message):
        CostLearner(optimiser).fit(*trips())


@pytest.mark.parametrize("optimiser", [broken(failing), Many(lambda Z: failing(Z, Z))], ids=["one", "many"])
def test_errors_of_optimisers_say_where(optimiser):
    with pytest.raises(ZeroDivisionError, match="no way") as caught:
        CostLearner(optimiser).fit(*trips())
    assert "maxmargin: raised by" in " ".join(caught.value.__notes__)


X, C = trips()
D = TWO_OF_FIVE.solve_many(C)
INFEASIBLE = D.copy()
INFEASIBLE[7] = 1.0


class CarefulOfFive(Together):
    """Says why something is no decision."""

    def check(self, z):
        if z.sum() != 2:
            raise ValueError(f"{z.sum():g} parts are chosen, not 2")


class DijkstraLike(Together):
    nonnegative = True


BAD_INPUT = {
    "costs too few": ({}, X, C[:, :4], "example 0 has 4 parts; expected 5, which its optimiser takes"),
    "costs of one example too few": ({}, X, [*C[:3], C[3][:4], *C[4:]], "Y of example 3 has 4 numbers; expected 5"),
    "one number each": ({}, X, C[:, 0], r"Y of example 0 has shape \(\); expected one number per part"),
    "missing cost": (
        {}, X, np.where(np.arange(60)[:, None] == 2, np.nan, C), "the costs in Y of example 2 have nan at part 0",
    ),
    "words": ({}, X, [["a"] * 5] * 60, "Y of example 0 is .*expected one number per part"),
    "fewer examples": ({}, X, C[:50], "X has 60 examples but Y has 50"),
    "feature missing": ({}, np.where(X[4, 1] == X, np.nan, X), C, "example 4, feature 1: X contains NaN"),
    "part feature missing": (
        {}, np.where(np.arange(5)[:, None] == 3, np.nan, np.ones((60, 5, 2))), C, "example 0: part 3, feature 0",
    ),
    "no features": ({}, np.zeros((60, 5, 0)), C, "has no features"),
    "other sense": ({"sense": "max"}, X, C, "sense is 'max', but the optimiser's own sense is 'min'"),
    "no sense": ({"sense": "down"}, X, C, "sense must be 'min', 'max' or None"),
    "no measure": ({"measure": "cost"}, X, C, "measure must be one of 'regret', 'parts'"),
    "nothing to learn by": ({"measure": "suboptimality"}, X, D, "lowest if all predicted costs are 0"),
    "needs one sign": ({"optimiser": DijkstraLike(subsets(5, 2))}, X, C, "needs costs >= 0 .*same_size = True"),
    "needs one sign, decisions": (
        {"optimiser": DijkstraLike(subsets(5, 2)), "measure": "parts"}, X, D, "needs costs >= 0 .*same_size = True",
    ),
    "fractions": ({"measure": "parts"}, X, D * 0.5, "the decision in Y of example 0 has 0.5 at part"),
    "no decision": (
        {"measure": "parts", "optimiser": TWO_OF_FIVE.__call__}, X, INFEASIBLE, "in Y of example 7 is not among the",
    ),
    "the optimiser's check": (
        {"measure": "parts", "optimiser": CarefulOfFive(subsets(5, 2))}, X, INFEASIBLE,
        "the optimiser's check rejects .* 5 parts are chosen, not 2",
    ),
    "nothing completes it": (
        {"measure": "parts"}, X, np.where(INFEASIBLE.sum(1)[:, None] > 2, [1, 1, 1, np.nan, np.nan], D),
        "in Y of example 7 is not among the optimiser's",
    ),
    "fractional answers": (
        {"measure": "parts", "optimiser": lambda c: 0.5 * TWO_OF_FIVE(c)}, X, D,
        "answer for example 0 has 0.5 at part .*every number must be 0 or 1",
    ),
    "other optimisers": ({"optimiser": [TWO_OF_FIVE] * 59}, X, C, "60 examples but 59 optimisers"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_INPUT)
def test_bad_input_is_named(case):
    parameters, X, Y, message = BAD_INPUT[case]
    with pytest.raises(ValueError, match=message):
        CostLearner(**{"optimiser": TWO_OF_FIVE} | parameters).fit(X, Y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"optimiser": 3}, "optimiser must be a function of costs"),
        ({"optimiser": [TWO_OF_FIVE] * 59 + [None]}, "optimiser 59 must be a function of costs"),
        ({"features": 3}, "features must be None or a function"),
    ],
)
def test_types(parameters, message):
    with pytest.raises(TypeError, match=message):
        CostLearner(**{"optimiser": TWO_OF_FIVE} | parameters).fit(X, C)


def test_senses_of_several():
    with pytest.raises(ValueError, match="optimiser 1 has the sense 'max', but optimiser 0 has 'min'"):
        CostLearner([TWO_OF_FIVE, Together(subsets(5, 2), "max")] * 30).fit(X, C)


def test_prediction_refuses_other_inputs():
    whole, of_parts = CostLearner(TWO_OF_FIVE).fit(X, C), CostLearner(TWO_OF_FIVE).fit(*parts())
    with pytest.raises(ValueError, match="X has features of parts"):
        whole.predict(np.ones((2, 5, 3)))
    with pytest.raises(ValueError, match="X has features of whole examples"):
        of_parts.predict(np.ones((2, 4)))
    with pytest.raises(ValueError, match="X has parts of 2 features; expected 4"):
        of_parts.predict(np.ones((2, 5, 2)))
    with pytest.raises(ValueError, match="example 0 has 4 parts; expected 5, which its optimiser takes"):
        of_parts.predict(np.ones((2, 4, 4)))


def test_answers_with_the_rounding_of_an_integer_optimiser():
    rng = np.random.default_rng(0)
    noisy = CostLearner(lambda c: TWO_OF_FIVE(c) + 1e-9 * rng.standard_normal(5), measure="parts").fit(X, D)
    np.testing.assert_array_equal(noisy.w_, CostLearner(TWO_OF_FIVE.__call__, measure="parts").fit(X, D).w_)
    assert set(np.unique(noisy.predict(X))) <= {0.0, 1.0}
    of_costs = CostLearner(lambda c: TWO_OF_FIVE(c) + 1e-10 * rng.standard_normal(5)).fit(X, C)
    assert of_costs.certificate_.converged


def test_fractions_are_named_in_prediction_too():
    halves = []
    model = CostLearner(lambda c: TWO_OF_FIVE(c) * (0.5 if halves else 1.0), measure="parts").fit(X, D == 1)
    halves.append(1)
    with pytest.raises(TaskError, match=r"answer for example 0 has 0\.5 at part"):
        model.predict(X)


@pytest.mark.parametrize("Y", [C, D, np.where(np.arange(5) == 1, np.nan, D)], ids=["costs", "decisions", "partial"])
def test_processes_find_the_same(pool, Y):
    measure = "regret" if Y is C else "parts"
    alone = CostLearner(TWO_OF_FIVE, measure).fit(X, Y)
    spread = CostLearner(TWO_OF_FIVE, measure, executor=pool).fit(X, Y)
    np.testing.assert_array_equal(alone.w_, spread.w_)


def test_optimisers_may_spoil_their_costs():
    def spoiling(costs):
        answer = TWO_OF_FIVE(costs)
        costs[:] = 0
        return answer

    np.testing.assert_array_equal(CostLearner(spoiling).fit(X, C).w_, CostLearner(Listed(subsets(5, 2))).fit(X, C).w_)


def test_the_shift_serves_prediction_too():
    model = CostLearner(Nonnegative(subsets(5, 2))).fit(X, C - 10)
    np.testing.assert_array_equal(model.w_, CostLearner(TWO_OF_FIVE).fit(X, C - 10).w_)
    assert model.predict(X).shape == C.shape


def test_nothing_learnt_is_said():
    with pytest.warns(NothingLearnt):
        CostLearner(TWO_OF_FIVE, C=1e-12, fit_intercept=False, tol=0.5).fit(np.zeros((60, 2)), C)
