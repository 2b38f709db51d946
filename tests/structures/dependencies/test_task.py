"""Dependencies: the contract of tasks, training against all constraints, and bad input."""

import numpy as np
import pytest
from scipy import sparse
from structures.dependencies.tree_lists import all_heads, sentences

from maxmargin.problem.dual.objective import Formulation
from maxmargin.solvers import BCFW, OneSlack
from maxmargin.tasks import Dependencies
from maxmargin.testing import brute_force, check_solver, check_task

ALL = [Formulation(rescaling, slack) for rescaling in ("margin", "slack") for slack in ("l1", "l2")]


def outputs(single_root=True, projective=False, labels=()):
    """x -> all trees, for the reference."""

    def listed(x):
        for heads in all_heads(len(x), single_root, projective):
            if not labels:
                yield list(heads)
                continue
            for code in range(len(labels) ** len(heads)):
                found = []
                for _ in heads:
                    code, k = divmod(code, len(labels))
                    found.append(labels[k])
                yield list(zip(heads, found, strict=True))

    return listed


def arc_rows(x):
    """Features of one's own: tags of both ends, direction, length."""
    n, tags = len(x), ["R", *(tag for _, tag in x)]
    rows = np.zeros(((n + 1) * n, 6))
    for h in range(n + 1):
        for m in range(1, n + 1):
            rows[h * n + m - 1] = [h == 0, tags[h] == "N", tags[m] == "V", h < m, abs(h - m), tags[h] == tags[m]]
    return rows


def sparse_rows(x):
    return sparse.csr_array(arc_rows(x))


@pytest.mark.parametrize("measure", ["hamming", "share"])
@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("projective", [False, True])
def test_contract(projective, single_root, measure):
    X, Y = sentences(4, longest=3)
    task = Dependencies(projective, single_root, measure, most_decodes=10_000)
    check_task(task, X, Y, outputs=outputs(single_root, projective), trials=1)


@pytest.mark.parametrize("hash_bits", [None, 8])
@pytest.mark.parametrize("projective", [False, True])
def test_contract_with_labels(projective, hash_bits):
    X, Y = sentences(5, labelled=True, longest=3)
    labels = sorted({label for y in Y for _, label in y})
    task = Dependencies(projective, min_count=1, hash_bits=hash_bits, most_decodes=10_000)
    check_task(task, X, Y, outputs=outputs(True, projective, labels), trials=1)


@pytest.mark.parametrize("features", [arc_rows, sparse_rows], ids=["dense", "sparse"])
@pytest.mark.parametrize("labelled", [False, True])
def test_contract_with_features_of_ones_own(features, labelled):
    X, Y = sentences(5, labelled=labelled, longest=3)
    labels = sorted({label for y in Y for _, label in y}) if labelled else ()
    task = Dependencies(features=features, most_decodes=10_000)
    check_task(task, X, Y, outputs=outputs(labels=labels), trials=1)


@pytest.mark.parametrize("formulation", ALL, ids=str)
@pytest.mark.parametrize("labelled", [False, True])
def test_training_ends_at_the_optimum_of_all_constraints(formulation, labelled):
    X, Y = sentences(4, seed=2, labelled=labelled, longest=3 if labelled else 4)
    Y[0] = [(head, "det") for head, _ in Y[0]] if labelled else Y[0]  # something that cannot be learnt
    task = Dependencies(features=arc_rows, most_decodes=10_000)
    optimum = brute_force(task, X, Y, 2.0, formulation).value
    for solver in (BCFW(tol=1e-5), OneSlack(tol=1e-5)):
        certificate = check_solver(solver, task, X, Y, 2.0, formulation).certificate
        assert certificate.converged
        assert certificate.dual <= optimum * (1 + 1e-7) + 1e-9
        assert optimum <= certificate.primal * (1 + 1e-7) + 1e-9


@pytest.mark.parametrize("formulation", ALL, ids=str)
def test_training_with_named_features_ends_at_the_optimum(formulation):
    X, Y = sentences(3, seed=4, longest=3)
    task = Dependencies(min_count=1, most_decodes=10_000)
    optimum = brute_force(task, X, Y, 1.0, formulation).value
    certificate = check_solver(BCFW(tol=1e-5), task, X, Y, 1.0, formulation).certificate
    assert certificate.dual <= optimum * (1 + 1e-7) + 1e-9
    assert optimum <= certificate.primal * (1 + 1e-7) + 1e-9


@pytest.mark.parametrize("projective", [False, True])
@pytest.mark.parametrize("single_root", [False, True])
def test_outputs_are_all_trees(single_root, projective):
    X, Y = sentences(3, longest=4)
    for labels in ((), ["a", "b"]):
        task = Dependencies(projective, single_root)
        task.setup(X, [list(zip(y, ["a", "b", *"aaaa"], strict=False)) for y in Y] if labels else Y)
        for x in X[: 2 if labels else 3]:
            mine, listed = list(outputs(single_root, projective, labels)(x)), list(task.outputs(x))
            assert len(mine) == len(listed)
            assert sorted(map(str, mine)) == sorted(map(str, listed))


X, Y = sentences(4, longest=2)
WORDS = [("the", "D"), ("cat", "N"), ("sleeps", "V")]

BAD_TREES = {
    "too large": ([2, 3, 4], {}, "sentence 1: word 3 has the head 4; expected 0, the root, or a word"),
    "negative": ([2, -1, 0], {}, "word 2 has the head -1"),
    "itself": ([2, 2, 0], {}, "the words 2 -> 2 form a cycle"),
    "cycle": ([2, 1, 0], {}, "the tree of sentence 1 is not a tree: the words 1 -> 2 -> 1 form a cycle"),
    "no root": ([2, 3, 1], {}, "the tree of sentence 1 has no root: no word has the head 0"),
    "two roots": ([0, 3, 0], {}, "sentence 1 has 2 roots, the words 1, 3; expected one word with"),
    "short": ([2, 0], {}, "the tree of sentence 1 has 2 heads; expected 3, one for every word"),
    "long": ([2, 3, 0, 1], {}, "the tree of sentence 1 has 4 heads; expected 3"),
    "empty": ([], {}, "the tree of sentence 1 is empty; expected a head for every word"),
    "a number": (3, {}, "the tree of sentence 1 is 3; expected a list of heads, or of pairs"),
    "a fraction": ([2, 3.5, 0], {}, "word 1 has 2; expected a head, a whole number, or a pair"),
    "labels of some": ([(2, "det"), (3, "arg"), (0, "root")], {}, "1 has labels, but the tree of sentence 0"),
    "not projective": ([3, 4, 0, 3], {"projective": True}, "the arcs 0 - 3 and 2 - 4 cross; leave such sentences out"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_TREES)
def test_bad_trees(case):
    bad, options, message = BAD_TREES[case]
    x = [*WORDS, ("there", "A")] if case == "not projective" else WORDS
    with pytest.raises(ValueError, match=message):
        Dependencies(**options).setup([[("runs", "V")], x], [[0], bad])


BAD_SENTENCES = {
    "empty": ([], "sentence 1 is empty; expected at least one word"),
    "a string": ("the cat", "sentence 1 is 'the cat'; expected a list of tokens"),
    "words alone": (
        ["the", "cat", "sleeps"],
        "sentence 1: word 1 is 'the'; expected \\(form, tag\\), or a dict with both",
    ),
    "three": ([("the", "D", "DT")] * 3, "expected the same number of tags for every word"),
    "four": ([("the", "D", "DT", "x")] * 3, "expected \\(form, tag\\)"),
    "numbers": ([("the", 3)] * 3, "expected a form and a tag that are strings"),
    "half a dict": ([{"form": "the"}] * 3, "expected a form and a tag that are strings"),
}


@pytest.mark.parametrize("case", BAD_SENTENCES)
def test_bad_sentences(case):
    bad, message = BAD_SENTENCES[case]
    with pytest.raises(ValueError, match=message):
        Dependencies().setup([[("runs", "V")], bad], [[0], [2, 3, 0]])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"measure": "f1"}, "measure must be one of 'hamming', 'share', got 'f1'"),
        ({"min_count": 0}, "min_count must be a whole number >= 1, got 0"),
        ({"hash_bits": 40}, "hash_bits must be None or a whole number from 1 to 28, got 40"),
        ({"hash_bits": True}, "hash_bits must be None"),
        ({"most_decodes": 0}, "most_decodes must be a whole number >= 1"),
        ({"features": 3}, "features must be None or a function"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        Dependencies(**options).setup(X, Y)


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (np.zeros((3, 2)), "features\\(x\\) of sentence 0: shape \\(3, 2\\); expected \\(2, F\\) or \\(2, 1, F\\)"),
        (np.zeros((2, 1)) * np.nan, "sentence 0: .*arc"),
    ],
)
def test_bad_features(made, message):
    task = Dependencies(features=lambda x: made)
    with pytest.raises(ValueError, match=message):
        task.setup_and_pack([[("runs", "V")]], [[0]])


def test_unknown_labels_and_kinds_of_trees():
    X, Y = sentences(4, labelled=True)
    task = Dependencies()
    task.setup(X, Y)
    with pytest.raises(ValueError, match="the tree of sentence 0: the label 'nsubj' is not one of the classes"):
        task.pack([WORDS], [[(2, "nsubj"), (3, "arg"), (0, "root")]])
    with pytest.raises(ValueError, match="the tree of sentence 0 has no labels; expected pairs"):
        task.pack([WORDS], [[2, 3, 0]])


def test_root_and_unknown_words():
    """New forms and tags have codes of their own, and dicts are read as pairs."""
    X, Y = sentences(6)
    task = Dependencies()
    task.setup(X, Y)
    w = np.random.default_rng(0).standard_normal(task.dim)
    x = [{"form": "Zebras", "tag": "NEW"}, {"form": "sleeps", "tag": "V"}]
    assert task.decode(w, [x]) == task.decode(w, [[("unheard", "OTHER"), ("SLEEPS", "V")]])
    assert task.decode(w, []) == []
