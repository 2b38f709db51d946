"""Pairs of options of every estimator: a fit with them is the fit without, or is refused in a sentence.

A covering array has every pair of (estimator, kernel, executor, objective, bounds, memory_mb, checkpoint) that makes
sense. Executors, memory limits and checkpoints must not change what is learnt: the model is compared with that of a fit
without them. Pairs that make no sense must be refused, whatever else is asked for.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from estimators.covering_array import covering_array
from executors.test_dask import local_client
from sklearn.base import clone
from test_vocabulary import FITS

import maxmargin as mm
from maxmargin.executors import Dask, Threads

COUNTING = ("CountingClassifier", "CountingMultilabel", "CountingPredictor", "RoutePredictor")
LATENT = ("Clusterer", "MotifFinder", "Ranker latent")  # different rounding may lead to another local optimum
WAYS = [way for way in FITS if way not in ("PCFG", "Tuned")]  # these have no options of training of their own
QUICK = ("MulticlassSVC", "OrdinalSVC", "SequenceLabeler", "StructuredSVM", "CountingClassifier", "Ranker")
OPTIONS = {
    "way": WAYS,
    "kernel": [None, "rbf", "function", "map"],
    "executor": [None, "threads", "processes", "dask"],
    "objective": [None, "likelihood", "softmax_margin"],
    "bounds": [None, "positive"],
    "memory_mb": [None, 0.05],
    "checkpoint": [None, "file"],
}


def similarity(A, B):
    """Compare rows, of any kind, by a Gaussian function of their distance."""
    A, B = (each.toarray() if hasattr(each, "toarray") else np.asarray(each) for each in (A, B))
    return np.exp(-((A[:, None] - B[None]) ** 2).sum(axis=-1))


def row_similarity(a, b):
    return float(np.exp(-((a - b) ** 2).sum()))


def has(way, **options):
    """Return whether an estimator has the parameters that are not None."""
    known = FITS[way][0].get_params()
    return all(name in known for name, value in options.items() if value is not None)


def sensible(way, kernel, objective, bounds, **others):
    """Return whether a combination makes sense; what does not must be refused (REFUSED) or cannot be written."""
    if not has(way, kernel=kernel, objective=objective, bounds=bounds, **others):
        return False
    if kernel in ("rbf", "function") and (objective or bounds):
        return False
    if way in COUNTING:
        return kernel != "map"
    if way == "Ranker latent" and kernel:
        return False
    return not (way == "StructuredSVM" and objective)  # the task here has no sums


CASES = covering_array(OPTIONS, sensible)


def kernel_of(way, name):
    if name == "function":
        return row_similarity if way in COUNTING else similarity
    return mm.kernels.KernelMap(n_components=6, random_state=0) if name == "map" else name


def made(way, kernel=None, objective=None, bounds=None, **others):
    """Make the estimator; max_passes keeps fits short and most gaps open."""
    options = {"kernel": kernel_of(way, kernel), "objective": objective, **others}
    if bounds:
        options["bounds"] = (0.0, None)
        if objective:  # its default solver takes no bounds
            options["solver"] = "bundle"
    if has(way, max_passes=15):
        options["max_passes"] = 15
    if has(way, random_state=0):
        options["random_state"] = 0
    return clone(FITS[way][0]).set_params(**{name: value for name, value in options.items() if value is not None})


def fitted(way, **options):
    return FITS[way][1](made(way, **options))


def learnt(model):
    """Return what was learnt, as one vector."""
    return np.ravel(model.w_ if hasattr(model, "w_") else model.dual_coef_)


@pytest.fixture(scope="module")
def cluster():
    """Two workers of Dask, which are started when the first case needs them."""
    pytest.importorskip("distributed")
    with local_client() as client:
        yield Dask(client)


def executor_of(name, request):
    if name == "processes":
        return request.getfixturevalue("pool")
    if name == "dask":
        return request.getfixturevalue("cluster")
    return None if name is None else Threads(2)


def title(case):
    return "-".join(str(value) for value in case.values() if value is not None)


def marked(case):
    quick = case["way"] in QUICK and case["executor"] != "dask"
    return pytest.param(case, id=title(case), marks=() if quick else pytest.mark.slow)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", list(map(marked, CASES)))
def test_the_model_does_not_depend_on_how_it_is_computed(case, request, tmp_path):
    model_options = {name: case[name] for name in ("way", "kernel", "objective", "bounds")}
    expected = fitted(**model_options)
    how = {"executor": executor_of(case["executor"], request), "memory_mb": case["memory_mb"]}
    if case["checkpoint"]:
        how["checkpoint"] = tmp_path / "checkpoint"
    found = fitted(**model_options, **how)
    assert_alike(case, found, expected)
    if case["checkpoint"]:
        again = fitted(**model_options, **how)
        assert np.array_equal(learnt(again), learnt(found))


def assert_alike(case, found, expected):
    """The same bits; up to rounding where shards add up; within the gaps where little memory takes other steps."""
    a, b = learnt(found), learnt(expected)
    if np.array_equal(a, b):
        return
    added_up = case["executor"] == "dask" or (case["executor"] == "processes" and case["objective"])
    assert case["memory_mb"] or added_up
    if not case["memory_mb"]:
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-9 * np.abs(b).max())
    elif case["way"] not in LATENT:
        one, other = found.certificate_, expected.certificate_
        assert one.dual <= other.primal
        assert other.dual <= one.primal


def test_every_pair_that_makes_sense_is_covered():
    def pairs(case):
        return combinations(sorted((name, str(value)) for name, value in case.items()), 2)

    covered = {pair for case in CASES for pair in pairs(case)}
    for way in WAYS:
        for name, values in OPTIONS.items():
            for value in values:
                alone = dict.fromkeys(OPTIONS) | {"way": way, name: value}
                if name != "way" and sensible(**alone):
                    assert tuple(sorted([("way", way), (name, str(value))])) in covered
    for one, other in combinations([name for name in OPTIONS if name != "way"], 2):
        seen = {(case[one], case[other]) for case in CASES}
        together = {("rbf", "positive"), ("function", "positive")} if (one, other) == ("kernel", "bounds") else set()
        if (one, other) == ("kernel", "objective"):
            together = {(k, o) for k in ("rbf", "function") for o in ("likelihood", "softmax_margin")}
        assert {(a, b) for a in OPTIONS[one] for b in OPTIONS[other]} - seen == together


# Pairs that make no sense, with a piece of the sentence that refuses them.
REFUSED = {
    ("kernel", "bounds"): "bounds and a prior constrain weights of features",
    ("kernel", "objective"): "does not take a kernel; kernels.KernelMap makes features",
    ("objective", "bounds"): "needs weights without bounds and without a prior; use solver='bundle' or 'one_slack'",
}
NONSENSE = {"kernel": "rbf", "bounds": "positive", "objective": "likelihood"}
REFUSALS = [
    (way, pair, how)
    for pair in REFUSED
    for way in WAYS
    for how in (None, "threads", "processes")
    if has(way, **dict.fromkeys(pair, 1), executor=how) and way not in ("Ranker latent", "StructuredSVM")
]


@pytest.mark.every(7)
@pytest.mark.parametrize("case", REFUSALS, ids=lambda case: f"{case[0]}-{'-'.join(case[1])}-{case[2]}")
def test_pairs_that_make_no_sense_are_refused_in_a_sentence(case, request, tmp_path):
    way, pair, how = case
    options = {name: NONSENSE[name] for name in pair}
    model = made(way, **options, executor=executor_of(how, request), memory_mb=1.0, checkpoint=tmp_path / "checkpoint")
    if pair == ("objective", "bounds"):
        model.set_params(solver=None)
    with pytest.raises(ValueError, match=REFUSED[pair]):
        FITS[way][1](model)
    assert not (tmp_path / "checkpoint").exists()
