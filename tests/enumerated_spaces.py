"""Small score spaces of one input each, with all of their outputs, written out."""

from itertools import combinations, pairwise, permutations, product
from typing import Any, NamedTuple

import numpy as np

from maxmargin import optimisers, tasks
from maxmargin.problem.planes.atoms import AtomRows
from maxmargin.structures.dependencies.heads import check_tree
from maxmargin.structures.dependencies.scored_arcs import FoundTrees
from maxmargin.structures.ranking.ranking_space import FoundRankings


class Listed(NamedTuple):
    """A space of one input, a function that draws scores for it, and all of its outputs in the form of found ones."""

    space: Any
    scores: Any
    outputs: list[Any]


def drawn(rng, *shapes):
    return [rng.standard_normal(shape) for shape in shapes]


def classes(rng):
    cost = rng.integers(0, 4, (4, 4)) * (1 - np.eye(4))
    return Listed(tasks.ClassSpace.of_labels([2], 4, cost), *drawn(rng, (1, 4)), [np.array([k]) for k in range(4)])


def label_sets(rng):
    outputs = [np.array([z]) for z in product([False, True], repeat=3)]
    space = tasks.LabelSetSpace(1, 3, truth=[[True, False, True]], costs=(1.0, 2.0))
    return Listed(space, *drawn(rng, (1, 3)), outputs)


def chains(rng):
    outputs = [np.array(z, dtype=np.int32) for z in product(range(3), repeat=4)]
    space = tasks.ChainSpace.of_lengths([4], 3, truth=[0, 1, 1, 2])
    return Listed(space, tasks.ChainScores(*drawn(rng, (4, 3), (3, 3), 3, 3)), outputs)


def padded(rng):
    """A padded sequence of three positions, with one that the mask leaves out."""
    mask = np.array([[True, False, True, True, False]])
    outputs = []
    for z in product(range(3), repeat=3):
        outputs.append(np.full((1, 5), -100, dtype=np.int32))
        outputs[-1][mask] = z
    space = tasks.PaddedChains(mask, 3, truth=[[2, -100, 0, 1, -100]], factors=rng.integers(1, 3, (1, 5)))
    return Listed(space, tasks.ChainScores(*drawn(rng, (1, 5, 3), (3, 3), 3, 3)), outputs)


def segments(rng):
    def possible(codes):
        for t, code in enumerate(codes):
            if code and code % 2 == 0 and (t == 0 or codes[t - 1] not in (code, code - 1)):
                return False
            if t >= 2 and code and code % 2 == 0 and codes[t - 1] == code:  # three tokens
                return False
        return True

    outputs = [np.array(z, dtype=np.int32) for z in product(range(5), repeat=3) if possible(z)]
    space = tasks.SegmentSpace.of_lengths([3], 2, 2, truth=[[(0, 2, 1)]], measure="segments")
    shapes = (3, 7), (2, 2), (0, 2), (3, 3), 3, 3
    return Listed(space, tasks.SegmentScores(*drawn(rng, *shapes)), outputs)


def arcs(rng, projective=False):
    outputs, bounds = [], np.array([0, 3])
    for heads in product(range(4), repeat=3):
        try:
            check_tree(np.array(heads), 3, "tree", True, projective)
        except ValueError:
            continue
        for labels in product(range(2), repeat=3):
            outputs.append(FoundTrees(bounds, *(np.array(each, dtype=np.int32) for each in (heads, labels))))
    truth = [[(2, 0), (0, 1), (2, 1)]]
    space = tasks.ArcSpace.of_lengths([3], 2, truth, projective=projective, price=2.0)
    return Listed(space, *drawn(rng, 4 * 3 * 2), outputs)


def graphs(rng):
    outputs = [[np.array(z, dtype=np.int32)] for z in product(range(2), repeat=4)]
    edges = np.array([[0, 1], [1, 2], [2, 0], [2, 3]])
    space = tasks.GraphSpace.of_graphs([(4, edges)], 2, truth=[[0, 1, 0, 0]])
    return Listed(space, [tasks.GraphScores(*drawn(rng, (4, 2), (4, 2, 2)))], outputs)


def alignments(rng, mode="global"):
    pairs, outputs = list(product(range(3), range(2))), []
    for k in range(3):
        for chosen in combinations(pairs, k):
            if all(a[0] < b[0] and a[1] < b[1] for a, b in pairwise(chosen)):
                outputs.append([np.array(chosen, dtype=np.int64).reshape(-1, 2)])
    space = tasks.AlignmentSpace.of_lengths([(3, 2)], mode, truth=[[(0, 0), (2, 1)]])
    return Listed(space, [tasks.AlignmentScores(*drawn(rng, (3, 2), (4, 4), (4, 3)))], outputs)


def trees(rng):
    grammar = "S -> NP VP\nNP -> D N | N | N N\nVP -> V | V NP"
    space = tasks.TreeSpace.of_lengths([3], grammar, truth=["(S (NP (N a)) (VP (V b) (NP (N c))))"], anchored=True)
    zero = space.scores_of()
    outputs = [[rows] for rows, _ in space.best_lists(zero, 10**4)[0]]
    return Listed(space, type(zero)(*drawn(rng, *(each.shape for each in zero))), outputs)


def parts(rng):
    sets = [np.array(each) for each in ([0, 1], [1, 3], [2], [0, 3, 4], [])]

    def best(scores, x):
        return max(sets, key=lambda each: scores[each.astype(int)].sum())

    space = tasks.PartSpace.of_sizes([5], best, [None], truth=[[1, 3]])
    return Listed(space, *drawn(rng, 5), [[each.astype(np.int64)] for each in sets])


def decisions(rng):
    grid = optimisers.GridPath(3, 3)
    costs = rng.uniform(0.1, 1.0, (1, grid.n_parts))
    space = tasks.DecisionSpace.of_costs(grid, costs)
    tried = grid.solve_many(rng.standard_normal((400, grid.n_parts)))
    return Listed(space, *drawn(rng, (1, grid.n_parts)), [each[None] for each in np.unique(tried, axis=0)])


def rankings(rng, measure="map", levels=(1.0, 0.0, 2.0, 0.0, 1.0)):
    """All rankings of five rows, by the features and the loss of the task."""
    x, task, own = np.eye(5), tasks.Ranking(measure), list(levels)
    task.setup([x], [own])
    right = task.psi(x, tasks.Ranked(np.array(sorted(range(5), key=lambda i: -own[i])), own))
    outputs = []
    for order in permutations(range(5)):
        z = tasks.Ranked(np.array(order), own)
        behind = np.asarray(right - task.psi(x, z)).reshape(1, -1)
        outputs.append(FoundRankings(AtomRows.of(behind), np.array([task.loss(own, z)])))
    return Listed(tasks.RankingSpace([own], measure), *drawn(rng, 5), outputs)


SPACES = {
    "classes": classes,
    "label sets": label_sets,
    "chains": chains,
    "padded chains": padded,
    "segments": segments,
    "dependency trees": arcs,
    "projective trees": lambda rng: arcs(rng, projective=True),
    "graphs": graphs,
    "global alignments": alignments,
    "local alignments": lambda rng: alignments(rng, "local"),
    "parse trees": trees,
    "parts": parts,
    "decisions": decisions,
    "rankings": rankings,
    "rankings by gains": lambda rng: rankings(rng, "ndcg", (1.0, 0.0, 1.0, 0.0, 1.0)),
}
SEARCHED_ONLY = ("parts", "decisions", "rankings", "rankings by gains")  # which do not sum over outputs
