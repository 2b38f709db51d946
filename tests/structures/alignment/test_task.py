import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from proofs import prove_training_is_optimal
from structures.alignment.compiled import alignment_twin as twin
from thorough import examples

from maxmargin.problem.contract.capabilities.rescaled_search import RescaledSearch
from maxmargin.problem.contract.examples import dot
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.problem.oracle.rescaling import search_rescaled
from maxmargin.structures.alignment import plane_rows as module
from maxmargin.structures.alignment.alignments import PairwiseAlignment
from maxmargin.structures.alignment.scored_pairs import best_alignments
from maxmargin.tasks import Alignment, Average, Gaps, Match, Window
from maxmargin.testing import check_task

MODES = ["global", "overlap", "local"]
X = [("ACA", "CA"), ("CAC", "ACC"), ("A", "CC"), ("CCA", "A"), ("AC", "AC")]
PAIRS = [[(0, 0), (2, 1)], [(0, 1), (2, 2)], [(0, 1)], [(2, 0)], [(0, 0), (1, 1)]]
Y = [PairwiseAlignment(pairs, (len(a), len(b))) for pairs, (a, b) in zip(PAIRS, X, strict=True)]
RICH = [tuple({"residue": s, "ss": s[::-1], "size": np.arange(len(s))[:, None] % 2} for s in x) for x in X]
FORMULATIONS = [Formulation("slack", "l1"), Formulation("margin", "l2"), Formulation("slack", "l2")]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("max_shift", [0, 1])
def test_keeps_the_contract(mode, symmetric, max_shift):
    check_task(Alignment(mode=mode, symmetric=symmetric, max_shift=max_shift), X, Y, trials=1)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("gaps", ["linear", Gaps("affine", "residue"), Gaps("affine", "residue", "residue")], ids=str)
def test_keeps_the_contract_with_other_gaps(mode, gaps):
    check_task(Alignment(mode=mode, gaps=gaps), X, Y, trials=1)


def moved(x):
    return np.array([[[i, j, i * j] for j in range(len(x[1]["ss"]))] for i in range(len(x[0]["ss"]))])


FEATURES = {
    "profile": "profile",
    "window and numbers": [Match(Window("ss", 1), "size"), Match(Average("residue", 1))],
    "function": moved,
}


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("name", FEATURES)
def test_keeps_the_contract_with_other_features(name, symmetric):
    check_task(Alignment(features=FEATURES[name], symmetric=symmetric), RICH, Y, trials=1)


@st.composite
def problems(draw):
    n = draw(st.integers(1, 3))
    X, Y = [], []
    for _ in range(n):
        x = tuple(draw(st.text("AC", min_size=1, max_size=3)) for _ in range(2))
        lengths = len(x[0]), len(x[1])
        pairs = draw(st.sampled_from([z for z in twin.alignments(*lengths) if z]))
        trusted = draw(st.lists(st.booleans(), min_size=len(pairs), max_size=len(pairs)).filter(any))
        X.append(x)
        Y.append(PairwiseAlignment(pairs, lengths, np.array(trusted)))
    settings = {"mode": draw(st.sampled_from(MODES)), "max_shift": draw(st.integers(0, 2))}
    settings |= {"gaps": draw(st.sampled_from(["affine", "linear"])), "symmetric": draw(st.booleans())}
    return Alignment(**settings, alphabet="AC"), X, Y


@examples(6, 15)
@given(problems())
def test_keeps_the_contract_on_anything(problem):
    check_task(*problem, trials=1)


@given(problem=problems(), data=st.data())
def test_scores_are_those_of_the_twin(problem, data):
    """Of all alignments, from the weights' names; and the best one is found with exactly its score."""
    task, X, Y = problem
    task.setup(X, Y)
    w = np.array(data.draw(st.lists(st.integers(-3, 3), min_size=task.dim, max_size=task.dim)), dtype=float)
    weights = task.named_weights(w)
    kinds = ("gap", "gap") if task.gaps == "linear" else ("open", "extend")
    names = [kinds] * 2 if task.symmetric else [[(side, kind) for kind in kinds] for side in ("first", "second")]
    for x, (found, score) in zip(X, task.decoded(w, X), strict=True):
        S = np.array([[weights["residue × residue"][p, q] for q in x[1]] for p in x[0]])
        tables = [np.zeros((4, len(side) + 1)) for side in x]
        for table, (opens, extends) in zip(tables, names, strict=True):
            table[0], table[1] = weights["gaps"][opens], weights["gaps"][extends]
        assert score == twin.best(S, *tables, task.mode)
        assert dot(task.psi(x, found), w) == score
        for z in task.outputs(x):
            pairs = [tuple(pair) for pair in z.pairs.tolist()]
            assert dot(task.psi(x, z), w) == twin.score(S, *tables, task.mode, pairs)


@pytest.mark.parametrize("mode", MODES)
def test_symmetric_scores_do_not_depend_on_the_order_of_sequences(mode):
    for features in ("simple", "window"):
        task = Alignment(mode=mode, features=features)
        task.setup(X)
        w = np.random.default_rng(0).standard_normal(task.dim)
        for a, b in X:
            for z in task.outputs((a, b)):
                turned = PairwiseAlignment(z.pairs[:, ::-1], z.lengths[::-1])
                assert dot(task.psi((a, b), z), w) == pytest.approx(dot(task.psi((b, a), turned), w))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("n_trusted", [1, 2])
def test_pairs_that_are_not_trusted_cost_nothing(mode, n_trusted):
    truth = PairwiseAlignment([(0, 0), (1, 1)], (2, 2), np.array([True, n_trusted == 2]))
    task = Alignment(mode=mode)
    task.setup([("AC", "AC")])
    assert task.loss(truth, PairwiseAlignment([(0, 0)], (2, 2))) == (0 if n_trusted == 1 else 0.5)
    assert task.loss(truth, PairwiseAlignment([(1, 1)], (2, 2))) == (1 if n_trusted == 1 else 0.5)


def test_all_spellings_of_alignments_give_the_same_planes():
    gapped = [y.gapped(*x) for x, y in zip(X, Y, strict=True)]
    rows = []
    for outputs in (Y, PAIRS, gapped, [np.array(pairs) for pairs in PAIRS], [(a.lower(), b) for a, b in gapped]):
        task = Alignment()
        task.setup(X, outputs)
        planes = task.pack(X, outputs).planes(np.random.default_rng(0).standard_normal(task.dim))
        rows.append((planes.dpsi.toarray(), planes.loss))
    for dpsi, loss in rows[1:]:
        assert np.array_equal(dpsi, rows[0][0])
        assert np.array_equal(loss, rows[0][1])


def test_strings_and_columns_give_the_same_planes():
    columns = [tuple({"residue": list(s)} for s in x) for x in X]
    planes = []
    for inputs in (X, columns):
        task = Alignment()
        task.setup(inputs, Y)
        planes.append(task.pack(inputs, Y).planes(np.arange(task.dim, dtype=float)))
    assert np.array_equal(planes[0].dpsi.toarray(), planes[1].dpsi.toarray())


def test_rows_hold_every_feature_once():
    task = Alignment(gaps=Gaps("affine", "residue"))
    task.setup(X, Y)
    rows = task.pack(X, Y).planes(np.random.default_rng(0).standard_normal(task.dim)).dpsi
    assert rows.has_canonical_format
    assert rows.data.all()


@pytest.mark.parametrize("formulation", [Formulation(), *FORMULATIONS], ids=str)
@pytest.mark.parametrize("mode", MODES)
def test_training_is_optimal(formulation, mode):
    prove_training_is_optimal(Alignment(mode=mode, max_shift=1), X[:3], Y[:3], 3.0, formulation)


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=str)
def test_long_sequences_are_searched_and_the_bound_is_true(formulation, monkeypatch):
    task = Alignment()
    task.setup(X, Y)
    batch = task.pack(X, Y)
    w = np.random.default_rng(0).standard_normal(task.dim)
    exact = batch.rescaled_planes(w, formulation)
    best = formulation.value(exact.loss, exact.dpsi @ w)
    monkeypatch.setattr("maxmargin.structures.alignment.batch.LOSS_TABLE", 8)
    batch = task.pack(X, Y)
    assert batch.offers(RescaledSearch) is None
    found = search_rescaled(batch, formulation, w, np.ones(len(X)))
    assert (found.cuts.values(w) <= best + 1e-9).all()
    assert (np.maximum(best, 0) <= found.upper + 1e-9).all()


def test_thousands_of_residues():
    rng = np.random.default_rng(0)
    a = "".join(rng.choice(list("ACGT"), 2000))
    b = a[:700] + a[760:1500] + "".join(rng.choice(list("ACGT"), 40)) + a[1500:]
    truth = PairwiseAlignment(
        [(i, i if i < 700 else i - 60 if i < 1500 else i - 20) for i in range(2000) if not 700 <= i < 760],
        (2000, 1980),
    )
    task = Alignment()
    task.setup([(a, b)])
    w = np.array([-8.0, -0.5, *np.where(np.eye(4)[np.triu_indices(4)], 5.0, -4.0)])
    assert task.decode(w, [(a, b)])[0].agreement(truth) > 0.99


def test_number_of_threads_does_not_matter():
    from maxmargin.executors import Threads

    task = Alignment(features="window")
    many, truths = X * 8, Y * 8
    task.setup(many, truths)
    w = np.random.default_rng(0).standard_normal(task.dim)
    with_threads = Threads(3)
    one, other = Oracle(task.pack(many, truths)), Oracle(task.pack(many, truths), executor=with_threads)
    assert np.array_equal(one.slacks(w), other.slacks(w))
    with_threads.close()


@pytest.mark.parametrize(
    ("settings", "inputs", "outputs", "message"),
    [
        ({"mode": "semiglobal"}, X, Y, "mode must be one of 'global', 'overlap', 'local', got 'semiglobal'"),
        ({"max_shift": -1}, X, Y, "max_shift must be a whole number >= 0, got -1"),
        ({"max_shift": 0.5}, X, Y, "max_shift must be a whole number"),
        ({"unknown": "drop"}, X, Y, "unknown must be 'ignore' or 'error', got 'drop'"),
        ({"alphabet": "A"}, X, Y, "example 0, first sequence has 'C' at position 1 of 'residue'; expected one of 'A'"),
        ({}, [*X[:4], ("AC", "")], Y, "example 4, second sequence is empty"),
        ({}, [*X[:4], "AC"], Y, "example 4 is a str; expected a pair"),
        ({}, X, [*Y[:4], [(0, 0), (0, 1)]], "the alignment of example 4: pair 0 is .* both positions must increase"),
        (
            {},
            X,
            [*Y[:4], [(0, 2)]],
            "the alignment of example 4: pair 0 is .* the second sequence has the positions 0 to 1",
        ),
        (
            {},
            X,
            [*Y[:4], ("AA", "AC")],
            "the first row of the alignment of example 4 has 'A' as residue 1, the sequence 'C'",
        ),
        (
            {},
            X,
            [*Y[:4], ("ACA", "AC-")],
            "the alignment of example 4 aligns sequences of 3 and 2 residues; expected 2 and 2",
        ),
        ({}, X, [*Y[:4], []], "the alignment of example 4 has no trusted pair"),
        (
            {},
            [("AC", {"residue": "AC", "ss": "HH"})],
            Y[4:],
            "a symmetric model needs the same columns .* residue and residue, ss",
        ),
    ],
)
def test_bad_input_is_named(settings, inputs, outputs, message):
    with pytest.raises(ValueError, match=message):
        packed(Alignment(**settings), inputs, outputs)


def packed(task, inputs, outputs):
    task.setup(inputs, outputs)
    return task.pack(inputs, outputs)


def test_letters_without_weight():
    task = Alignment(alphabet="AC", unknown="ignore")
    x = ("AXC", "AC")
    task.setup([x])
    z = PairwiseAlignment([(1, 0), (2, 1)], (3, 2))
    w = np.array([0.0, 0.0, 5.0, 7.0, 11.0])
    assert dot(task.psi(x, z), w) == 11.0


def test_losses_of_alignments_without_lengths():
    task = Alignment()
    with pytest.raises(ValueError, match="the lengths of the sequences are unknown"):
        task.loss([(0, 0)], [(0, 0)])
    assert task.loss([(0, 0)], PairwiseAlignment([], (1, 1))) == 1.0
    assert task.loss(("A-", "AC"), [(0, 0)]) == 0.0


@given(problem=problems(), many=st.integers(0, 60), data=st.data())
def test_pairs_that_are_searched_together_are_searched_as_alone(problem, many, data):
    task, X, Y = problem
    task.setup(X, Y)
    weights = task.prepared(np.array(data.draw(st.lists(st.floats(-3, 3), min_size=task.dim, max_size=task.dim))))
    asked = [(code, truth, 0.5) for code, truth in task.pack(X, Y)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("maxmargin.structures.alignment.scored_pairs.MANY_SCORES", many)
        found = list(best_alignments((task.scored_pair(weights, *each) for each in asked), task.mode_))
    for each, (score, pairs) in zip(asked, found, strict=True):
        alone = task.best(weights, *each)
        assert score == alone.score
        np.testing.assert_array_equal(pairs, alone.pairs)


@pytest.mark.parametrize("few", [0, 100])
@given(data=st.data())
def test_differences_have_every_feature_once(few, data):
    entries = st.lists(st.tuples(st.integers(0, 5), st.sampled_from([1.0, 0.1, -2.5])), max_size=8)
    drawn = [data.draw(entries) for _ in range(2)]
    truth, found = ((np.array([p for p, _ in each], dtype=np.int64), np.array([v for _, v in each])) for each in drawn)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "FEW_FEATURES", few)
        places, values = module.difference(truth, found, 6)
    expected = np.zeros(6)
    for sign, each in zip((1.0, -1.0), drawn, strict=True):
        for place, value in each:
            expected[place] += sign * value
    assert np.all(np.diff(places) > 0)
    np.testing.assert_array_equal(places, np.flatnonzero(expected))
    np.testing.assert_array_equal(values, expected[places])
