"""Parts of sequences for other places: what they come to is that of the whole's examples, bit for bit."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import maxmargin as mm
from maxmargin.problem.contract.capabilities.latent import Latent
from maxmargin.problem.contract.capabilities.summing_shards import SummingShards
from maxmargin.problem.contract.tangents import Softness
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.oracle.shard_sums import ShardRequest, shard_sum
from maxmargin.problem.planes.plane_sizes import PlaneSizes

KINDS = {
    "plain": {},
    "costs": {"costs": {"A": 2.5, "B": 0.5}},
    "histories": {"order": 2},
    "pairs": {"transition_features": ["odd"]},
    "missing labels": {},
}


def packed(kind, n=40):
    rng = np.random.default_rng(n)
    lengths = rng.integers(1, 9, n)
    X = [[{f"word={int(k)}": 1.0, "odd": float(k % 3)} for k in rng.integers(0, 12, size)] for size in lengths]
    Y = [[str(label) for label in rng.choice(["A", "B", "C"], len(x))] for x in X]
    if kind == "missing labels":
        Y = [[None if rng.random() < 0.3 else label for label in y] for y in Y]
        Y[0][0], Y[1] = "A", ["B"] * len(Y[1])
    return mm.tasks.Chain(**KINDS[kind]).setup_and_pack(X, Y)


BATCHES = {kind: packed(kind) for kind in KINDS}
CHOICES = st.one_of(
    st.tuples(st.integers(0, 39), st.integers(1, 40)).map(lambda ends: np.arange(40)[ends[0] : ends[0] + ends[1]]),
    st.lists(st.integers(0, 39), min_size=1, max_size=9, unique=True).map(np.array),
)
FORMULATIONS = [Formulation(*each) for each in (("margin", "l1"), ("margin", "l2"), ("slack", "l1"))]


def equal(one, other):
    """Of numbers, arrays, and tuples and lists of these."""
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(equal, one, other))
    return one is other or np.array_equal(one, other)


@pytest.mark.parametrize("kind", KINDS)
@given(CHOICES, st.integers(0, 2**32 - 1))
def test_a_part_finds_what_the_whole_does(kind, index, seed):
    batch, rng = BATCHES[kind], np.random.default_rng(seed)
    w = rng.standard_normal(batch.dim)
    part, taken = pickle.loads(pickle.dumps(batch.offers(SummingShards).summing_shard(index))), batch.take(index)
    assert np.array_equal(part.ids, taken.ids)
    if batch.offers(Latent) is not None:
        part, taken = part.completed(w), taken.completed(w)
        w = rng.standard_normal(batch.dim)
    found, expected = part.planes(w, 0.7), taken.planes(w, 0.7)
    assert np.array_equal(found.loss, expected.loss)
    assert np.array_equal(found.dpsi.toarray(), expected.dpsi.toarray())
    for formulation in FORMULATIONS:
        lam = None if formulation.plain else np.ones(len(index))
        request = ShardRequest(rng.random(len(index)), PlaneSizes(), lam, True)
        here, there = (shard_sum(each, request, w, formulation) for each in (taken, part))
        assert equal(here[:-1], there[:-1])
        assert 0 <= there.unsure <= here.unsure  # of its own features, which may be smaller
    totals = [np.zeros(batch.dim) for _ in range(2)]
    softness, weights = Softness(2.0, 1.0), rng.random(len(index))
    sums = [each.add_tangents(w, weights, softness, total) for each, total in zip((taken, part), totals, strict=True)]
    assert np.array_equal(*totals)
    assert np.array_equal(sums[0].slacks, sums[1].slacks)


@pytest.mark.parametrize("kind", KINDS)
def test_a_part_takes_along_its_own_examples_alone(kind):
    batch = packed(kind, 4000)
    size = len(pickle.dumps(batch)) - 16 * 4000  # but for the numbers of examples and where they begin
    for index in np.array_split(np.arange(4000), 8):
        assert len(pickle.dumps(batch.offers(SummingShards).summing_shard(index))) - 9 * 4000 < size / 6


def test_parts_of_kernels_and_folders_are_not_cut(tmp_path):
    X, Y = [np.array([[1.0, 2.0], [0.5, 1.0]])] * 4, [["A", "B"]] * 4
    assert mm.tasks.Chain(kernel="rbf").setup_and_pack(X, Y).offers(SummingShards) is None
    X = [[{"a": 1.0}, {"b": 1.0}]] * 4
    folder = mm.pack(zip(X, Y, strict=True), tmp_path / "packed", "sequences")
    assert mm.tasks.Chain().setup_and_pack(folder, folder).offers(SummingShards) is None
