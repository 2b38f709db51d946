"""Aligner: learning, ready-made models, Biopython, scikit-learn's rules."""

import pickle
from functools import cache

import joblib
import numpy as np
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from thorough import examples

from benchmarks.loaders import load_prefab4, load_substitution_matrix, prefab4_split
from maxmargin import Aligner, executors, solvers
from maxmargin.problem.contract.examples import dot
from maxmargin.structures.alignment.alignments import PairwiseAlignment
from maxmargin.structures.alignment.formats.ncbi import SubstitutionMatrix, read_matrix, write_matrix
from maxmargin.tasks import Gaps, Match, Product, Window

LETTERS = "ACDEFG"
MODES = ["global", "overlap", "local"]


def related(n=24, seed=0, length=12):
    """Pairs of sequences of which the second comes from the first by changes, losses and insertions; (X, Y)."""
    rng = np.random.default_rng(seed)
    X, Y = [], []
    for _ in range(n):
        a = rng.integers(len(LETTERS), size=int(rng.integers(length // 2, length)))
        b, pairs = [], []
        for i, letter in enumerate(a):
            if i and rng.random() < 0.1:
                b += rng.integers(len(LETTERS), size=int(rng.integers(1, 3))).tolist()
            if i == 0 or rng.random() > 0.1:
                pairs.append((i, len(b)))
                b.append(int(letter) ^ 1 if rng.random() < 0.5 else int(letter))  # A and C, D and E, F and G
        X.append(tuple("".join(LETTERS[k] for k in sequence) for sequence in (a, b)))
        Y.append(PairwiseAlignment(pairs, (len(a), len(b))))
    return X, Y


X, Y = related()


@cache
def trained():
    return Aligner(alphabet=LETTERS, C=10.0).fit(X, Y)


def test_learns_which_letters_belong_together():
    assert trained().score(X, Y) > 0.85
    assert trained().certificate_.converged
    matrix = trained().substitution_matrix_
    for a, b in ("AC", "DE", "FG"):
        i, j = LETTERS.index(a), LETTERS.index(b)
        others = [k for k in range(len(LETTERS)) if k not in (i, j)]
        assert matrix[i, j] > matrix[i, others].max()
    new, truth = related(30, seed=1)
    identity = Aligner.from_matrix({(a, b): float(a == b) for a in LETTERS for b in LETTERS}, 1.0, 0.5)
    assert trained().score(new, truth) > identity.score(new, truth) + 0.05


def test_default_settings_learn():
    assert Aligner().fit(X, Y).score(X, Y) > 0.8


def test_predictions_are_alignments_with_their_scores():
    found, scores = trained().predict(X), trained().decision_function(X)
    assert all(isinstance(z, PairwiseAlignment) for z in found)
    values = [dot(trained().task_.psi(x, z), trained().w_) for x, z in zip(X, found, strict=True)]
    np.testing.assert_allclose(scores, values, rtol=1e-12)
    assert trained().predict([]) == []


def test_score_is_the_mean_agreement():
    shares = [z.agreement(y) for z, y in zip(trained().predict(X), Y, strict=True)]
    assert trained().score(X, Y) == np.mean(shares)
    near = clone(trained()).set_params(max_shift=2).fit(X, Y)
    assert near.score(X, Y) == np.mean([z.agreement(y, 2) for z, y in zip(near.predict(X), Y, strict=True)])


@pytest.mark.parametrize("spelling", ["pairs", "gapped"])
def test_all_spellings_of_outputs_train_the_same_model(spelling):
    outputs = [y.pairs.tolist() if spelling == "pairs" else y.gapped(*x) for x, y in zip(X, Y, strict=True)]
    model = clone(trained()).fit(X, outputs)
    np.testing.assert_array_equal(model.w_, trained().w_)
    assert model.score(X, outputs) == trained().score(X, Y)


def test_weights_by_name():
    weights = trained().weights_
    assert list(weights) == ["gaps", "residue × residue"]
    np.testing.assert_array_equal(weights["residue × residue"], trained().substitution_matrix_)
    assert weights["residue × residue"].names == (list(LETTERS), list(LETTERS))
    assert weights["residue × residue"]["A", "C"] == trained().substitution_matrix_[0, 1]
    assert trained().gap_open_ == -weights["gaps"]["open"]
    assert trained().gap_extend_ == -weights["gaps"]["extend"]
    assert trained().alphabet_ == list(LETTERS)


def test_gap_costs_of_each_sequence():
    model = Aligner(symmetric=False).fit(X, Y)
    gaps = model.weights_["gaps"]
    assert model.gap_open_ == (-gaps["first", "open"], -gaps["second", "open"])
    assert model.gap_extend_ == (-gaps["first", "extend"], -gaps["second", "extend"])


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("gaps", ["affine", "linear", Gaps("affine", "half", Window("residue", 1))], ids=str)
def test_every_weight_has_its_names_once(gaps, symmetric):
    features = [Match("residue"), Match("half", Product("residue", "half")), lambda x: np.ones((2, 1, 3))]
    inputs = [({"residue": "AC", "half": "lh"}, {"residue": "C", "half": "l"})]
    model = Aligner(features=features, gaps=gaps, symmetric=symmetric, max_passes=1).fit(inputs, [[(0, 0)]])
    model.w_ = np.arange(1.0, len(model.w_) + 1)
    found = model.top_weights(n=len(model.w_) + 1)
    assert [each.weight for each in found] == sorted(model.w_, reverse=True)
    assert len({each.name for each in found}) == len(model.w_)


def test_weights_that_speak_of_a_letter():
    """Of a symmetric matrix, pairs are named one way round."""
    found = trained().top_weights("C", n=100)
    scores = trained().substitution_matrix_[LETTERS.index("C")]
    named = {f"residue × residue: first={min(a, 'C')}, second={max(a, 'C')}": scores[k] for k, a in enumerate(LETTERS)}
    assert {each.name: each.weight for each in found} == {name: weight for name, weight in named.items() if weight}
    assert [abs(each.weight) for each in found] == sorted((abs(each.weight) for each in found), reverse=True)
    assert trained().top_weights("C", n=2) == found[:2]
    assert [each.name for each in trained().top_weights("open")] == ["gaps: kind=open"]
    with pytest.raises(ValueError, match="no weight belongs to the label 'Z'"):
        trained().top_weights("Z")


def test_columns_of_many_kinds():
    def annotated(sequence):
        half = ["low" if letter in "ACD" else "high" for letter in sequence]
        return {"residue": sequence, "half": half, "profile": np.eye(6)[[LETTERS.index(k) for k in sequence]]}

    inputs = [tuple(annotated(s) for s in x) for x in X]
    model = Aligner(features=["profile", Match("half")], gaps=Gaps("affine", "half", "residue")).fit(inputs, Y)
    assert model.score(inputs, Y) > 0.9
    assert model.substitution_matrix_.shape == (6, 6)
    assert "half × residue" in model.weights_ or "residue × half" in model.weights_


def test_sample_weights_count_pairs():
    counts = np.arange(len(X)) % 3
    repeated = [i for i, count in enumerate(counts) for _ in range(count)]
    weighted = Aligner(alphabet=LETTERS, tol=1e-6).fit(X, Y, sample_weight=counts)
    plain = Aligner(alphabet=LETTERS, tol=1e-6).fit([X[i] for i in repeated], [Y[i] for i in repeated])
    assert weighted.certificate_.primal == pytest.approx(plain.certificate_.primal, rel=1e-5)


@pytest.mark.every(3)
@pytest.mark.parametrize("solver", ["bcfw", "n_slack", "one_slack", "bundle", "subgradient", "perceptron"])
def test_every_solver_trains(solver):
    model = Aligner(alphabet=LETTERS, C=10.0, solver=solver, tol=0.01, max_passes=300).fit(X, Y)
    assert model.score(X, Y) > 0.8
    if solvers.as_solver(solver).certified:
        assert model.certificate_.primal == pytest.approx(trained().certificate_.primal, rel=0.02)


@pytest.mark.parametrize(("rescaling", "slack"), [("slack", "l1"), ("margin", "l2"), ("slack", "l2")])
def test_every_formulation_trains(rescaling, slack):
    assert clone(trained()).set_params(rescaling=rescaling, slack=slack).fit(X, Y).score(X, Y) > 0.8


# --- ready-made models

MATRIX = np.array([[5, -1, -2], [-1, 4, 0], [-2, 0, 6]])
SPELLINGS = {
    "array": (MATRIX, {"alphabet": "ACD"}),
    "SubstitutionMatrix": (SubstitutionMatrix(("A", "C", "D"), MATRIX, 7, 1), {}),
    "dict": ({(a, b): MATRIX[i, j] for i, a in enumerate("ACD") for j, b in enumerate("ACD")}, {}),
    "half a dict": ({(a, b): MATRIX[i, j] for i, a in enumerate("ACD") for j, b in enumerate("ACD") if i <= j}, {}),
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_all_spellings_of_a_matrix(name):
    matrix, more = SPELLINGS[name]
    model = Aligner.from_matrix(matrix, 7, 1, mode="global", **more)
    np.testing.assert_array_equal(model.substitution_matrix_, MATRIX)
    assert (model.alphabet_, model.gap_open_, model.gap_extend_) == (["A", "C", "D"], 7, 1)
    x = ("ACDDC", "ACC")
    assert model.decision_function([x])[0] == 5 + 4 - 7 - 1 + 4
    assert model.predict([x])[0].gapped(*x) == ("ACDDC", "AC--C")


def test_a_matrix_with_gap_costs_of_its_own():
    matrix = SPELLINGS["SubstitutionMatrix"][0]
    assert Aligner.from_matrix(matrix).gap_open_ == 7
    assert Aligner.from_matrix(matrix, gap_open=3).gap_open_ == 3
    assert Aligner.from_matrix(matrix).to_matrix() == matrix


def test_matrix_files(tmp_path):
    write_matrix(tmp_path / "learnt", trained().to_matrix())
    again = Aligner.from_matrix(read_matrix(tmp_path / "learnt"))
    np.testing.assert_array_equal(again.substitution_matrix_, trained().substitution_matrix_)
    assert again.predict(X) == trained().predict(X)
    np.testing.assert_allclose(again.decision_function(X), trained().decision_function(X), rtol=1e-12)


def test_matrices_that_are_not_symmetric():
    values = np.array([[1.0, 2.0], [3.0, 4.0]])
    model = Aligner.from_matrix(values, 5, 1, alphabet="AC", mode="global")
    assert model.symmetric is False
    assert model.decision_function([("A", "C"), ("C", "A")]).tolist() == [2.0, 3.0]
    with pytest.raises(ValueError, match=r"scores of \('A', 'C'\) and \('C', 'A'\) differ"):
        Aligner.from_matrix(values, 5, 1, alphabet="AC", symmetric=True)


def test_linear_gaps():
    model = Aligner.from_matrix(MATRIX, 2, 2, alphabet="ACD", gaps="linear", mode="global")
    assert model.decision_function([("ACC", "A")])[0] == 5 - 4
    with pytest.raises(
        ValueError, match="linear gaps have one cost; expected equal gap_open and gap_extend, got 2 and 1"
    ):
        Aligner.from_matrix(MATRIX, 2, 1, alphabet="ACD", gaps="linear")


@pytest.mark.parametrize(
    ("matrix", "costs", "more", "message"),
    [
        (MATRIX, (7, 1), {}, "needs its alphabet"),
        (MATRIX, (7, 1), {"alphabet": "AC"}, r"has shape \(3, 3\); expected \(2, 2\)"),
        (MATRIX * np.nan, (7, 1), {"alphabet": "ACD"}, "the score of 'A' and 'A' is nan"),
        (MATRIX, (None, 1), {"alphabet": "ACD"}, "has no gap costs"),
        (MATRIX, (np.inf, 1), {"alphabet": "ACD"}, "gap_open is inf"),
        (MATRIX, ("a", 1), {"alphabet": "ACD"}, "gap_open is 'a'; expected a finite number"),
        (MATRIX, (7, [1]), {"alphabet": "ACD"}, r"gap_extend is \[1\]; expected a finite number"),
        (np.full((3, 3), "x"), (7, 1), {"alphabet": "ACD"}, r"given as array of <U1; expected \(3, 3\) numbers"),
        ([[1, 2], [3]], (7, 1), {"alphabet": "AC"}, r"given as list; expected \(2, 2\) numbers"),
        ({("A", "A"): "x"}, (7, 1), {}, "the score of 'A' and 'A' is 'x'; expected a number"),
        (
            "BLOSUM62",
            (7, 1),
            {},
            "'BLOSUM62' is not a matrix; formats.read_matrix .* Bio.Align.*matrices.load finds one",
        ),
        (None, (7, 1), {"alphabet": "AC"}, "None is not a matrix; .*Bio.Align.substitution_matrices.load"),
        ({"A": 1}, (7, 1), {}, "needs pairs of letters as its keys"),
        ({}, (7, 1), {}, "needs pairs of letters as its keys"),
        ({("A", "A"): 1, ("C", "C"): 1}, (7, 1), {}, "no score of 'A' and 'C'"),
    ],
)
def test_bad_matrices_are_named(matrix, costs, more, message):
    with pytest.raises(ValueError, match=message):
        Aligner.from_matrix(matrix, *costs, **more)


def test_bad_arguments_of_log_odds_are_named():
    with pytest.raises(ValueError, match="gap_open is 'a'; expected a finite number"):
        Aligner.from_log_odds(X, Y, "a", 1)
    with pytest.raises(ValueError, match=f"X has {len(X)} examples but Y has 1"):
        Aligner.from_log_odds(X, Y[:1], 3, 1)


def test_log_odds():
    inputs = [("AAC", "AC"), ("C", "C")]
    outputs = [("AAC", "A-C"), [(0, 0)]]
    model = Aligner.from_log_odds(inputs, outputs, 2.0, 0.5, symmetric=False)
    joint = np.array([[1 + 1, 1], [1, 1 + 2]]) / 7  # Laplace: every count begins with 1
    first, second = np.array([3, 3]) / 6, np.array([2, 3]) / 5
    np.testing.assert_allclose(model.substitution_matrix_, np.log(joint / np.outer(first, second)))
    assert model.gap_open_ == (2.0, 2.0)
    shared = Aligner.from_log_odds(inputs, outputs, 2.0, 0.5)
    both = np.array([5, 6]) / 11
    np.testing.assert_allclose(shared.substitution_matrix_, np.log((joint + joint.T) / 2 / np.outer(both, both)))
    assert shared.predict(inputs)[0].gapped(*inputs[0]) in [("AAC", "A-C"), ("AAC", "-AC")]


def test_log_odds_align_better_than_chance():
    model = Aligner.from_log_odds(X, Y, 2.0, 0.5)
    new, truth = related(20, seed=2)
    assert model.score(new, truth) > 0.8


def test_ready_made_models_have_nothing_to_certify():
    model = Aligner.from_matrix(MATRIX, 7, 1, alphabet="ACD")
    with pytest.raises(ValueError, match="made without training and has no objective"):
        model.certify([("A", "A")], [[(0, 0)]])
    assert trained().certify(X, Y).converged


# --- Biopython


@examples(20, 60)
@given(
    mode=st.sampled_from(MODES),
    x=st.tuples(st.text("ACD", min_size=1, max_size=7), st.text("ACD", min_size=1, max_size=7)),
    values=st.lists(st.integers(-3, 4), min_size=9, max_size=9),
    costs=st.tuples(st.integers(0, 4), st.integers(0, 4)),
    symmetric=st.booleans(),
)
def test_biopython_gives_the_same_scores_and_alignments(mode, x, values, costs, symmetric):
    pytest.importorskip("Bio")
    matrix = np.array(values, dtype=float).reshape(3, 3)
    if symmetric:
        matrix = np.triu(matrix) + np.triu(matrix, 1).T
    model = Aligner.from_matrix(matrix, max(costs), min(costs), mode=mode, alphabet="ACD", symmetric=symmetric)
    aligner = model.to_biopython()
    score = model.decision_function([x])[0]
    if mode == "local" and matrix.max() <= 0:
        assert score == 0  # Biopython lists no alignments then
        return
    found = aligner.align(*x)
    assert found.score == score
    listed = {pairs_of(alignment) for _, alignment in zip(range(200), found, strict=False)}
    mine = tuple(map(tuple, model.predict([x])[0].pairs.tolist()))
    if len(listed) == 1 and mine:
        assert mine in listed


def pairs_of(alignment):
    blocks = zip(*alignment.aligned, strict=True)
    return tuple((int(a + k), int(c + k)) for (a, b), (c, _) in blocks for k in range(b - a))


def test_biopython_with_other_costs_for_each_sequence():
    pytest.importorskip("Bio")
    for mode in ("global", "local"):
        model = Aligner.from_matrix(MATRIX, 3, 1, mode=mode, alphabet="ACD", symmetric=False)
        model.w_[:4] = -3, -1, -5, -2
        for x in [("ACDDA", "AA"), ("AA", "ACDDA"), ("DAC", "DDAAC")]:
            assert model.to_biopython().align(*x).score == model.decision_function([x])[0]
    overlap = Aligner.from_matrix(MATRIX, 3, 1, alphabet="ACD", symmetric=False)
    overlap.w_[:4] = -3, -1, -5, -2
    with pytest.raises(ValueError, match="have different costs"):
        overlap.to_biopython()


def test_what_a_matrix_cannot_express_is_named():
    pytest.importorskip("Bio")
    cheap = Aligner.from_matrix(MATRIX, 1, 2, alphabet="ACD")
    with pytest.raises(ValueError, match="opening a gap costs 1 and extending it 2"):
        cheap.to_biopython()
    words = Aligner.from_matrix(MATRIX, 2, 1, alphabet=["the", "cat", "sat"])
    with pytest.raises(ValueError, match="needs single characters"):
        words.to_biopython()
    for model in (Aligner(features="window"), Aligner(gaps=Gaps("affine", "residue"))):
        model.fit(X, Y)
        for convert in (model.to_matrix, model.to_biopython):
            with pytest.raises(ValueError, match=r"cannot represent the model's (residue-2 × residue-2|Gaps\()"):
                convert()
    plain = Aligner(symmetric=False).fit(X, Y)
    with pytest.raises(ValueError, match="one gap cost for both"):
        plain.to_matrix()
    function = Aligner(features=lambda x: np.ones((len(x[0]), len(x[1]), 1))).fit(X, Y)
    for name in ("substitution_matrix_", "alphabet_"):
        assert not hasattr(function, name)
    with pytest.raises(AttributeError, match="no feature map matches residues with residues"):
        function.to_matrix()


def test_matrix_of_biopython():
    substitution_matrices = pytest.importorskip("Bio.Align.substitution_matrices")
    blosum = substitution_matrices.load("BLOSUM62")
    model = Aligner.from_matrix(blosum, 11, 1)
    assert "".join(model.alphabet_) == blosum.alphabet
    np.testing.assert_array_equal(model.substitution_matrix_, np.array(blosum))
    x = ("HEAGAWGHEE", "PAWHEAE")
    assert model.decision_function([x])[0] == model.to_biopython().score(*x)


# --- scikit-learn's rules


def test_fit_changes_neither_parameters_nor_data():
    model = Aligner(features=["simple", Match("residue")], gaps=Gaps("affine", "residue"))
    before = joblib.hash((model.get_params(), X, Y))
    assert model.fit(X, Y) is model
    model.predict(X)
    model.score(X, Y)
    assert joblib.hash((model.get_params(), X, Y)) == before


def test_fitting_again_gives_the_same_model():
    np.testing.assert_array_equal(clone(trained()).fit(X, Y).w_, trained().w_)
    threaded = clone(trained()).set_params(executor=executors.Threads(2)).fit(X, Y)
    np.testing.assert_array_equal(threaded.w_, trained().w_)


def test_pickled_model_predicts_the_same():
    copy = pickle.loads(pickle.dumps(trained()))
    assert copy.predict(X) == trained().predict(X)
    np.testing.assert_array_equal(copy.substitution_matrix_, trained().substitution_matrix_)


def test_model_selection():
    scores = cross_val_score(Aligner(alphabet=LETTERS, tol=0.01), X, Y, cv=2)
    assert (scores > 0.6).all()
    grid = {"C": [0.001, 1.0], "mode": ["global"], "gaps": ["affine", "linear"]}
    search = GridSearchCV(Aligner(alphabet=LETTERS, tol=0.01), grid, cv=2).fit(X, Y)
    assert search.best_estimator_.score(X, Y) > 0.7


def test_sample_weights_are_routed():
    weights = np.linspace(0.1, 2.0, len(X))
    with sklearn.config_context(enable_metadata_routing=True):
        model = Aligner(alphabet=LETTERS, tol=0.01).set_fit_request(sample_weight=True)
        search = GridSearchCV(model, {"C": [1.0]}, cv=2).fit(X, Y, sample_weight=weights)
    expected = Aligner(alphabet=LETTERS, tol=0.01).fit(X, Y, weights)
    np.testing.assert_array_equal(search.best_estimator_.w_, expected.w_)


def test_unfitted():
    model = Aligner()
    for call in (model.predict, model.decision_function):
        with pytest.raises(NotFittedError):
            call(X)
    for call in (model.to_matrix, model.to_biopython):
        with pytest.raises(NotFittedError):
            call()
    for name in ("weights_", "alphabet_", "substitution_matrix_", "gap_open_", "gap_extend_"):
        assert not hasattr(model, name)


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="the alignment of example 1 has no trusted pair"):
        trained().score(X[:2], [Y[0], []])
    with pytest.raises(ValueError, match="example 1, first sequence has '!' at position 0 of 'residue'"):
        trained().predict([X[0], ("!", "A")])
    assert clone(trained()).set_params(unknown="ignore").fit(X, Y).predict([("!A", "A")])[0].lengths == (2, 1)


# --- proteins


@pytest.mark.data
@pytest.mark.parametrize("mode", MODES)
def test_proteins_score_as_in_biopython(mode):
    pytest.importorskip("Bio")
    X = [(pair.a, pair.b) for pair in load_prefab4()[::40]]
    model = Aligner.from_matrix(load_substitution_matrix("BLOSUM62"), 11, 1, mode=mode)
    aligner = model.to_biopython()
    assert model.decision_function(X).tolist() == [aligner.score(a, b) for a, b in X]


@pytest.mark.data
def test_learnt_scores_align_proteins_better_than_a_published_matrix():
    pairs = load_prefab4()
    train, _, test = ([pairs[i] for i in index[::8]] for index in prefab4_split())
    proteins = {"alphabet": "ACDEFGHIKLMNPQRSTVWY", "unknown": "ignore"}
    model = Aligner(**proteins, tol=0.01).fit([(p.a, p.b) for p in train], [p.alignment for p in train])
    given = Aligner.from_matrix(load_substitution_matrix("BLOSUM62"), 11, 1)
    shares = [m.score([(p.a, p.b) for p in test], [p.alignment for p in test]) for m in (given, model)]
    assert shares[1] > shares[0] + 0.02


def test_matrices_of_integers_for_programs_that_read_nothing_else():
    matrix = trained().to_matrix(largest=20)
    exact = trained().to_matrix()
    numbers = np.append(matrix.values, [matrix.gap_open, matrix.gap_extend])
    true = np.append(exact.values, [exact.gap_open, exact.gap_extend])
    assert np.abs(numbers).max() == 20
    np.testing.assert_array_equal(numbers, np.rint(true * 20 / np.abs(true).max()))
    for wrong in (0, 1.5, True):
        with pytest.raises(ValueError, match="largest must be a whole number >= 1"):
            trained().to_matrix(largest=wrong)
