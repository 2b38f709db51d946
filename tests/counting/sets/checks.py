"""What every output set must keep: proved by listing small sets, and by finite, consistent numbers for large ones.

A test of a family calls `check_set` for all of its small sizes, `check_large` where log |Y| > 709, `check_best` with
drawn integer scores (`scores`), and `rejects` for every bad input.
"""

from __future__ import annotations

import pickle
import re
from itertools import islice

import numpy as np
import pytest
from hypothesis import strategies as st
from sklearn.base import clone

from maxmargin.base.arrays import Array
from maxmargin.counting.sets.output_set import DecodedOutput, OutputSet

SMALL = 5000  # outputs up to which sets are listed
CLOSE = {"rtol": 1e-9, "atol": 1e-11}


def scores(dim: int, top: int = 3) -> st.SearchStrategy:
    """Whole-numbered f: with few different values, so that there are ties."""
    return st.lists(st.integers(-top, top), min_size=dim, max_size=dim).map(lambda f: np.array(f, dtype=float))


def listed(outputs: OutputSet) -> tuple[list, Array]:
    """All outputs of a small set and their features."""
    Y = list(islice(outputs.outputs(), SMALL + 1))
    assert 0 < len(Y) <= SMALL, "the set is too large to be listed"
    return Y, outputs.feature_rows(Y)


def check_set(outputs: OutputSet, telling: bool = True, decodes: int = 5) -> None:
    """All of the contract on a small set. telling=False: different outputs may have the same features."""
    check_listing(outputs, telling)
    check_moments(outputs)
    check_products(outputs)
    check_spectrum(outputs)
    check_samples(outputs)
    check_constructor(outputs)
    check_scores(outputs)
    rng = np.random.default_rng(outputs.dim)
    for trial in range(decodes):
        f = rng.integers(-2, 3, outputs.dim).astype(float) if trial % 2 else rng.normal(size=outputs.dim)
        check_best(outputs, f)
    check_best(outputs, np.zeros(outputs.dim))


def check_listing(outputs: OutputSet, telling: bool = True) -> None:
    """Outputs are hashable and listed once; features are finite, tell them apart, and have names."""
    Y, rows = listed(outputs)
    assert len(set(Y)) == len(Y)
    assert rows.shape == (len(Y), outputs.dim)
    assert np.isfinite(rows).all()
    assert not telling or len({row.tobytes() for row in rows + 0.0}) == len(Y)  # + 0.0: -0.0 is 0.0
    again = outputs.features(Y[0])
    assert again.shape == (outputs.dim,)
    assert again.dtype == np.float64
    again += 1.0  # which may not be what the set itself keeps
    np.testing.assert_array_equal(outputs.features(Y[0]), rows[0])
    assert len(outputs.coordinates) == len(set(outputs.coordinates)) == outputs.dim


def check_moments(outputs: OutputSet) -> None:
    """log |Y|, μ and S against sums over all outputs."""
    Y, rows = listed(outputs)
    np.testing.assert_allclose(outputs.log_size(), np.log(len(Y)), **CLOSE)
    assert outputs.mean().shape == (outputs.dim,)
    np.testing.assert_allclose(outputs.mean(), rows.mean(0), **CLOSE)
    centred = rows - rows.mean(0)
    np.testing.assert_allclose(outputs.covariance(), centred.T @ centred / len(Y), **CLOSE)


def check_products(outputs: OutputSet) -> None:
    """cov_apply is F S for rows of any kind, and leaves F alone; S is symmetric."""
    S = outputs.covariance()
    np.testing.assert_allclose(S, S.T, **CLOSE)
    F = np.random.default_rng(1).normal(size=(7, outputs.dim))
    before = F.copy()
    np.testing.assert_allclose(outputs.cov_apply(F), F @ S, **CLOSE)
    np.testing.assert_array_equal(F, before)
    F.flags.writeable = False
    np.testing.assert_allclose(outputs.cov_apply(F[::2]), F[::2] @ S, **CLOSE)
    np.testing.assert_allclose(outputs.cov_apply(np.asfortranarray(F)), F @ S, **CLOSE)
    assert outputs.cov_apply(F[:0]).shape == (0, outputs.dim)


def check_spectrum(outputs: OutputSet, expected: bool | None = None) -> None:
    """S = Σ θ_g P_g with orthogonal projections P_g that sum to the identity; expected says if there must be one."""
    spaces = outputs.cov_spectrum()
    assert expected is None or expected == (spaces is not None)
    if spaces is None:
        return
    S, eye = outputs.covariance(), np.eye(outputs.dim)
    values = np.array([space.value for space in spaces])
    assert (values >= 0).all()
    scale = max(float(values.max()), 1e-300)
    gaps = np.diff(np.sort(values))
    assert (gaps > 1e-9 * scale).all(), f"eigenvalues are not distinct: {values}"
    P = [space.project(eye) for space in spaces]
    np.testing.assert_allclose(sum(P), eye, **CLOSE)
    np.testing.assert_allclose(sum(value * part for value, part in zip(values, P, strict=True)), S, **CLOSE)
    for i, first in enumerate(P):
        np.testing.assert_allclose(first, first.T, **CLOSE)
        assert np.trace(first) > 0.5, f"nothing has the eigenvalue {values[i]}"
        for j, second in enumerate(P):
            np.testing.assert_allclose(first @ second, first if i == j else 0 * first, **CLOSE)
    F = np.random.default_rng(2).normal(size=(3, outputs.dim))
    before = F.copy()
    for space, part in zip(spaces, P, strict=True):
        np.testing.assert_allclose(space.project(F), F @ part, **CLOSE)
    np.testing.assert_array_equal(F, before)


def check_samples(outputs: OutputSet, uniform: bool = False, draws: int = 4000) -> None:
    """Samples are members, and the same for the same seed; of a uniform sampler every output comes as often."""
    Y, _ = listed(outputs)
    members, rng, again = set(Y), np.random.default_rng(3), np.random.default_rng(3)
    for _ in range(20):
        y = outputs.sample(rng)
        assert y in members
        assert y == outputs.sample(again)
    if uniform:
        seen = dict.fromkeys(Y, 0)
        for _ in range(draws):
            seen[outputs.sample(rng)] += 1
        p = 1 / len(Y)
        assert draws * p >= 5, "too few draws to tell anything"
        assert max(abs(count - draws * p) for count in seen.values()) <= 5.5 * np.sqrt(draws * p * (1 - p)) + 1e-9


def check_best(outputs: OutputSet, f: Array) -> DecodedOutput:
    """decode on a small set: a member with the value it says; nothing better where it says that it is exact."""
    Y, rows = listed(outputs)
    before = f.copy()
    found = outputs.decode(f)
    np.testing.assert_array_equal(f, before)
    assert found.y in set(Y)
    assert isinstance(found.value, float)
    assert isinstance(found.exact, bool)
    values = rows @ f
    np.testing.assert_allclose(found.value, outputs.features(found.y) @ f, **CLOSE)
    assert found.value <= values.max() + 1e-9 * (1 + np.abs(f).sum())
    if found.exact:
        np.testing.assert_allclose(found.value, values.max(), **CLOSE)
    return found


def check_scores(outputs: OutputSet) -> None:
    """decode takes one finite number per coordinate, in a list too, and says what is wrong with others."""
    f = np.arange(outputs.dim) - 1.0
    assert outputs.decode(f.tolist()) == outputs.decode(f)
    with pytest.raises(ValueError, match=rf"expected \({outputs.dim},\), one for each coordinate"):
        outputs.decode(np.zeros(outputs.dim + 1))
    f[-1] = np.nan
    with pytest.raises(ValueError, match=f"score {outputs.dim - 1} is nan; expected finite numbers"):
        outputs.decode(f)


def check_better_than_random(outputs: OutputSet, f: Array, draws: int = 200) -> DecodedOutput:
    """decode on a large set: the value is that of the output, and no random output has a better one."""
    found = outputs.decode(f)
    assert np.isfinite(found.value)
    np.testing.assert_allclose(found.value, outputs.features(found.y) @ f, rtol=1e-9, atol=1e-9)
    rng = np.random.default_rng(4)
    best = max(float(outputs.features(outputs.sample(rng)) @ f) for _ in range(draws))
    assert found.value >= best - 1e-9 * (1 + abs(best))
    return found


def check_large(outputs: OutputSet, rows: int = 2) -> None:
    """|Y| is beyond doubles: moments stay finite and agree with each other and with samples of a few directions."""
    assert outputs.log_size() > 709
    assert np.isfinite(outputs.log_size())
    mean = outputs.mean()
    assert np.isfinite(mean).all()
    rng = np.random.default_rng(5)
    F, G = rng.normal(size=(rows, outputs.dim)), rng.normal(size=(rows, outputs.dim))
    products = outputs.cov_apply(F)
    assert np.isfinite(products).all()
    scale = np.linalg.norm(products) * np.linalg.norm(G)
    assert abs(np.vdot(products, G) - np.vdot(F, outputs.cov_apply(G))) <= 1e-10 * scale  # symmetric
    assert (np.einsum("kd,kd->k", products, F) >= -1e-10 * scale).all()  # variances
    spaces = outputs.cov_spectrum()
    if spaces is not None:
        parts = [space.project(F) for space in spaces]
        np.testing.assert_allclose(sum(parts), F, rtol=1e-8, atol=1e-8)
        again = sum(space.value * part for space, part in zip(spaces, parts, strict=True))
        np.testing.assert_allclose(again, products, rtol=1e-8, atol=1e-8 * np.abs(products).max())
    y = outputs.sample(rng)
    assert np.isfinite(outputs.features(y)).all()
    check_better_than_random(outputs, rng.normal(size=outputs.dim), draws=20)


def check_constructor(outputs: OutputSet) -> None:
    """scikit-learn can clone the set, pickle can copy it, and using it changes no parameter."""
    params = outputs.get_params(deep=False)
    for copied in (clone(outputs), pickle.loads(pickle.dumps(outputs))):
        assert type(copied) is type(outputs)
        assert repr(copied.get_params(deep=False)) == repr(params)
        assert copied.dim == outputs.dim
        np.testing.assert_array_equal(copied.mean(), outputs.mean())
    outputs.decode(np.ones(outputs.dim))
    assert repr(outputs.get_params(deep=False)) == repr(params)


def rejects(outputs: OutputSet, y: object, *messages: str) -> None:
    """features(y) raises a ValueError that contains each of the messages."""
    with pytest.raises(ValueError, match=re.escape(messages[0])) as caught:
        outputs.features(y)
    for message in messages[1:]:
        assert message in str(caught.value)
