"""per="position": C multiplies the mean loss of positions, so that cutting sequences into stretches changes nothing."""

import numpy as np
import pytest
from digest_groups.data import chains
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin import SequenceLabeler

ALONE = {"transitions": (0, 0), "start": (0, 0), "end": (0, 0)}  # no position sees another
X, Y = chains(n=8)


def cut(X, Y, rng):
    """The same positions in more sequences, and the number of the sequence that each stretch is from."""
    stretches, labels, owners = [], [], []
    for i, (x, y) in enumerate(zip(X, Y, strict=True)):
        border = int(rng.integers(1, len(y)))
        stretches += [x[:border], x[border:]]
        labels += [y[:border], y[border:]]
        owners += [i, i]
    return stretches, labels, np.array(owners)


def fitted(X, Y, weights=None, **options):
    return SequenceLabeler(**{"tol": 1e-7, "bounds": ALONE, "per": "position", **options}).fit(X, Y, weights)


@pytest.mark.slow
@settings(max_examples=5, deadline=None)
@given(st.integers(0, 100), st.sampled_from([0.01, 1.0, 30.0]), st.booleans())
def test_stretches_teach_the_same(seed, C, weigh):
    rng = np.random.default_rng(seed)
    stretches, labels, owners = cut(X, Y, rng)
    weights = rng.uniform(0.5, 2.0, len(X)) if weigh else None
    whole = fitted(X, Y, weights, C=C)
    parts = fitted(stretches, labels, None if weights is None else weights[owners], C=C)
    assert parts.certificate_.primal == pytest.approx(whole.certificate_.primal, rel=1e-6)
    np.testing.assert_allclose(parts.w_, whole.w_, atol=1e-2 * np.abs(whole.w_).max())
    per_sequence = [fitted(*data, C=C, per="sequence").certificate_.primal for data in ((X, Y), (stretches, labels))]
    if C == 0.01:
        assert per_sequence[0] > 1.5 * per_sequence[1]


@pytest.mark.parametrize("solver", ["bcfw", "n_slack", "one_slack", "bundle"])
def test_it_is_another_number_for_the_same_problem(solver):
    n, positions = len(X), sum(map(len, X))
    per_position = SequenceLabeler(C=3.0, per="position", solver=solver, tol=1e-5).fit(X, Y)
    per_sequence = SequenceLabeler(C=3.0 * n / positions, solver=solver, tol=1e-5).fit(X, Y)
    assert per_position.certificate_.primal == pytest.approx(per_sequence.certificate_.primal, rel=3e-5)
    # the objective that is certified has the C that was asked for, and the mean of positions
    assert per_position.solution_.C == 3.0
    assert per_position.solution_.risk == pytest.approx(per_sequence.solution_.risk * n / positions, rel=1e-2)
    assert per_position.certify(X, Y).primal == pytest.approx(per_position.certificate_.primal)


def test_only_positions_with_labels_count():
    """A stretch whose labels are unknown adds no loss, and changes nothing where positions are alone."""
    longer = [np.vstack([x, x[:2]]) for x in X]
    shown = [[*y, None, None] for y in Y]
    expected = fitted(X, Y, C=5.0)
    found = fitted(longer, shown, C=5.0)
    assert found.certificate_.primal == pytest.approx(expected.certificate_.primal, rel=1e-5)


def test_bad_option():
    with pytest.raises(ValueError, match="per must be 'sequence' or 'position', got 'word'"):
        SequenceLabeler(per="word").fit(X, Y)
