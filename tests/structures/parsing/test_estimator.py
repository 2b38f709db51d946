"""Parser: what it learns, sentences and trees of all kinds, n-best lists, scikit-learn's rules, and bad input."""

import inspect
import pickle
from functools import cache

import joblib
import numpy as np
import pandas as pd
import pytest
from estimators.problems import CHECKS_WITHOUT_DATA
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_parameters_default_constructible
from structures.parsing.treebank import NltkTree, nested, treebank

from maxmargin import PCFG, Parser, StructuredSVM, Tree, solvers, tasks
from maxmargin.errors import LossReplaced
from maxmargin.metrics import parseval
from maxmargin.problem.contract.examples import dot
from maxmargin.structures.parsing import charts
from maxmargin.structures.parsing.tree_space import Unparseable

Y = treebank()
X = [tree.tags() for tree in Y]
WORDS = [tree.words() for tree in Y]
PAIRS = [tree.tokens() for tree in Y]
NEW = treebank(30, seed=1)
MEASURES = ["hamming", "f1", "zero_one"]
measures = pytest.mark.parametrize("measure", MEASURES)
RULES = ["S -> NP VP", "NP -> N | D N | NP PP", "VP -> V NP PP | V NP", "PP -> P NP"]


@cache
def trained():
    return Parser(C=10.0).fit(X, Y)


# --- training


@measures
@pytest.mark.parametrize("inputs", ["tags", "words", "features"])
def test_learns_to_parse(measure, inputs):
    sentences = {
        "tags": lambda trees: [tree.tags() for tree in trees],
        "words": lambda trees: [tree.words() for tree in trees],
        "features": lambda trees: [[[f"word={word}"] for word in tree.words()] for tree in trees],
    }[inputs]
    model = Parser(inputs, measure, vertical=2, C=10.0, tol=0.02).fit(sentences(Y), Y)
    assert model.certificate_.converged
    assert model.certificate_.exact
    assert model.certificate_.relative_gap <= 0.02
    assert model.score(sentences(Y), Y) == 1.0
    assert model.score(sentences(NEW), NEW) > 0.95


def test_span_features_tell_what_rules_do_not():
    """A rule alone does not know whether the noun has a determiner; the tag at the left end of the span shows it."""
    plain = Parser(C=10.0, span_features=()).fit(X, Y)
    assert plain.score(X, Y) < 1.0
    assert trained().score(X, Y) == 1.0
    assert plain.certificate_.converged


@pytest.mark.parametrize("rescaling", ["margin", "slack"])
@pytest.mark.parametrize("slack", ["l1", "l2"])
@measures
def test_formulations(measure, rescaling, slack):
    model = Parser(measure=measure, C=10.0, rescaling=rescaling, slack=slack).fit(X, Y)
    assert model.certificate_.converged
    assert model.certificate_.exact
    assert model.score(X, Y) == 1.0


@pytest.mark.parametrize("solver", ["one_slack", "n_slack", "bundle"])
@measures
def test_solvers_agree(measure, solver):
    one, other = (Parser(measure=measure, solver=each, C=1.0, tol=1e-3).fit(X, Y) for each in ("bcfw", solver))
    assert other.certificate_.primal == pytest.approx(one.certificate_.primal, rel=2e-3)
    assert other.certificate_.dual <= one.certificate_.primal


def test_certify():
    again = trained().certify(X, Y)
    assert again.primal == pytest.approx(trained().certificate_.primal)
    assert again.dual <= trained().certificate_.primal
    rough = Parser(C=10.0, solver="perceptron").fit(X, Y)
    assert not rough.certificate_.converged
    certificate = rough.certify(X, Y)
    assert trained().certificate_.dual <= certificate.primal * (1 + 1e-9)


def test_is_a_structured_svm_of_a_grammar():
    options = {"measure": "f1", "horizontal": 1, "span_features": ["first"]}
    general = StructuredSVM(tasks.Grammar(**options), C=10.0).fit(X, Y)
    np.testing.assert_array_equal(general.w_, Parser(**options, C=10.0).fit(X, Y).w_)


@measures
@pytest.mark.parametrize("solver", ["bcfw", "one_slack"])
def test_threads_change_nothing(measure, solver):
    alone = Parser(measure=measure, C=10.0, solver=solver).fit(X, Y)
    np.testing.assert_array_equal(Parser(measure=measure, C=10.0, solver=solver, n_jobs=2).fit(X, Y).w_, alone.w_)


@measures
def test_weights_of_sentences(measure):
    weights = np.arange(len(X)) % 3
    weighted = Parser(measure=measure, C=2.0, tol=1e-5, max_passes=1000).fit(X, Y, sample_weight=0.5 * weights)
    index = np.repeat(np.arange(len(X)), weights)
    repeated = Parser(measure=measure, C=2.0, tol=1e-5, max_passes=1000)
    repeated.fit([X[i] for i in index], [Y[i] for i in index])
    # the weights of rules and features that only sentences of weight 0 have stay 0
    assert weighted.certificate_.primal == pytest.approx(repeated.certificate_.primal, rel=2e-5)


def test_warm_start():
    model = Parser(C=10.0, warm_start=True).fit(X, Y)
    first = model.certificate_.passes
    assert model.fit(X, Y).certificate_.passes < first
    model.set_params(measure="f1").fit(X, Y)  # another problem: cold
    np.testing.assert_array_equal(model.w_, Parser(measure="f1", C=10.0).fit(X, Y).w_)


def test_path():
    path = Parser(tol=1e-3).fit_path(X, Y, [0.1, 10.0])
    for model in path:
        alone = Parser(C=model.C, tol=1e-3).fit(X, Y)
        assert model.certificate_.primal == pytest.approx(alone.certificate_.primal, rel=2e-3)
    assert path[1].score(X, Y) == 1.0


def test_long_sentences_with_f1():
    longer = sum(len(tree) > 6 for tree in Y)
    message = rf"{longer} of 24 sentences have more than f1_words=6 words: their loss is \(missed \+ wrong"
    assert 0 < longer < 24
    with pytest.warns(LossReplaced, match=message):
        model = Parser(measure="f1", C=10.0, f1_words=6).fit(X, Y)
    assert model.score(X, Y) == 1.0
    with pytest.warns(LossReplaced, match=message):
        Parser(measure="f1", f1_words=6).fit_path(X, Y, [1.0])
    with pytest.warns(LossReplaced, match=message):
        Parser(measure="f1", f1_words=6, solver="subgradient").partial_fit(X, Y)
    for measure, f1_words in ("hamming", 6), ("f1", 8):  # no warning, which would be an error
        Parser(measure=measure, f1_words=f1_words, max_passes=1).fit(X, Y)


def test_partial_fit():
    """The grammar has the rules of the first call, so here they are given."""
    model = Parser(rules=RULES, solver="perceptron")
    for begin in range(0, 24, 6):
        model.partial_fit(X[begin : begin + 6], Y[begin : begin + 6])
    assert model.score(X, Y) > 0.9
    with pytest.raises(ValueError, match="the tree of sentence 0: the grammar has no label X"):
        model.partial_fit([["N"]], ["(X (N a))"])
    assert not hasattr(Parser(), "partial_fit")


# --- sentences and trees of all kinds


@pytest.mark.parametrize("form", [str, NltkTree.of, nested, lambda tree: f"( {tree} )"])
def test_kinds_of_trees(form):
    trees = [form(tree) for tree in Y]
    np.testing.assert_array_equal(Parser(C=10.0).fit(X, trees).w_, trained().w_)
    assert trained().score(X, trees) == 1.0


@pytest.mark.parametrize("kind", ["tuples", "arrays", "series"])
def test_kinds_of_sentences(kind):
    index = np.arange(len(X))[::-1]
    sentences, trees = {
        "tuples": (tuple(map(tuple, X)), tuple(Y)),
        "arrays": ([np.array(x) for x in X], Y),
        "series": (pd.Series(X, index=index), pd.Series(Y, index=index)),
    }[kind]
    model = Parser(C=10.0).fit(sentences, trees)
    np.testing.assert_array_equal(model.w_, trained().w_)
    assert list(map(str, model.predict(sentences))) == list(map(str, trained().predict(X)))
    assert model.score(sentences, trees) == 1.0


def test_pairs_keep_their_words():
    model = Parser(C=10.0).fit(PAIRS, Y)
    np.testing.assert_array_equal(model.w_, trained().w_)
    assert model.predict(PAIRS) == Y
    assert [tree.words() for tree in model.predict(X)] == X
    assert model.predict([PAIRS[0][:1] + X[0][1:]])[0].words() == WORDS[0][:1] + X[0][1:]


def test_a_grammar_of_your_own():
    for given in (RULES, "\n".join(RULES)):
        model = Parser(rules=given, C=10.0).fit(X, Y)
        assert model.score(X, Y) == 1.0
        assert model.weights_["roots"].names == (["S"],)
    for tree, _ in model.predict_nbest([["N", "V", "N", "P", "N", "P", "N"]], 100)[0]:
        for node in tree.subtrees():  # nothing but these rules
            if not node.is_preterminal:
                right = [child.label for child in node.branches]
                assert any(f"{node.label} -> " in rule and " ".join(right) in rule.split(" -> ")[1] for rule in RULES)
                assert len(right) <= 3


# --- predictions


def test_decision_function_is_the_score_of_the_prediction():
    values = [dot(trained().task_.psi(x, tree), trained().w_) for x, tree in zip(X, trained().predict(X), strict=True)]
    np.testing.assert_allclose(trained().decision_function(X), values, rtol=1e-12)


@pytest.mark.parametrize("n", [1, 2, 7, 1000, 10**9])
@pytest.mark.parametrize("room", [1, 4, 1024])
def test_n_best(n, room, monkeypatch):
    monkeypatch.setattr(charts, "FEW_TREES", room)
    if n == 10**9 and room == 1:
        with pytest.raises(
            ValueError, match=r"a list of the 1,000,000,000 best trees needs .* GB .*; ask for a smaller n"
        ):
            trained().predict_nbest([tree.tags() for tree in NEW[:6]], n)
        return
    new = [tree.tags() for tree in NEW[:6]]
    listed = trained().predict_nbest(new, n)
    for x, found, best, score in zip(
        new, listed, trained().predict(new), trained().decision_function(new), strict=True
    ):
        trees, scores = zip(*found, strict=True)
        assert trees[0] == best
        assert scores[0] == pytest.approx(score)
        assert list(scores) == sorted(scores, reverse=True)
        assert len(set(trees)) == len(trees) == min(n, len(list(trained().task_.outputs(x))))
        np.testing.assert_allclose(
            scores, [dot(trained().task_.psi(x, tree), trained().w_) for tree in trees], rtol=1e-12
        )


@pytest.mark.parametrize("n", [0, -1, 1.5, "2", True, None])
def test_n_best_needs_a_whole_number(n):
    with pytest.raises(ValueError, match="n must be a whole number >= 1"):
        trained().predict_nbest(X, n)


def test_score_is_labelled_f1():
    plain = Parser(C=10.0, span_features=()).fit(X, Y)
    found = [tree.with_words(words) for tree, words in zip(plain.predict(X), WORDS, strict=True)]
    assert plain.score(X, Y) == parseval(Y, found).f1 < 1
    assert plain.score(PAIRS, Y) == plain.score(X, Y)


def test_sentences_without_a_tree():
    new = [["N", "V"], X[0], ["N", "V", "Q"]]
    for call in (trained().predict, lambda x: trained().predict_nbest(x, 3)):
        with pytest.raises(Unparseable, match="sentence 0: the grammar has no tree for its tags; on_failure='flat'"):
            call(new)
    with pytest.raises(Unparseable, match="sentence 1: the tag of word 2, 'Q', is not in the grammar"):
        trained().predict(new[1:])
    np.testing.assert_array_equal(np.isinf(trained().decision_function(new)), [True, False, True])
    flat = Parser(C=10.0, on_failure="flat").fit(X, Y)
    np.testing.assert_array_equal(flat.w_, trained().w_)
    found = flat.predict(new)
    assert [str(found[0]), str(found[2])] == ["(S (N N) (V V))", "(S (N N) (V V) (Q Q))"]
    assert found[1] == trained().predict(X[:1])[0]
    assert flat.predict_nbest(new, 3)[2] == [(found[2], -np.inf)]
    assert 0 < flat.score(new, ["(S (NP (N a)) (VP (V b)))", Y[0], "(S (N a) (V b) (Q c))"]) < 1


def test_nothing_to_predict():
    assert trained().predict([]) == []
    assert trained().decision_function([]).shape == (0,)
    assert trained().predict_nbest([], 2) == []


def test_weights_by_name():
    for model in (trained(), Parser(inputs="words", C=10.0).fit(WORDS, Y), Parser(span_features=()).fit(X, Y)):
        named = model.weights_
        numbers = np.concatenate([weights.values.ravel() for weights in named.values()])
        assert numbers @ numbers == pytest.approx(model.w_ @ model.w_)
        assert len(numbers) == len(model.w_)
        assert "VP⟨⟩ → NP PP" in named["rules"].names[0]
        assert named["roots"].names == (["S"],)


def test_the_weights_that_matter_most():
    first, second = trained().top_weights(n=2)
    assert abs(first.weight) >= abs(second.weight) > 0
    largest = max((abs(weights.values).max(), kind) for kind, weights in trained().weights_.items())
    assert (abs(first.weight), first.name.split(":")[0]) == largest
    rule = "VP⟨⟩ → NP PP"
    assert all(name.endswith(f"rule={rule}") for name, _ in trained().top_weights(rule, 5))
    with pytest.raises(ValueError, match="no weight belongs to the label 'QP'"):
        trained().top_weights("QP")


# --- scikit-learn


@pytest.mark.parametrize("model", [Parser(), PCFG(), Parser(measure="f1", solver=solvers.BCFW(block=4))], ids=str)
@pytest.mark.parametrize(
    "check", [*CHECKS_WITHOUT_DATA, check_parameters_default_constructible], ids=lambda c: c.__name__
)
def test_checks_of_scikit_learn_that_need_no_data(model, check):
    check(type(model).__name__, clone(model))


def test_parameters():
    marks = {name: object() for name in inspect.signature(Parser).parameters}
    assert vars(Parser(**marks)) == marks
    assert repr(Parser(measure="f1", C=3.0)) == "Parser(C=3.0, measure='f1')"
    with pytest.raises(TypeError, match="Parser has no parameter 'horizon'; it has inputs, measure, horizontal"):
        Parser(horizon=2)
    own = list(inspect.signature(tasks.Grammar).parameters.values())  # first, in this order, and with these defaults
    assert list(map(str, inspect.signature(Parser).parameters.values()))[: len(own)] == list(map(str, own))
    tags = get_tags(Parser())
    assert tags.target_tags.required
    assert not tags.input_tags.two_d_array


def test_fit_leaves_data_and_parameters_alone():
    model = Parser(C=10.0, solver=solvers.BCFW(), span_features=["first"])
    before, parameters = joblib.hash((X, Y)), {name: joblib.hash(value) for name, value in model.get_params().items()}
    assert model.fit(X, Y) is model
    model.predict(X)
    model.score(X, Y)
    assert joblib.hash((X, Y)) == before
    assert {name: joblib.hash(value) for name, value in model.get_params().items()} == parameters
    w = model.w_
    np.testing.assert_array_equal(model.fit(X[:9], Y[:9]).fit(X, Y).w_, w)
    np.testing.assert_array_equal(clone(model).fit(X, Y).w_, w)


@pytest.mark.parametrize("model", [Parser(C=10.0), Parser("words", "f1", C=10.0), PCFG()], ids=str)
def test_pickle(model):
    sentences = WORDS if model.get_params().get("inputs") == "words" else X
    model = clone(model).fit(sentences, Y)
    copy = pickle.loads(pickle.dumps(model))
    assert copy.predict(sentences) == model.predict(sentences)
    np.testing.assert_array_equal(copy.w_, model.w_)
    np.testing.assert_array_equal(clone(copy).fit(sentences, Y).w_, model.w_)
    twice = clone(model).fit(sentences * 2, Y * 2)  # the data are not in it
    if isinstance(model, PCFG):
        assert len(pickle.dumps(twice)) < len(pickle.dumps(model)) + 200
    else:
        assert copy.certificate_ == model.certificate_


def test_grid_search():
    grid = {"C": [1.0, 10.0], "span_features": [(), "auto"], "solver__tol": [0.05]}
    search = GridSearchCV(Parser(solver=solvers.BCFW(), on_failure="flat"), grid, cv=2).fit(X, Y)
    assert search.best_params_["span_features"] == "auto"
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.predict(X) == search.best_estimator_.predict(X)
    assert search.score(X, Y) == 1.0
    assert len(cross_val_score(Parser(on_failure="flat"), X, Y, cv=3)) == 3


def test_unfitted():
    for model in (Parser(), PCFG()):
        assert not hasattr(model, "weights_")
        calls = [model.predict, model.decision_function, lambda x, model=model: model.predict_nbest(x, 2)]
        for call in (*calls, lambda x, model=model: model.score(x, Y)):
            with pytest.raises(NotFittedError):
                call(X)
    with pytest.raises(NotFittedError):
        Parser().certify(X, Y)


# --- bad input; test_task.py has more


def put(items, i, item):
    return [*items[:i], item, *items[i + 1 :]]


BAD = [
    ({}, X, Y[:-1], "X has 24 examples but Y has 23: example 23 has no partner"),
    ({}, [], [], "no examples given"),
    ({}, X, None, "Y must be a list or an array of examples, got NoneType"),
    ({}, iter(X), Y, "X must be a list or an array of examples, got list_iterator"),
    ({}, put(X, 3, []), Y, "sentence 3 is empty; leave out sentences without words"),
    ({}, put(X, 3, "N V N"), Y, "sentence 3 is 'N V N'; expected a list of tags or .word, tag. pairs"),
    ({}, put(X, 3, X[3][:-1]), Y, r"sentence 3 has \d words, but its tree has \d"),
    ({}, put(X, 3, ["Q", *X[3][1:]]), Y, "word 0 of sentence 3 has the tag 'Q', but '[ND]' in its tree"),
    ({}, put(X, 3, [7, *X[3][1:]]), Y, "word 0 of sentence 3 is 7; expected a list of tags"),
    ({}, X, put(Y, 3, "(S (NP (N dog)"), "the tree of sentence 3: "),
    ({}, X, put(Y, 3, 5.0), "the tree of sentence 3: 5.0 is not a tree"),
    ({}, X, put(Y, 3, Tree("S", [Y[3]])), "tree 3 has the unary cycle S → S; a label may stand only once"),
    ({"rules": "S -> NP VP\nNP -> N"}, X, Y, "the tree of sentence [0-9]+: the grammar has no "),
    ({"rules": "S -> A\nA -> S | N"}, X, Y, "the rules have the unary cycle"),
    ({"rules": "S = NP VP"}, X, Y, "the rule 'S = NP VP' cannot be read"),
    ({"measure": "f2"}, X, Y, "measure must be one of 'hamming', 'f1', 'zero_one', got 'f2'"),
    ({"inputs": "text"}, X, Y, "inputs must be one of 'tags', 'words', 'features', got 'text'"),
    ({"on_failure": None}, X, Y, "on_failure must be one of 'error', 'flat', got None"),
    ({"horizontal": -1}, X, Y, "horizontal must be a whole number >= 0, got -1"),
    ({"vertical": 0}, X, Y, "vertical must be a whole number >= 1, got 0"),
    ({"f1_words": 1.5}, X, Y, "f1_words must be a whole number >= 0, got 1.5"),
    ({"span_features": "all"}, X, Y, "span_features has 'all'; expected a list of some of"),
    ({"C": -1.0}, X, Y, "C must be a positive number"),
    ({"solver": "cky"}, X, Y, "unknown solver 'cky'"),
]


@pytest.mark.parametrize(("options", "sentences", "trees", "message"), BAD, ids=[case[3] for case in BAD])
def test_bad_input(options, sentences, trees, message):
    model = Parser(**options)
    with pytest.raises(ValueError, match=message):
        model.fit(sentences, trees)
    assert not hasattr(model, "w_")


def test_other_trees_to_certify():
    with pytest.raises(ValueError, match="the tree of sentence 1: the grammar has no label X"):
        trained().certify([X[0], ["N"]], [Y[0], "(X (N a))"])
    with pytest.raises(ValueError, match="the tree of sentence 0: NP is not a root of the grammar"):
        trained().certify([["N"]], ["(NP (N a))"])


PREDICT = [
    (["N V N"], "sentence 0 is 'N V N'; expected a list of tags"),
    ([X[0], []], "sentence 1 is empty"),
    ([X[0], ["N", None]], "word 1 of sentence 1 is None; expected a list of tags"),
    ("N V N", "sentence 0 is 'N'; expected a list of tags"),
]


@pytest.mark.parametrize(("sentences", "message"), PREDICT, ids=[case[1] for case in PREDICT])
def test_bad_sentences_to_predict(sentences, message):
    for call in (
        trained().predict,
        trained().decision_function,
        lambda x: trained().predict_nbest(x, 2),
        lambda x: trained().score(x, Y),
    ):
        with pytest.raises(ValueError, match=message):
            call(sentences)


def test_bad_scores():
    with pytest.raises(ValueError, match="X has 24 sentences but Y has 23"):
        trained().score(X, Y[:-1])
    with pytest.raises(ValueError, match=r"sentence 2 has \d words, but its tree has 1"):
        trained().score(X, put(Y, 2, "(NP (N a))"))
    with pytest.raises(ValueError, match="no trees to compare"):
        trained().score([], [])
    with pytest.raises(ValueError, match="the tree of sentence 2: "):
        trained().score(X, put(Y, 2, "(NP (N a"))


def test_every_weight_has_its_name():
    parser = Parser(inputs="words", C=1.0, random_state=0).fit([tree.words() for tree in Y], Y)
    weights, parts = parser.weights_, parser.task_.parts(parser.w_)
    assert {kind: each.axes for kind, each in weights.items()} == {
        "rules": ("rule",), "roots": ("root",), "spans": ("feature", "rule"), "words": ("feature", "tag")
    }  # fmt: skip
    for kind in ("rules", "roots"):
        assert all(weights[kind][name] == value for name, value in parts[kind].items())
    for k, length in ((0, "1"), (1, "2"), (5, "6 to 7"), (-1, "21 or more")):
        for r, rule in enumerate(parts["rules"]):
            assert weights["spans"][f"length={length}", rule] == parts["spans"]["length"][k, r]
    assert set(weights["words"].names[1]) == {tag for tree in Y for tag in tree.tags()}
    np.testing.assert_array_equal(weights["words"], parts["words"])
    assert set(Parser(span_features=(), C=1.0).fit(X, Y).weights_) == {"rules", "roots"}
    matrices = [np.eye(len(x)) @ np.ones((len(x), 3)) for x in X]
    assert Parser(inputs="features", C=1.0).fit(matrices, Y).weights_["words"].names[0] == [0, 1, 2]
