"""The best, the k best and the most violated tree of a sentence, against all of its trees; training against the QP."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from proofs import prove_training_is_optimal
from structures.parsing.compiled import cky_twin as twin
from structures.parsing.tree_strategies import grammars, set_up, weights
from thorough import examples

from maxmargin.problem.contract.examples import dot
from maxmargin.problem.dual.objective import Formulation
from maxmargin.structures.parsing.charts import Charts
from maxmargin.structures.parsing.compiled.kinds import BRACKETS
from maxmargin.structures.parsing.trees import Tree
from maxmargin.tasks import Grammar

ALL = [Formulation(rescaling, slack) for rescaling in ("margin", "slack") for slack in ("l1", "l2")]
measures = pytest.mark.parametrize("measure", ["hamming", "f1", "zero_one"])
pytestmark = pytest.mark.filterwarnings("ignore::maxmargin.errors.LossReplaced")  # which f1_words is drawn to cause


def enumerated(task, x, y, w):
    """The trees of a sentence, their scores, losses and margins; exact if the weights are whole numbers."""
    trees = list(task.outputs(x))
    scores = np.array([dot(task.psi(x, z), w) for z in trees])
    losses = np.array([twin.loss(y, z, task.measure, task.f1_words) for z in trees])
    return trees, scores, losses, dot(task.psi(x, y), w) - scores


AUGMENT = st.sampled_from([0.0, 0.3, 1.0, 5.0])


@pytest.mark.slow
@examples(30, 60)
@given(grammars(), st.data())
def test_planes_are_the_highest_of_all_trees(problem, data):
    """Rescaled ones are equal, not only close: counts of brackets are whole numbers."""
    task, X, Y = problem
    w = data.draw(weights(task.dim)) * data.draw(st.sampled_from([1.0, 0.5, 0.125]))
    lam = data.draw(AUGMENT | st.lists(AUGMENT, min_size=len(X), max_size=len(X)).map(np.array))
    batch, listed = task.pack(X, Y), [enumerated(task, x, y, w)[2:] for x, y in zip(X, Y, strict=True)]
    planes = batch.planes(w, lam)
    margins = planes.dpsi @ w
    for i, (losses, others) in enumerate(listed):
        own_lam = float(np.broadcast_to(lam, len(X))[i])
        assert own_lam * planes.loss[i] - margins[i] == pytest.approx(np.max(own_lam * losses - others), abs=1e-12)
        assert (planes.loss[i], margins[i]) in zip(losses.tolist(), others.tolist(), strict=True)
    for formulation in ALL[1:]:
        planes = batch.rescaled_planes(w, formulation)
        found = formulation.value(planes.loss, planes.dpsi @ w)
        assert found.tolist() == [np.max(formulation.value(losses, others)) for losses, others in listed]


@examples(20, 40)
@given(grammars(), st.data())
def test_predictions_and_n_best_lists(problem, data):
    task, X, Y = problem
    w, n = data.draw(weights(task.dim)), data.draw(st.integers(1, 8))
    found = task.n_best(w, X, n)
    for x, y, best, value, several in zip(X, Y, task.decode(w, X), task.scores(w, X), found, strict=True):
        trees, scores, _, _ = enumerated(task, x, y, w)
        known = dict(zip(map(str, trees), scores.tolist(), strict=True))
        assert known[str(best)] == value == max(scores)
        assert [score for _, score in several] == sorted(scores, reverse=True)[:n]
        assert len({str(z) for z, _ in several}) == len(several) == min(n, len(known))
        assert all(known[str(z)] == score for z, score in several)


@given(grammars(), st.data())
def test_rules_that_are_forbidden(problem, data):
    """Weights of -inf, as a PCFG has them for rules that it has never seen."""
    task, X, _ = problem
    w = data.draw(weights(task.dim))
    first = task.features_.reader.first_
    w[:first] = data.draw(weights(first, forbidden=0.1))
    task.on_failure = "flat"
    for x, value, best, several in zip(X, task.scores(w, X), task.decode(w, X), task.n_best(w, X, 10**4), strict=True):
        trees = {str(z): dot(task.psi(x, z), w) for z in task.outputs(x)}
        possible = {text: score for text, score in trees.items() if score > -np.inf}
        assert value == max(possible.values(), default=-np.inf)
        if possible:
            assert possible[str(best)] == value
            assert {str(z): score for z, score in several} == possible
        else:
            assert several == [(best, -np.inf)]
            assert best.height() == 2


LONGER = Tree.parse("(A (B (A (A (a w)) (B (b w))) (a w)) (B (B (b w)) (A (B (a w)) (b w))))")


@measures
def test_a_longer_sentence(measure):
    """Six words have many more splits and counts. With weights of several sizes, the loss or the score decides."""
    x, rng = LONGER.tags(), np.random.default_rng(0)
    task = set_up(Grammar("tags", measure, span_features=["first", "length"]), [x], [LONGER])
    listed, batch = list(task.outputs(x)), task.pack([x], [LONGER])
    losses = np.array([twin.loss(LONGER, z, task.measure, task.f1_words) for z in listed])
    psi = np.zeros((len(listed), task.dim))
    for row, z in zip(psi, listed, strict=True):
        np.add.at(row, *task.psi(x, z))
    assert len(listed) == 241
    for scale in (0.01, 0.03, 0.1, 0.3, 1.0, 10.0):
        w = scale * rng.standard_normal(task.dim)
        margins = dot(task.psi(x, LONGER), w) - psi @ w
        for formulation in ALL:
            planes = batch.rescaled_planes(w, formulation)
            found = formulation.value(planes.loss, planes.dpsi @ w)[0]
            assert found == pytest.approx(np.max(formulation.value(losses, margins)))
        found = [score for _, score in task.n_best(w, [x], 100)[0]]
        assert found == pytest.approx(sorted(psi @ w, reverse=True)[:100])


def test_fronts_get_more_room_until_they_have_enough():
    x = LONGER.tags()
    task = set_up(Grammar("tags", "f1", span_features=["first", "length"]), [x], [LONGER])
    w, batch = 0.03 * np.random.default_rng(0).standard_normal(task.dim), task.pack([x], [LONGER])
    space = batch.scored()
    scores, truth = space.scores(w), space.truths[0].derivation
    (sentence,), table, brackets = space.sentences(scores), scores.productions, np.zeros(scores.brackets.shape)
    charts, found = Charts(task.features_.rules, len(x)), []
    for room in (1, 300):
        charts.best(table, sentence, brackets)
        fronts = charts._fronts(table, sentence, brackets, BRACKETS, truth, -np.inf, room)
        entries, scores = charts._at_root(table, len(x), fronts)
        counts = fronts.entry[entries, :2].tolist()
        found.append(sorted((*count, score) for count, score in zip(counts, scores.tolist(), strict=True)))
    assert found[0] == found[1]
    assert len(found[0]) > 4  # so that room for one was not enough, nor twice that


@measures
def test_weights_that_cancel(measure):
    """Rounding must not leave a sentence without trees if scores are small sums of large numbers."""
    X, Y = [["a", "b", "c", "d"]], [Tree.parse("(S (S (S (N a)) (S (N b))) (S (S (N c)) (S (N d))))")]
    task = set_up(Grammar("words", measure, span_features=()), X, Y)
    rng, batch = np.random.default_rng(0), task.pack(X, Y)
    first, n_productions = task.features_.reader.first_, task.features_.rules.productions
    for scale in np.repeat([1e10, 1e18], 20):
        w = np.zeros(task.dim)
        w[first:] = scale * rng.standard_normal(task.dim - first)
        w[n_productions] = -task.scores(w, X)[0]
        w[:n_productions] = rng.integers(-1, 2, n_productions)
        for planes in (batch.planes(w), *(batch.rescaled_planes(w, each) for each in ALL[1:])):
            assert planes.loss[0] <= 14


@pytest.mark.parametrize("formulation", ALL, ids=str)
def test_a_sentence_that_cannot_be_wrong(formulation):
    """One word below its tag, and no unary rules: all losses are 0."""
    X, Y = [["N"], ["N", "V"]], ["(N a)", "(S (N a) (V b))"]
    task = set_up(Grammar("tags"), X, Y)
    planes = task.pack(X, Y).rescaled_planes(np.ones(task.dim), formulation)
    assert planes.loss.tolist() == [0, 0]
    assert not (planes.dpsi @ np.arange(1.0, task.dim + 1)).any()


# --- training


@measures
@settings(max_examples=6)
@given(
    problem=grammars(most=2, most_outputs=100), formulation=st.sampled_from(ALL), C=st.sampled_from([0.1, 1.0, 20.0])
)
def test_training_equals_the_qp_over_all_constraints(measure, problem, formulation, C):
    task, X, Y = problem
    prove_training_is_optimal(task.set_params(measure=measure), X, Y, C, formulation)


@measures
@pytest.mark.parametrize("formulation", ALL, ids=str)
def test_training_on_a_small_treebank(measure, formulation):
    Y = ["(S (NP (D a) (N b)) (VP (V c)))", "(S (NP (N a)) (VP (V b) (NP (N c))))", "(NP (N a) (C b) (N c))", "(N a)"]
    X = [Tree.parse(y).tags() for y in Y]
    prove_training_is_optimal(Grammar("tags", measure, span_features=["first"]), X, Y, 10.0, formulation)


@examples(10, 30)
@given(grammars(), st.integers(0, 40), st.data())
def test_sentences_that_are_searched_together_are_searched_as_alone(problem, many, data):
    task, X, Y = problem
    w, space = data.draw(weights(task.dim)), task.scored(X, Y)
    scores, charts = space.scores(w), space.charts()
    table, sentences = scores.productions, space.sentences(scores)
    brackets = [np.ascontiguousarray(space.brackets(scores, j)) for j in range(len(space))]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("maxmargin.structures.parsing.charts.MANY_SPANS", many)
        found = charts.best_of_all(table, sentences, brackets)
    for (rows, score), sentence, own in zip(found, sentences, brackets, strict=True):
        alone, highest = charts.best(table, sentence, own)
        assert score == highest
        np.testing.assert_array_equal(rows, alone)
