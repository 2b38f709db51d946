import itertools
import pickle

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils import get_tags
from structures.motifs.planted import COMPLEMENTS, MOTIF, OPTIONS, finder, flipped, found, planted

from maxmargin import MotifFinder, StructuredSVM
from maxmargin.problem.contract.examples import dot
from maxmargin.solvers import CCCP
from maxmargin.structures.motifs.task import ABSENT, Motif, Occurrence

X, Y, SITES = planted()
MODEL = finder()
LENGTH = len(MOTIF)


@pytest.mark.every(3)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"background_order": 3},
        {"background_order": None},
        {"slack": "l2"},
        {"rescaling": "slack"},
        {"rescaling": "slack", "slack": "l2"},
        {"solver": "bcfw"},
        {"solver": "one_slack"},
        {"n_jobs": 2},
        {"start": "TTGACRTCNA"},
    ],
)
def test_finds_the_motif_and_classifies_by_it(options):
    model = MotifFinder(**{**OPTIONS, **options}).fit(X, Y)
    assert model.certificate_.converged
    new, truth, sites = planted(seed=1)
    assert model.score(new, truth) > 0.85  # an order of 3 has more weights than 60 strings can tell
    assert max(found(model.find_sites(new), sites), found(model.find_sites(new), flipped(sites))) > 0.85


def test_rounds_go_down():
    assert len({each.restart for each in MODEL.rounds_}) == 2
    for restart in range(2):
        objectives = [each.objective for each in MODEL.rounds_ if each.restart == restart]
        assert all(b <= a + 1e-9 for a, b in itertools.pairwise(objectives))
    assert MODEL.certificate_.primal == min(each.objective for each in MODEL.rounds_)
    assert MODEL.certificate_.rounds <= 50


def test_predictions_are_decoded_outputs():
    scores, classes = MODEL.decision_function(X), MODEL.predict(X)
    assert MODEL.classes_.tolist() == ["with", "without"]
    for x, score, label, site, output in zip(
        X, scores, classes, MODEL.find_sites(X), MODEL.task_.decode(MODEL.w_, X), strict=True
    ):
        assert (label == "with") == (score < 0) == output.has  # classes_[1] is the one without
        z = Occurrence(True, site.start, 1 if site.strand == "+" else -1)
        gain = dot(MODEL.task_.psi(x, z), MODEL.w_) - dot(MODEL.task_.psi(x, ABSENT), MODEL.w_)
        assert site.score == pytest.approx(gain)
        assert site.score == pytest.approx(-score)
        window = x[site.start : site.start + LENGTH]
        assert site.text == (window if site.strand == "+" else window[::-1].translate(COMPLEMENTS))
    assert MODEL.score(X, Y) == np.mean(classes == Y)
    assert [site.sequence for site in MODEL.find_sites(X)] == list(range(len(X)))
    assert len(MODEL.predict([])) == 0
    assert MODEL.find_sites([]) == []


def test_either_class_may_have_the_motif():
    other = np.where(Y == "with", 1, 0)
    model = MotifFinder(**{**OPTIONS, "positive": None}).fit(X, other)
    assert model.classes_.tolist() == [0, 1]
    np.testing.assert_array_equal(model.w_, MODEL.w_)
    np.testing.assert_array_equal(model.decision_function(X), -MODEL.decision_function(X))
    np.testing.assert_array_equal(model.predict(X) == 1, MODEL.predict(X) == "with")
    assert [site.sequence for site in model.sites_] == np.flatnonzero(other).tolist()


def test_case_has_no_meaning():
    lower = [x.lower() for x in X]
    np.testing.assert_array_equal(MODEL.decision_function(lower), MODEL.decision_function(X))
    assert MODEL.find_sites(lower) == MODEL.find_sites(X)
    np.testing.assert_array_equal(MotifFinder(**OPTIONS).fit(lower, Y).w_, MODEL.w_)


def test_motifs_without_examples_to_the_contrary():
    positive = [x for x, label in zip(X, Y, strict=True) if label == "with"]
    model = MotifFinder(LENGTH, background_order=0, restarts=2, C=10).fit(positive)
    assert model.classes_.tolist() == [False, True]
    assert len(model.sites_) == len(positive)
    assert model.predict(positive).dtype == bool
    sites = [site for site in SITES if site]
    assert max(found(model.sites_, sites), found(model.sites_, flipped(sites))) > 0.85
    again = MotifFinder(LENGTH, background_order=0, restarts=2, C=10).fit(positive)
    np.testing.assert_array_equal(again.w_, model.w_)  # the controls are the same
    given = MotifFinder(LENGTH, background_order=0, restarts=2, C=10).fit(positive, background=X[30:])
    assert given.score(positive, np.ones(len(positive), dtype=bool)) > 0.9
    assert not np.array_equal(given.w_, model.w_)


def test_background_counts_as_much_as_its_weight_says():
    background, _, _ = planted(20, seed=5)
    background = background[20:]
    fitted = MotifFinder(**OPTIONS, background_weight=0.5, tol=1e-6).fit(X, Y, background=background)
    weights = [1.0] * len(X) + [0.5] * len(background)
    labels = np.append(Y, ["without"] * len(background))
    same = MotifFinder(**OPTIONS, tol=1e-6).fit(X + background, labels, sample_weight=weights)
    np.testing.assert_allclose(fitted.w_, same.w_, atol=1e-4)  # weights of the same ratios, rounded
    light = MotifFinder(**OPTIONS, background_weight=1e-9).fit(X, Y, background=background)
    # the price of a labelled string does not depend on how many others there are
    assert light.certificate_.primal == pytest.approx(MODEL.certificate_.primal, rel=0.05)


def test_weights_of_zero_leave_strings_out():
    weights = np.ones(len(X))
    weights[[3, 40]] = 0
    kept = np.flatnonzero(weights)
    with_zeros = MotifFinder(**OPTIONS, start=MOTIF, tol=1e-5).fit(X, Y, sample_weight=weights)
    without = MotifFinder(**OPTIONS, start=MOTIF, tol=1e-5).fit([X[i] for i in kept], Y[kept])
    assert with_zeros.certificate_.primal == pytest.approx(without.certificate_.primal, rel=1e-4)


def test_letters_that_are_unknown():
    text = [x[:5] + "N" + x[6:] for x in X]
    model = MotifFinder(**OPTIONS, unknown="skip").fit(text, Y)
    assert model.score(text, Y) > 0.85
    assert all("N" not in site.text for site in model.find_sites(text))
    assert all("N" not in site.text for sites in model.all_sites(text, -99.0) for site in sites)
    with pytest.raises(ValueError, match="sequence 0 has 'N' at position 5"):
        MODEL.predict(text)


def test_rna_and_proteins():
    rna = [x.replace("T", "U") for x in X]
    model = MotifFinder(**OPTIONS, alphabet="ACGU").fit(rna, Y)
    np.testing.assert_array_equal(model.w_, MODEL.w_)
    assert "T" not in model.consensus_
    amino_acids = "ACDEFGHIKLMNPQRSTVWY"
    proteins, labels, sites = planted(motif="WGKCDE", alphabet=amino_acids, both=False)
    model = MotifFinder(6, 0, strands=1, alphabet=amino_acids, restarts=2, positive="with").fit(proteins, labels)
    assert model.score(proteins, labels) > 0.9
    assert found(model.sites_, sites[:30]) > 0.85
    assert model.consensus_ == "WGKCDE"
    np.testing.assert_allclose(
        MotifFinder(6, 0, 1, amino_acids, start="WG.CDE", positive="with").fit(proteins, labels).frequencies_,
        model.frequencies_,
        atol=0.1,
    )


def test_path_and_certificate():
    models = MotifFinder(**OPTIONS, tol=1e-4).fit_path(X, Y, [1.0, 10.0])
    assert [model.C for model in models] == [1.0, 10.0]
    assert models[0].certificate_.primal < models[1].certificate_.primal
    assert all(len(model.sites_) == 30 for model in models)
    assert models[0].sites_ != models[1].sites_ or not np.array_equal(models[0].w_, models[1].w_)
    model = models[1]
    certificate = model.certify(X, Y, tol=1e-3)
    assert certificate.primal == pytest.approx(model.certificate_.primal, rel=1e-6)
    assert certificate.converged


def test_scikit_learn_manners():
    assert is_classifier(MODEL)
    tags = get_tags(MODEL)
    assert tags.input_tags.string
    assert not tags.target_tags.required
    assert clone(MODEL).get_params() == MODEL.get_params()
    copy = pickle.loads(pickle.dumps(MODEL))
    np.testing.assert_array_equal(copy.decision_function(X), MODEL.decision_function(X))
    assert copy.sites_ == MODEL.sites_
    base = MotifFinder(background_order=0, restarts=1, positive="with")
    search = GridSearchCV(base, {"C": [0.01, 10.0], "length": [3, LENGTH]}, cv=3).fit(np.array(X), Y)
    assert search.best_params_ == {"C": 10.0, "length": LENGTH}
    assert cross_val_score(clone(MODEL), X, Y, cv=3).mean() > 0.85
    assert not hasattr(MODEL, "partial_fit")
    with pytest.raises(NotFittedError):
        MotifFinder().predict(X)
    for call in (MotifFinder().top_weights, lambda: MotifFinder().all_sites(X), lambda: MotifFinder().find_sites(X)):
        with pytest.raises(NotFittedError):
            call()


def test_the_task_serves_any_trainer():
    has = list(Y == "with")
    model = StructuredSVM(Motif(LENGTH, background_order=0), C=10).fit(X, has)
    assert model.certificate_.converged
    assert np.mean(np.array(model.predict(X)) == has) > 0.9
    assert model.score(X, has) == -np.mean(np.array(model.predict(X)) != has)


def test_a_solver_object_keeps_its_restarts():
    model = MotifFinder(**{**OPTIONS, "restarts": 5, "solver": CCCP(restarts=1, tol=0.05)}).fit(X, Y)
    assert {each.restart for each in model.rounds_} == {0}
    assert {each.restart for each in MotifFinder(**OPTIONS).fit(X, Y).rounds_} == {0, 1}


def test_the_model_does_not_depend_on_threads():
    np.testing.assert_array_equal(MotifFinder(**OPTIONS, n_jobs=2).fit(X, Y).w_, MODEL.w_)


@pytest.mark.parametrize(
    ("options", "X", "y", "more", "message"),
    [
        ({"length": 0}, X, Y, {}, "length must be a whole number >= 1, got 0"),
        ({"length": "11"}, X, Y, {}, "length must be a whole number >= 1, got '11'"),
        ({"length": []}, X, Y, {}, "length is empty"),
        ({"length": [5, 0]}, X, Y, {}, "length must be a whole number >= 1, got 0"),
        ({"restarts": 0}, X, Y, {}, "restarts must be a whole number >= 1, got 0"),
        ({"start": "anywhere"}, X, Y, {}, "start must be 'words', 'windows', a pattern.* 'anywhere' has 'E'"),
        ({"alphabet": "ACDE"}, X, Y, {}, "strands=2 needs letters that have complements"),
        ({"background_weight": 0}, X, Y, {"background": X[40:]}, "background_weight must be a positive number, got 0"),
        ({"background_weight": -1}, X, Y, {}, "background_weight must be a positive number, got -1"),
        ({"positive": "yes"}, X, Y, {}, r"positive='yes' is not one of the classes \['with', 'without'\]"),
        ({"positive": "with"}, X, None, {}, "positive='with' names a class, but there is no y"),
        ({"start": "ACGJ"}, X, Y, {}, "'ACGJ' has 'J' at position 3; expected one of ACGTMRWSYKVHDBN"),
        ({"start": "ACGTACGTACGT"}, X, Y, {}, "start has 12 positions; expected 1 to 10, the length of the motif"),
        ({"start": ""}, X, Y, {}, "start has 0 positions"),
        ({"start": np.ones((3, 5))}, X, Y, {}, r"start is an array of shape \(3, 5\); expected \(positions, 4\)"),
        ({"start": np.full((3, 4), np.nan)}, X, Y, {}, "finite numbers"),
        ({"start": MODEL.to_meme()}, X, Y, {}, "a pattern or weights, got an object of type MemeFile"),
        ({"start": [["A", "C"]]}, X, Y, {}, "a pattern or weights, got an object of type list"),
        ({"start": np.ones((1, 2, 4))}, X, Y, {}, r"shape \(1, 2, 4\); expected \(positions, 4\), .* or \(44,\), all"),
        ({"start": np.ones(43)}, X, Y, {}, r"start has 43 weights; expected 44, or a matrix \(positions, 4\)"),
        ({"start": MODEL.w_, "length": [8, 10]}, X, Y, {}, "start has 44 weights; expected 36"),
        ({}, X[0], Y, {}, "X is of type str; expected a list of strings"),
        ({}, 5, Y, {}, "X is of type int; expected a list of strings"),
        ({}, [], [], {}, "no examples given: X is empty"),
        ({}, X, Y[:-1], {}, r"y has the shape \(59,\); expected \(60,\), a class for every string of X"),
        ({}, X[:30], Y[:30], {}, r"y has 1 classes \('with'\); expected two.*leave y out if all"),
        ({"positive": None}, X[:3], [0, 1, 2], {}, r"y has 3 classes \(0, 1, 2\); expected two"),
        ({}, [*X[:-1], "ACGT"], Y, {}, "sequence 59 has 4 letters; expected 10 or more, the length of the motif"),
        ({"length": [3, 12]}, [*X[:-1], "ACGTACGT"], Y, {}, "sequence 59 has 8 letters; expected 12 or more"),
        ({}, [*X[:-1], ""], Y, {}, "sequence 59 is empty"),
        ({}, [*X[:-1], "ACGTACGTACGX"], Y, {}, "sequence 59 has 'X' at position 11"),
        ({}, [*X[:-1], None], Y, {}, "sequence 59 is of type NoneType; expected a string"),
        ({}, X, Y, {"background": []}, "background is empty; leave it out"),
        ({}, X, Y, {"background": "ACGT"}, "background is of type str; expected a list of strings"),
        ({}, X, Y, {"background": ["ACGT"]}, "background sequence 0 has 4 letters; expected 10 or more"),
        ({}, X, Y, {"background": [X[40], X[2].lower()]}, "background sequence 1 is the same as sequence 2, which has"),
        ({}, X, Y, {"sample_weight": [1.0]}, r"sample_weight has shape \(1,\); expected \(60,\)"),
        ({}, X, Y, {"sample_weight": 1.0 * (Y != "with")}, "all sequences that have the motif have weight 0"),
        ({"C": 0}, X, Y, {}, "C must be a positive number"),
        ({"C": np.inf}, X, Y, {}, "latent training needs a finite C"),
    ],
)  # fmt: skip
def test_bad_input(options, X, y, more, message):
    with pytest.raises(ValueError, match=message):
        MotifFinder(**{**OPTIONS, **options}).fit(X, y, **more)


def test_other_bad_parameters():
    with pytest.raises(TypeError, match="MotifFinder has no parameter 'lenght'"):
        MotifFinder(lenght=3)
    with pytest.raises(ValueError, match="sequence 1 has 3 letters; expected 10 or more"):
        MODEL.predict([X[0], "ACG"])
