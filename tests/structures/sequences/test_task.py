from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from scipy import sparse
from strategies import chain_data
from structures.sequences.compiled import chain_twin as twin
from thorough import examples

from maxmargin.problem.contract.capabilities.rescaled_search import RescaledSearch
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.tasks import Chain, Sequences, Weighted
from maxmargin.testing import check_task

RNG = np.random.default_rng(0)
LENGTHS = [1, 3, 2, 4, 1]
DENSE = [RNG.integers(-1, 2, (length, 3)).astype(float) for length in LENGTHS]
Y = [["a"], ["b", "a", "c"], ["c", "c"], ["a", "b", "b", "c"], ["b"]]
DICTS = [[{"word": f"w{t}", "size": float(t), "first": t == 0} for t in range(length)] for length in LENGTHS]
ATTRIBUTES = [[["bias", f"place={t}"] for t in range(length)] for length in LENGTHS]
FORMS = {
    "dense": DENSE,
    "csr_array": [sparse.csr_array(x) for x in DENSE],
    "csr_matrix": [sparse.csr_matrix(x) for x in DENSE],
    "float32": [x.astype(np.float32) for x in DENSE],
    "integers": [x.astype(int) for x in DENSE],
    "dicts": DICTS,
    "attributes": ATTRIBUTES,
    "Sequences": Sequences(np.concatenate(DENSE), np.cumsum([0, *LENGTHS])),
    "sparse Sequences": Sequences(sparse.csr_array(np.concatenate(DENSE)), np.cumsum([0, *LENGTHS])),
}
COSTS = [[0, 1, 2], [3, 0, 1], [0.5, 1, 0]]
TAGS = ["O", "B-X", "I-X", "B-Y", "I-Y"]
TAGGED = [["O"], ["B-X", "I-X", "O"], ["B-Y", "B-X"], ["O", "B-Y", "I-Y", "I-Y"], ["B-X"]]


@pytest.mark.parametrize("form", FORMS)
def test_keeps_the_contract(form):
    check_task(Chain(), FORMS[form], Y, trials=1)


@pytest.mark.parametrize("costs", [{"a": 2.0, "c": 0.5}, {"b": 0.0}, COSTS])
def test_keeps_the_contract_with_costs(costs):
    check_task(Chain(costs=costs), DENSE, Y, trials=1)


@pytest.mark.parametrize("position_costs", [[1, 2, 0, 3], [0.5, 1.5, 0, 2], [0, 0, 0, 0]])
def test_keeps_the_contract_with_weighted_positions(position_costs):
    weighted = [Weighted(y, position_costs[: len(y)]) for y in Y]
    check_task(Chain(costs=COSTS), DENSE, weighted, trials=1)


def test_keeps_the_contract_when_some_examples_are_weighted():
    check_task(Chain(), DENSE, [Weighted(y, [2.0] * len(y)) if i % 2 else y for i, y in enumerate(Y)], trials=1)


@pytest.mark.parametrize("forbidden", [[("a", "a")], [(None, "d"), ("d", None)], [("b", "d"), ("d", "d"), ("d", "a")]])
def test_keeps_the_contract_with_forbidden_steps(forbidden):
    check_task(Chain(classes=["a", "b", "c", "d"], forbidden=forbidden), DENSE, Y, trials=1)


def test_keeps_the_contract_with_bio_tags():
    check_task(Chain(classes=TAGS, forbidden="BIO"), DENSE, TAGGED, trials=1)


@examples(6, 15)
@given(chain_data())
def test_keeps_the_contract_on_anything(problem):
    check_task(*problem, trials=1)


def test_bio_allows_inside_only_after_the_same_kind():
    task = Chain(classes=TAGS, forbidden="BIO")
    task.setup(DENSE, TAGGED)
    for x in DENSE[:4]:
        listed = {tuple(z) for z in task.outputs(x)}
        assert listed == {z for z in every_sequence(len(x)) if well_formed(z)}
    rng = np.random.default_rng(0)
    for _ in range(20):
        for z in task.decode(rng.standard_normal(task.dim), DENSE):
            assert well_formed(z)


def every_sequence(length):
    return {()} if length == 0 else {(*head, tag) for head in every_sequence(length - 1) for tag in TAGS}


def well_formed(tags):
    return not tags[0].startswith("I") and all(
        not after.startswith("I") or before[1:] == after[1:] for before, after in pairwise(tags)
    )


def test_n_best_lists_what_enumeration_finds():
    task = Chain(classes=TAGS, forbidden="BIO")
    task.setup(DENSE, TAGGED)
    w = np.random.default_rng(1).integers(-2, 3, task.dim).astype(float)
    T, s, f = task.links(w)
    for x in DENSE:
        e = x @ task.parts(w)["features"]
        found = task.n_best(w, x, 12)
        assert [value for _, value in found] == pytest.approx(twin.n_best(e, T, s, f, 12))
        assert all(well_formed(tags) for tags, _ in found)
    assert len(task.n_best(w, DENSE[0], 100)) == 3  # O, B-X and B-Y are all that may stand alone


def test_losses_that_are_no_whole_numbers_are_searched():
    """There the most violated output of slack rescaling has no table; the search's bound keeps the certificate true."""
    task = Chain(costs=COSTS)
    task.setup(DENSE, Y)
    assert task.pack(DENSE, Y).offers(RescaledSearch) is None


def test_unseen_features_are_ignored_or_named():
    for choice in ("ignore", "error"):
        task = Chain(unknown=choice)
        task.setup(DICTS, Y)
        w = np.ones(task.dim)
        new = [[{"word": "never seen"}]]
        if choice == "ignore":
            assert len(task.decode(w, new)[0]) == 1
        else:
            with pytest.raises(ValueError, match="has the feature 'word=never seen'"):
                task.decode(w, new)


def test_all_forms_of_the_same_features_give_the_same_planes():
    heights = []
    for form in ("dense", "csr_array", "csr_matrix", "float32", "integers", "Sequences", "sparse Sequences"):
        task = Chain()
        task.setup(FORMS[form], Y)
        w = np.random.default_rng(0).standard_normal(task.dim)
        heights.append(Oracle(task.pack(FORMS[form], Y)).slacks(w))
    for other in heights[1:]:
        assert np.array_equal(other, heights[0])


@pytest.mark.parametrize(
    ("settings", "X", "labels", "message"),
    [
        ({}, DENSE, [*Y[:4], ["a", "b"]], "sequence 4 has 1 positions but 2 labels"),
        ({}, [*DENSE[:4], np.zeros((0, 3))], [*Y[:4], []], "sequence 4 is empty"),
        ({}, [*DENSE[:4], np.zeros((1, 2))], Y, "sequence 4 has 2 features; expected 3"),
        ({}, [*DENSE[:4], np.full((1, 3), np.nan)], Y, "sequence 4, position 0: features contain NaN"),
        ({}, [*DENSE[:4], [{"a": 1.0}]], Y, "sequence 4 is a list of tokens; expected"),
        ({"classes": ["a", "b"]}, DENSE, Y, "sequence 1: the label 'c' is not one of the classes"),
        (
            {"forbidden": [("b", "a")]},
            DENSE,
            Y,
            r"sequence 1, position \d: 'a' may not follow 'b', as forbidden",
        ),
        ({"forbidden": [("a", "zz")]}, DENSE, Y, "forbidden names the label 'zz'"),
        ({"forbidden": [(None, None)]}, DENSE, Y, "at most one side"),
        ({"forbidden": "IOB"}, DENSE, Y, "must be one of 'BIO', 'BILOU', 'IOBES', or a list"),
        ({"unknown": "drop"}, DENSE, Y, "unknown must be 'ignore' or 'error', got 'drop'"),
        ({}, DENSE, [Weighted(["a"], [1, 2]), *Y[1:]], "sequence 0 has 1 positions but 2 costs"),
        ({}, DENSE, [Weighted(["a"], [-1]), *Y[1:]], "sequence 0: position costs must be finite and >= 0"),
        ({}, [], [], "no sequences given"),
        ({}, DENSE, [["a"] * k for k in LENGTHS], "only one class"),
    ],
)
def test_bad_input_is_named(settings, X, labels, message):
    with pytest.raises(ValueError, match=message):
        packed(Chain(**settings), X, labels)


def packed(task, X, labels):
    task.setup(X, labels)
    return task.pack(X, labels)


def test_no_allowed_labels_for_a_length_is_an_error():
    task = Chain(forbidden=[(a, b) for a in "ab" for b in "ab"])
    X, Y = [np.eye(2)[:1], np.eye(2)[1:]], [["a"], ["b"]]
    task.setup(X, Y)
    with pytest.raises(ValueError, match="sequence 1: every label sequence of its length contains a forb"):
        task.decode(np.zeros(task.dim), [X[0], np.eye(2)])


@pytest.mark.parametrize(
    "other",
    [np.array, lambda y: Weighted(y, [1.0] * len(y)), lambda y: [{label} for label in y]],
    ids=["array", "Weighted", "sets"],
)
def test_labels_of_lists_are_read_at_once(other):
    """As they are one sequence after another: in other forms, and where one of them is in another."""
    X, Y = [[["a"], ["b"]], [["b"]], [["a"], ["a"], ["c"]]], [["y", "x"], ["x"], ["z", "y", "y"]]
    expected = Chain().setup_and_pack(X, Y)
    for labels in ([tuple(y) for y in Y], list(map(other, Y)), [Y[0], other(Y[1]), Y[2]]):
        task = Chain()
        batch = task.setup_and_pack(X, labels)
        assert task.classes_ == ["x", "y", "z"]
        assert batch.labels.tolist() == batch.rows.tolist() == expected.labels.tolist() == [1, 0, 0, 2, 1, 1]
        assert batch.labels.dtype == expected.labels.dtype
    for labels in ([["y", "x"], [], ["z", "y", "y", "y"]], [["y"], ["x", "x"], ["z", "y", "y"]]):
        with pytest.raises(ValueError, match=r"sequence [01] has [12] positions but [012] labels"):
            Chain().setup_and_pack(X, labels)
