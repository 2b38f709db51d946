"""Sequences of which not all labels are known: what may stand where, what a mistake costs, and how gaps are filled."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import costs, whole
from thorough import examples

from maxmargin.problem.contract.capabilities.latent import Latent
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.structures.sequences.partial_labels import Choices, as_choice, is_partial, named_labels
from maxmargin.tasks import Chain, Weighted
from maxmargin.testing import check_task

RNG = np.random.default_rng(0)
LENGTHS = [1, 3, 2, 4, 1, 3]
X = [RNG.integers(-1, 2, (length, 3)).astype(float) for length in LENGTHS]
SOME = [["a"], ["b", None, "c"], [{"a", "c"}, "c"], ["a", {"b", "c"}, None, "c"], [None], [None, None, {"a", "b"}]]
COSTS = [[0, 1, 2], [3, 0, 1], [0.5, 1, 0]]
NUMBERS = {"a": 0, "b": 1, "c": 2}


def packed(task, inputs=X, outputs=SOME):
    task.setup(inputs, outputs)
    return task.pack(inputs, outputs)


# --- single positions


def test_what_is_partial():
    assert [is_partial(label) for label in (None, {"a", "b"}, frozenset("ab"), set())] == [True] * 4
    assert [is_partial(label) for label in ("a", 0, ("a", "b"), {"a"}, frozenset("b"))] == [False] * 5
    assert [as_choice(label) for label in ({"a"}, frozenset("b"), "c", None)] == ["a", "b", "c", None]
    assert as_choice({"a", "b"}) == frozenset("ab")
    assert sorted(named_labels(["a", None, {"b", "c"}, {"d"}])) == ["a", "b", "c", "d"]


def test_choices_are_numbered_and_shared():
    choices = Choices(NUMBERS)
    first, second = choices.read(["b", None, {"a", "c"}, {"c"}]), choices.read([frozenset("ca"), None, "a"])
    assert first.tolist() == [1, 3, 4, 2]
    assert second.tolist() == [4, 3, 0]
    assert choices.allowed.astype(int).tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1], [1, 0, 1]]


@given(st.data())
def test_a_mistake_costs_what_the_cheapest_truth_makes_of_it(data):
    cost = data.draw(costs(3))
    known = st.one_of(st.none(), st.sampled_from("abc"), st.sets(st.sampled_from("abc"), min_size=1))
    truth = data.draw(st.lists(known, min_size=1, max_size=4))
    found = data.draw(st.lists(st.sampled_from("abc"), min_size=len(truth), max_size=len(truth)))
    each = [{"a", "b", "c"} if t is None else {t} if isinstance(t, str) else t for t in truth]
    expected = [min(cost[NUMBERS[t], NUMBERS[f]] for t in those) for those, f in zip(each, found, strict=True)]
    for way in (Choices.read, Choices.read_any):
        choices = Choices(NUMBERS)
        rows = way(choices, truth)
        assert choices.prices(cost)[rows, [NUMBERS[f] for f in found]].tolist() == expected
    task = Chain(classes=["a", "b", "c"], costs=cost)
    task.setup(X, SOME)
    assert task.loss(truth, found) == sum(expected)
    assert task.loss(Weighted(truth, [2.0] * len(truth)), found) == 2 * sum(expected)


def test_a_true_label_that_is_no_class_is_the_worst_mistake():
    task = Chain(classes=["a", "b", "c"], costs=COSTS)
    task.setup(X, SOME)
    assert task.loss(["z"], ["a"]) == task.loss([{"y", "z"}], ["b"]) == 3
    assert task.loss([{"c", "z"}, None, "z"], ["a", "b", "c"]) == 0.5 + 0 + 3
    with pytest.raises(ValueError, match="the set of labels allowed at position 0 has 'z'"):
        Choices(NUMBERS).read([{"c", "z"}])


# --- the contract


@pytest.mark.parametrize("cost", [None, COSTS, {"a": 2.0, "b": 0.5}], ids=["0/1", "matrix", "dict"])
def test_keeps_the_contract(cost):
    check_task(Chain(costs=cost), X, SOME, trials=1)


@pytest.mark.parametrize("forbidden", [[("a", "a"), ("b", "b")], [(None, "b"), ("a", None), ("c", "a")]])
def test_keeps_the_contract_with_forbidden_steps(forbidden):
    outputs = [[None], ["c", None, "c"], [{"a", "c"}, "c"], ["a", {"b", "c"}, None, "c"], [None], [None, None, "b"]]
    check_task(Chain(classes=["a", "b", "c"], forbidden=forbidden), X, outputs, trials=1)


def test_keeps_the_contract_with_bio_tags():
    tags = ["O", "B-X", "I-X", "B-Y", "I-Y"]
    outputs = [
        ["O"],
        [None, "I-X", "O"],
        ["B-Y", {"I-X", "I-Y", "O"}],
        [None, None, "I-Y", "I-Y"],
        [None],
        [{"O", "B-X"}, None, "I-X"],
    ]
    check_task(Chain(classes=tags, forbidden="BIO"), X, outputs, trials=1)


@pytest.mark.parametrize("position_costs", [[1, 2, 1, 3], [0.5, 1.5, 1, 2]])
def test_keeps_the_contract_with_weighted_positions(position_costs):
    weighted = [Weighted(y, position_costs[: len(y)]) for y in SOME]
    check_task(Chain(costs=COSTS), X, weighted, trials=1)
    check_task(Chain(), X, [y if i % 2 else weighted[i] for i, y in enumerate(SOME)], trials=1)


@examples(8, 20)
@given(st.data())
def test_keeps_the_contract_on_anything(data):
    n_labels, n = data.draw(st.integers(2, 3)), data.draw(st.integers(1, 3))
    labels = list(range(n_labels))
    inputs = [data.draw(whole((data.draw(st.integers(1, 3)), 2), -2, 2)) for _ in range(n)]
    known = st.one_of(st.none(), st.sampled_from(labels), st.sets(st.sampled_from(labels), min_size=1))
    outputs = [data.draw(st.lists(known, min_size=len(x), max_size=len(x))) for x in inputs]
    cost = data.draw(costs(n_labels)) + 1 - np.eye(n_labels)  # a mistake that costs nothing would be an explanation
    if data.draw(st.booleans()):
        outputs = [Weighted(y, data.draw(whole(len(y), 1, 3)).tolist()) for y in outputs]
    check_task(Chain(classes=labels, costs=cost), [*inputs, np.ones((2, 2))], [*outputs, [0, None]], trials=1)


def test_a_mistake_that_costs_nothing_leaves_the_known_label_alone():
    """A position of weight 0, or a cost of 0: the label that is known still takes part in the right answer."""
    task = Chain(costs={"a": 0.0})
    outputs = [Weighted(["b", "a"], [0.0, 1.0]), ["c", None], ["a", "b"]]
    inputs = [np.ones((2, 2))] * 3
    task.setup(inputs, outputs)
    for _ in range(20):
        w = RNG.standard_normal(task.dim)
        assert task.complete(w, inputs[0], outputs[0]) == ["b", "a"]
        assert task.complete(w, inputs[1], outputs[1])[0] == "c"


# --- completions


@given(st.data())
def test_completions_respect_what_is_known(data):
    task = Chain()
    batch = packed(task)
    w = data.draw(whole(task.dim))
    completed = batch.completed(w)
    names = np.array(task.classes_)[completed.labels]
    pieces = np.split(names, np.cumsum(LENGTHS)[:-1])
    for x, y, labels in zip(X, SOME, pieces, strict=True):
        assert task.complete(w, x, y) == labels.tolist()
        assert all(k is None or label == k or label in k for label, k in zip(labels, y, strict=True))
        possible = [z for z in product("abc", repeat=len(y)) if task.loss(y, z) == 0]
        scores = [np.dot(w[i], v) for i, v in (task.psi(x, z) for z in possible)]
        indices, values = task.psi(x, labels.tolist())
        assert np.dot(w[indices], values) == pytest.approx(max(scores))


def test_completing_changes_nothing_else():
    task = Chain()
    batch = packed(task)
    labels = batch.labels.copy()
    part = batch.take(np.array([3, 5])).completed(RNG.standard_normal(task.dim))
    assert np.array_equal(batch.labels, labels)
    assert part.ids.tolist() == [3, 5]
    others = np.ones(len(labels), dtype=bool)
    for i in (3, 5):
        others[batch.offsets[i] : batch.offsets[i + 1]] = False
    assert np.array_equal(part.labels[others], labels[others])


def test_known_labels_are_no_hidden_parts():
    task = Chain()
    batch = packed(task, X, [["a", "b", "c", "a"][:length] for length in LENGTHS])
    assert not task.latent
    assert batch.known.all()
    assert batch.labels is batch.rows


def test_a_set_with_one_label_is_that_label():
    sets = [[{label} if isinstance(label, str) else label for label in y] for y in SOME]
    one, other = Chain(), Chain()
    first, second = packed(one), packed(other, X, sets)
    assert np.array_equal(first.rows, second.rows)
    w = RNG.standard_normal(one.dim)
    assert one.loss(SOME[1], ["c", "a", "c"]) == other.loss(sets[1], ["c", "a", "c"]) == 1
    a, b = (Oracle(batch).mean_plane(w) for batch in (first, second))
    assert np.array_equal(a.a, b.a)
    known = [[{label} for label in "abca"[:length]] for length in LENGTHS]
    alone = Chain()
    assert packed(alone, X, known).known.all()
    assert not alone.latent
    assert packed(alone, X, known).offers(Latent) is None
    assert packed(Chain()).offers(Latent) is not None
    assert alone.classes_ == ["a", "b", "c"]


def test_a_set_of_all_labels_is_none():
    task = Chain()
    everything = [[{"a", "b", "c"} if label is None else label for label in y] for y in SOME]
    batch, same = packed(task), packed(task, X, everything)
    w = RNG.standard_normal(task.dim)
    for formulation in (Formulation(), Formulation("slack", "l2")):
        assert Oracle(batch, formulation).risk(w) == Oracle(same, formulation).risk(w)
    assert np.array_equal(batch.informative(), same.informative())


def test_what_is_informative():
    batch = packed(Chain())
    assert batch.informative().tolist() == [0, 1, 2, 3, 5]
    assert batch.take(np.array([4, 1])).informative().tolist() == [1]


def test_whole_losses_of_sets():
    """The cheapest of whole numbers is one."""
    task = Chain(costs=[[0, 1, 2], [3, 0, 1], [2, 1, 0]])
    assert packed(task).whole_losses
    assert not packed(Chain(costs=COSTS)).whole_losses


# --- stretches


def test_stretches_of_known_labels():
    task = Chain()
    batch = packed(task)
    cut, owners = batch.stretches()
    assert owners.tolist() == [0, 1, 1, 2, 3, 3]
    pieces = [cut.rows[cut.offsets[i] : cut.offsets[i + 1]].tolist() for i in cut.ids]
    assert pieces == [[0], [1], [2], [2], [0], [2]]
    assert len(cut) == 6


@given(st.data())
def test_stretches_are_found_one_by_one(data):
    n = data.draw(st.integers(1, 4))
    known = st.one_of(st.none(), st.sampled_from("ab"))
    outputs = [data.draw(st.lists(known, min_size=1, max_size=6)) for _ in range(n)]
    outputs.append(["a", None, "b", "b"])
    task = Chain()
    batch = packed(task, [np.ones((len(y), 1)) for y in outputs], outputs)
    taken = np.array(data.draw(st.permutations(range(n + 1))))[: data.draw(st.integers(1, n + 1))]
    cut, owners = batch.take(taken).stretches()
    expected = []
    for place, i in enumerate(taken):
        run = []
        for label in [*outputs[i], None]:
            if label is not None:
                run.append("ab".index(label))
            elif run:
                expected.append((place, run))
                run = []
    found = [
        (int(owner), cut.rows[cut.offsets[i] : cut.offsets[i + 1]].tolist())
        for owner, i in zip(owners, cut.ids, strict=True)
    ]
    assert sorted(found) == sorted(expected)


def test_stretches_may_begin_and_end_anywhere():
    """Cut out of a sequence, I-X may stand first: what is forbidden at its ends is not forbidden there."""
    tags = ["O", "B-X", "I-X"]
    outputs = [["O"], [None, "I-X", "O"], ["B-X", None], ["O", "B-X", "I-X", None], [None], ["B-X", None, "I-X"]]
    task = Chain(classes=tags, forbidden=[(None, "I-X"), ("O", "I-X"), ("B-X", None)])
    cut, _ = packed(task, X, outputs).stretches()
    w = 3 * RNG.standard_normal(task.dim)
    assert (Oracle(cut).slacks(w) >= 0).all()
    assert np.isneginf(cut.task.allowed_).sum() == 1
    assert np.isneginf(task.allowed_).sum() == 3


# --- bad input


@pytest.mark.parametrize(
    ("options", "outputs", "message"),
    [
        ({}, [*SOME[:3], ["a", set(), None, "c"], *SOME[4:]], "sequence 3: the set of labels .* position 1 is empty"),
        ({}, [*SOME[:3], ["a", np.nan, None, "c"], *SOME[4:]], "sequence 3: the label at position 1 is NaN; put None"),
        ({}, [[0.0], [np.float32("nan"), 1, 1], *([2.0] * n for n in LENGTHS[2:])], "sequence 1: .* position 0 is NaN"),
        (
            {"classes": ["a", "b", "c"]},
            [*SOME[:3], ["a", None, {"b", "z"}, "c"], *SOME[4:]],
            "sequence 3: the set of labels allowed at position 2 has 'z', which is not one of the classes",
        ),
        (
            {"classes": ["a", "b", "c"]},
            [*SOME[:3], ["a", None, "z", "c"], *SOME[4:]],
            r"sequence 3: the label 'z' is not one of the classes \('a', 'b', 'c'\)",
        ),
        ({}, [[None] * length for length in LENGTHS], "no position of any sequence has a label"),
        ({}, [["a"] * length for length in LENGTHS[:-1]] + [[None] * 3], "only one class"),
        ({"forbidden": [("b", x) for x in "abc"]}, SOME, "sequence 1: every choice of its missing labels .*forbidden"),
        (
            {"forbidden": [(a, "c") for a in "abc"]},
            [["a"], ["b", None, "a"], ["a", "b"], [None, "c", None, "c"], [None], ["a", "b", "a"]],
            "sequence 3: every choice of its missing labels contains",
        ),
        ({}, [*SOME[:5], [None, None]], "sequence 5 has 3 positions but 2 labels"),
        ({}, [*SOME[:5], None], r"Y\[5\] is None; expected the list of labels of sequence 5"),
    ],
)
def test_bad_input_is_named(options, outputs, message):
    with pytest.raises(ValueError, match=message):
        packed(Chain(**options), X, outputs)
