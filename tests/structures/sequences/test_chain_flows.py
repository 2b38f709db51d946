"""The dual of chains as flows: the same optimum as with whole labellings, flows that are paths, a bound that holds."""

import warnings
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import whole
from thorough import examples

from maxmargin import SequenceLabeler
from maxmargin.problem.dual.limits import Limits
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.dual.plane_dual import PlaneDual
from maxmargin.problem.oracle.completions import completed
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.solvers import BCFW, NSlack
from maxmargin.structures.sequences import batch, chain_flows
from maxmargin.structures.sequences.chain_flows import FIRST_EDGES, ChainFlows
from maxmargin.tasks import Chain
from maxmargin.testing import brute_force

LIMITS = Limits()
powers = st.integers(-8, 8).map(lambda k: 10.0**k)


@st.composite
def chains(draw, longest=4):
    """Features, which are whole numbers, and labels of a few sequences."""
    n, width, K = draw(st.integers(1, 4)), draw(st.integers(1, 3)), draw(st.integers(2, 4))
    lengths = draw(st.lists(st.integers(1, longest), min_size=n, max_size=n))
    X = [draw(whole((length, width), -2, 2)) for length in lengths]
    Y = [draw(st.lists(st.integers(0, K - 1), min_size=length, max_size=length)) for length in lengths]
    Y[0] = [K - 1, *Y[0][1:]] if len(Y[0]) > 1 or K == 1 else Y[0]
    classes = sorted({label for y in Y for label in y})
    return X, Y, classes


def noisy(n=40, K=5, longest=9, seed=0):
    """Sequences whose labels are not those of any model."""
    rng = np.random.default_rng(seed)
    X = [rng.normal(size=(rng.integers(1, longest + 1), 4)) for _ in range(n)]
    T = rng.normal(size=(4, K))
    return X, [[int(k) for k in np.argmax(x @ T + rng.normal(size=(len(x), K)), axis=1)] for x in X]


def trained(X, Y, C, passes=3, weights=None, **options):
    """A dual point after a few passes, and its oracle."""
    task = Chain(**options)
    oracle, rng = Oracle(task.setup_and_pack(X, Y), None, weights), np.random.default_rng(0)
    flows = oracle.block_dual(C, LIMITS)
    assert isinstance(flows, ChainFlows)
    for _ in range(passes):
        flows.search(oracle, rng.permutation(oracle.n), 16)
        flows.revisit(oracle, rng)
    return oracle, flows


def rational(planes, alpha):
    """Σ α b - ½‖Σ α a‖² of planes, without any rounding but that of the planes themselves."""
    rows = planes.rows.toarray()
    w = [sum((a * Fraction(float(x)) for a, x in zip(alpha, column, strict=True)), Fraction(0)) for column in rows.T]
    linear = sum(a * Fraction(float(b)) for a, b in zip(alpha, planes.offset, strict=True))
    return linear - sum(value * value for value in w) / 2


@examples(20, 200)
@given(chains(), powers, st.integers(-2, 4).map(lambda k: 10.0**k), st.data())
def test_point_and_bound(problem, scale, C, data):
    """The paths are feasible and make up the flow; w and D are theirs; `bound` is no more than D without rounding."""
    X, Y, classes = problem
    assume(len(classes) > 1)
    weights = np.array(data.draw(st.lists(st.integers(0, 2), min_size=len(Y), max_size=len(Y))), dtype=float)
    weights[0] += 1
    _, flows = trained([scale * x for x in X], Y, C, weights=weights)
    planes = flows.known_planes()
    alpha = planes.alpha
    sums = np.bincount(planes.owners, weights=alpha, minlength=flows.n)
    assert (alpha > 0).all()
    assert (sums <= flows.cap * (1 + 1e-13)).all()
    over = max(
        [Fraction(1), *(Fraction(float(s)) / Fraction(float(c)) for s, c in zip(sums, flows.cap, strict=True) if c > 0)]
    )
    dual = rational(planes, [Fraction(float(a)) / over for a in alpha])  # of the multiple that keeps to the caps
    linear = float(np.dot(alpha, planes.offset))
    # what a bound allows for: the rounding of w, which is a sum of planes
    close = 1e-9 * linear + 1e-12 * float(np.dot(alpha, planes.rows.sizes)) * float(np.linalg.norm(flows.vectors.sums))
    assert Fraction(flows.bound()) <= dual
    assert flows.bound() == pytest.approx(float(dual), rel=1e-9, abs=close)
    # The running value has gains from products of features, in which what cancels leaves its rounding behind: of
    # features of 1e8, as much as links are worth. It decides when the bound is asked for, and is no bound.
    products = np.finfo(float).eps * float(np.dot(alpha, planes.rows.sizes)) ** 2
    assert flows.dual == pytest.approx(float(dual), rel=1e-9, abs=close + products)
    before = flows.vectors.sums.copy()
    flows.refresh()
    size = scale * 2 * sum(map(len, X)) + 1
    np.testing.assert_allclose(flows.vectors.sums, before, atol=1e-9 * size * float(flows.cap.max()))
    assert flows.dual == pytest.approx(float(dual), rel=1e-9, abs=close)


@examples(20, 200)
@given(chains(longest=3), st.integers(-2, 3).map(lambda k: 10.0**k))
def test_equals_the_qp(problem, C):
    X, Y, classes = problem
    assume(len(classes) > 1)
    task = Chain()
    certificate = BCFW(tol=1e-6).solve(Oracle(task.setup_and_pack(X, Y)), C).certificate
    optimum = brute_force(task, X, Y, C).value
    assert certificate.converged
    assert certificate.dual <= optimum * (1 + 1e-7) + 1e-9
    assert optimum <= certificate.primal * (1 + 1e-7) + 1e-9


@examples(20, 200)
@given(chains(longest=6), st.sampled_from([0.1, 1.0, 30.0]))
def test_flows_stay_flows(problem, C):
    """What flows into a label flows out of it, every position has the whole cap, and the paths are all of it."""
    X, Y, classes = problem
    assume(len(classes) > 1)
    _, flows = trained(X, Y, C, passes=4)
    start, filled, before, here, flow = flows._lattice
    of, K = flows.chains, len(classes)
    paths = flows.paths
    at = 0
    marginals = np.zeros((len(of.units), K))
    for owner, weight in zip(paths.owners, paths.weights, strict=True):
        first, last = of.bounds[owner], of.bounds[owner + 1]
        for p in range(first, last):
            marginals[p, paths.labels[at + p - first]] += weight
        at += last - first
    for i, (first, last) in enumerate(zip(of.bounds[:-1], of.bounds[1:], strict=True)):
        cap = flows.cap[i]
        into = np.zeros((last - first, K))
        out = np.zeros((last - first, K))
        for p in range(first, last):
            edges = range(start[p], start[p] + filled[p])
            assert (before[start[p]] if p > first else of.truths[p], here[start[p]]) == (
                of.truths[p - 1] if p > first else of.truths[p],
                of.truths[p],
            )
            assert len({(before[q], here[q]) for q in edges}) == filled[p]
            for q in edges:
                assert flow[q] > 0 or q == start[p]
                into[p - first, here[q]] += flow[q]
                if p > first:
                    out[p - first - 1, before[q]] += flow[q]
        np.testing.assert_allclose(into.sum(axis=1), cap, rtol=1e-12)
        np.testing.assert_allclose(out[:-1], into[:-1], atol=1e-12 * cap)
        wrong = np.arange(K)[None] != of.truths[first:last, None]
        np.testing.assert_allclose(marginals[first:last][wrong], into[wrong], atol=1e-12 * cap)


@pytest.mark.parametrize("scale", [1e-8, 1e-3, 1.0, 1e3, 1e8])
def test_same_optimum_as_the_plane_cache(scale):
    X, Y = noisy()
    # links have the scale of 1, so that this is another problem at each scale: one of links, one of features
    options = {"C": min(10.0, 10.0 / scale**2) if scale > 1 else 10.0, "tol": 1e-4, "random_state": 0}
    weights = np.random.default_rng(1).random(len(Y))
    scaled = [scale * x for x in X]
    one = SequenceLabeler(**options).fit(scaled, Y, sample_weight=weights).certificate_
    other = SequenceLabeler(solver="n_slack", **options).fit(scaled, Y, sample_weight=weights).certificate_
    assert one.converged
    assert one.dual <= other.primal
    assert other.dual <= one.primal


def test_every_visit_raises_the_dual_by_what_it_says():
    X, Y = noisy()
    oracle, flows = trained(X, Y, 10.0, passes=0)
    rng = np.random.default_rng(0)
    for _ in range(4):
        for visit in (lambda: flows.search(oracle, rng.permutation(oracle.n), 16), lambda: flows.revisit(oracle, rng)):
            before, report = flows.dual, visit()
            assert flows.dual == before + report.gain
            running = flows.dual
            flows.refresh()
            assert flows.dual == pytest.approx(running, rel=1e-10)
            assert report.gain >= 0


def test_searches_are_counted_and_estimate_the_objective():
    X, Y = noisy()
    oracle, flows = trained(X, Y, 10.0, passes=0)
    report = flows.search(oracle, np.arange(oracle.n), 16)
    assert oracle.calls == oracle.n
    assert flows.calls_again == 0
    flows.revisit(oracle, np.random.default_rng(0))
    assert oracle.calls == oracle.n
    assert report.penalty > 0
    slack = oracle.slacks(flows.vectors.sums)[0]  # before the visit, which sees it
    assert flows.search(oracle, np.arange(1), 16).penalty == pytest.approx(float(flows.cap[0]) * slack, rel=1e-9)


def test_room_for_more_edges():
    """Where all labels are tied, every one of them comes up."""
    X, Y = [np.ones((3, 1)) for _ in range(6)], [[k, (k + 1) % 6, (k + 2) % 6] for k in range(6)]
    oracle, flows = trained(X, Y, 1000.0, passes=12)
    assert flows._lattice.filled.max() > FIRST_EDGES
    certificate = BCFW(tol=1e-5).solve(oracle, 1000.0).certificate
    assert certificate.converged
    assert certificate.primal == pytest.approx(brute_force(Chain(), X, Y, 1000.0).value, rel=1e-4)


def test_forbidden_links_carry_no_flow():
    X, Y = noisy(K=3, n=20)
    names = ["O", "B-x", "I-x"]
    tags = [["B-x" if k == 2 and (t == 0 or y[t - 1] == 0) else names[k] for t, k in enumerate(y)] for y in Y]
    _, flows = trained(X, tags, 10.0, forbidden="BIO")
    start, filled, before, here, flow = flows._lattice
    for p in np.flatnonzero(~np.isin(np.arange(len(start) - 1), flows.chains.bounds)):
        for q in range(start[p], start[p] + filled[p]):
            assert flow[q] == 0 or np.isfinite(flows.chains.allowed[before[q] * 3 + here[q]])


def test_nobody_to_visit_again():
    X, Y = noisy(n=3)
    _, flows = trained(X, Y, 1.0, passes=0)
    report = flows.revisit(SimpleNamespace(), np.random.default_rng(0))
    assert (report.penalty, report.gain, report.work) == (0.0, 0.0, 0.0)


def test_a_seed_fixes_the_weights():
    X, Y = noisy()
    first, second, other = (SequenceLabeler(random_state=seed).fit(X, Y) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.w_, second.w_)
    assert not np.array_equal(first.w_, other.w_)


def test_examples_may_come_twice():
    """A batch of examples some of which are the same has a flow for each."""
    X, Y = noisy(n=8)
    batch = Chain().setup_and_pack(X, Y)
    twice = np.array([0, 1, 2, 3, 4, 5, 6, 7, 3, 3])
    one = BCFW(tol=1e-6).solve(Oracle(batch.take(twice)), 5.0).certificate
    other = BCFW(tol=1e-6).solve(Oracle(Chain().setup_and_pack([X[i] for i in twice], [Y[i] for i in twice])), 5.0)
    assert one.primal == pytest.approx(other.certificate.primal, rel=1e-5)


def test_from_one_c_to_the_next():
    X, Y = noisy()
    solver = BCFW(tol=1e-2)
    oracle, start = Oracle(Chain().setup_and_pack(X, Y)), None
    for C in (1.0, 10.0, 100.0, 3.0, 0.01):
        start = solver.solve(oracle, C, start)
        cold = solver.solve(Oracle(Chain().setup_and_pack(X, Y)), C)
        assert isinstance(start.memory, ChainFlows)
        assert start.certificate.converged
        assert start.certificate.dual <= cold.certificate.primal
        assert cold.certificate.dual <= start.certificate.primal


def test_the_same_point_over_planes():
    X, Y = noisy()
    _, flows = trained(X, Y, 10.0, weights=np.r_[0.0, np.ones(39)])
    planes = PlaneDual.of(flows)
    np.testing.assert_allclose(planes.w, flows.vectors.sums, atol=1e-12)
    assert planes.dual == pytest.approx(flows.dual, rel=1e-12)
    assert planes.bound() == pytest.approx(flows.bound(), rel=1e-10)  # each allows for its own rounding
    assert planes.joint_size == flows.joint_size
    assert planes.visit(np.arange(40)).gain > 0  # with Gram matrices that belong to the planes


def test_slacks_are_those_of_known_labellings():
    X, Y = noisy()
    oracle, flows = trained(X, Y, 10.0)
    w = np.random.default_rng(0).standard_normal(oracle.dim)
    known, all_of_them = flows.slacks(w), oracle.slacks(w)
    assert (known <= all_of_them + 1e-9).all()
    assert known.max() > 0
    planes = PlaneDual.of(flows)
    np.testing.assert_allclose(known, planes.slacks(w), atol=1e-9)
    np.testing.assert_allclose(flows.slacks(w, np.ones(40)), planes.slacks(w, np.ones(40)), atol=1e-9)


PLAIN = Formulation()


@pytest.mark.parametrize(
    ("options", "formulation", "C", "limits"),
    [
        ({}, Formulation("slack", "l1"), 1.0, LIMITS),
        ({}, Formulation("margin", "l2"), 1.0, LIMITS),
        ({}, PLAIN, np.inf, LIMITS),
        ({"kernel": "rbf"}, PLAIN, 1.0, LIMITS),
        ({}, PLAIN, 1.0, LIMITS._replace(cache_mb=1e-4)),
    ],
)
def test_where_planes_are_found_one_by_one(options, formulation, C, limits, monkeypatch):
    monkeypatch.setattr(batch, "MOST_PRODUCTS", 4)
    X, Y = noisy(n=6)
    oracle = Oracle(Chain(**options).setup_and_pack(X, Y), formulation)
    assert isinstance(oracle.block_dual(C, limits), PlaneDual)


def test_products_that_are_not_kept_are_computed_again():
    X, Y = noisy()
    for task in (Chain(), Chain(forbidden=[(0, 1)], invalid="drop")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            oracle = Oracle(task.setup_and_pack(X, Y))
        kept, forgotten = oracle.block_dual(10.0, LIMITS), oracle.block_dual(10.0, LIMITS._replace(cache_mb=1e-4))
        assert isinstance(forgotten, ChainFlows)
        assert forgotten._grams.cells.size < kept._grams.cells.size / 10
        for flows in (kept, forgotten):
            rng = np.random.default_rng(0)
            for _ in range(3):
                flows.search(oracle, rng.permutation(oracle.n), 16)
                flows.revisit(oracle, rng)
        np.testing.assert_array_equal(kept.w, forgotten.w)
        assert kept.bound() == forgotten.bound()


def attributes(n=30, most=6):
    """Sequences of tokens with up to so many attributes, and one that no other has; labels do not follow from them."""
    rng = np.random.default_rng(0)
    lengths = rng.integers(1, 8, size=n)
    X = [
        [[f"a{k}" for k in rng.integers(most, size=most)] + [f"own{i}.{t}"] for t in range(T)]
        for i, T in enumerate(lengths)
    ]
    return X, [rng.integers(3, size=T).tolist() for T in lengths]


def test_products_of_attributes_are_counts_in_bytes(monkeypatch):
    X, Y = attributes()
    oracle = Oracle(Chain().setup_and_pack(X, Y))
    counted = oracle.block_dual(10.0, LIMITS)
    monkeypatch.setattr(chain_flows, "product_type", lambda atoms: np.float64)
    plain = oracle.block_dual(10.0, LIMITS)
    assert counted._grams.cells.dtype == np.uint8
    assert plain._grams.cells.dtype == np.float64
    for flows in (counted, plain):
        rng = np.random.default_rng(0)
        for _ in range(3):
            flows.search(oracle, rng.permutation(oracle.n), 16)
            flows.revisit(oracle, rng)
    assert counted._grams.cells.any()
    np.testing.assert_array_equal(counted._grams.cells, plain._grams.cells)
    np.testing.assert_array_equal(counted.w, plain.w)
    assert counted.bound() == plain.bound()


@pytest.mark.parametrize(
    ("token", "kind"),
    [
        ([f"a{k}" for k in range(255)], np.uint8),
        ([f"a{k}" for k in range(256)], np.float64),  # more than a byte counts
        ({"a": 1.0, "b": 0.5}, np.float64),
        ({"a": 0.5, "b": 0.5}, np.float64),  # one number, but not 1
    ],
)
def test_what_bytes_cannot_hold_stays_a_number(token, kind):
    batch = Chain().setup_and_pack([[token, token]], [["x", "y"]])
    assert chain_flows.product_type(batch.atoms) is kind


def labeler(C=10.0, **options):
    return SequenceLabeler(C=C, max_passes=4, tol=1e-9, **options)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_model_takes_the_weights_and_they_are_copied_when_training_goes_on():
    X, Y = attributes()
    model = labeler(warm_start=True).fit(X, Y)
    first, flows = model.w_, model.solution_.memory
    assert flows.w is first
    before, bound = first.copy(), flows.bound()
    np.testing.assert_array_equal(first, before)
    model.set_params(C=20.0).fit(X, Y)
    assert model.solution_.memory is flows
    assert model.w_ is flows.w
    assert model.w_ is not first
    np.testing.assert_array_equal(first, before)
    assert bound < flows.bound()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_models_of_a_path_have_their_own_weights():
    X, Y = attributes()
    kept = []
    for model in labeler().path(X, Y, [1.0, 10.0, 100.0]):
        kept.append((model.w_, model.w_.copy()))
    for w, copied in kept:
        np.testing.assert_array_equal(w, copied)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_weights_that_were_changed_meanwhile_do_no_harm_to_later_training():
    X, Y = attributes()
    model = labeler(warm_start=True).fit(X, Y)
    flows = model.solution_.memory
    model.w_ *= 3.0
    model.set_params(C=20.0, max_passes=30, tol=0.05).fit(X, Y)
    assert model.solution_.memory is flows
    np.testing.assert_allclose(flows.vectors.sums, flows.proof().s, atol=1e-9)
    assert model.certificate_.converged


def test_hidden_labels_have_planes_one_by_one():
    X, Y = noisy(n=6)
    Y[0][0] = None
    oracle = Oracle(Chain().setup_and_pack(X, Y))
    assert isinstance(completed(oracle, np.zeros(oracle.dim)).block_dual(1.0, LIMITS), PlaneDual)
    with pytest.raises(ValueError, match=f"expected {oracle.dim} weights, got 3"):
        completed(oracle, np.zeros(3))


def test_other_solvers_start_from_it():
    X, Y = noisy()
    oracle = Oracle(Chain().setup_and_pack(X, Y))
    start = BCFW().solve(oracle, 1.0)
    assert isinstance(start.memory, ChainFlows)
    dual = start.memory.bound()
    solution = NSlack().solve(oracle, 1.0, start)
    assert isinstance(solution.memory, PlaneDual)
    assert solution.certificate.converged
    assert solution.certificate.dual >= dual * (1 - 1e-12)


def test_other_weights_of_the_examples():
    """A start from other sample weights proves nothing false, whatever takes over."""
    X, Y = noisy(n=12)
    batch, rng = Chain().setup_and_pack(X, Y), np.random.default_rng(3)
    start = BCFW(tol=1e-3).solve(Oracle(batch), 100.0)
    for weights in (rng.random(12), np.r_[np.zeros(6), np.ones(6)], np.r_[1.0, np.zeros(11)]):
        warm = BCFW(tol=1e-3).solve(Oracle(batch, None, weights), 100.0, start)
        cold = BCFW(tol=1e-3).solve(Oracle(batch, None, weights), 100.0)
        np.testing.assert_array_equal(warm.memory.problem.weights, Oracle(batch, None, weights).weights)
        assert warm.certificate.converged
        assert warm.certificate.dual <= cold.certificate.primal
        assert cold.certificate.dual <= warm.certificate.primal
        assert PlaneDual.of(warm.memory).dual <= cold.certificate.primal
        start = warm


def test_no_weight_is_left():
    X, Y = noisy(n=6)
    _, flows = trained(X, Y, 10.0, weights=np.r_[1.0, np.zeros(5)])
    flows.move_to(flows.problem._replace(weights=np.r_[0.0, np.full(5, 1.2)]))
    assert flows.bound() == flows.dual == 0
    assert flows.joint_size[:2] == (0, 0)
    assert not flows.w.any()


def test_rows_are_written_down_some_at_a_time(monkeypatch):
    """How many makes no difference."""
    X, Y = noisy()
    oracle, flows = trained(X, Y, C=20.0)
    w = np.random.default_rng(1).normal(size=oracle.dim)
    results = []
    for block in (1, 7, 2**16):
        monkeypatch.setattr(chain_flows, "BLOCK", block)
        bound, slacks = flows.bound(), flows.slacks(w)
        flows.refresh()
        results.append((bound, slacks.tobytes(), flows.vectors.sums.tobytes(), flows.dual))
    assert len(flows.paths.owners) > 7
    assert results[0] == results[1] == results[2]
