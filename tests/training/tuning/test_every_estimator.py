"""Tuned with every estimator that has C, on small problems."""

import numpy as np
import pytest
from digest_groups.data import (
    ANIMALS,
    SPECIES,
    chains,
    clusters,
    graphs,
    hidden_labels,
    planted,
    rare,
    sentences,
    table,
)
from example_tasks import Bags, Interval, bag_data, interval_data
from structures.alignment.families import families
from structures.decisions.listed import Together, subsets
from structures.dependencies.tree_lists import sentences as parsed
from structures.diversity.searches import searches
from structures.ranking.queries import queries
from structures.segments.segmented import segmented

import maxmargin as mm
from maxmargin.training.structured import StructuredSVM
from maxmargin.training.trainer import Trainer

CHAINS = chains(n=12)
FLAT, LABELS = table(n=60)
QUERIES = queries(noise=0.3, fewest=6)
RNG = np.random.default_rng(0)
COSTS = RNG.standard_normal((30, 3)), RNG.standard_normal((30, 5))
FRAMES = [(RNG.random((3, 2)), RNG.random((3, 2))) for _ in range(8)]


def distances(rows, columns):
    return -np.linalg.norm(rows[:, None] - columns[None], axis=2)[:, :, None]


CASES = {
    "sequences": (mm.SequenceLabeler(), *CHAINS),
    "segments": (mm.SegmentLabeler(measure="segments"), *segmented(20)),
    "missing labels": (mm.SequenceLabeler(), CHAINS[0], hidden_labels(CHAINS[1])),
    "classes": (mm.MulticlassSVC(), FLAT, LABELS),
    "taxonomy": (mm.TaxonomySVC(ANIMALS), FLAT, SPECIES[LABELS]),
    "ordinal": (mm.OrdinalSVC([0, 1, 2, 3]), FLAT, LABELS),
    "measure": (mm.MeasureSVC("roc_auc"), *rare(n=80)),
    "ranker": (mm.Ranker(), QUERIES[0], QUERIES[1], {"qid": QUERIES[2]}),
    "parser": (mm.Parser(max_passes=30, on_failure="flat"), *sentences(n=9)),
    "dependencies": (mm.DependencyParser(), *parsed(12, longest=5)),
    "aligner": (mm.Aligner(max_passes=30), *mm.datasets.mutated_pairs(8, length=12, seed=0)),
    "homologs": (mm.HomologRanker(max_passes=30), *families(8, length=9, decoys=3)),
    "motif": (mm.MotifFinder(length=8, background_order=1, restarts=1), *planted(8)),
    "forest": (mm.Clusterer(max_passes=60), *clusters()[:2]),
    "correlation": (mm.Clusterer("correlation", max_passes=60), *clusters()[:2]),
    "diversity": (mm.Diversifier(k=3, max_passes=60), *searches(6, documents_each=12)),
    "graphs": (mm.GraphLabeler(max_passes=30), *graphs(n=6)),
    "costs": (mm.CostLearner(Together(subsets(5, 2))), *COSTS),
    "links": (mm.Assigner(features=distances), FRAMES, [RNG.permutation(3) for _ in FRAMES]),
    "task": (mm.StructuredSVM(Interval()), *interval_data(10, longest=6)),
    "latent task": (mm.StructuredSVM(Bags()), *bag_data(12, largest=4)),
}


def test_none_is_left_out():
    public = {getattr(mm, name) for name in mm.__all__ if isinstance(getattr(mm, name), type)}
    has_C = {kind for kind in public if issubclass(kind, Trainer)}
    tried = {type(case[0]) for case in CASES.values()}
    assert tried == has_C, f"add a case to CASES: {has_C - tried}"
    assert StructuredSVM in has_C


@pytest.mark.every(4)
@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::maxmargin.errors.NothingLearnt")
def test_a_value_is_chosen(name):
    estimator, X, Y, *given = CASES[name]
    others = given[0] if given else {}
    found = mm.Tuned(estimator, cv=2, patience=1).fit(X, Y, **others)
    results = found.results_
    assert len(results["C"]) >= 2
    assert np.isfinite(results["mean_score"]).all()
    assert (np.diff(results["C"]) > 0).all()
    assert found.best_score_ == results["mean_score"][found.best_index_]
    assert found.best_C_ == found.best_estimator_.C == results["C"][found.best_index_]
    np.testing.assert_array_equal(found.w_, found.best_estimator_.w_)
    assert type(found.best_estimator_) is type(estimator)
    assert np.isfinite(found.score(X, Y, **others))
    assert np.isfinite(results["norm"]).all()
    assert results["training_loss"][-1] <= results["training_loss"][0] * (1 + 1e-9)


def test_background_of_motifs_is_for_all_folds():
    X, y = planted(8)
    others = planted(8, seed=4)[0]
    assert len(others) == len(X)
    model = mm.MotifFinder(length=8, background_order=1, restarts=1, positive="with")
    found = mm.Tuned(model, Cs=[10.0], cv=2).fit(X, y, background=others[8:] + others[8:])
    assert found.score(X, y) > 0.5
