"""Chains that remember several labels, and features at pairs of labels: against scores that are read from names."""

import pickle
import warnings
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from proofs import prove_every_weight_has_a_name, prove_smooth_training_is_optimal, prove_training_is_optimal
from thorough import examples

import maxmargin as mm
from maxmargin.errors import LargeModel
from maxmargin.problem.contract.tangents import Softness
from maxmargin.problem.dual.objective import Formulation
from maxmargin.structures.sequences import histories
from maxmargin.tasks import Chain, Weighted
from maxmargin.testing import brute_force, check_sums, check_task

RNG = np.random.default_rng(0)
LENGTHS = [1, 3, 2, 4, 5]
X = [RNG.integers(-1, 2, (length, 2)).astype(float) for length in LENGTHS]
Y = [["a"], ["b", "a", "c"], ["c", "c"], ["a", "b", "b", "c"], ["a", "c", "c", "a", "b"]]
MEMORIES = [
    {"order": 1, "transition_features": [1]},
    {"order": 1, "ngrams": "observed"},
    {"order": 2},
    {"order": 2, "ngrams": "observed", "transition_features": True},
    {"order": 3, "ngrams": "observed"},
    {"order": 3, "transition_features": [0], "forbidden": [("a", "a"), (None, "d"), ("d", None), ("d", "b")]},
]


def model_of(memory, w=None, data=(X, Y), **options):
    """An estimator with these weights."""
    model = mm.SequenceLabeler(C=1.0, tol=0.1, classes=["a", "b", "c", "d"], **memory, **options).fit(*data)
    if w is not None:
        model.w_ = w(model.task_.dim)
    return model


def plain_score(model, x, labels):
    """The score of a label sequence by the names of the weights."""
    weights, padded = model.weights_, [None, *labels, None]
    total = weights["start"][labels[0]] + weights["end"][labels[-1]]
    total += sum(weights["transitions"][pair] for pair in pairwise(labels))
    for n in range(3, model.order + 2):
        total += sum(weights["ngrams"][tuple(padded[i : i + n])] for i in range(len(padded) - n + 1))
    for t, label in enumerate(labels):
        total += sum(value * weights["features"][j, label] for j, value in enumerate(x[t]))
        if t > 0 and "transition_features" in weights:
            of_pairs = weights["transition_features"]
            total += sum(x[t][j] * of_pairs[j, (labels[t - 1], label)] for j in of_pairs.names[0])
    return total


def plainly_allowed(labels, memory, Y=Y):
    """Whether no pair is forbidden and all runs of order + 1 labels stand in the training labels."""
    pairs = list(pairwise([None, *labels, None]))
    if any(pair in memory.get("forbidden", ()) for pair in pairs):
        return False
    if memory.get("ngrams", "all") == "all":
        return True
    size = min(memory["order"] + 1, len(labels))
    seen = {tuple(y[i : i + size]) for y in Y for i in range(len(y) - size + 1)}
    return all(tuple(labels[i : i + size]) in seen for i in range(len(labels) - size + 1))


def listed(model, memory, x):
    """All label sequences with their scores."""
    every = (list(z) for z in product(model.classes_, repeat=len(x)))
    return [(z, plain_score(model, x, z)) for z in every if plainly_allowed(z, memory)]


@pytest.mark.parametrize("memory", MEMORIES, ids=str)
def test_search_and_lists_against_enumeration(memory):
    model = model_of(memory, lambda dim: np.random.default_rng(1).integers(-2, 3, dim).astype(float))
    for x in X:
        outputs = listed(model, memory, x)
        assert list(model.task_.outputs(x)) == [z for z, _ in outputs]
        scores = sorted((score for _, score in outputs), reverse=True)
        (found,) = model.predict([x])
        assert plain_score(model, x, found) == model.decision_function([x])[0] == scores[0]
        assert [score for _, score in model.predict_nbest([x], 12)[0]] == scores[:12]
        for z, score in model.predict_nbest([x], 12)[0]:
            assert plain_score(model, x, z) == score
    prove_every_weight_has_a_name(model)


@examples(10, 25)
@given(
    seed=st.integers(0, 10**6),
    order=st.integers(1, 3),
    observed=st.booleans(),
    featured=st.sampled_from([None, [0], True]),
    n_labels=st.integers(2, 3),
    log_scale=st.floats(-8, 8),
    whole=st.booleans(),
)
def test_searches_of_anything(seed, order, observed, featured, n_labels, log_scale, whole):
    """Loss-augmented and plain, by the planes and by argmax, at all scales."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 6, 3)
    X = [rng.integers(-2, 3, (length, 2)).astype(float) for length in lengths]
    Y = [Weighted(rng.integers(0, n_labels, n).tolist(), rng.integers(0, 3, n).astype(float).tolist()) for n in lengths]
    ngrams = "observed" if observed else "all"
    task = Chain(order=order, ngrams=ngrams, transition_features=featured, classes=range(n_labels))
    batch = task.setup_and_pack(X, Y)
    w = 10.0**log_scale * (rng.integers(-2, 3, task.dim) if whole else rng.standard_normal(task.dim))
    planes = batch.planes(w)
    heights = planes.loss - planes.dpsi @ w
    for i, (x, y) in enumerate(zip(X, Y, strict=True)):
        scores = {tuple(z): np.dot(w[task.psi(x, z)[0]], task.psi(x, z)[1]) for z in task.outputs(x)}
        truth = scores[tuple(y.labels)]
        near = 1e-12 * (1 + max(map(abs, scores.values())))
        assert heights[i] == pytest.approx(max(task.loss(y, z) + s - truth for z, s in scores.items()), abs=near)
        assert scores[tuple(task.argmax(w, x))] == pytest.approx(max(scores.values()), abs=near)


@pytest.mark.parametrize("memory", [MEMORIES[0], MEMORIES[3], MEMORIES[5]], ids=str)
def test_keeps_the_contract(memory):
    weighted = [Weighted(y, [2.0, 0.5, 1.0, 3.0, 0.0][: len(y)]) for y in Y]
    cost = [[0, 1, 2, 1], [3, 0, 1, 1], [0.5, 1, 0, 2], [1, 1, 1, 0]]
    check_task(Chain(costs=cost, classes=["a", "b", "c", "d"], **memory), X, weighted, trials=1)


@pytest.mark.parametrize("memory", MEMORIES[2:4], ids=str)
def test_keeps_the_contract_where_labels_are_missing(memory):
    missing = [["a"], [None, "a", "c"], ["c", {"a", "c"}], ["a", "b", None, "c"], [None, None, "c", "a", "b"]]
    check_task(Chain(**memory), X, missing, trials=1)


@pytest.mark.parametrize("scale", [1.0, 1e3, 1e8])
@pytest.mark.parametrize("memory", [MEMORIES[0], MEMORIES[3], MEMORIES[4]], ids=str)
def test_sums_are_those_over_all_label_sequences(memory, scale):
    check_sums(Chain(**memory), X[:4], Y[:4], scale=scale, trials=1, samples=40)


def test_masses_that_are_no_numbers():
    """Scores of thousands apart leave nothing of masses beside each other, and something of their logarithms."""
    model = model_of(MEMORIES[2], lambda dim: 1e3 * np.random.default_rng(2).standard_normal(dim))
    sums = model.task_.sums(model.w_, X)
    allowed = np.zeros_like(sums.labels, dtype=bool)
    allowed[:, 1] = True
    found = sums.log_agreement(allowed)
    for i, x in enumerate(X):
        outputs = listed(model, MEMORIES[2], x)
        scores = np.array([score for _, score in outputs])
        for t in range(len(x)):
            with_it = np.array([z[t] == "b" for z, _ in outputs])
            expected = np.logaddexp.reduce(scores[with_it]) - np.logaddexp.reduce(scores)
            assert found[sums.bounds[i] + t] == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("memory", [MEMORIES[0], MEMORIES[4]], ids=str)
def test_neighbours_and_stretches(memory):
    model = model_of(memory, lambda dim: np.random.default_rng(3).standard_normal(dim), objective="likelihood")
    marginals, proba = model.predict_marginals(X), model.predict_proba(X)
    chunks = model.predict_confidence(X, of="chunk")
    for x, own, labels, of_chunks in zip(X, marginals, proba, chunks, strict=True):
        outputs = listed(model, memory, x)
        p = np.exp([score for _, score in outputs] - np.logaddexp.reduce([score for _, score in outputs]))
        expected, pairs = np.zeros((len(x), 4)), np.zeros((len(x) - 1, 4, 4))
        for (z, _), share in zip(outputs, p, strict=True):
            numbers = [model.classes_.index(label) for label in z]
            expected[np.arange(len(x)), numbers] += share
            pairs[np.arange(len(x) - 1), numbers[:-1], numbers[1:]] += share
        np.testing.assert_allclose(labels, expected, atol=1e-12)
        np.testing.assert_allclose(own.transitions, pairs, atol=1e-12)
        for begin, end, kind, probability in of_chunks:
            assert begin < end
            assert kind is not None
            assert 0 <= probability <= 1
    assert np.isfinite(model.log_probability(X, Y)).all()


def test_chunks_are_as_probable_as_enumeration_says():
    data = [["B-x", "I-x", "O"], ["O", "B-x", "B-x", "I-x"], ["B-x", "O", "O", "B-x"]]
    features = [RNG.standard_normal((len(y), 2)) for y in data]
    model = mm.SequenceLabeler(C=1, order=2, forbidden="BIO", objective="likelihood").fit(features, data)
    for x, found, labels in zip(
        features, model.predict_confidence(features, of="chunk"), model.predict(features), strict=True
    ):
        outputs = list(model.task_.outputs(x))
        p = np.exp(model.log_probability([x] * len(outputs), outputs))
        assert p.sum() == pytest.approx(1)
        for begin, end, _, probability in found:
            same = [z[begin:end] == labels[begin:end] and (z[end:] or ["O"])[0] != "I-x" for z in outputs]
            assert probability == pytest.approx(p[same].sum(), rel=1e-9)


def test_steps_one_by_one_and_in_tables_are_the_same(monkeypatch):
    rng = np.random.default_rng(5)
    for memory in MEMORIES:
        tables = Chain(**memory, classes=["a", "b", "c", "d"])
        batch = tables.setup_and_pack(X, Y)
        w = rng.standard_normal(tables.dim)
        with monkeypatch.context() as patch:
            patch.setattr(histories, "SPARSE", 0)
            single = Chain(**memory, classes=["a", "b", "c", "d"])
            other = single.setup_and_pack(X, Y)
        if tables.histories_ is not None:
            assert len(single.histories_.blocks.first) == 0 < len(tables.histories_.blocks.first)
        values, others = (each.best(each.scores(w), 1.0).values for each in (batch.scored(), other.scored()))
        np.testing.assert_allclose(values, others, rtol=1e-13)


# --- training


@pytest.mark.parametrize("memory", [MEMORIES[0], MEMORIES[3], MEMORIES[4]], ids=str)
def test_training_is_optimal(memory):
    prove_training_is_optimal(Chain(**memory), X[:4], Y[:4], 3.0, Formulation())


def test_slack_rescaling_is_bounded():
    task = Chain(order=2)
    optimum = brute_force(task, X[:4], Y[:4], 2.0, Formulation("slack", "l1")).value
    model = mm.SequenceLabeler(C=2.0, order=2, rescaling="slack", tol=1e-3).fit(X[:4], Y[:4])
    assert model.certificate_.dual <= optimum * (1 + 1e-7)
    proved = model.certificate_.primal if model.certificate_.upper is None else model.certificate_.upper
    assert optimum <= proved * (1 + 1e-7)


@pytest.mark.parametrize("softness", [Softness(), Softness(2.0, 1.0)])
def test_smooth_training_is_optimal(softness):
    prove_smooth_training_is_optimal(Chain(order=2, transition_features=[0]), X[:4], Y[:4], 2.0, softness)


def test_a_longer_memory_learns_what_pairs_do_not_tell():
    """a a b b a a b b …, with features that say nothing, from where the sequence begins."""
    Y = [list(("aabb" * 5)[shift : shift + n]) for shift, n in ((0, 9), (0, 12), (0, 15))]
    X = [np.ones((len(y), 1)) for y in Y]
    for memory, right in (({"order": 1}, False), ({"order": 2}, True), ({"order": 3, "ngrams": "observed"}, True)):
        assert (mm.SequenceLabeler(C=100, **memory).fit(X, Y).score(X, Y) == 1) == right


def test_words_at_pairs_learn_what_words_and_pairs_do_not_tell():
    """A switch says whether the label changes: neither the word nor the pair of labels alone predicts anything."""
    rng = np.random.default_rng(0)
    X, Y = [], []
    for _ in range(30):
        turns = rng.integers(0, 2, 8)
        Y.append([int(k) for k in np.cumsum(turns) % 2])
        X.append([["bias", "first=yes" if t == 0 else "first=no", f"turn={turns[t]}"] for t in range(8)])
        X[-1][0].append(f"begins={Y[-1][0]}")
    plain = mm.SequenceLabeler(C=100).fit(X[:20], Y[:20]).score(X[20:], Y[20:])
    model = mm.SequenceLabeler(C=100, transition_features=["turn="]).fit(X[:20], Y[:20])
    assert plain < 0.8 < model.score(X[20:], Y[20:]) == 1.0
    assert (
        model.weights_["transition_features"]["turn=1", (0, 1)]
        > 0
        > model.weights_["transition_features"]["turn=1", (1, 1)]
    )
    assert any("transition_features: feature=turn=" in each.name for each in model.top_weights(0, n=10))
    with pytest.raises(ValueError, match="no feature of the training data begins with it"):
        mm.SequenceLabeler(transition_features=["word="]).fit(X, Y)


# --- all that the estimator offers

TOKENS = [[["bias", f"w={word}"] for word in words] for words in (["the", "dog"], ["a", "cat", "ran"], ["the", "cat"])]
TAGS = [["D", "N"], ["D", "N", "V"], ["D", "N"]]
LONG = {"order": 2, "ngrams": "observed", "transition_features": ["w="]}


@pytest.mark.parametrize(
    "options",
    [{"hash_bits": 6, "transition_features": True}, {"min_count": 2}, {"per": "position"}, {"solver": "one_slack"}],
)
def test_other_options_go_along(options):
    model = mm.SequenceLabeler(C=10, **(LONG | options)).fit(TOKENS, TAGS)
    assert model.certificate_.converged
    assert model.predict(TOKENS[1:2]) == TAGS[1:2]


def test_kernels_go_along_with_order_alone():
    model = mm.SequenceLabeler(C=10, order=2, kernel="rbf").fit(X, Y)
    assert model.certificate_.converged
    assert model.score(X, Y) > 0.9
    with pytest.raises(ValueError, match="with a kernel does not have"):
        mm.SequenceLabeler(kernel="rbf", transition_features=True).fit(X, Y)


def test_paths_pickles_and_fewer_weights():
    first, second = mm.SequenceLabeler(**LONG, tol=1e-6).fit_path(TOKENS, TAGS, [1.0, 10.0])
    alone = mm.SequenceLabeler(C=10.0, **LONG, tol=1e-6).fit(TOKENS, TAGS)
    assert second.certificate_.primal == pytest.approx(alone.certificate_.primal, rel=1e-5)
    copy = pickle.loads(pickle.dumps(second))
    assert np.array_equal(copy.decision_function(TOKENS), second.decision_function(TOKENS))
    small = second.sparsify(TOKENS)
    assert small.n_weights_ < second.n_weights_
    assert small.predict(TOKENS) == second.predict(TOKENS)
    assert first.C == 1.0
    tuned = mm.Tuned(mm.SequenceLabeler(**LONG), Cs=[0.1, 10.0], cv=2).fit(TOKENS * 2, TAGS * 2)
    assert tuned.predict(TOKENS) == TAGS


def test_calibration_and_sets():
    X, Y = TOKENS * 4, TAGS * 4
    model = mm.SequenceLabeler(C=10, **LONG, calibrate=3).fit(X, Y)
    assert model.calibrated_
    assert all(y in found for y, found in zip(Y, model.predict_set(X, coverage=0.8), strict=True))


def test_an_earlier_model_is_carried_over():
    new, tags = [[["bias", "w=the"], ["bias", "w=quick"], ["bias", "w=dog"]]], [["D", "A", "N"]]
    old = mm.SequenceLabeler(C=10, **LONG).fit(TOKENS, TAGS)
    model = mm.SequenceLabeler(C=1e-9, prior=old, **LONG).fit(new, tags)
    for kind in ("ngrams", "transition_features", "transitions"):
        before, after = old.weights_[kind], model.weights_[kind]
        for names in product(*before.names):
            assert after[names if len(names) > 1 else names[0]] == pytest.approx(
                before[names if len(names) > 1 else names[0]], abs=1e-7
            )
    shorter = mm.SequenceLabeler(C=10).fit(TOKENS, TAGS)
    longer = mm.SequenceLabeler(C=1e-9, prior=shorter, **LONG).fit(TOKENS, TAGS)
    np.testing.assert_allclose(longer.decision_function(TOKENS), shorter.decision_function(TOKENS), atol=1e-6)
    with pytest.raises(ValueError, match="the earlier model has order=2; expected at most 1"):
        mm.SequenceLabeler(prior=old, transition_features=["w="]).fit(new, tags)
    with pytest.raises(ValueError, match="has transition_features that this one does not have"):
        mm.SequenceLabeler(prior=old, order=2).fit(new, tags)


@pytest.mark.parametrize("order", [1, 2])
def test_online_training_refuses_what_is_no_output(order):
    options = {"order": order, "ngrams": "observed", "solver": "perceptron"}
    model = mm.SequenceLabeler(**options, classes=["D", "N", "V"]).partial_fit(TOKENS, TAGS)
    model.partial_fit(TOKENS, TAGS)
    with pytest.raises(
        ValueError, match=r"sequence 0, position 1: the labels \('N', 'D'\) do not occur .* ngrams='all'"
    ):
        model.partial_fit(TOKENS[:1], [["N", "D"]])
    with pytest.raises(ValueError, match="ngrams='all' allows such runs"):
        model.predict([[["bias"]] * 5])
    mm.SequenceLabeler(order=order, solver="perceptron").partial_fit(TOKENS, TAGS).predict([[["bias"]] * 5])


def test_missing_labels_are_completed():
    Y = [list(("aabb" * 5)[:n]) for n in (9, 12, 15, 18)]
    X = [np.column_stack([np.ones(len(y)), RNG.standard_normal(len(y)) + [label == "a" for label in y]]) for y in Y]
    some = [[label if t % 7 else {"a", "b"} for t, label in enumerate(y)] for y in Y]
    for ngrams in ("all", "observed"):
        model = mm.SequenceLabeler(C=100, order=2, ngrams=ngrams).fit(X, some)
        assert model.certificate_.converged
        assert model.score(X, Y) > 0.9
    with pytest.raises(ValueError, match="needs complete labels"):
        mm.SequenceLabeler(order=2, objective="likelihood").fit(X, some)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"order": 0}, "order must be a whole number"),
        ({"ngrams": "some"}, "ngrams must be one of 'all', 'observed', got 'some'"),
        ({"transition_features": "word"}, "got 'word'"),
        ({"transition_features": [5]}, "names column 5; there are 2 columns"),
        ({"transition_features": ["w="]}, "columns of matrices have none: give their numbers"),
        ({"order": 2, "objective": "likelihood", "solver": "exponentiated_gradient"}, "'lbfgs'"),
    ],
)
def test_what_cannot_be_is_said(options, message):
    with pytest.raises(ValueError, match=message):
        mm.SequenceLabeler(**options).fit(X, Y)


def test_features_of_tokens_are_chosen_by_their_names():
    with pytest.raises(ValueError, match="hash_bits keeps none"):
        mm.SequenceLabeler(hash_bits=4, transition_features=["w="]).fit(TOKENS, TAGS)
    with pytest.raises(ValueError, match="have names"):
        mm.SequenceLabeler(transition_features=[0]).fit(TOKENS, TAGS)


def test_weights_are_named_where_no_pair_of_labels_is_allowed():
    X, Y = [[{"a": 1}], [{"b": 1}]], [["x"], ["y"]]  # no sequence has two positions
    model = mm.SequenceLabeler(ngrams="observed", transition_features=True).fit(X, Y)
    assert model.task_.parts(model.w_)["transition_features"].shape == (2, 0)
    assert "features" in model.weights_


def test_very_many_runs_of_labels_are_a_reason_to_warn(monkeypatch):
    monkeypatch.setattr(histories, "MANY_BYTES", histories.STEP_BYTES * 20)
    X, Y = [np.eye(3)] * 2, [["x", "y", "z"]] * 2
    with pytest.warns(LargeModel, match=r"order=2 makes 27 runs of 3 labels, which take about .* GB, for 6 tokens"):
        mm.SequenceLabeler(order=2, max_passes=2).fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", LargeModel)
        mm.SequenceLabeler(order=2, ngrams="observed", max_passes=2).fit(X, Y)


def test_a_table_that_is_too_large_is_refused_before_shorter_runs_take_memory(monkeypatch):
    made, arange = [], np.arange
    monkeypatch.setattr(histories.np, "arange", lambda *args, **kw: made.append(args) or arange(*args, **kw))
    with pytest.raises(ValueError, match=r"a table of 3,486,784,401 n-grams of labels needs .* GB .*ngrams='observed'"):
        histories.all_ngrams(np.ones((9, 9), dtype=bool), 9)
    assert made == []


def test_forbidden_pairs_make_fewer_runs_of_labels():
    allowed = np.eye(9, dtype=bool)
    assert [len(each) for each in histories.all_ngrams(allowed, 12)] == [9] * 13
