import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from structures.motifs.motif_strategies import motif_problems
from structures.motifs.planted import COMPLEMENTS, MOTIF, OPTIONS, finder, found, planted

from maxmargin import MotifFinder
from maxmargin.structures.motifs.alphabet import Alphabet
from maxmargin.structures.motifs.patterns import centred, pattern_scores
from maxmargin.structures.motifs.start import is_guess
from maxmargin.structures.motifs.task import Motif

X, Y, SITES = planted()
MODEL = finder()
LENGTH = len(MOTIF)


def test_the_paper_s_start_is_there_too():
    model = MotifFinder(**{**OPTIONS, "start": "windows", "restarts": 1}).fit(X, Y)
    assert model.certificate_.converged
    assert not np.array_equal(model.w_, MODEL.w_)


def test_words_are_the_default():
    np.testing.assert_array_equal(MotifFinder(**OPTIONS, start="words").fit(X, Y).w_, MODEL.w_)


def test_patterns():
    matrix = np.zeros((LENGTH, 4))
    matrix[np.arange(LENGTH), ["ACGT".index(a) for a in MOTIF]] = 1
    by_string = MotifFinder(**OPTIONS, start=MOTIF).fit(X, Y)
    by_matrix = MotifFinder(**OPTIONS, start=matrix).fit(X, Y)
    np.testing.assert_array_equal(by_string.w_, by_matrix.w_)
    assert {each.restart for each in by_string.rounds_} == {0}
    assert found(by_string.find_sites(X), SITES) > 0.9  # on the strand of the pattern
    assert found(MotifFinder(**OPTIONS, start=MOTIF.translate(COMPLEMENTS)[::-1]).fit(X, Y).find_sites(X), SITES) < 0.2
    shorter = MotifFinder(**OPTIONS, start="GACGTC").fit(X, Y)
    assert shorter.certificate_.converged


def test_all_weights():
    weights = np.zeros(len(MODEL.w_))
    weights[: 4 * LENGTH] = centred(pattern_scores(MOTIF, Alphabet("ACGT")), LENGTH).ravel()
    by_pattern, by_weights = (MotifFinder(**OPTIONS, start=start).fit(X, Y) for start in (MOTIF, weights))
    np.testing.assert_array_equal(by_pattern.w_, by_weights.w_)
    again = MotifFinder(**OPTIONS, start=MODEL.w_.tolist()).fit(X, Y)
    assert {each.restart for each in again.rounds_} == {0}
    assert again.certificate_.primal <= MODEL.certificate_.primal * 1.01
    np.testing.assert_array_equal(clone(again).fit(X, Y).w_, again.w_)


@given(motif_problems(), st.integers(0, 9))
def test_the_task_begins_where_given_weights_fit_best(problem, seed):
    task = clone(problem.task).set_params(start=problem.w)
    task.setup(problem.X, problem.Y)
    batch = task.pack(problem.X, problem.Y)
    guessed, completed = batch.guessed(np.random.default_rng(seed)), batch.completed(problem.w)
    for one, other in zip(guessed.windows, completed.windows, strict=True):
        assert np.array_equal(one, other)
    for x, y in zip(problem.X, problem.Y, strict=True):
        assert task.guess(np.random.default_rng(seed), x, y) == task.complete(problem.w, x, y)


@pytest.mark.parametrize(("start", "guessed"), [(None, True), ("words", True), ("WORDS", False), ("WOR.D", False)])
def test_names_are_lower_case_and_come_before_patterns(start, guessed):
    """Even in an alphabet whose letters spell them."""
    task = Motif(5, strands=1, alphabet="WORDS", start=start)
    task.setup([], [])
    assert (task.first_weights_ is None) == guessed == is_guess(start)
