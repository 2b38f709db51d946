from math import inf, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import whole

from maxmargin.base.search import Search
from maxmargin.problem.dual.objective import Certificate, Formulation, primal, relative_gap
from maxmargin.problem.planes.planes import Planes

ALL = [Formulation(rescaling, slack) for rescaling in ("margin", "slack") for slack in ("l1", "l2")]


@pytest.mark.parametrize(
    ("primal", "dual", "gap"),
    [
        (2.0, 1.0, 0.5),
        (2.0, 2.0, 0.0),
        (2.0, -2.0, 2.0),
        (1.0, 1.0 + 1e-15, 0.0),  # rounding
        (0.0, 0.0, 0.0),
        (0.0, -1.0, inf),
        (inf, 1.0, inf),
        (1.0, -inf, inf),
        (inf, -inf, inf),
        (inf, inf, inf),
        (nan, 1.0, inf),
    ],
)
def test_relative_gap(primal, dual, gap):
    assert relative_gap(primal, dual) == gap


@pytest.mark.parametrize(
    ("risk", "C", "value"), [(0.5, 4.0, 4.5), (0.0, 4.0, 2.5), (0.0, inf, 2.5), (0.5, inf, inf), (0.0, 1e300, 2.5)]
)
def test_primal(risk, C, value):
    assert primal(5.0, risk, C) == value


@pytest.mark.parametrize("formulation", ALL, ids=str)
@given(dpsi=whole((4, 2)), loss=whole(4, 0, 4), w=whole(2))
def test_height_of_a_cut_is_the_violation(formulation, dpsi, loss, w):
    cuts = formulation.cuts(Planes(dpsi, loss))
    assert cuts.values(w) == pytest.approx(formulation.value(loss, dpsi @ w))


@given(loss=st.integers(0, 4), margin=st.integers(-3, 3))
def test_violations_by_definition(loss, margin):
    values = {(f.rescaling, f.slack): f.value(float(loss), float(margin)) for f in ALL}
    assert values["margin", "l1"] == loss - margin
    assert values["slack", "l1"] == loss * (1 - margin)
    assert values["margin", "l2"] == pytest.approx(loss**0.5 - margin)
    assert values["slack", "l2"] == pytest.approx(loss**0.5 * (1 - margin))


@pytest.mark.parametrize("formulation", ALL, ids=str)
@given(loss=whole(3, 0, 4))
def test_penalty_bounds_the_loss(formulation, loss):
    """Where w predicts a wrong output (margin <= 0), the slack is at least Δ or √Δ, so the penalty is Δ or Δ/2."""
    slacks = formulation.value(loss, np.zeros(3))
    assert formulation.penalty(slacks) == pytest.approx(loss / 2 if formulation.squared else loss)


@pytest.mark.parametrize("names", [("margins", "l1"), ("slack", "l3"), ("", "l1"), ("l1", "margin")])
def test_unknown_formulation(names):
    with pytest.raises(ValueError, match="must be"):
        Formulation(*names)


def certificate(**changes):
    facts = {"primal": 2.0, "dual": 1.9, "converged": False, "passes": 3.0, "seconds": 0.1}
    return Certificate(**{**facts, "cpu_seconds": 0.1, "stop_reason": "max_passes reached", **changes})


def test_certificate_says_what_it_proves():
    assert certificate().gap == pytest.approx(0.1)
    assert certificate().relative_gap == pytest.approx(0.05)
    assert "5%" in str(certificate())
    assert "no bound" in str(certificate(dual=-inf))
    assert "certified" not in str(certificate())
    assert "relaxed" not in str(certificate())


def test_certificate_of_an_undergenerating_search():
    nothing = certificate(search=Search.UNDERGENERATING, method="greedy", upper=inf)
    assert "not certified" in str(nothing)
    assert "nothing bounds the objective from above" in str(nothing)
    assert "(greedy; 3.0 passes" in str(nothing)
    assert nothing.proved_gap == inf
    bounded = certificate(search=Search.UNDERGENERATING, upper=3.8)
    assert "at most 3.8, a gap of 50%" in str(bounded)
    assert bounded.proved_gap == pytest.approx(0.5)
    assert not bounded.exact


def test_certificate_of_a_relaxation():
    relaxed = certificate(search=Search.OVERGENERATING)
    assert "of the relaxed problem, whose objective is never below the true one" in str(relaxed)
    assert relaxed.proved_gap == relaxed.relative_gap
    assert not relaxed.exact


def explained(**changes):
    usual = {"primal": 2.0, "dual": 1.9, "converged": True, "passes": 7.0, "seconds": 0.5, "cpu_seconds": 0.5}
    return " ".join(Certificate(**{**usual, "stop_reason": "converged", **changes}).explained())


def test_certificates_in_words():
    proved = explained()
    assert "No weights at all can have one below 1.9: what is left to gain is at most 5% of it." in proved
    assert "It converged after 7.0 passes" in proved
    assert "about training, not about new data" in proved
    assert "above the gap that was asked for (max_passes reached)" in explained(
        converged=False, stop_reason="max_passes reached"
    )
    assert "No lower bound is proved" in explained(dual=-np.inf)
    hidden = explained(rounds=3)
    assert "the last of 3 rounds" in hidden
    assert "local optimum" in hidden
    assert "No weights at all" not in hidden
    assert "of the relaxed problem" in explained(search=Search.OVERGENERATING)
    missed = explained(search=Search.UNDERGENERATING, upper=2.5)
    assert "may miss the worst outputs" in missed
    assert "proved is at most 2.5" in missed
    assert "No weights at all" not in missed
    assert explained(primal=np.nan, stop_reason="some weights kept").startswith("Nothing is proved of these weights")
