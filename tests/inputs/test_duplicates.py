"""Sparse rows with duplicate entries, which add up, or in any order give the same model; the given matrix stays."""

import numpy as np
import pytest
from digest_groups.data import ANIMALS, SPECIES, chains, clusters, graphs, rare, table
from scipy import sparse
from structures.dependencies.tree_lists import sentences as dependency_sentences
from structures.parts.decoders import best_tree
from structures.ranking.queries import queries

import maxmargin as mm
from maxmargin import kernels, optimisers, tasks
from maxmargin.inputs.matrices import checked_matrix, number_matrix, without_duplicates

MADE = []  # every matrix with duplicates that a case has given to an estimator, beside its first content


def with_duplicates(matrix, copies=3):
    """Cut every value into `copies` values, which add up to it exactly, in an order by lot."""
    rows = sparse.csr_array(matrix)
    rng = np.random.default_rng(0)
    data, indices, indptr = [], [], [0]
    for i in range(rows.shape[0]):
        own = slice(rows.indptr[i], rows.indptr[i + 1])
        values = np.repeat(rows.data[own], copies).reshape(-1, copies)
        values[:, 1:] = 2.0 ** rng.integers(0, 3, values[:, 1:].shape)
        values[:, 0] -= values[:, 1:].sum(axis=1)
        order = rng.permutation(values.size)
        data.append(values.ravel()[order])
        indices.append(np.repeat(rows.indices[own], copies)[order])
        indptr.append(indptr[-1] + values.size)
    made = sparse.csr_array((np.concatenate(data), np.concatenate(indices), indptr), shape=rows.shape)
    MADE.append((made, made.data.copy(), made.indices.copy(), made.indptr.copy()))
    return made


def shuffled(matrix):
    """Return the same entries in an order by lot within each row."""
    return with_duplicates(matrix, copies=1)


def rounded(X):
    """Return numbers with few bits, so that cutting and adding them is exact."""
    return np.round(np.asarray(X) * 16) / 16


def vector(model, X):
    """Return the weights of a model and what it says of X, as one vector."""
    weights = [np.ravel(getattr(model, name)) for name in ("w_", "coef_", "dual_coef_") if hasattr(model, name)]
    scores = model.decision_function(X) if hasattr(model, "decision_function") else []
    return np.concatenate([*weights, np.ravel(scores)]).astype(float)


def classes(estimator, labels=None):
    def fitted(make):
        X, y = table(40)
        X = make(rounded(X))
        return vector(estimator().fit(X, y if labels is None else labels[y]), X)

    return fitted


def measure(**options):
    def fitted(make):
        X, y = rare(60)
        X = make(rounded(X))
        return vector(mm.MeasureSVC("f1", max_passes=20, **options).fit(X, y), X)

    return fitted


def ranker(*given, **options):
    def fitted(make):
        X, y, qid = queries(fewest=6)
        X = make(rounded(X))
        model = mm.Ranker(*given, max_passes=9, **options).fit(X, y, qid=qid)
        return np.append(model.w_, model.predict(X))

    return fitted


def sequences(estimator, **options):
    def fitted(make):
        X, Y = chains()
        X = [make(rounded(x)) for x in X]
        return estimator(max_passes=9, **options).fit(X, Y).w_

    return fitted


def sequences_of_one_matrix(make):
    X, Y = chains()
    X = tasks.Sequences(make(rounded(np.concatenate(X))), np.append(0, np.cumsum(list(map(len, X)))))
    return mm.SequenceLabeler(max_passes=9, kernel="rbf").fit(X, Y).w_


def segments(make):
    X, Y = chains()
    Y = [[("B-" + "AB"[k]) if k < 2 else "O" for k in y] for y in Y]
    return mm.SegmentLabeler(max_passes=9).fit([make(rounded(x)) for x in X], Y).w_


def graph(**options):
    def fitted(make):
        X, Y = graphs()
        return mm.GraphLabeler(max_passes=9, **options).fit([(make(rounded(x)), edges) for x, edges in X], Y).w_

    return fitted


def clustering(make):
    X, Y, _ = clusters()
    X = [tasks.Pairs.from_array(rounded(x)) for x in X]
    X = [tasks.Pairs(x.n_items, x.pairs, make(x.features)) for x in X]
    return mm.Clusterer("correlation", max_passes=9).fit(X, Y).w_


def arcs(make):
    X, Y = dependency_sentences(8, longest=4)
    rng = np.random.default_rng(0)
    known = {n: make(rounded(rng.standard_normal(((n + 1) * n, 4)))) for n in range(1, 9)}
    return mm.DependencyParser(features=lambda x: known[len(x)], max_passes=9).fit(X, Y).w_


def costs(of_parts, **options):
    def fitted(make):
        rng = np.random.default_rng(0)
        X, Y = rounded(rng.standard_normal((20, 3))), rng.random((20, 4))
        X = [make(x) for x in rounded(rng.standard_normal((20, 4, 3)))] if of_parts else make(X)
        return mm.CostLearner(optimisers.Knapsack([3, 4, 2, 5], 7), max_passes=9, **options).fit(X, Y).w_

    return fitted


def parts(**options):
    def fitted(make):
        rng = np.random.default_rng(0)
        X = [make(rounded(rng.standard_normal((6, 4)))) for _ in range(12)]
        Y = [best_tree(rng.standard_normal(6), None) for _ in range(12)]
        return mm.StructuredSVM(tasks.Parts(best_tree, **options), max_passes=9).fit(X, Y).w_

    return fitted


def counted(estimator, **options):
    def fitted(make):
        X, y = table(40)
        X = make(rounded(X))
        labels = np.eye(4, dtype=int)[y] if estimator is mm.CountingMultilabel else y
        return vector(estimator(**options).fit(X, labels), X)

    return fitted


def packed(tmp_path, make):
    X, y = table(40)
    folder = mm.pack([(make(rounded(X)), y)], tmp_path / make.__name__, "classes")
    return mm.MulticlassSVC().fit(folder).w_


def mapped(make):
    return kernels.KernelMap(n_components=8, random_state=0).fit_transform(make(rounded(table(40)[0])))


RBF = {"kernel": "rbf"}
CASES = {
    "classes": classes(mm.MulticlassSVC),
    "classes, rbf": classes(lambda: mm.MulticlassSVC(**RBF)),
    "classes, rbf, no intercept": classes(lambda: mm.MulticlassSVC(fit_intercept=False, **RBF)),
    "classes, polynomial": classes(lambda: mm.MulticlassSVC(kernel="poly")),
    "classes, map": classes(lambda: mm.MulticlassSVC(kernel=kernels.KernelMap(n_components=12))),
    "classes, a function": classes(lambda: mm.MulticlassSVC(kernel=kernels.Function(lambda A, B: (A @ B.T).toarray()))),
    "classes, slack rescaling": classes(lambda: mm.MulticlassSVC(rescaling="slack")),
    "taxonomy": classes(lambda: mm.TaxonomySVC(ANIMALS), SPECIES),
    "taxonomy, rbf": classes(lambda: mm.TaxonomySVC(ANIMALS, **RBF), SPECIES),
    "ordinal": classes(mm.OrdinalSVC),
    "ordinal, rbf": classes(lambda: mm.OrdinalSVC(**RBF)),
    "measure": measure(),
    "measure, rbf": measure(**RBF),
    "ranker, ndcg": ranker("ndcg", k=3),
    "ranker, precision, rbf": ranker("precision_at_k", k=2, **RBF),
    "ranker, latent": ranker("precision_at_k", k=2, latent=True),
    "sequences": sequences(mm.SequenceLabeler),
    "sequences, rbf": sequences(mm.SequenceLabeler, **RBF),
    "sequences of one matrix": sequences_of_one_matrix,
    "segments": segments,
    "graphs": graph(),
    "graphs, rbf": graph(**RBF),
    "clusters": clustering,
    "dependencies": arcs,
    "costs of whole examples": costs(False),
    "costs of whole examples, rbf": costs(False, **RBF),
    "costs of parts": costs(True),
    "costs of parts, rbf": costs(True, **RBF),
    "parts": parts(),
    "parts, rbf": parts(**RBF),
    "counted classes": counted(mm.CountingClassifier),
    "counted classes, rbf": counted(mm.CountingClassifier, **RBF),
    "counted labels": counted(mm.CountingMultilabel),
    "counted labels, conjugate gradients": counted(mm.CountingMultilabel, solver="cg"),
    "a kernel map": mapped,
}


@pytest.fixture(autouse=True)
def nothing_is_changed():
    MADE.clear()
    yield
    for made, *content in MADE:
        for found, expected in zip((made.data, made.indices, made.indptr), content, strict=True):
            assert np.array_equal(found, expected)


@pytest.mark.every(5)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("make", [with_duplicates, shuffled])
def test_the_model_is_that_of_rows_without_duplicates(make, name):
    """Bit for bit, because both are the same rows once duplicates have been added."""
    fitted = CASES[name]
    expected, found = fitted(sparse.csr_array), fitted(make)
    assert MADE
    assert np.array_equal(found, expected)


def test_packed_rows_have_no_duplicates(tmp_path):
    assert np.array_equal(packed(tmp_path, with_duplicates), packed(tmp_path, sparse.csr_array))


def test_constraints_of_a_linear_program_may_have_duplicates():
    A, costs = np.array([[1.0, 2.0, 3.0], [4.0, 0.0, 1.0]]), np.array([-1.0, -1.0, -1.0])
    expected = optimisers.LinearProgram(A, [4.0, 3.0], bounds=(0, 1)).solve(costs)
    found = optimisers.LinearProgram(with_duplicates(A), [4.0, 3.0], bounds=(0, 1)).solve(costs)
    assert np.array_equal(found, expected)


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix, sparse.csc_array, sparse.bsr_array])
@pytest.mark.parametrize("read", [lambda X: checked_matrix(X, 3), lambda X: number_matrix(X, "X"), without_duplicates])
def test_every_format_is_read_without_duplicates(kind, read):
    X = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]])
    given = kind(with_duplicates(X))
    found = read(given)
    assert found.nnz == 3
    assert found.has_canonical_format
    assert np.array_equal(found.toarray(), X)
    assert np.array_equal(given.toarray(), X)


def test_rows_without_duplicates_are_not_copied():
    X = sparse.csr_array(np.eye(3))
    assert without_duplicates(X) is X
    assert checked_matrix(X, 3) is X


def test_an_outdated_flag_does_not_hide_duplicates():
    X = sparse.csr_array(np.array([[1.0, 2.0]]))
    assert X.has_canonical_format
    X.indices[:] = 1
    assert without_duplicates(X).nnz == 1
    assert X.nnz == 2
