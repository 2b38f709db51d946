"""Certificates of all structures and objectives against rational arithmetic, on problems whose outputs are listed.

tests/test_trust.py has classes, chains and a measure at any scale; here is one problem or more of every structure, with
whole numbers, which tie, at scales from 2⁻²⁷ to 2²⁷ and C from 1e-6 to 1e8.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from structures.alignment import test_task as alignments
from structures.assignment import test_task as assignments
from structures.clustering.pair_strategies import clustered
from structures.decisions import test_task as decisions
from structures.dependencies import test_task as dependencies
from structures.dependencies.tree_lists import all_heads, sentences
from structures.diversity import test_task as diversities
from structures.graphs import test_task as graphs
from structures.parsing import test_task as parses
from structures.parts import test_task as parts
from structures.ranking.listed_tasks import Labellings, PairDecisions, Rankings
from structures.rational_objectives import ALL, SOFT, prove
from structures.segments import test_task as segments
from thorough import examples

from maxmargin.tasks import (
    Alignment,
    Chain,
    Correlation,
    Dependencies,
    Grammar,
    Links,
    Multiclass,
    Ordinal,
    SemiMarkov,
    Taxonomy,
)

pytestmark = pytest.mark.filterwarnings("ignore::maxmargin.errors.LossReplaced")

COSTS = [[0, 1, 2], [3, 0, 1], [0.5, 1, 0]]
TREE = {"cat": "mammal", "bat": "mammal", "bee": "insect", "mammal": None, "insect": None}


def whole(rng, scale, *shape):
    return rng.integers(-2, 3, shape).astype(float) * scale


def rows(task, labels, rng, scale):
    n = 5
    return (
        task,
        whole(rng, scale, n, 2),
        [labels[k] for k in (*range(len(labels)), *rng.integers(0, len(labels), n))][:n],
        None,
    )


def chains(task, rng, scale):
    X = [whole(rng, scale, length, 2) for length in (1, 3, 2)]
    return task, X, [["a"], [*"bac"], [*rng.choice(list("ab"), 2)]], None


def queries(task, levels, rng, scale):
    X = [whole(rng, scale, n, 2) for n in (4, 3)]
    Y = [rng.integers(0, levels, len(x)) for x in X]
    Y[0][:2], Y[1][:2] = (1, 0), (0, 1)
    return task, X, Y, None


def scenes(measure, rng, scale):
    X, Y = assignments.drawn(3, int(rng.integers(1000)))
    X = [np.round(2 * x) * scale for x in X]
    return Links(measure=measure), X, Y, lambda x: map(np.array, assignments.all_columns(*x.shape[:2]))


def sentence_trees(projective, measure, labelled, rng, scale):
    X, Y = sentences(3, seed=int(rng.integers(1000)), labelled=labelled, longest=3)
    labels = sorted({label for y in Y for _, label in y}) if labelled else ()
    if projective:  # any such tree
        listed = [list(all_heads(len(x), True, True)) for x in X]
        Y = [list(trees[int(rng.integers(len(trees)))]) for trees in listed]
    task = Dependencies(projective, True, measure, min_count=1)
    return task, X, Y, dependencies.outputs(True, projective, labels)


def sets_of_parts(kind, costs, rng, scale):
    return *parts.drawn(kind, 3, seed=int(rng.integers(1000)), costs=costs), None


def decided(form, way, rng, scale):
    return *decisions.drawn(form, way, "min", int(rng.integers(1000)), n=3, scale=scale), None


def fixed(task, X, Y, rng, scale):
    return task, X, Y, None


PROBLEMS = {
    "classes": partial(rows, Multiclass(), [0, 1, 2]),
    "classes with costs": partial(rows, Multiclass(costs=COSTS), [0, 1, 2]),
    "ordered classes": partial(rows, Ordinal(), [0, 1, 2]),
    "taxonomy": partial(rows, Taxonomy(TREE), ["bat", "cat", "bee"]),
    "chains": partial(chains, Chain()),
    "chains with costs": partial(chains, Chain(costs=COSTS)),
    "chains of order 2": partial(chains, Chain(order=2)),
    "chains of order 3": partial(chains, Chain(order=3)),
    "chains with forbidden steps": partial(chains, Chain(forbidden=[("c", "c")])),
    "segments": partial(fixed, SemiMarkov(), segments.X, segments.TAGS),
    "segments by segment": partial(fixed, SemiMarkov("segments"), segments.X, segments.SPANS),
    "segments by F1": partial(fixed, SemiMarkov("f1"), segments.X, segments.WHOLE),
    "parse trees": partial(fixed, Grammar("tags"), parses.TAGS[:3], parses.TREES[:3]),
    "parse trees by F1": partial(fixed, Grammar("tags", "f1"), parses.TAGS[:3], parses.TREES[:3]),
    "dependencies": partial(sentence_trees, False, "hamming", False),
    "projective dependencies": partial(sentence_trees, True, "share", False),
    "labelled dependencies": partial(sentence_trees, False, "hamming", True),
    "global alignments": partial(fixed, Alignment(mode="global"), alignments.X, alignments.Y),
    "local alignments": partial(fixed, Alignment(mode="local"), alignments.X, alignments.Y),
    "average precision": partial(queries, Rankings("map"), 2),
    "NDCG": partial(queries, Rankings("ndcg", surrogate="listwise"), 3),
    "ROC area": partial(queries, PairDecisions("roc_auc"), 2),
    **{
        f"measure {name}": partial(queries, Labellings(name, 2, 1.0), 2)
        for name in ("error", "balanced_error", "f1", "prbep", "precision_at_k", "recall_at_k", "kld", "q")
    },
    "assignments": partial(scenes, "hamming"),
    "assignments by share": partial(scenes, "share"),
    **{f"parts: {kind}": partial(sets_of_parts, kind, (1.0, 1.0)) for kind in parts.KINDS},
    "parts with costs": partial(sets_of_parts, "trees", (0.5, 2.0)),
    "decisions with costs": partial(decided, "whole", "costs"),
    "decisions with parts of their own": partial(decided, "own", "decisions"),
}
SMOOTH = [
    "chains",
    "chains of order 2",
    "segments",
    "parse trees",
    "dependencies",
    "projective dependencies",
    "global alignments",
    "local alignments",
]


def case(name, seed, soft=False):
    rng = np.random.default_rng(seed)
    scale, C = 2.0 ** int(rng.integers(-27, 28)), 10.0 ** int(rng.integers(-6, 9))
    task, X, Y, outputs = PROBLEMS[name](rng, scale)
    passes = int(rng.choice([3, 40]))
    if soft:
        return prove(task, X, Y, C, softness=SOFT[seed % len(SOFT)], outputs=outputs, max_passes=passes)
    return prove(task, X, Y, C, ALL[seed % len(ALL)], outputs=outputs, max_passes=passes)


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 5))])
def test_certificates_hold_without_rounding(name, seed):
    assert case(name, seed) == 4


@pytest.mark.parametrize("name", SMOOTH)
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 5))])
def test_certificates_of_smooth_objectives_hold(name, seed):
    assert case(name, seed, soft=True) == 2


formulations, powers = st.sampled_from(ALL), st.integers(-6, 8)


@pytest.mark.slow
@examples(3, 20)
@given(clustered(most=2), st.sampled_from([Correlation(), Correlation("relaxed")]), formulations, powers)
def test_certificates_of_clusterings_hold(drawn, task, formulation, power):
    X, Y, _ = drawn
    assert prove(task, X, Y, 10.0**power, formulation) == 4


@examples(3, 20)
@given(diversities.problems(), formulations, powers)
def test_certificates_of_diverse_sets_hold(problem, formulation, power):
    task, X, Y, _ = problem
    assert prove(task, X, Y, 10.0**power, formulation) == 4


@pytest.mark.parametrize("form", graphs.FORMS, ids=lambda name: name.replace(" ", "-"))
@examples(1, 6)
@given(data=st.data(), formulation=formulations, power=powers)
def test_certificates_of_graphs_hold(form, data, formulation, power):
    problem = data.draw(graphs.labelled(**graphs.FORMS[form]))
    assert prove(problem.task, problem.X, problem.Y, 10.0**power, formulation) == 4
