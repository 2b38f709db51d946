"""Digests of what fitted models say: scores, attributes, plain forms of tasks, pickles, failed trainings."""

from __future__ import annotations

import pickle
from math import inf

from structures.alignment.families import families
from structures.diversity.searches import searches
from structures.ranking.queries import queries

import maxmargin as mm
from digest_groups.data import (
    ANIMALS,
    SPECIES,
    chains,
    clusters,
    drawn,
    graphs,
    hidden_labels,
    planted,
    rare,
    sentences,
    table,
    trips,
)
from digest_groups.fits import group, scored
from maxmargin import counting, kernels, tasks


@group("scores and attributes")
def _(fits):
    linear = ("coef_", "intercept_", "classes_")
    motif = ("counts_", "frequencies_", "information_", "consensus_", "pssm_", "background_frequencies_", "length_")
    aligned = ("weights_", "alphabet_", "substitution_matrix_", "gap_open_", "gap_extend_")
    orders = counting.Permutations(items=4)

    def say(label, kind, data, *names, given=None, **options):
        """The score on the training data, and attributes."""
        given = given or {}

        def answer(model, few):
            return [model.score(*data, **given), *(getattr(model, name) for name in names)]

        fits(kind, *data, answer=answer, given=given)(label, **options)

    X, y = table()
    say("multiclass", mm.MulticlassSVC, (X, y), *linear, C=10.0)
    say("taxonomy", mm.TaxonomySVC, (X, SPECIES[y]), *linear, "nodes_", taxonomy=ANIMALS)
    say("ordinal", mm.OrdinalSVC, (X, y), *linear, "thresholds_", C=10.0)
    for measure in ("f1", "roc_auc", "prbep", "kld"):
        say(f"measure {measure}", mm.MeasureSVC, rare(), *linear, measure=measure, C=10.0)
    D, d, qid = queries(fewest=6)
    say("ranker", mm.Ranker, (D, d), "coef_", given={"qid": qid}, C=10.0)
    say("ndcg", mm.Ranker, (D, d), given={"qid": qid}, measure="ndcg", k=3, C=10.0)
    say("sequences", mm.SequenceLabeler, chains(), "classes_", "weights_", C=10.0)
    say("parser", mm.Parser, sentences(), "weights_", C=10.0, max_passes=15)
    say("pcfg", mm.PCFG, sentences(), "weights_")
    pairs = mm.datasets.mutated_pairs(8, length=16, seed=0)
    say("aligner", mm.Aligner, pairs, *aligned, C=5.0, max_passes=10)
    say("homologs", mm.HomologRanker, families(8, length=9, decoys=3), "weights_", max_passes=15)
    say("motif", mm.MotifFinder, planted(), *motif, length=8, background_order=1, restarts=2, C=20.0)
    say("clusters", mm.Clusterer, clusters()[:2], "coef_", "intercept_", C=5.0)
    say("graphs", mm.GraphLabeler, graphs(edge_features=2), "coef_", "edge_coef_", "classes_", max_passes=15)
    say("diversifier", mm.Diversifier, searches(6, documents_each=12), "coef_", k=3, max_passes=60)
    say("counting", mm.CountingPredictor, drawn(orders, n=10), "coef_", "dual_coef_", output_set=orders)
    say("counting classes", mm.CountingClassifier, (X, y), "dual_coef_", "classes_")
    say("routes", mm.RoutePredictor, trips(), "points_", "popularity_")


@group("plain forms of tasks")
def _(fits):
    X, y = table()
    S, L = chains()
    W = clusters()[:2]
    M, m = planted()
    D, d, qid = queries(fewest=6)
    groups, levels = [D[qid == k] for k in range(8)], [d[qid == k] for k in range(8)]
    relevant = groups, [(level > 0).astype(float) for level in levels]
    levels = groups, levels

    def say(label, task, data):
        """What the task says of a single example: psi, loss and argmax."""

        def answer(model, few):
            task, w, answers = model.task_, model.w_, []
            for x, y in zip(data[0][:3], data[1][:3], strict=True):
                free, worst = task.argmax(w, x), task.argmax(w, x, y)
                answers += [free, worst, task.psi(x, free), task.psi(x, worst), task.loss(y, free), task.loss(y, worst)]
            return answers

        fits(mm.StructuredSVM, *data, answer=answer, C=5.0, max_passes=15)(label, task=task)

    say("chain", tasks.Chain(), (S, L))
    say("chain partial", tasks.Chain(), (S, hidden_labels(L)))
    say("multiclass", tasks.Multiclass(), (X, y))
    say("taxonomy", tasks.Taxonomy(taxonomy={0: "a", 1: "a", 2: "b", 3: "b", "a": None, "b": None}), (X, y))
    say("ordinal", tasks.Ordinal(), (X, y))
    say("grammar", tasks.Grammar(), sentences())
    say("grammar f1", tasks.Grammar(measure="f1"), sentences())
    say("alignment", tasks.Alignment(), mm.datasets.mutated_pairs(8, length=8, seed=0))
    say("homologs", tasks.Homologs(), families(8, length=9, decoys=3))
    say("motif", tasks.Motif(length=8, background_order=1), (M, m == "with"))
    say("forest", tasks.Forest(), W)
    say("correlation", tasks.Correlation(), W)
    say("correlation mitre", tasks.Correlation(measure="mitre"), W)
    say("graph", tasks.Graph(), graphs(edge_features=2))
    say("diversity", tasks.Diversity(k=3), searches(6, documents_each=12))
    say("topk", tasks.TopK(k=2), relevant)
    for label, task, data in (
        ("map", tasks.Ranking(measure="map"), levels),
        ("ndcg", tasks.Ranking(measure="ndcg"), levels),
        ("roc_auc", tasks.Ranking(measure="roc_auc"), levels),
        ("contingency", tasks.Contingency(measure="f1"), relevant),
        ("contingency at k", tasks.Contingency(measure="precision_at_k", k=2), relevant),
    ):

        def answer(model, few, data=data):
            return [model.predict(groups), model.score(*data)]

        fits(mm.StructuredSVM, *data, answer=answer, task=task, C=5.0, max_passes=15)(label)


def pickled(model):
    return pickle.loads(pickle.dumps(model))


@group("pickled")
def _(fits):
    X, y = table()
    fit = fits(mm.MulticlassSVC, X, y, answer=lambda model, few: scored(pickled(model), few), C=10.0)
    fit("multiclass")
    fit("kernel", kernel="rbf", max_passes=20)
    fit("mapped", kernel=kernels.KernelMap(n_components=20))
    S, L = chains()
    fits(mm.SequenceLabeler, S, L, answer=lambda model, few: scored(pickled(model), few))("sequences", C=10.0)
    trained = pickled(mm.MulticlassSVC(C=1.0, kernel="rbf", warm_start=True, max_passes=9).fit(X, y))
    fits(lambda: trained.set_params(C=5.0), X, y)("warm kernel")
    online = pickled(mm.MulticlassSVC(C=1.0, solver="subgradient").fit(X, y))
    fits(lambda: online, X, y).partial([(X, y)], "online")


@group("not separable")
def _(fits):
    fit = fits(mm.MulticlassSVC, *table(), C=inf, max_passes=60)
    label = fits(mm.SequenceLabeler, *chains(), C=inf, max_passes=60)
    for solver in ("bcfw", "n_slack", "one_slack"):
        fit.unfinished(f"multiclass {solver}", solver=solver)
        label.unfinished(f"sequences {solver}", solver=solver)
    fit.unfinished("kernel", kernel="linear")
