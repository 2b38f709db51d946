"""Losses for JAX: values and gradients, also under jit and vmap."""

import numpy as np
import pytest
from enumerated_spaces import SEARCHED_ONLY, SPACES

jax = pytest.importorskip("jax", reason="losses for JAX need jax (the extra `jax`)")

import jax.numpy as jnp  # noqa: E402

from maxmargin import neural, tasks  # noqa: E402
from maxmargin.jax import chain_decode, chain_loss, structured_loss  # noqa: E402

OBJECTIVES = [
    neural.Hinge(),
    neural.Hinge("slack"),
    neural.SoftmaxMargin(2.0),
    neural.Likelihood(),
    neural.Perturbed(0.5, 3),
    neural.SPOPlus(),
]


@pytest.fixture(autouse=True)
def _double_precision():
    with jax.enable_x64(True):
        yield


def as_jax(scores):
    return jax.tree.map(jnp.asarray, scores)


@pytest.mark.parametrize("objective", OBJECTIVES, ids=str)
@pytest.mark.parametrize("name", SPACES)
def test_values_and_gradients_of_every_structure(name, objective):
    if name in SEARCHED_ONLY and isinstance(objective, neural.SoftmaxMargin | neural.Likelihood):
        pytest.skip("these structures do not sum over outputs")
    listed = SPACES[name](np.random.default_rng(11))

    def loss(scores):
        return structured_loss(listed.space, scores, objective)

    value, slopes = jax.jit(jax.value_and_grad(loss))(as_jax(listed.scores))
    expected = neural.loss(listed.space, listed.scores, objective)
    assert float(value) == pytest.approx(expected.values.sum())
    for one, other in zip(jax.tree.leaves(slopes), jax.tree.leaves(expected.gradient), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-9)


def chains(dtype=jnp.float64):
    rng = np.random.default_rng(0)
    unary, *links = (jnp.asarray(rng.standard_normal(shape), dtype) for shape in ((3, 5, 4), (4, 4), 4, 4))
    labels = np.where(np.arange(5) < np.array([[5], [2], [0]]), rng.integers(0, 4, (3, 5)), -100)
    return tasks.ChainScores(unary, *links), jnp.asarray(labels)


@pytest.mark.parametrize("objective", ["hinge", "likelihood", "softmax_margin"])
def test_gradients_of_chains_are_those_of_differences(objective):
    scores, labels = chains()
    slopes = jax.grad(chain_loss)(scores, labels, objective)
    direction = jax.tree.map(lambda each: jnp.asarray(np.random.default_rng(1).standard_normal(each.shape)), scores)
    high, low = (
        chain_loss(jax.tree.map(lambda a, b, step=step: a + step * b, scores, direction), labels, objective)
        for step in (1e-6, -1e-6)
    )
    along = sum(float(jnp.vdot(a, b)) for a, b in zip(slopes, direction, strict=True))
    assert float(high - low) / 2e-6 == pytest.approx(along, abs=1e-5)


def test_chains_under_jit_and_vmap():
    scores, labels = chains()
    several = scores._replace(unary=jnp.stack([scores.unary, 2 * scores.unary]))

    def loss(unary):
        return chain_loss(scores._replace(unary=unary), labels, "likelihood")

    alone = [jax.value_and_grad(loss)(unary) for unary in several.unary]
    values, slopes = jax.jit(jax.vmap(jax.value_and_grad(loss)))(several.unary)
    for k, (value, slope) in enumerate(alone):
        assert float(values[k]) == pytest.approx(float(value))
        np.testing.assert_allclose(slopes[k], slope)
    found = jax.jit(chain_decode)(scores, labels != -100)
    assert (np.asarray(found)[np.asarray(labels) == -100] == -100).all()
    space = tasks.PaddedChains(np.asarray(labels) != -100, 4)
    np.testing.assert_array_equal(found, space.best(tasks.ChainScores(*map(np.array, scores))).found)


def test_labels_may_be_traced():
    scores, labels = chains()
    compiled = jax.jit(lambda labels: chain_loss(scores, labels))
    for own in (labels, jnp.where(labels == 1, 2, labels)):
        assert float(compiled(own)) == pytest.approx(float(chain_loss(scores, own)))


def test_single_precision():
    scores, labels = chains(jnp.float32)
    value, slopes = jax.value_and_grad(chain_loss)(scores, labels, "likelihood")
    assert value.dtype == jnp.float32
    assert slopes.unary.dtype == jnp.float32
