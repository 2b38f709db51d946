"""DependencyParser: what it learns, names of weights, scikit-learn's rules."""

import io
import pickle
from functools import cache

import numpy as np
import pytest
from estimators.problems import CHECKS_WITHOUT_DATA
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_predict
from structures.dependencies.tree_lists import is_projective, sentences

from maxmargin import DependencyParser
from maxmargin.formats import read_conllu
from maxmargin.metrics import attachment_scores, las_scorer, uas_scorer

X, Y = sentences(60, longest=8)
_, ARCS = sentences(60, longest=8, labelled=True)
NEW, TRUE = sentences(40, seed=1, longest=8)
_, TRUE_ARCS = sentences(40, seed=1, longest=8, labelled=True)


@cache
def trained():
    return DependencyParser(C=100).fit(X, ARCS)


def test_learns_to_parse():
    assert trained().certificate_.converged
    assert trained().certificate_.exact
    assert trained().certificate_.method == "Chu-Liu/Edmonds"
    assert trained().score(X, ARCS) == 1
    assert trained().score(NEW, TRUE_ARCS) > 0.9
    assert attachment_scores(TRUE_ARCS, trained().predict(NEW)).las > 0.9
    assert trained().classes_ == ["amod", "arg", "conj", "det", "root"]


@pytest.mark.parametrize("options", [{}, {"projective": True}, {"hash_bits": 14}, {"measure": "share"}], ids=str)
def test_heads_alone(options):
    kept = [i for i, y in enumerate(Y) if is_projective(y)] if "projective" in options else range(len(X))
    model = DependencyParser(C=100, **options).fit([X[i] for i in kept], [Y[i] for i in kept])
    assert model.certificate_.converged
    assert model.score(NEW, TRUE) > (0.8 if "projective" in options else 0.9)
    assert model.classes_ is None
    found = model.predict(NEW)
    assert all(z.count(0) == 1 for z in found)
    if options.get("projective"):
        assert all(map(is_projective, found))


def test_two_roots():
    """Every verb is a root, which one root alone could not say."""
    roots = [
        [0 if tag == "V" else head for (_, tag), head in zip(x, y, strict=True)] for x, y in zip(X, Y, strict=True)
    ]
    model = DependencyParser(single_root=False, C=100).fit(X, roots)
    assert model.score(X, roots) > 0.95
    assert max(z.count(0) for z in model.predict(X)) > 1


@pytest.mark.every(2)
@pytest.mark.parametrize("rescaling", ["margin", "slack"])
@pytest.mark.parametrize("slack", ["l1", "l2"])
def test_formulations(rescaling, slack):
    model = DependencyParser(C=10, rescaling=rescaling, slack=slack, tol=0.05).fit(X[:12], ARCS[:12])
    assert model.certificate_.converged
    assert model.score(X[:12], ARCS[:12]) > 0.9


@pytest.mark.parametrize("labels", [Y, ARCS], ids=["heads", "labels"])
def test_any_number_of_threads(labels):
    one, two = (DependencyParser(C=10, n_jobs=n_jobs).fit(X, labels) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.w_, two.w_)
    assert one.predict(NEW) == two.predict(NEW)


def test_weights_have_names():
    weights = trained().weights_
    assert list(weights) == ["arcs", "labels"]
    assert weights["labels"].axes == ("feature", "label")
    assert weights["labels"]["dependent tag=D, head right", "det"] > 0
    assert "label=det" in trained().top_weights("det", n=1)[0].name
    assert len(set(weights["arcs"].names[0])) == len(weights["arcs"].names[0])
    hashed = DependencyParser(hash_bits=10, C=1).fit(X[:5], Y[:5])
    with pytest.raises(AttributeError, match="DependencyParser with hash_bits has no names of weights, because"):
        hashed.top_weights()


def test_two_tags():
    """A fine tag tells what the form and the tag do not."""
    rng = np.random.default_rng(0)
    x = [[("x", "N", "HEAD"), ("x", "N", "REST")][:: int(rng.choice([1, -1]))] for _ in range(20)]
    y = [[0, 1] if each[0][2] == "HEAD" else [2, 0] for each in x]
    assert DependencyParser(C=10).fit(x, y).score(x, y) == 1
    bare = [[token[:2] for token in each] for each in x]
    assert DependencyParser(C=10).fit(bare, y).score(bare, y) < 1
    model = DependencyParser(C=10).fit(x, y)
    with pytest.raises(ValueError, match="sentence 0 has 1 tags per word; expected 2 as in training"):
        model.predict([[("x", "N")]])
    with pytest.raises(ValueError, match="expected the same number of tags for every word"):
        model.fit([x[0], [("x", "N")]], [y[0], [0]])
    assert any("fine tag" in name for name in model.weights_["arcs"].names[0])


def test_sentences_of_files():
    lines = [
        "1\ta\ta\tD\t_\t_\t2\tdet\t_\t_",
        "2\tcat\tcat\tN\t_\t_\t3\targ\t_\t_",
        "3\tsleeps\tsleep\tV\t_\t_\t0\troot\t_\t_",
    ]
    (sentence,) = read_conllu(io.StringIO("\n".join(lines) + "\n"))
    (found,) = trained().predict([sentence])
    assert found == sentence.arcs
    assert sentence.with_arcs(found).arcs == found


def test_features_of_ones_own():
    def rows(x):
        n, tags = len(x), ["R", *(tag for _, tag in x)]
        table = np.zeros((n + 1, n, 4))
        for h in range(n + 1):
            for m in range(1, n + 1):
                noun = tags[h] == "N" and tags[m] in "DA"
                table[h, m - 1] = [h == 0 and tags[m] == "V", noun and h > m, noun * (h - m), tags[h] == "V" or -h]
        return table

    model = DependencyParser(features=rows, C=10).fit(X, Y)
    assert model.score(NEW, TRUE) > 0.7
    assert model.weights_["features"].shape == (4,)
    assert DependencyParser(features=rows, C=10).fit(X, ARCS).weights_["features"].shape == (4, 5)


def test_scikit_learn():
    for scorer, labels in ((uas_scorer, Y), (las_scorer, ARCS)):
        search = GridSearchCV(DependencyParser(), {"C": [0.01, 100]}, scoring=scorer, cv=2).fit(X[:20], labels[:20])
        assert search.best_score_ > 0.5
    assert len(cross_val_predict(DependencyParser(C=10), X[:10], Y[:10], cv=2)) == 10
    assert clone(trained()).get_params()["C"] == 100
    with pytest.raises(NotFittedError):
        DependencyParser().predict(X)
    assert pickle.loads(pickle.dumps(trained())).predict(NEW) == trained().predict(NEW)


@pytest.mark.parametrize("check", CHECKS_WITHOUT_DATA, ids=lambda check: check.__name__)
def test_scikit_learn_checks(check):
    check("DependencyParser", DependencyParser())
