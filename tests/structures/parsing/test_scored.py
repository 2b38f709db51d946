"""Score space of parse trees: against enumeration, with ties, at all scales; planes and predictions go through it."""

from itertools import islice

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import whole
from structures.parsing.compiled import cky_twin as twin
from structures.parsing.tree_strategies import grammars, set_up
from thorough import examples

from maxmargin.problem.contract.scored import inner
from maxmargin.structures.parsing.batch import GrammarBatch
from maxmargin.structures.parsing.derivations import all_derivations
from maxmargin.structures.parsing.tree_space import Unparseable
from maxmargin.structures.parsing.trees import Tree
from maxmargin.tasks import Grammar, TreeSpace
from maxmargin.testing import check_scored

RULES = "S -> NP VP | S N\nNP -> D N | N | N C N\nVP -> V | V NP"
TREES = [
    Tree.parse(text)
    for text in (
        "(S (NP (D the) (N dog)) (VP (V barks)))",
        "(S (NP (N dogs)) (VP (V bark) (NP (N cats))))",
        "(NP (N dogs) (C and) (N cats))",
        "(N dogs)",
    )
]
TAGS, WORDS = [tree.tags() for tree in TREES], [tree.words() for tree in TREES]


def score_of(space, scores, j, rows):
    """The score of a derivation, production by production."""
    tables, own, total = space.tables(scores), space.lengths[j], 0.0
    brackets, grammar = space.brackets(scores, j), space.grammar
    for chain, rule, begin, split, end in rows.tolist():
        c = twin.cell(begin, end, own)
        used = [] if rule < 0 else [(rule, int(grammar.rules.label[grammar.rules.parent[rule]]))]
        if chain >= 0:
            steps = range(grammar.rules.step[chain], grammar.rules.step[chain + 1])
            used += [(int(grammar.rules.production[e]), int(grammar.rules.step_label[e])) for e in steps]
        for production, label in used:
            total += tables.rules[production] + (brackets[c, label] if label >= 0 else 0.0)
            if space.anchored:
                total += tables.anchored[space.spans[j] + c, production]
        if rule < 0:
            total += scores.tags[space.words[j] + begin, grammar.tag_numbers[split]]
    return total + tables.roots[grammar.rules.roots.tolist().index(twin.top(rows[0], grammar.rules))]


@examples(25, 100)
@given(
    st.data(),
    st.lists(st.integers(1, 4), min_size=1, max_size=2),
    st.booleans(),
    st.sampled_from(["hamming", "f1", "zero_one"]),
    st.integers(-6, 6),
    st.sampled_from([0.0, 1.0, 0.5, 3.0]),
)
def test_best_of_a_space_without_features_is_that_of_all_trees(data, lengths, anchored, measure, power, augment):
    bare = TreeSpace.of_lengths(lengths, RULES, anchored=anchored)
    grammar = bare.grammar
    listed = [list(islice(all_derivations(grammar.rules, [grammar.tag_symbols] * n), 301)) for n in lengths]
    assume(all(0 < len(own) <= 300 for own in listed))
    trees = [[bare.tree(j, rows) for rows in own] for j, own in enumerate(listed)]
    truth = [data.draw(st.sampled_from(own)) for own in trees]
    space = TreeSpace.of_lengths(lengths, RULES, list(map(str, truth)), measure, anchored)
    shapes = [each.shape for each in space.indicator(space.truth)]
    scores = space.indicator(space.truth)._make(10.0**power * data.draw(whole(shape)) for shape in shapes)
    best, sums = space.best(scores, augment), space.sums(scores)
    losses = space.losses(best.found)
    for j, rows in enumerate(listed):
        each = np.array([score_of(space, scores, j, own) for own in rows])
        wrong = np.array([twin.loss(truth[j], tree, measure, f1_words=4) for tree in trees[j]])
        near = {"rel": 1e-12, "abs": 1e-12 * (10.0**power + augment)}
        assert best.values[j] == pytest.approx(np.max(each + augment * wrong), **near)
        z = [own.tobytes() for own in rows].index(best.found[j].tobytes())
        assert losses[j] == pytest.approx(wrong[z])
        assert best.values[j] == pytest.approx(each[z] + augment * wrong[z], **near)
        assert inner(space.indicator(best.found, np.eye(len(lengths))[j]), scores) == pytest.approx(each[z], **near)
        log_z = np.logaddexp.reduce(each)
        assert sums.log_partitions[j] == pytest.approx(log_z, rel=1e-9, abs=1e-9)
        found = sums.marginals()[j].spans
        p = np.exp(each - log_z)
        for bracket in {b for tree in trees[j] for b in tree.brackets()}:
            expected = sum(q for q, tree in zip(p, trees[j], strict=True) if bracket in tree.brackets())
            assert found.get(bracket, 0.0) == pytest.approx(expected, abs=1e-9)
        several = space.best_lists(scores, 5)[j]
        assert [score for _, score in several] == pytest.approx(sorted(each, reverse=True)[:5], **near)
    assert space.losses(space.truth).tolist() == [0.0] * len(lengths)
    np.testing.assert_allclose(bare.best(scores).values, space.best(scores).values, rtol=1e-12)


@pytest.mark.parametrize("measure", ["hamming", "f1", "zero_one"])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"inputs": "words"},
        {"inputs": "words", "span_features": ("first", "split_left")},
        {"inputs": "features"},
        {"span_features": (), "horizontal": None},
        {"vertical": 2, "horizontal": 1, "span_features": ("length", "after")},
    ],
    ids=str,
)
def test_scored_trees_keep_the_contract(measure, settings):
    inputs = settings.get("inputs", "tags")
    X = {"tags": TAGS, "words": WORDS, "features": [[[word] for word in x] for x in WORDS]}[inputs]
    check_scored(Grammar(measure=measure, **settings), X, TREES)


@pytest.mark.filterwarnings("ignore::maxmargin.errors.LossReplaced")
@examples(6, 30)
@given(grammars(most=3, most_outputs=60))
def test_any_grammar_keeps_the_contract(problem):
    check_scored(*problem)


def test_training_and_prediction_go_through_score_space():
    task = Grammar("words", "f1")
    batch = task.setup_and_pack(WORDS, TREES)
    w = np.random.default_rng(0).standard_normal(task.dim)
    for part in (batch, batch.take(np.array([2, 0]))):
        scored = part.scored()
        found = scored.best(scored.scores(w), 1.0).found
        planes, expected = part.planes(w), scored.planes_of(found)
        np.testing.assert_array_equal(planes.loss, expected.loss)
        np.testing.assert_array_equal(planes.dpsi.toarray(), expected.dpsi.toarray())
    bare = task.scored(WORDS)
    found = bare.best(bare.scores(w)).found
    assert task.decode(w, WORDS) == [bare.tree(j, rows) for j, rows in enumerate(found)]


def test_prediction_makes_no_training_batch(monkeypatch):
    task = set_up(Grammar("words"), WORDS, TREES)
    monkeypatch.setattr(GrammarBatch, "__init__", lambda *_: pytest.fail("a training batch was made"))
    w = np.ones(task.dim)
    assert len(task.decode(w, WORDS)) == len(task.scores(w, WORDS)) == len(task.n_best(w, WORDS, 2)) == 4
    assert len(task.sums(w, WORDS).log_partitions) == 4
    assert task.decode(w, []) == []


def test_names_of_scores():
    space = TreeSpace.of_lengths([2], RULES)
    assert space.root_names == ["S"]
    assert space.label_names == ["NP", "S", "VP"]
    assert sorted(space.tag_names) == ["C", "D", "N", "V"]
    assert {"S → NP VP", "VP → V"} <= set(space.production_names)
    scores = space.scores_of(rules=np.arange(len(space.production_names)), roots=[7.0])
    assert space.tables(scores).rules[3] == 3.0
    assert space.tables(scores).roots.tolist() == [7.0]
    assert space.tables(scores).anchored.shape == (0, len(space.production_names))


def test_a_sentence_without_a_finite_score():
    space = TreeSpace.of_lengths([2, 1], RULES)
    scores = space.scores_of(tags=[[-np.inf] * 4, [0.0] * 4, [0.0] * 4])
    best = space.best(scores)
    assert best.found == [None, None]
    assert best.values.tolist() == [-np.inf, -np.inf]
    assert not any(each.any() for each in space.indicator(best.found))
    assert space.sums(scores).log_partitions.tolist() == [-np.inf, -np.inf]
    with pytest.raises(Unparseable, match="sentence 1: the grammar has no tree"):
        space.failed(1, scores)


@pytest.mark.parametrize(
    ("what", "message"),
    [
        (lambda: TreeSpace.of_lengths([0], RULES), "a sentence has 0 words"),
        (lambda: TreeSpace.of_lengths([2], RULES, []), "1 sentences but 0 trees"),
        (lambda: TreeSpace.of_lengths([2], RULES, ["(S (NP (N a)) (VP (V b)))"], "f2"), "measure must be one of"),
        (lambda: TreeSpace.of_lengths([3], RULES, ["(S (NP (N a)) (VP (V b)))"]), "3 words, but its tree has 2"),
        (lambda: TreeSpace.of_lengths([1], RULES, ["(S (N a))"]), "the grammar has no unary rules"),
        (lambda: bare().best(bare().scores_of(), 1.0), "need true outputs"),
        (lambda: bare().losses(bare().best(bare().scores_of()).found), "need true outputs"),
        (lambda: bare().best(bare().scores_of()._replace(tags=np.zeros((2, 3)))), r"`tags` have shape \(2, 3\)"),
        (lambda: bare().best(bare().scores_of()._replace(brackets=np.zeros((2, 3)))), "expected \\(3, 3\\)"),
        (lambda: bare().sums(bare().scores_of()._replace(productions=np.zeros(1))), "`productions` have shape"),
    ],
)
def test_what_does_not_fit_is_refused(what, message):
    with pytest.raises(ValueError, match=message):
        what()


def bare():
    return TreeSpace.of_lengths([2], RULES)
