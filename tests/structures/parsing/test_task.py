from collections import Counter
from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from structures.parsing.compiled import cky_twin as twin
from structures.parsing.tree_strategies import grammars, set_up, trees_over
from thorough import examples

from maxmargin.problem.contract.examples import dot
from maxmargin.structures.parsing.tree_space import Unparseable
from maxmargin.structures.parsing.trees import Tree
from maxmargin.tasks import Grammar, Sequences
from maxmargin.testing import check_task

TREES = [
    Tree.parse(text)
    for text in (
        "(S (NP (D the) (N dog)) (VP (V barks)))",
        "(S (NP (N dogs)) (VP (V bark) (NP (N cats))))",
        "(NP (N dogs) (C and) (N cats))",
        "(VP (V bark))",
        "(N dogs)",
    )
]
TAGS, WORDS = [tree.tags() for tree in TREES], [tree.words() for tree in TREES]
ATTRIBUTES = [[["bias", f"word={word}", f"place={t}"] for t, word in enumerate(words)] for words in WORDS]
LENGTHS = [len(words) for words in WORDS]
MATRIX = np.random.default_rng(0).integers(-1, 2, (sum(LENGTHS), 2)).astype(float)
INPUTS = {
    "tags": ("tags", TAGS),
    "pairs": ("tags", [list(zip(words, tags, strict=True)) for words, tags in zip(WORDS, TAGS, strict=True)]),
    "words": ("words", WORDS),
    "attributes": ("features", ATTRIBUTES),
    "matrices": ("features", np.split(MATRIX, np.cumsum(LENGTHS)[:-1])),
    "sparse matrices": ("features", [sparse.csr_array(x) for x in np.split(MATRIX, np.cumsum(LENGTHS)[:-1])]),
    "Sequences": ("features", Sequences(MATRIX, np.cumsum([0, *LENGTHS]))),
}
MEASURES = ["hamming", "f1", "zero_one"]
measures = pytest.mark.parametrize("measure", MEASURES)
pytestmark = pytest.mark.filterwarnings("ignore::maxmargin.errors.LossReplaced")  # which f1_words is drawn to cause


# --- the contract


@measures
@pytest.mark.parametrize("inputs", INPUTS)
def test_keeps_the_contract(inputs, measure):
    kind, X = INPUTS[inputs]
    check_task(Grammar(kind, measure), X, TREES, trials=1, max_outputs=300)


@measures
@pytest.mark.parametrize(
    "options",
    [
        {"span_features": ()},
        {"span_features": ["split_left"], "horizontal": None},
        {"vertical": 2, "span_features": ["length", "after"]},
        {"f1_words": 0},
        {"f1_words": 2},
        {"rules": "S -> NP VP\nNP -> D N | N | N C N | NP NP\nVP -> V | V NP", "span_features": ()},
    ],
    ids=str,
)
def test_keeps_the_contract_with_options(options, measure):
    chosen = TREES[:2] if "rules" in options else TREES
    check_task(Grammar("tags", measure, **options), [tree.tags() for tree in chosen], chosen, trials=1)


@examples(6, 15)
@given(grammars(most_outputs=60))
def test_keeps_the_contract_on_anything(problem):
    check_task(*problem, trials=1)


# --- Ψ and Δ by their definitions


@examples(8, 20)
@given(grammars(most_outputs=100), st.data())
def test_the_loss_is_that_of_brackets(problem, data):
    task, X, Y = problem
    for x, y in zip(X, Y, strict=True):
        other = data.draw(trees_over(y.tokens(), ("S", "A", "B"), cycles=False))
        for z in (other, y, *islice(task.outputs(x), 5)):
            assert task.loss(y, z) == pytest.approx(twin.loss(y, z, task.measure, task.f1_words), abs=1e-12)


def test_losses_by_hand():
    y = "(S (NP (D a) (N b)) (VP (V c)))"  # three brackets
    for z, hamming, f1, zero_one in (
        (y, 0, 0, 0),
        ("(S (NP (D x) (N y)) (VP (V z)))", 0, 0, 0),  # words do not count
        ("(S (NP (N a) (N b)) (VP (V c)))", 0, 0, 1),  # tags only for being equal
        ("(S (NP (D a) (N b)) (NP (V c)))", 2, 1 / 3, 1),
        ("(S (D a) (N b) (V c))", 2, 1 / 2, 1),
        ("(X (Y (D a)) (N b) (V c))", 5, 1, 1),
        ("(X (S (NP (D a) (N b)) (VP (V c))))", 1, 1 / 7, 1),
    ):
        for measure, loss in zip(MEASURES, (hamming, f1, zero_one), strict=True):
            task = set_up(Grammar("tags", measure), [["D", "N", "V"]], [y])
            assert task.loss(y, z) == pytest.approx(loss)
    task = set_up(Grammar("tags", "f1", f1_words=2), [["D", "N", "V"]], [y])
    assert task.loss(y, "(X (Y (D a)) (N b) (V c))") == pytest.approx(5 / 6)


@pytest.mark.parametrize("horizontal", [0, 1, None])
def test_psi_counts_rules_roots_and_words(horizontal):
    task = set_up(Grammar("features", horizontal=horizontal), ATTRIBUTES, TREES)
    columns, tags = task.features_.reader.feature_names(), list(task.productions_.tags)
    for x in ATTRIBUTES:
        for z in islice(task.outputs(x), 100):
            counts = np.zeros(task.dim)
            np.add.at(counts, *task.psi(x, z))
            parts = task.parts(counts)
            assert {name: n for name, n in parts["rules"].items() if n} == Counter(twin.rule_names(z, horizontal))
            assert {name: n for name, n in parts["roots"].items() if n} == {z.label: 1}
            words = np.zeros((len(columns), len(tags)))
            for token, tag in zip(x, z.tags(), strict=True):
                for name in token:
                    words[columns.index(name), tags.index(tag)] += 1
            np.testing.assert_array_equal(parts["words"], words)


def spans_of_rules(tree, begin=0):
    """(rule, begin, split or None, end) of all rules of a tree with horizontal=0."""
    if tree.is_preterminal:
        return
    ends = np.cumsum([begin, *map(len, tree.branches)]).tolist()
    names = twin.rule_names(Tree(tree.label, [Tree(b.label, ["w"]) for b in tree.branches]), 0)
    splits = ends[1:-1] or [None]
    for name, start, split in zip(names, ends, splits, strict=False):
        yield name, start, split, ends[-1]
    for branch, start in zip(tree.branches, ends, strict=False):
        yield from spans_of_rules(branch, start)


@pytest.mark.parametrize("inputs", ["tags", "words"])
def test_scores_by_the_meaning_of_weights(inputs):
    """The sum over all rules of w_r and the weights of the features of their spans."""
    X = [x * 1 for x in INPUTS[inputs][1]]
    task = set_up(Grammar(inputs), X * 3, TREES * 3)  # so that some tokens are common
    w = np.random.default_rng(0).integers(-9, 10, task.dim).astype(float)
    parts, reader, tags = task.parts(w), task.features_.reader, list(task.productions_.tags)
    numbers, rules = task.features_.spans.numbers_, list(parts["rules"])
    outside, other = len(numbers), len(numbers) + 1
    assert len(numbers) > 1
    for x in X:
        for z in islice(task.outputs(x), 50):
            token = {-1: outside, len(x): outside, **{t: numbers.get(word, other) for t, word in enumerate(x)}}
            score = parts["roots"][z.label]
            for name, i, k, j in spans_of_rules(z):
                score += parts["rules"][name]
                values = {"first": token[i], "last": token[j - 1], "before": token[i - 1], "after": token[j]}
                values["length"] = j - i - 1
                if k is not None:
                    values |= {"split_left": token[k - 1], "split_right": token[k]}
                score += sum(parts["spans"][f][value, rules.index(name)] for f, value in values.items())
            if inputs == "words":
                rows = reader.packer_.pack(reader.word_features([x])).matrix @ parts["words"]
                score += sum(rows[t, tags.index(tag)] for t, tag in enumerate(z.tags()))
            assert dot(task.psi(x, z), w) == score


# --- packing


def test_pairs_are_read_as_tags_and_keep_their_words():
    plain, pairs = (set_up(Grammar("tags"), INPUTS[name][1], TREES) for name in ("tags", "pairs"))
    w = np.random.default_rng(0).standard_normal(plain.dim)
    assert plain.dim == pairs.dim
    found, other = plain.decode(w, TAGS), pairs.decode(w, INPUTS["pairs"][1])
    assert [tree.words() for tree in other] == WORDS
    assert [tree.words() for tree in found] == TAGS
    assert [tree.with_words(words) for tree, words in zip(found, WORDS, strict=True)] == other


def test_features_have_no_words():
    task = set_up(Grammar("features"), ATTRIBUTES, TREES)
    assert task.decode(np.zeros(task.dim), ATTRIBUTES)[0].words() == ["0", "1", "2"]


def test_nothing_to_decode():
    for kind, X in INPUTS.values():
        task = set_up(Grammar(kind), X, TREES)
        assert task.decode(np.zeros(task.dim), []) == []
        assert task.scores(np.zeros(task.dim), []).shape == (0,)
        assert task.n_best(np.zeros(task.dim), [], 2) == []


def test_a_treebank_of_single_words():
    task = set_up(Grammar(), [["N"], ["V"]], ["(N a)", "(V b)"])
    assert task.parts(np.arange(task.dim))["roots"] == {"N": 0, "V": 1}
    assert task.decode(np.zeros(task.dim), [["V"]]) == [Tree.parse("(V V)")]
    with pytest.raises(Unparseable):
        task.decode(np.zeros(task.dim), [["V", "N"]])


# --- bad input

BAD = [
    ({}, [[]], [TREES[0]], "sentence 0 is empty; leave out sentences without words"),
    ({}, [TAGS[0], "DNV"], TREES[:2], "sentence 1 is 'DNV'; expected a list of tags or .word, tag. pairs"),
    ({"inputs": "words"}, ["the dog barks"], TREES[:1], "sentence 0 is 'the dog barks'; expected a list of words"),
    ({}, [TREES[0]], TREES[:1], "sentence 0 is Tree.parse.*; expected a list of tags"),
    ({}, [None], TREES[:1], "sentence 0 is None; expected a list of tags"),
    ({}, [["D", 3, "V"]], TREES[:1], "word 1 of sentence 0 is 3; expected a list of tags or .word, tag. pairs"),
    ({}, [["D", ("dog", 3), "V"]], TREES[:1], r"word 1 of sentence 0 is \('dog', 3\); expected"),
    ({}, [["D", (3, "N"), "V"]], TREES[:1], r"word 1 of sentence 0 is \(3, 'N'\); expected"),
    ({}, [["D", ("dog", "N", "x"), "V"]], TREES[:1], r"word 1 of sentence 0 is \('dog', 'N', 'x'\); expected"),
    ({}, [["D", ["dog", "N"], "V"]], TREES[:1], r"word 1 of sentence 0 is \['dog', 'N'\]; expected"),
    ({"inputs": "words"}, [["a", ("dog", "N"), "b"]], TREES[:1], r"word 1 of .* is \('dog', 'N'\); .* list of words"),
    ({}, [["D", ("New York", "N"), "V"]], TREES[:1], "word 1 of sentence 0: the word below N must be .* 'New York'"),
    ({"inputs": "words"}, [["a", "", "b"]], TREES[:1], "word 1 of sentence 0: the word below X must be .* not ''"),
    ({}, [["D", "N P", "V"]], TREES[:1], "word 1 of sentence 0: a label must be a word without whitespace"),
    ({}, [TAGS[0][:2]], TREES[:1], "sentence 0 has 2 words, but its tree has 3"),
    ({"inputs": "words"}, [[*WORDS[0], "x"]], TREES[:1], "sentence 0 has 4 words, but its tree has 3"),
    ({"inputs": "features"}, [ATTRIBUTES[0][:2]], TREES[:1], "sentence 0 has 2 words, but its tree has 3"),
    ({"inputs": "features"}, [[]], TREES[:1], "sequence 0 is empty"),
    ({}, [["D", "D", "V"]], TREES[:1], "word 1 of sentence 0 has the tag 'D', but 'N' in its tree"),
    ({}, [["D", "X", "V"]], TREES[:1], "word 1 of sentence 0 has the tag 'X', but 'N' in its tree"),
    ({"inputs": "words"}, [TREES[0].words()[::-1]], TREES[:1], "word 0 of sentence 0 is .* in its tree"),
    (
        {},
        [[("another", tag) for tag in TREES[0].tags()]],
        TREES[:1],
        "word 0 of sentence 0 is 'another', but .* in its tree; Tree.with_words",
    ),
    ({}, TAGS[:2], [TREES[0], "(S (NP (N a)"], "the tree of sentence 1: "),
    ({}, TAGS[:2], [TREES[0], ""], "the tree of sentence 1: "),
    ({}, TAGS[:2], [TREES[0], "(S (N a) (N b)) (S (N c))"], "the tree of sentence 1: "),
    ({}, TAGS[:2], [TREES[0], 7], "the tree of sentence 1: 7 is not a tree; expected a Tree, a bracket string"),
    ({}, TAGS[:2], [TREES[0], None], "the tree of sentence 1: None is not a tree"),
    ({}, TAGS[:1], ["(S (S (D a) (N b) (V c)))"], "tree 0 has the unary cycle S → S"),
    ({"rules": "S -> NP V\nNP -> D N"}, TAGS[:1], TREES[:1], "the tree of sentence 0: the grammar has no label VP"),
    ({"rules": "NP -> D N"}, [["D", "N"]], ["(S (D a) (N b))"], "the tree of sentence 0: the grammar has no label S"),
    ({"rules": "S -> A | b\nA -> S"}, TAGS[:1], TREES[:1], "the rules have the unary cycle"),
    ({"rules": "S -> D N V", "vertical": 2}, TAGS[:1], TREES[:1], "labels; expected vertical=1, got 2"),
    ({"rules": 3}, TAGS[:1], TREES[:1], "rules are 3; expected strings like"),
    ({"inputs": "letters"}, TAGS, TREES, "inputs must be one of 'tags', 'words', 'features', got 'letters'"),
    ({"measure": "accuracy"}, TAGS, TREES, "measure must be one of 'hamming', 'f1', 'zero_one', got 'accuracy'"),
    ({"on_failure": "skip"}, TAGS, TREES, "on_failure must be one of 'error', 'flat', got 'skip'"),
    *[({"vertical": v}, TAGS, TREES, "vertical must be a whole number >= 1, got") for v in (0, 1.5, None, True, "2")],
    *[({"horizontal": h}, TAGS, TREES, "horizontal must be a whole number >= 0, got") for h in (-1, 1.5, False, "2")],
    *[({"f1_words": n}, TAGS, TREES, "f1_words must be a whole number >= 0, got") for n in (-1, 2.5, None, True)],
    ({"span_features": "first"}, TAGS, TREES, "span_features has 'first'; expected a list of some of 'first', "),
    ({"span_features": ["middle"]}, TAGS, TREES, "span_features has 'middle'; expected a list of some of 'first', "),
    ({"span_features": None}, TAGS, TREES, "span_features has None; expected a list"),
    (
        {"inputs": "features", "span_features": ["first"]},
        ATTRIBUTES,
        TREES,
        "span_features are computed from tags or words, which inputs='features' does not have",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("options", "X", "Y", "message"), BAD, ids=[f"{case[0]} {case[3]}" for case in BAD])
def test_bad_input_is_named(options, X, Y, message):
    task = Grammar(**options)

    def prepare():
        task.setup(X, Y)
        task.pack(X, Y)

    with pytest.raises(ValueError, match=message):
        prepare()


NEW = [
    ([TAGS[0], ["D", "N", "X"]], "sentence 1: the tag of word 2, 'X', is not in the grammar; on_failure='flat' puts"),
    ([[("the", "D"), ("cat", "X")]], "sentence 0: the tag of word 1, 'X', is not in the grammar"),
    ([TAGS[0], ["V", "D"]], "sentence 1: the grammar has no tree for its tags; on_failure='flat' puts all its words"),
]


@pytest.mark.parametrize(("X", "message"), NEW, ids=[case[1] for case in NEW])
def test_sentences_without_a_tree(X, message):
    task = set_up(Grammar(), TAGS, TREES)
    w = np.zeros(task.dim)
    for call in (task.decode, lambda w, X: task.n_best(w, X, 2)):
        with pytest.raises(Unparseable, match=message):
            call(w, X)
    assert task.scores(w, X)[-1] == -np.inf


def test_flat_trees_for_sentences_without_one():
    task = set_up(Grammar(on_failure="flat"), TAGS, TREES)
    w = np.zeros(task.dim)
    X = [["V", "D"], ["D", "X"], [("a", "D"), ("cat", "X")], ["V"]]
    expected = ["(S (V V) (D D))", "(S (D D) (X X))", "(S (D a) (X cat))", "(VP (V V))"]  # S is the most frequent root
    assert list(map(str, task.decode(w, X))) == expected
    assert task.n_best(w, X, 3)[1] == [(Tree.parse(expected[1]), -np.inf)]
    single = set_up(Grammar(on_failure="flat"), [["N"]], ["(N a)"])
    assert str(single.decode(np.zeros(single.dim), [["N", "N"]])[0]) == "(ROOT (N N) (N N))"


def test_flat_trees_have_the_best_tags():
    task = Grammar("words", on_failure="flat", rules="S -> a b", span_features=())
    task.setup([["x", "y"]], ["(S (a x) (b y))"])
    w = np.zeros(task.dim)
    words, (features, tags) = task.parts(w)["words"], task.weight_names()["words"]  # words is a view of w
    for word, tag in (("x", "a"), ("y", "b")):
        words[features.index(f"w[0]={word}"), tags.index(tag)] = 1.0
    assert str(task.decode(w, [["y", "x", "y"]])[0]) == "(S (b y) (a x) (b y))"
