"""Digests of MeasureSVC and Ranker."""

from __future__ import annotations

from math import inf

import numpy as np
from scipy import sparse
from structures.ranking.queries import queries

import maxmargin as mm
from digest_groups.data import rare, rbf_map
from digest_groups.fits import CERTIFIED, RESCALED, group, scored
from maxmargin import solvers


@group("measures: all")
def _(fits):
    fit = fits(mm.MeasureSVC, *rare(), answer=scored, C=10.0, max_passes=60)
    for measure in ("f1", "error", "balanced_error", "prbep", "roc_auc", "average_precision", "kld", "nkld", "q"):
        fit(measure, measure=measure)
    for measure in ("absolute_error", "relative_absolute_error"):
        fit(measure, measure=measure)
    fit("fbeta", measure="fbeta", beta=2.0)
    fit("precision_at_k", measure="precision_at_k", k=10)
    fit("recall_at_k", measure="recall_at_k", k=40)
    fit("own linear", measure=lambda tp, fp, fn, tn: (10 * fn + fp) / (10 * (tp + fn)))
    fit("own product", measure=lambda tp, fp, fn, tn: 1 - np.sqrt(tp / (tp + fn) * tn / (tn + fp)))


@group("measures: formulations")
def _(fits):
    fit = fits(mm.MeasureSVC, *rare(n=80), answer=scored, C=10.0, max_passes=40)
    for measure in ("f1", "error", "roc_auc", "average_precision", "prbep", "q"):
        fit.formulations(RESCALED, prefix=f"{measure} ", measure=measure)


@group("measures: solvers")
def _(fits):
    fit = fits(mm.MeasureSVC, *rare(n=80), answer=scored, C=10.0, max_passes=40)
    for measure in ("f1", "roc_auc"):
        fit.solvers(prefix=f"{measure} ", measure=measure)


@group("measures: options")
def _(fits):
    X, y = rare()
    any_weights = {"sample_weight": np.linspace(0.1, 3, len(y))}
    tell = fits(mm.MeasureSVC, X, y, answer=scored, measure="f1", C=10.0)
    fits(mm.MeasureSVC, X, y, answer=scored)("default")
    tell("pos_label", pos_label=0)
    tell("no intercept", fit_intercept=False)
    tell("weights f1", given={"sample_weight": 1 + np.arange(len(y)) % 3})
    tell("weights error", measure="error", given=any_weights)
    tell("weights auc", measure="roc_auc", given=any_weights)
    tell("sparse", data=(sparse.csr_array(X), y))
    tell("hard margin", data=(X[:16], y[:16]), C=inf, max_passes=60)
    fit = fits(mm.MeasureSVC, X, y, measure="f1", C=10.0)
    fit("equal weights", given={"sample_weight": np.full(len(y), 0.5)})
    fit("n_jobs", n_jobs=2)
    fit.certify(measure="roc_auc", C=1.0)
    fit.path([1.0, 10.0], measure="prbep")
    fit.warm(10.0, C=1.0)
    tell = fits(mm.MeasureSVC, *rare(n=60), answer=scored, C=10.0, max_passes=20)
    for measure in ("f1", "roc_auc", "prbep"):
        tell.solvers(("one_slack", "bcfw", "sampled_cuts"), prefix=f"rbf {measure} ", measure=measure, kernel="rbf")
        tell(f"map {measure}", measure=measure, kernel=rbf_map(15))


def ranker(fits, noise=0.3, **options):
    X, y, qid = queries(noise=noise, fewest=6)
    return fits(mm.Ranker, X, y, few=X[:10], given={"qid": qid}, **options), X, y, qid


@group("ranker: measures")
def _(fits):
    fit, *_ = ranker(fits, C=10.0, max_passes=30)
    for measure, k in (("map", None), ("ndcg", None), ("roc_auc", None), ("precision_at_k", 3)):
        fit.formulations(prefix=f"{measure} ", measure=measure, k=k)
    fit("listwise", measure="ndcg", surrogate="listwise")
    fit("listwise at 3", measure="ndcg", k=3, surrogate="listwise")
    fit("positions", measure="ndcg", surrogate="listwise", features="positions")
    fit("positions at 3", measure="ndcg", k=3, surrogate="listwise", features="positions")
    fit("map relevant 2", measure="map", relevant=2)
    fit("at 1 relevant 2", measure="precision_at_k", k=1, relevant=2)


@group("ranker: options")
def _(fits):
    fit, X, y, qid = ranker(fits, C=10.0, max_passes=30)
    fit.solvers()
    ranker(fits)[0]("default", max_passes=100)
    fit("one query", measure="roc_auc", given={}, few=X[:5])
    fit("weights", given={"qid": qid, "sample_weight": 1.0 + qid % 3})
    rows = sparse.csr_array(X)
    fit("sparse", data=(rows, y), few=rows[:10])
    fit("n_jobs", n_jobs=2)
    fit("rank", answer=lambda model, few: model.rank(X, qid))
    easy, *_ = ranker(fits, noise=0.0)
    easy("hard margin", measure="roc_auc", C=inf, max_passes=60)
    ranker(fits)[0].certify(C=10.0, solver="subgradient")
    fit.path([1.0, 10.0], measure="ndcg", few=X[:5])
    fit.warm(10.0, C=1.0, few=X[:5])
    for measure, k in (("map", None), ("ndcg", None), ("roc_auc", None), ("precision_at_k", 3)):
        fit(f"rbf {measure}", measure=measure, k=k, kernel="rbf", max_passes=15)
    fit("rbf bcfw", kernel="rbf", solver="bcfw", max_passes=15)
    fit("map of kernel", kernel=rbf_map(15), max_passes=15)


@group("ranker: latent")
def _(fits):
    fit, X, y, qid = ranker(fits, noise=1.0, measure="precision_at_k", k=2, latent=True, C=10.0)
    first = np.array([1.0, -0.5, 0.2, 0.1])
    fitted = mm.Ranker(measure="precision_at_k", k=2, C=10.0, max_passes=30).fit(X, y, qid=qid)
    fit.solvers(CERTIFIED, prefix="", max_passes=100)
    fit.formulations(RESCALED, max_passes=100)
    fit("start", start=first, max_passes=100)
    fit("ranker", start=fitted.coef_, max_passes=99)
    fit("zero", start=0 * first, max_passes=99)
    fit("bad", start=-first, C=0.1, max_passes=99)
    restarts = solvers.CCCP(inner="one_slack", restarts=2, max_passes=100)
    fit("restarts", solver=restarts)
    fit("restarts n_jobs", solver=restarts, n_jobs=2)
    fit("weights", given={"qid": qid, "sample_weight": 1.0 + qid % 2}, max_passes=100)
    fit.path([1.0, 10.0], few=X[:5], max_passes=100)
