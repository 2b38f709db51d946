"""Graph against the list of all labellings, against its definition, and against Chain."""

import pickle
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from strategies import whole
from structures.graphs.compiled import labelled_edges_twin as twin
from structures.graphs.labelled_graphs import edges_of, labelled
from thorough import examples

from maxmargin import StructuredSVM
from maxmargin.base.search import Search
from maxmargin.inference import Relaxed
from maxmargin.problem.contract.capabilities.rescaled_search import RescaledSearch
from maxmargin.problem.contract.examples import dot
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.problem.planes.atoms import AtomRows
from maxmargin.structures.graphs import task as graph_task
from maxmargin.structures.graphs.rows import LabellingRows
from maxmargin.tasks import Chain, Graph, Nodes, Weighted
from maxmargin.testing import brute_force, check_task, objective
from maxmargin.testing.comparisons import explicit

pytestmark = pytest.mark.filterwarnings("ignore::maxmargin.errors.NothingLearnt")  # random data teach nothing

TRIANGLE = [(0, 1), (1, 2), (2, 0)]


def directions(task):
    one = isinstance(task.directed, bool)
    return [task.directed] * task.n_edge_features_ if one else task.directed


def dense(rows):
    return AtomRows.of(rows).toarray()


# --- Ψ and Δ by definition


@given(labelled(), st.data())
def test_features_are_sums_over_edges_and_nodes(problem, data):
    task, X, _, _ = problem
    for x in X:
        labels = [data.draw(st.integers(0, task.n_labels_ - 1)) for _ in range(len(x))]
        features = x.features.toarray() if sparse.issparse(x.features) else x.features
        counts = twin.pair_counts(x.edges, x.edge_features, labels, task.n_labels_)
        if not len(x.edges):
            counts = np.zeros((task.n_edge_features_, task.n_labels_, task.n_labels_))
        edges = twin.equal(counts) if task.pairwise == "potts" else twin.folded(counts, directions(task))
        expected = [edges, twin.label_counts(features, labels, task.n_labels_).ravel()]
        found = explicit(task.psi(x, [task.classes_[k] for k in labels]), task.dim, 0)
        np.testing.assert_array_equal(found, np.concatenate(expected))


@given(labelled(), st.data())
def test_loss_adds_up_the_costs_of_nodes(problem, data):
    task, X, Y, _ = problem
    for x, y in zip(X, Y, strict=True):
        truth, costs = (y.labels, y.costs) if isinstance(y, Weighted) else (y, [1.0] * len(x))
        z = [data.draw(st.sampled_from(task.classes_)) for _ in range(len(x))]
        table = np.ones((3, 3)) - np.eye(3) if task.costs is None else task.costs
        terms = (c * table["abc".index(a), "abc".index(b)] for a, b, c in zip(truth, z, costs, strict=True))
        assert task.loss(y, z) == sum(terms)


@given(labelled())
def test_outputs_are_all_labellings(problem):
    task, X, _, _ = problem
    for x in X:
        every = {tuple(z) for z in task.outputs(x)}
        assert every == set(product(task.classes_, repeat=len(x)))


@given(labelled(), st.data())
def test_weights_by_meaning(problem, data):
    """⟨w, Ψ⟩ read off the tables of weights."""
    task, X, _, w = problem
    parts = task.parts(w)
    tables = parts["edges"]
    if task.pairwise == "potts":
        tables = tables[:, None, None] * np.eye(task.n_labels_)
    for table, one_way in zip(tables, directions(task), strict=True):
        assert one_way or (table == table.T).all()
    for x in X:
        labels = np.array([data.draw(st.integers(0, task.n_labels_ - 1)) for _ in range(len(x))])
        features = x.features.toarray() if sparse.issparse(x.features) else x.features
        score = sum(features[i] @ parts["nodes"][:, k] for i, k in enumerate(labels))
        for (i, j), row in zip(x.edges, x.edge_features, strict=True):
            score += row @ tables[:, labels[i], labels[j]]
        assert dot(task.psi(x, task.class_array_[labels]), w) == score


# --- planes


@given(labelled(), st.data())
def test_rows_of_labellings_and_of_fractions(problem, data):
    """Of any labelling, and of any mixture of labellings, which has mixed features and losses."""
    task, X, Y, _ = problem
    batch = task.pack(X, Y)
    rows, expected = LabellingRows(batch.atoms, task.edge_weights_), []
    for i, (x, y) in enumerate(zip(X, Y, strict=True)):
        truth = explicit(task.psi(x, y), task.dim, i)
        drawn = [
            np.array([data.draw(st.integers(0, task.n_labels_ - 1)) for _ in range(len(x))], dtype=np.int32)
            for _ in range(2)
        ]
        names = [task.class_array_[labels] for labels in drawn]
        first = rows.add_labelling(batch.graphs[i], drawn[0])
        assert first == task.loss(y, names[0])
        one, other = (np.eye(task.n_labels_)[labels] for labels in drawn)
        pairs = [each[x.edges[:, 0], :, None] * each[x.edges[:, 1], None, :] for each in (one, other)]
        mixed = Relaxed(0.25 * one + 0.75 * other, 0.25 * pairs[0] + 0.75 * pairs[1], 0.0)
        features = [explicit(task.psi(x, z), task.dim, i) for z in (*names, mixed)]
        loss = rows.add_relaxed(batch.graphs[i], mixed)
        assert loss == pytest.approx(0.25 * first + 0.75 * task.loss(y, names[1]))
        assert loss == pytest.approx(task.loss(y, mixed))
        np.testing.assert_allclose(features[2], 0.25 * features[0] + 0.75 * features[1])
        assert rows.add_labelling(batch.graphs[i], batch.graphs[i].truth) == 0
        expected += [truth - features[0], truth - features[2], np.zeros(task.dim)]
    np.testing.assert_allclose(rows.stacked().toarray(), expected, atol=1e-12)


@given(edges_of(5, "any"), st.integers(1, 3), st.data())
def test_edge_differences_are_their_twin(edges, n_features, data):
    from maxmargin.structures.graphs.compiled.labelled_edges import edge_differences

    features = data.draw(whole((len(edges), n_features)))
    truth, found = (data.draw(st.lists(st.integers(0, 2), min_size=5, max_size=5)) for _ in range(2))
    total = np.zeros((n_features, 3, 3))
    numbers = np.array(edges, dtype=np.int32).reshape(-1, 2)
    edge_differences(numbers, features, *(np.array(each, dtype=np.int32) for each in (truth, found)), total)
    if edges:
        tables = [twin.pair_counts(edges, features, labels, 3) for labels in (truth, found)]
        np.testing.assert_array_equal(total, tables[0] - tables[1])
    else:
        assert not total.any()


FORMS = {
    "forests": {"form": "forest"},
    "dynamic programming": {"form": "forest", "method": "forest"},
    "cycles": {"form": "cycle"},
    "junction tree": {"method": "junction_tree"},
    "roof duality": {"n_labels": 2, "method": "roof_dual"},
    "frustrated cycles": {"form": "cycle", "n_labels": 2, "method": "roof_dual"},
    "relaxation": {"n_labels": 3, "method": "relaxation"},
    "relaxed cycles": {"form": "cycle", "n_labels": 2, "method": "relaxation"},
    "expansion": {"method": "expansion"},
}


@pytest.mark.parametrize("form", FORMS, ids=lambda name: name.replace(" ", "-"))
@examples(6, 15)
@given(data=st.data())
def test_contract_by_enumeration(form, data):
    problem = data.draw(labelled(**FORMS[form]))
    check_task(problem.task, problem.X, problem.Y, trials=1, seed=data.draw(st.integers(0, 99)))


TWO = [list("aba"), list("bba")]
KINDS = [
    ("auto", [], Search.EXACT, "dynamic programming"),
    ("auto", TRIANGLE, Search.EXACT, "junction tree"),
    ("forest", TRIANGLE[:2], Search.EXACT, "dynamic programming"),
    ("junction_tree", TRIANGLE, Search.EXACT, "junction tree"),
    ("min_cut", TRIANGLE, Search.EXACT, "min-cut"),
    ("roof_dual", TRIANGLE, Search.OVERGENERATING, "min-cut with roof duality"),
    ("relaxation", TRIANGLE, Search.OVERGENERATING, "LP relaxation"),
    ("expansion", TRIANGLE, Search.UNDERGENERATING, "α-expansion"),
]


@pytest.mark.parametrize(("method", "edges", "kind", "title"), KINDS, ids=[f"{k[0]}-{len(k[1])}" for k in KINDS])
def test_kinds_and_names_of_searches(method, edges, kind, title):
    task, X = Graph(method=method), [Nodes(np.eye(3), edges)] * 2
    task.setup(X, TWO)
    batch = task.pack(X, TWO)
    assert (task.search, batch.search, batch.method) == (kind, kind, title)
    assert [bound.method for bound in task.predict_bounds(np.zeros(task.dim), X)] == [title] * 2
    planes = batch.planes(np.zeros(task.dim))
    assert batch.search is kind  # whatever was found
    assert (planes.relaxed is None) == (kind is Search.EXACT)


def test_mixed_methods_are_counted():
    task, X = Graph(), [Nodes(np.eye(3), edges) for edges in (TRIANGLE, [(0, 1)], TRIANGLE)]
    batch = task.setup_and_pack(X, [*TWO, list("aaa")])
    assert batch.method == "junction tree on 2 graphs, dynamic programming on 1 graph"
    assert batch.take(np.array([1])).method == "dynamic programming"


def test_mixed_kinds_of_searches():
    """Parts of a batch are exact or not; all of them say which answers were relaxed, so that answers can be joined."""
    complete = [(i, j) for i in range(20) for j in range(i)]
    X = [Nodes(np.ones((3, 1)), TRIANGLE[:2]), Nodes(np.ones((20, 1)), complete)]
    Y = [list("aba"), list("ab" * 10)]
    task = Graph(directed=False)
    batch = task.setup_and_pack(X, Y)
    w = np.zeros(task.dim)
    w[1] = 4.0  # neighbours differ
    assert [batch.take(np.array([i])).search for i in range(2)] == [Search.EXACT, Search.OVERGENERATING]
    assert batch.search is task.search is Search.OVERGENERATING
    assert [batch.take(np.array([i])).planes(w).relaxed.tolist() for i in range(2)] == [[False], [True]]
    assert batch.planes(w).relaxed.tolist() == [False, True]


def frustrated():
    """Triangles whose neighbours differ where they can, with nothing else to learn: relaxations become fractional."""
    X = [Nodes(np.ones((3, 1)), TRIANGLE)] * 3
    return X, [list("aba"), list("bba"), list("abb")]


@pytest.mark.parametrize("method", ["roof_dual", "relaxation"])
def test_fractional_planes(method):
    """Ψ of a fractional output is a mixture that no labelling has; its height is that of the relaxation."""
    X, Y = frustrated()
    task = Graph(method=method, directed=False)
    task.setup(X, Y)
    batch = task.pack(X, Y)
    w = np.zeros(task.dim)
    w[1] = 4.0  # the weight of neighbours that differ
    oracle = Oracle(batch)
    oracle.planes(np.zeros(task.dim), np.arange(3))
    assert oracle.search is Search.EXACT  # no answer was fractional, and all were proved
    oracle.planes(w, np.array([1]))
    oracle.planes(np.zeros(task.dim), np.array([1]))
    assert oracle.search is Search.OVERGENERATING  # for ever
    planes = batch.planes(w)
    assert planes.relaxed.tolist() == [True] * 3
    heights = planes.values(w)
    # all three edges differ by halves: 3 · 4 + 3/2 against the truth's 2 · 4; no labelling has more than 8 + 3
    np.testing.assert_allclose(heights, 5.5, atol=1e-6)
    assert (planes.upper >= heights - 1e-9).all()
    assert (planes.upper <= 5.5 + 0.1).all()
    np.testing.assert_allclose(planes.loss, 1.5, atol=1e-6)
    assert 0.5 in np.abs(dense(planes.dpsi)).round(6)
    z = task.argmax(w, X[0], Y[0])
    assert isinstance(z, Relaxed)
    assert set(task.decode(w, X)[0]) == {"a", "b"}
    (bound, *_) = task.predict_bounds(w, X)
    assert bound.score == 8
    assert 12 - 1e-9 <= bound.upper <= 12.1


@pytest.mark.parametrize("method", ["roof_dual", "relaxation"])
def test_training_with_fractional_planes_is_exact_for_the_relaxation(method):
    rng = np.random.default_rng(3)
    Y = [rng.permutation([0, 1, i % 2]) for i in range(6)]
    X = [Nodes(2.0 * y[:, None] - 1 + rng.normal(size=(3, 1)), TRIANGLE) for y in Y]
    model = StructuredSVM(Graph(method=method, directed=False), C=10.0, tol=1e-3).fit(X, Y)
    certificate = model.certificate_
    assert certificate.converged
    assert certificate.search == "overgenerating"
    assert certificate.dual <= certificate.primal
    exact = Graph(method="junction_tree", directed=False)
    assert certificate.primal >= objective(exact, X, Y, 10.0, model.w_) - 1e-9
    best = brute_force(exact, X, Y, 10.0).value
    assert best * 1.01 < certificate.dual  # the relaxed problem is another one, with a higher optimum


@pytest.mark.parametrize(("method", "n_labels"), [("roof_dual", 2), ("relaxation", 3)])
@examples(5, 8)
@given(data=st.data(), C=st.sampled_from([0.5, 5.0]))
def test_relaxed_objectives_bound_the_true_ones(method, n_labels, data, C):
    task, X, Y, _ = data.draw(labelled(n_labels=n_labels, method=method))
    model = StructuredSVM(task, C=C, tol=1e-3).fit(X, Y)
    certificate = model.certificate_
    exact = Graph(costs=task.costs, pairwise=task.pairwise, directed=task.directed, method="junction_tree")
    true = objective(exact, X, Y, C, model.w_)
    assert certificate.primal >= true - 1e-7 * (1 + true)
    if certificate.search == "exact":
        best = brute_force(exact, X, Y, C).value
        assert certificate.primal == pytest.approx(true, abs=1e-7)
        assert certificate.dual <= best + 1e-7 * (1 + best)


@examples(5, 8)
@given(labelled(form="any"), st.sampled_from([0.5, 5.0]), st.sampled_from(["bcfw", "one_slack"]))
def test_training_reaches_the_optimum_over_all_labellings(problem, C, solver):
    task, X, Y, _ = problem
    model = StructuredSVM(task, C=C, tol=1e-3, solver=solver).fit(X, Y)
    best = brute_force(task, X, Y, C).value
    assert model.certificate_.exact
    assert model.certificate_.dual <= best + 1e-7 * (1 + best)
    assert best - 1e-7 * (1 + best) <= model.certificate_.primal <= best * 1.002 + 1e-7


def test_graphs_that_are_chains():
    """With the first and the last position marked by features, the weights of a graph are those of a chain."""
    rng = np.random.default_rng(0)
    lengths = [5, 1, 7, 3]
    sequences = [rng.normal(size=(n, 3)) for n in lengths]
    Y = [rng.choice(list("abc"), n).tolist() for n in lengths]
    X = []
    for rows in sequences:
        ends = np.zeros((len(rows), 2))
        ends[0, 0] = ends[-1, 1] = 1
        X.append(Nodes(np.hstack([rows, ends]), [(t, t + 1) for t in range(len(rows) - 1)]))
    chain = StructuredSVM(Chain(), C=10.0, tol=1e-5).fit(sequences, Y)
    graph = StructuredSVM(Graph(), C=10.0, tol=1e-5).fit(X, Y)
    assert graph.certificate_.primal == pytest.approx(chain.certificate_.primal, rel=1e-4)
    parts = chain.task_.parts(chain.w_)
    w = np.concatenate([parts["transitions"].ravel(), *(parts[k].ravel() for k in ("features", "start", "end"))])
    assert [z.tolist() for z in graph.task_.decode(w, X)] == chain.predict(sequences)
    assert graph.task_.search == "exact"


@examples(8, 20)
@given(labelled(), st.data())
def test_undirected_edges_may_be_turned_round(problem, data):
    task, X, Y, _ = problem
    task = Graph(costs=task.costs, directed=False)
    task.setup(X, Y)
    w = data.draw(whole(task.dim))
    turned = []
    for x in X:
        flips = np.array([data.draw(st.booleans()) for _ in x.edges], dtype=bool)
        edges = np.where(flips[:, None], x.edges[:, ::-1], x.edges)
        turned.append(Nodes(x.features, edges, x.edge_features))
    for x, other in zip(X, turned, strict=True):
        for z in task.outputs(x):
            np.testing.assert_array_equal(*(explicit(task.psi(each, z), task.dim, 0) for each in (x, other)))
    here, there = (task.pack(each, Y).planes(w) for each in (X, turned))
    np.testing.assert_allclose(here.values(w), there.values(w), atol=1e-9)


def test_undirected_weights_are_those_of_symmetric_tables():
    """A symmetric table scores every labelling as its folded form does."""
    rng = np.random.default_rng(0)
    X, Y = [Nodes(rng.normal(size=(4, 2)), [*TRIANGLE, (3, 1)], rng.normal(size=(4, 2)))], [list("abca")]
    one_way, both = Graph(), Graph(directed=False)
    mixed = Graph(directed=[True, False])
    for task in (one_way, both, mixed):
        task.setup(X, Y)
    assert (one_way.first_, both.first_, mixed.first_) == (18, 12, 15)
    w = rng.normal(size=both.dim)
    table = both.parts(w)["edges"]
    wide = np.concatenate([table.ravel(), w[both.first_ :]])
    assert one_way.predict_bounds(wide, X)[0].score == pytest.approx(both.predict_bounds(w, X)[0].score)


def test_left_out_nodes_take_their_edges_along():
    rng = np.random.default_rng(0)
    X = [
        Nodes(rng.normal(size=(5, 2)), [(0, 1), (1, 2), (3, 2), (3, 4), (0, 4)], rng.normal(size=(5, 2))) for _ in "12"
    ]
    Y = [["a", None, "b", "a", "b"], Weighted(["b", "a", None, None, "a"], [1, 2, 9, 9, 3])]
    keep = [[0, 2, 3, 4], [0, 1, 4]]
    task, parts = Graph(unlabelled="leave_out"), [x.subgraph(k) for x, k in zip(X, keep, strict=True)]
    labels = [list("abab"), Weighted(list("baa"), [1, 2, 3])]
    task.setup(X, Y)
    w = rng.normal(size=task.dim)
    found, expected = task.pack(X, Y).planes(w), task.pack(parts, labels).planes(w)
    np.testing.assert_array_equal(dense(found.dpsi), dense(expected.dpsi))
    np.testing.assert_array_equal(found.loss, expected.loss)
    assert [len(z) for z in task.decode(w, X)] == [5, 5]
    assert task.loss(Y[0], list("bbbbb")) == 2


def test_graphs_without_any_label_teach_nothing():
    X = [Nodes(np.eye(3), TRIANGLE)] * 3
    Y = [list("aba"), [None] * 3, list("abb")]
    task = Graph(unlabelled="leave_out")
    task.setup(X, Y)
    assert task.pack(X, Y).informative().tolist() == [0, 2]
    all_of_them = StructuredSVM(task, C=1.0).fit(X, Y)
    without = StructuredSVM(task, C=1.0).fit([X[0], X[2]], [Y[0], Y[2]])
    np.testing.assert_array_equal(all_of_them.w_, without.w_)


def test_grids_are_labelled_in_their_shape():
    rng = np.random.default_rng(0)
    X = [Nodes.grid(rng.normal(size=(2, 3, 2))) for _ in "123"]
    Y = [rng.integers(0, 2, (2, 3)), rng.integers(0, 2, 6), rng.integers(0, 2, 6).tolist()]
    task = Graph()
    task.setup(X, Y)
    flat = [Nodes(x.features, x.edges, x.edge_features) for x in X]
    w = rng.normal(size=task.dim)
    found = task.decode(w, X)
    assert [z.shape for z in found] == [(2, 3)] * 3
    assert found[0].dtype.kind == "i"
    for z, plain in zip(found, task.decode(w, flat), strict=True):
        assert z.ravel().tolist() == plain.tolist()
        assert task.loss(z, plain) == 0
    lists = [np.ravel(y).tolist() for y in Y]
    np.testing.assert_array_equal(*(dense(task.pack(*each).planes(w).dpsi) for each in ((X, Y), (flat, lists))))


def test_edges_without_features_join_nothing():
    X = [Nodes(np.eye(3), TRIANGLE, np.empty((3, 0)))]
    task = Graph()
    task.setup(X, [list("aba")])
    assert (task.first_, task.dim) == (0, 6)
    check_task(Graph(), X, [list("aba")], trials=1)


def test_bounds_of_searches_that_prove_nothing():
    """They come from messages: on a tree, from those that prove the best labelling."""
    rng = np.random.default_rng(0)
    X = [Nodes(rng.normal(size=(5, 2)), [(0, 1), (1, 2), (1, 3), (4, 3)])]
    exact, greedy = Graph(), Graph(method="expansion")
    for task in (exact, greedy):
        task.setup(X, [list("abcab")])
    w = rng.normal(size=exact.dim)
    (best,), (found,) = exact.predict_bounds(w, X), greedy.predict_bounds(w, X)
    assert best.upper == pytest.approx(best.score)
    assert found.score <= best.score + 1e-9
    assert best.score - 1e-9 <= found.upper <= best.score + 1e-6


def test_read_only_arrays():
    """As joblib hands them to its workers."""
    features, edges, table = np.eye(3), np.array(TRIANGLE, dtype=np.int32), np.ones((3, 1))
    for array in (features, edges, table):
        array.flags.writeable = False
    X = [Nodes(features, edges, table)]
    task = Graph()
    task.setup(X, [list("aba")])
    packed = task.pack(X, [list("aba")]).graphs[0]
    assert packed.edges.flags.writeable
    assert packed.edge_features.flags.writeable
    assert task.decode(np.ones(task.dim), X)[0].shape == (3,)


def test_predicting_nothing():
    task = Graph()
    task.setup([Nodes(np.eye(2), [(0, 1)])], [[0, 1]])
    assert task.decode(np.zeros(task.dim), []) == []


def test_labels_of_any_kind_come_back_as_they_were():
    X = [Nodes(np.eye(3), TRIANGLE)]
    for y in ([("x", 1), ("y", 2), ("x", 1)], ["no", "yes", "no"], [True, False, True], [1, "one", 2.5]):
        task = Graph()
        task.setup(X, [y])
        (z,) = task.decode(np.arange(task.dim) % 7.0, X)
        assert all(label in y for label in z.tolist())


def test_slack_rescaling_is_searched():
    X, Y = [Nodes(np.eye(3), TRIANGLE)] * 2, TWO
    task = Graph()
    task.setup(X, Y)
    assert task.pack(X, Y).offers(RescaledSearch) is None
    model = StructuredSVM(Graph(), C=1.0, rescaling="slack", tol=1e-2).fit(X, Y)
    best = brute_force(Graph(), X, Y, 1.0, Formulation("slack", "l1")).value
    assert best - 1e-6 <= model.certificate_.primal
    assert model.certificate_.dual <= best + 1e-6


@pytest.mark.parametrize("method", ["auto", "roof_dual", "relaxation"])
def test_same_weights_on_any_number_of_threads(method):
    rng = np.random.default_rng(0)
    X = [Nodes(rng.normal(size=(6, 3)), [*TRIANGLE, (3, 4), (4, 5), (5, 3), (0, 3)]) for _ in range(12)]
    Y = [rng.integers(0, 2, 6) for _ in X]
    models = [StructuredSVM(Graph(method=method), C=1.0, n_jobs=jobs).fit(X, Y) for jobs in (1, 2)]
    np.testing.assert_array_equal(models[0].w_, models[1].w_)


def test_same_weights_in_other_processes(pool):
    """Each of them remembers where the searches of its own graphs ended."""
    rng = np.random.default_rng(0)
    X = [Nodes(rng.normal(size=(3, 1)), TRIANGLE) for _ in range(4)]
    Y = [list("aba"), list("abb"), list("bab"), list("bba")]
    here = StructuredSVM(Graph(method="relaxation"), C=1.0).fit(X, Y)
    there = StructuredSVM(Graph(method="relaxation"), C=1.0, executor=pool).fit(X, Y)
    np.testing.assert_array_equal(there.w_, here.w_)
    assert there.certificate_.search is here.certificate_.search


def test_a_task_is_pickled_without_its_data():
    X, Y = [Nodes(np.zeros((200, 50)), [])] * 2, [np.arange(200) % 2] * 2
    task = Graph()
    task.setup_and_pack(X, Y)
    assert len(pickle.dumps(task)) < 10_000


@pytest.mark.parametrize("options", [{}, {"unlabelled": "leave_out"}, {"kernel": "rbf", "unlabelled": "leave_out"}])
def test_setup_and_pack_is_setup_and_then_pack(options, monkeypatch):
    """But for the work: graphs are read, and their searches planned, once."""
    rng = np.random.default_rng(0)
    X = [(rng.normal(size=(4, 2)), [*TRIANGLE, (3, i)]) for i in range(3)]
    Y = [["a", "b", None if options else "a", "b"]] * 3
    one, other = Graph(**options), Graph(**options)
    one.setup(X, Y)
    batch = one.pack(X, Y)
    calls = {"read_all": 0, "plan": 0}
    for name in calls:
        work = getattr(graph_task, name)
        monkeypatch.setattr(graph_task, name, lambda *given, name=name, work=work: count(calls, name) or work(*given))
    again = other.setup_and_pack(X, Y)
    assert calls == {"read_all": 1, "plan": 3}
    w = rng.normal(size=batch.dim)
    found, expected = again.planes(w), batch.planes(w)
    np.testing.assert_array_equal(AtomRows.of(found.dpsi) @ w, AtomRows.of(expected.dpsi) @ w)
    np.testing.assert_array_equal(found.loss, expected.loss)


def count(calls, name):
    calls[name] += 1


# --- bad input


def fault(message, x=None, y=None, **options):
    X = [Nodes(np.eye(3), TRIANGLE), Nodes(np.eye(3), TRIANGLE) if x is None else x]
    Y = [list("aba"), list("abb") if y is None else y]
    with pytest.raises(ValueError, match=message):
        Graph(**options).setup(X, Y)


def test_faults_of_training_data():
    fault("graph 1: edge 0 .*expected numbers from 0 to 1", (np.eye(2), [(0, 2)]))
    fault("graph 1 has 2 features per node; expected 3 as in the graphs before", Nodes(np.ones((3, 2)), TRIANGLE))
    fault(
        "graph 1 has 2 features per edge; expected 1 as in the graphs before",
        Nodes(np.eye(3), TRIANGLE, np.ones((3, 2))),
    )
    fault("graph 1: it has 3 nodes but 2 labels; expected 3 labels, one per node", y=list("ab"))
    fault("graph 1: its labels are 'abb'", y="abb")
    fault("graph 1: the label of node 2 is NaN", y=["a", "b", float("nan")])
    fault("graph 1: it has 3 nodes but 2 costs", y=Weighted(list("abb"), [1.0, 2.0]))
    fault(
        r"graph 1: node 1 has no label \(None\), like 2 of its 3 nodes; label them, train on Nodes.subgraph of the "
        "others, or use unlabelled='leave_out'",
        y=["a", None, None],
    )
    fault("graph 1: the label 'c' is not one of the classes", y=list("abc"), classes=["a", "b"])
    with pytest.raises(ValueError, match=r"only one class was found \(\['a'\]\)"):
        Graph().setup([Nodes(np.eye(3), TRIANGLE)], [list("aaa")])
    with pytest.raises(ValueError, match="no graphs given"):
        Graph().setup([], [])


def test_faults_of_options():
    fault("unlabelled must be 'error' or 'leave_out', got 'ignore'", unlabelled="ignore")
    fault("directed has 2 values; expected 1, one per edge feature", directed=[True, False])
    fault("directed must be True, False, or a list of them, got 'yes'", directed="yes")
    fault("the cost matrix has shape", costs=np.zeros((3, 3)))
    fault("method must be 'auto' or one of", method="magic")
    fault("graph 0: .*cycle", method="forest")
    fault("graph 0: .*two labels", y=list("abc"), method="min_cut")


def test_faults_of_new_data():
    task, X = Graph(), [Nodes(np.eye(3), TRIANGLE)] * 2
    task.setup(X, TWO)
    w = np.zeros(task.dim)
    with pytest.raises(ValueError, match="graph 1 has 2 features per node; expected 3 as in training"):
        task.decode(w, [X[0], Nodes(np.ones((3, 2)), TRIANGLE)])
    with pytest.raises(ValueError, match="graph 0 has 4 features per edge; expected 1 as in training"):
        task.decode(w, [Nodes(np.eye(3), TRIANGLE, np.ones((3, 4)))])
    with pytest.raises(ValueError, match="the label 'z' is not one of the classes"):
        task.psi(X[0], list("abz"))


def test_min_cut_refuses_edges_that_are_not_submodular():
    X, Y = frustrated()
    task = Graph(method="min_cut", directed=False)
    task.setup(X, Y)
    w = np.zeros(task.dim)
    w[1] = 1.0
    with pytest.raises(ValueError, match=r"graph 0: edge 0 .*method='roof_dual' or 'auto'"):
        task.pack(X, Y).planes(w)
    with pytest.raises(ValueError, match=r"graph 0: edge 0 .*method='roof_dual' or 'auto'"):
        task.decode(w, X)
    assert np.isfinite(task.pack(X, Y).planes(-w).loss).all()
