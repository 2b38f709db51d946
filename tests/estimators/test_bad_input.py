"""Bad input: each with an error that says where, what was found and what was expected."""

import numpy as np
import pytest
from estimators.problems import sequences
from scipy import sparse

from maxmargin import MulticlassSVC, SequenceLabeler, StructuredSVM, solvers, tasks
from maxmargin.tasks import Sequences, Weighted

X, Y = sequences(6)
WORDS, _ = sequences(6, form="attributes")
DICTS, _ = sequences(6, form="dicts")
FLAT = np.arange(12.0).reshape(6, 2) % 5, ["a", "b", "c", "a", "b", "c"]


def put(items, i, item):
    return [*items[:i], item, *items[i + 1 :]]


def spoiled(x, value):
    x = np.array(x.toarray() if sparse.issparse(x) else x)
    x[1, 2] = value
    return x


SEQUENCES = [
    # numbers of things
    (X, Y[:-1], "X has 6 examples but Y has 5: example 5 has no partner"),
    (X[:4], Y, "X has 4 examples but Y has 6: example 4 has no partner"),
    ([], [], "no examples given"),
    (X, put(Y, 2, Y[2][:-1]), r"sequence 2 has \d positions but \d labels"),
    (X, put(Y, 3, [*Y[3], "noun"]), r"sequence 3 has \d positions but \d labels"),
    (put(X, 1, X[1][:0]), put(Y, 1, []), "sequence 1 is empty"),
    (put(WORDS, 1, []), put(Y, 1, []), "sequence 1 is empty"),
    (put(X, 4, X[4][:, :2]), Y, "sequence 4 has 2 features; expected 4"),
    # values
    (put(X, 2, spoiled(X[2], np.nan)), Y, "sequence 2, position 1: features contain NaN or infinity"),
    (put(X, 2, spoiled(X[2], np.inf)), Y, "sequence 2, position 1: features contain NaN or infinity"),
    (
        [sparse.csr_array(x) for x in put(X, 2, spoiled(X[2], -np.inf))],
        Y,
        "sequence 2, position 1: features contain NaN",
    ),
    (put(X, 2, spoiled(X[2], -1e200)), Y, r"sequence 2, position 1: features contain -1e\+200, whose square overflows"),
    (
        [sparse.csr_array(x) for x in put(X, 2, spoiled(X[2], 1e101))],
        Y,
        r"sequence 2, position 1: features contain 1e\+101",
    ),
    (put(DICTS, 0, put(DICTS[0], 1, {"size": np.nan})), Y, "sequence 0, position 1: features contain NaN or infinity"),
    (
        put(DICTS, 0, put(DICTS[0], 1, {"size": None})),
        Y,
        "sequence 0, position 1: the feature 'size' is None; expected",
    ),
    (put(DICTS, 0, put(DICTS[0], 1, {"size": 10**400})), Y, "sequence 0, position 1: int too large"),
    (put(DICTS, 0, put(DICTS[0], 1, {"size": 1j})), Y, r"sequence 0, position 1: the feature 'size' is 1j; expected"),
    (put(DICTS, 0, put(DICTS[0], 1, {"size": {"x": 1}})), Y, "sequence 0, position 1: the feature 'size' is {'x': 1}"),
    (put(DICTS, 0, put(DICTS[0], 1, {"size": {"x"}})), Y, "sequence 0, position 1: the feature 'size' is {'x'}"),
    (put(DICTS, 0, put(DICTS[0], 1, {7: 1.0})), Y, "sequence 0, position 1: the feature name 7 is not a string"),
    (put(DICTS, 0, put(DICTS[0], 1, {7: "x"})), Y, "sequence 0, position 1: the feature name 7 is not a string"),
    (put(WORDS, 0, put(WORDS[0], 1, ["a", 7])), Y, "sequence 0, position 1: the feature name 7 is not a string"),
    (put(WORDS, 0, put(WORDS[0], 1, [["a"]])), Y, r"sequence 0, position 1: the feature name \['a'\] is not a string"),
    (put(WORDS, 0, put(WORDS[0], 1, "the")), Y, "sequence 0, position 1: the token is 'the'; expected a dict"),
    (put(WORDS, 0, put(WORDS[0], 1, {"a", "b"})), Y, "sequence 0, position 1: the token is {.*}; expected a dict"),
    # forms
    (put(X, 1, WORDS[1]), Y, "sequence 1 is a list of tokens; expected a matrix"),
    (put(WORDS, 1, X[1]), Y, "sequence 1 is a matrix; expected a list of tokens"),
    (put(X, 1, X[1][0]), Y, r"sequence 1 has shape \(4,\); expected two dimensions"),
    (np.ones((6, 3)), Y, r"sequence 0 has shape \(3,\); expected two dimensions"),
    (sparse.csr_array(np.ones((6, 3))), Y, "X is one sparse matrix; expected a list of sequences"),
    ([x.tolist() for x in X], Y, "give rows of numbers as a .length, features. array"),
    (["the dog"] * 6, Y, "sequence 0 is a str; expected"),
    ([{"word": "the"}] * 6, Y, "sequence 0 is a dict; expected"),
    ([x.astype(str).astype("<U9") + "?" for x in X], Y, "sequence 0 is a matrix of <U10, not of numbers"),
    (iter(X), Y, "X must be a list or an array of examples, got list_iterator"),
    (X, None, "Y must be a list or an array of examples, got NoneType"),
    (X, [0, 1, 0, 1, 0, 1], r"Y\[0\] is 0; expected the list of labels of sequence 0"),
    # labels
    (X, [["noun"] * len(y) for y in Y], r"only one class was found \(\['noun'\]\); a classifier needs at least two"),
    (X, [[[label] for label in y] for y in Y], "a label cannot be used: unhashable type: 'list'"),
    (X, put(Y, 1, Weighted(Y[1], [1.0])), r"sequence 1 has \d positions but 1 costs"),
    (X, put(Y, 1, Weighted(Y[1], [-1.0] * len(Y[1]))), "sequence 1: position costs must be finite and >= 0"),
    (X, put(Y, 1, Weighted(Y[1], [np.nan] * len(Y[1]))), "sequence 1: position costs must be finite and >= 0"),
]


@pytest.mark.parametrize(("inputs", "outputs", "message"), SEQUENCES, ids=[case[2] for case in SEQUENCES])
def test_sequences(inputs, outputs, message):
    for model in (SequenceLabeler(), StructuredSVM(tasks.Chain()), SequenceLabeler(solver="perceptron", n_jobs=2)):
        with pytest.raises(ValueError, match=message):
            model.fit(inputs, outputs)
        assert not hasattr(model, "w_")


PREDICTIONS = [
    (X, [np.eye(3)], "sequence 0 has 3 features; expected 4 as in training"),
    (X, Sequences(np.eye(3), [0, 3]), "sequences have 3 features; expected 4 as in training"),
    (X, [X[0], spoiled(X[2], np.nan)], "sequence 1, position 1: features contain NaN"),
    (X, WORDS, "sequence 0 is a list of tokens; expected a matrix"),
    (WORDS, X, "sequence 0 is a matrix; expected a list of tokens"),
    (WORDS, [WORDS[0], [["bias"], "bias"]], "sequence 1, position 1: the token is 'bias'"),
    (WORDS, [[[1.0, 2.0]]], "sequence 0, position 0: the feature name 1.0 is not a string"),
    (DICTS, [[{"size": np.inf}]], "sequence 0, position 0: features contain NaN or infinity"),
]


@pytest.mark.parametrize(("inputs", "new", "message"), PREDICTIONS, ids=[case[2] for case in PREDICTIONS])
def test_prediction(inputs, new, message):
    model = SequenceLabeler().fit(inputs, Y)
    truth = [["noun"]] * len(new)
    for call in (
        model.predict,
        model.decision_function,
        lambda x: model.predict_nbest(x, 2),
        lambda x: model.score(x, truth),
    ):
        with pytest.raises(ValueError, match=message):
            call(new)


def test_scores_need_partners():
    model = SequenceLabeler().fit(X, Y)
    with pytest.raises(ValueError, match="X has 6 sequences but Y has 5"):
        model.score(X, Y[:-1])
    with pytest.raises(ValueError, match=r"sequence 0: there are \d positions but 1 labels"):
        model.score(X, put(Y, 0, ["noun"]))
    with pytest.raises(ValueError, match="nothing to score"):
        model.score([], [])
    model = StructuredSVM(tasks.Chain()).fit(X, Y)
    with pytest.raises(ValueError, match="X has 6 examples but Y has 5"):
        model.score(X, Y[:-1])
    with pytest.raises(ValueError, match=r"1 true but .* predicted labels"):
        model.score(X, put(Y, 0, ["noun"]))
    with pytest.raises(ValueError, match="nothing to score"):
        model.score([], [])


@pytest.mark.parametrize("n", [0, -1, 1.5, "2", True, None])
def test_n_best_needs_a_whole_number(n):
    with pytest.raises(ValueError, match="n must be a whole number >= 1"):
        SequenceLabeler().fit(X, Y).predict_nbest(X, n)


UNKNOWN = [
    (
        WORDS,
        [WORDS[0], [["bias"], ["bias", "word=new"]]],
        "sequence 1, position 1 has the feature 'word=new', which was not",
    ),
    (
        DICTS,
        [[{"size": 1.0}, {"word": "new"}]],
        "sequence 0, position 1 has the feature 'word=new', which was not seen",
    ),
]


@pytest.mark.parametrize(("inputs", "new", "message"), UNKNOWN, ids=["attributes", "dicts"])
def test_unknown(inputs, new, message):
    with pytest.raises(ValueError, match=message):
        SequenceLabeler(unknown="error").fit(inputs, Y).predict(new)
    model = SequenceLabeler().fit(inputs, Y)
    without = [
        [t[:1] if isinstance(t, list) else {k: v for k, v in t.items() if v != "new"} for t in x] for x in new[-1:]
    ]
    assert model.predict(new[-1:]) == model.predict(without)
    np.testing.assert_array_equal(model.decision_function(new[-1:]), model.decision_function(without))


PARAMETERS = [
    *[
        ({"C": C}, "C must be a positive number .or inf for a hard margin., got")
        for C in (0, -1.0, np.nan, -np.inf, "1")
    ],
    *[({"C": C}, "C must be a positive number") for C in (None, True, 1j, [1.0], np.array([1.0, 2.0]))],
    *[
        ({"tol": tol}, "tol must be a positive finite number, got")
        for tol in (0, 0.0, -1e-3, np.nan, np.inf, "1", True)
    ],
    *[({"max_passes": n}, "max_passes must be a positive number .* got") for n in (0, -3, np.nan, "9", False)],
    *[({"n_jobs": n}, "n_jobs must be a positive whole number, or -1 .* got") for n in (0, -2, 1.0, "2", True)],
    *[
        ({"solver": name}, "unknown solver .*; expected one of bcfw, .*n_slack, ")
        for name in ("svm", 3, ["bcfw"], solvers.BCFW)
    ],
    *[({"solver": solvers.BCFW(tol=tol)}, "tol must be a positive finite number") for tol in (0, None, -1)],
    ({"solver": solvers.NSlack(reoptimise="all")}, "reoptimise must be 'joint' or 'block', got 'all'"),
    *[({"rescaling": name}, "rescaling must be 'margin' or 'slack', got") for name in ("loss", None, 1)],
    *[({"slack": name}, "slack must be 'l1' or 'l2', got") for name in ("l3", None, 2)],
    *[({"random_state": seed}, "random_state must ") for seed in (-1, "seed", 1.5)],
    ({"random_state": np.random.default_rng(0)}, "random_state must be a whole number, a RandomState or None"),
    ({"C": np.inf, "solver": "bundle"}, "solver 'bundle' needs a finite C; use solver='bcfw', 'n_slack', 'one_slack'"),
    ({"C": np.inf, "solver": "subgradient"}, "solver 'subgradient' needs a finite C; use"),
]
LABELER = [
    ({"unknown": "drop"}, "unknown must be 'ignore' or 'error', got 'drop'"),
    ({"classes": ["det", "noun"]}, "sequence [0-9]+: the label 'verb' is not one of the classes .'det', 'noun'."),
    ({"classes": ["det", "noun", "verb", "det"]}, "classes contains a label twice"),
    ({"classes": ["det", ["noun"]]}, "a label cannot be used: unhashable"),
    ({"classes": []}, "only one class was found"),
    ({"costs": np.ones((2, 2))}, r"the cost matrix has shape \(2, 2\); expected \(3, 3\)"),
    ({"costs": np.ones(3)}, r"the cost matrix has shape \(3,\); expected \(3, 3\)"),
    ({"costs": np.eye(3) - 1}, "costs must be finite and >= 0"),
    ({"costs": np.full((3, 3), np.nan)}, "costs must be finite and >= 0"),
    ({"costs": np.ones((3, 3))}, "the cost of a correct answer .* must be 0"),
    ({"costs": {"adj": 2.0}}, "costs names the label 'adj', which is not one of the classes"),
    ({"costs": {"noun": -2.0}}, "costs must be finite and >= 0"),
    ({"costs": {"noun": "high"}}, "costs must be None, a dict or a matrix of numbers"),
    ({"costs": "balanced"}, "costs must be None, a dict or a matrix of numbers, got 'balanced'"),
    ({"forbidden": [("noun", "adj")]}, "forbidden names the label 'adj', which is not one of the classes"),
    ({"forbidden": [(None, None)]}, "forbidden contains .None, None."),
    ({"forbidden": "IOB"}, "forbidden must be one of 'BIO', .* or a list of .before, after. pairs, got 'IOB'"),
    ({"forbidden": 3}, "forbidden must be one of 'BIO', .* or a list of .before, after. pairs, got 3"),
    ({"forbidden": [("noun", "verb", "det")]}, "forbidden must be one of 'BIO', .* or a list of .before, after. pairs"),
    (
        {"forbidden": [("noun", "verb")]},
        r"sequence \d, position \d: 'verb' may not follow 'noun', as forbidden says; leave",
    ),
    ({"forbidden": [(None, Y[0][0])]}, "sequence 0, position 0: .* may not come first, as forbidden says; leave"),
    ({"forbidden": [(Y[0][-1], None)]}, r"sequence 0, position \d: .* may not come last, as forbidden says; leave"),
]


def named(cases):
    """The same names in every process, whatever the address of an object."""
    return [f"{' '.join(parameters)}: {message}" for parameters, message in cases]


@pytest.mark.parametrize(("parameters", "message"), PARAMETERS + LABELER, ids=named(PARAMETERS + LABELER))
def test_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        SequenceLabeler(**parameters).fit(X, Y)
    model = StructuredSVM(tasks.Chain())
    names = model.get_params()
    with pytest.raises(ValueError, match=message):
        model.set_params(
            **{name if name in names else f"task__{name}": value for name, value in parameters.items()}
        ).fit(X, Y)


@pytest.mark.parametrize(("parameters", "message"), PARAMETERS, ids=named(PARAMETERS))
def test_parameters_of_a_flat_classifier(parameters, message):
    model = MulticlassSVC(**parameters)
    with pytest.raises(ValueError, match=message):
        model.fit(*FLAT)
    assert not hasattr(model, "w_")


def test_parameters_of_the_wrong_type():
    for task in (tasks.Chain, None, "chain", SequenceLabeler()):
        with pytest.raises(TypeError, match="task must be a maxmargin Task, got"):
            StructuredSVM(task).fit(X, Y)
    with pytest.raises(TypeError, match="callback must be callable, got 3"):
        SequenceLabeler(callback=3).fit(X, Y)
    with pytest.raises(TypeError, match="executor must be a maxmargin Executor, got 2"):
        SequenceLabeler(executor=2).fit(X, Y)
    with pytest.raises(TypeError, match="BCFW has no option 'blocks'; it has block, "):
        solvers.BCFW(blocks=2)
    with pytest.raises(ValueError, match="tol must be a positive finite number, got 0"):
        SequenceLabeler().fit(X, Y).certify(X, Y, tol=0)


@pytest.mark.parametrize("C", [1e-12, np.float32(3.0), 5, 1e6, np.int64(2), np.inf])
def test_good_values_of_the_penalty(C):
    easy = [np.eye(3)[["det", "noun", "verb"].index(label)][None] for y in Y for label in y]
    model = SequenceLabeler(C=C).fit(easy, [[label] for y in Y for label in y])
    assert model.certificate_.converged


WEIGHTS = [
    ([1.0, 1.0], r"sample_weight has shape \(2,\); expected \(6,\), one weight per example"),
    ([[1.0]] * 6, r"sample_weight has shape \(6, 1\); expected \(6,\)"),
    (1.0, r"sample_weight has shape \(\); expected \(6,\)"),
    ([1, 1, -1, 1, 1, 1], r"sample_weight\[2\] is -1.0; weights must be finite and >= 0"),
    ([1, 1, 1, np.nan, 1, 1], r"sample_weight\[3\] is nan; weights must be finite and >= 0"),
    ([1, 1, 1, 1, np.inf, 1], r"sample_weight\[4\] is inf; weights must be finite and >= 0"),
    ([0.0] * 6, "all sample weights are zero: there is nothing to learn from"),
    (["a"] * 6, "could not convert string to float"),
]


@pytest.mark.parametrize(("weights", "message"), WEIGHTS, ids=[case[1] for case in WEIGHTS])
def test_sample_weights(weights, message):
    for model in (SequenceLabeler(), StructuredSVM(tasks.Chain()), SequenceLabeler(solver="perceptron")):
        with pytest.raises(ValueError, match=message):
            model.fit(X, Y, sample_weight=weights)
        with pytest.raises(ValueError, match=message):
            model.fit_path(X, Y, [1.0], sample_weight=weights)
    with pytest.raises(ValueError, match=message):
        MulticlassSVC().fit(*FLAT, sample_weight=weights)


def test_position_weights():
    good = [[1.0] * len(y) for y in Y]
    for weights, message in [
        (good[:-1], "position_weight has 5 sequences but Y has 6"),
        (put(good, 1, [1.0]), r"sequence 1 has \d positions but 1 costs"),
        (put(good, 1, [-1.0] * len(Y[1])), "sequence 1: position costs must be finite and >= 0"),
        (
            put(good, 1, ["much"] * len(Y[1])),
            r"position_weight of sequence 1 is \['much'.*; expected a list of numbers",
        ),
    ]:
        with pytest.raises(ValueError, match=message):
            SequenceLabeler().fit(X, Y, position_weight=weights)


def table(value, kind=np.asarray):
    inputs = FLAT[0].copy()
    inputs[3, 1] = value
    return kind(inputs)


ROWS = [
    (table(np.nan), FLAT[1], "example 3, feature 1: X contains NaN or infinity"),
    (table(np.inf), FLAT[1], "example 3, feature 1: X contains NaN or infinity"),
    (table(np.nan, sparse.csr_array), FLAT[1], "example 3, feature 1: X contains NaN or infinity"),
    (table(-np.inf, sparse.csc_matrix), FLAT[1], "example 3, feature 1: X contains NaN or infinity"),
    (table(1e308), FLAT[1], r"example 3, feature 1: X contains 1e\+308, whose square overflows; scale the features"),
    (FLAT[0], FLAT[1][:-1], r"inconsistent numbers of samples: \[6, 5\]"),
    (FLAT[0][:0], [], "Found array with 0 sample"),
    (FLAT[0], ["a"] * 6, "only one class was found"),
    (FLAT[0], [1.5, 2.5, 0.1, 0.2, 0.3, 0.4], "Unknown label type: continuous"),
    (FLAT[0], None, "requires y to be passed, but the target y is None"),
]


@pytest.mark.parametrize(("inputs", "outputs", "message"), ROWS, ids=[case[2] for case in ROWS])
def test_flat_data(inputs, outputs, message):
    for train in (MulticlassSVC().fit, lambda X, y: MulticlassSVC().fit_path(X, y, [1.0])):
        with pytest.raises(ValueError, match=message):
            train(inputs, outputs)


def test_flat_predictions():
    model = MulticlassSVC().fit(*FLAT)
    with pytest.raises(ValueError, match="X has 3 features, but MulticlassSVC is expecting 2 features as input"):
        model.predict(np.ones((2, 3)))
    with pytest.raises(ValueError, match="example 3, feature 1: X contains NaN or infinity"):
        model.predict(table(np.nan))
    with pytest.raises(ValueError, match="example 3, feature 1: X contains NaN or infinity"):
        model.decision_function(table(np.nan, sparse.csr_array))


@pytest.mark.parametrize("costs", [{"d": 1.0}, np.ones((3, 3)), np.ones((2, 2)), -np.eye(3), "balanced"])
def test_flat_costs(costs):
    with pytest.raises(ValueError, match="cost"):
        MulticlassSVC(costs=costs).fit(*FLAT)


def test_flat_tasks_of_the_general_estimator():
    model = StructuredSVM(tasks.Multiclass())
    with pytest.raises(ValueError, match=r"X must be a dense or sparse \(examples, features\) matrix"):
        model.fit(FLAT[0].tolist(), FLAT[1])
    with pytest.raises(ValueError, match="example 3, feature 1: X contains NaN or infinity"):
        model.fit(table(np.nan), FLAT[1])
    with pytest.raises(ValueError, match="example 2: the label 'c' is not one of the classes"):
        StructuredSVM(tasks.Multiclass(classes=["a", "b"])).fit(*FLAT)
    with pytest.raises(ValueError, match="X has 3 features; expected 2 as in training"):
        model.fit(*FLAT).predict(np.ones((2, 3)))
    assert model.score(FLAT[0][:1], ["new"]) == -1.0
