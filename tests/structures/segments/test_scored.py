"""Score space of segments: against enumeration, with ties, at all scales; planes and predictions go through it."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import whole
from thorough import examples

from maxmargin.problem.contract.scored import inner
from maxmargin.structures.segments import segment_space
from maxmargin.tasks import SegmentScores, SegmentSpace, SemiMarkov
from maxmargin.testing import check_scored

X = [[["a"], ["b"], ["a", "c"]], [["b"]], [["c"], ["c"]]]
Y = [[(0, 2, "P")], [], [(0, 1, "Q"), (1, 2, "P")]]


def listed(length, m, longest):
    """All segmentations of so many tokens, as lists of spans."""
    if length == 0:
        return [[]]
    found = [[*rest] for rest in listed(length - 1, m, longest)]
    for size in range(1, min(length, longest) + 1):
        for rest in listed(length - size, m, longest):
            found += [[*rest, (length - size, length, k)] for k in range(m)]
    return found


def score(spans, scores, first, length):
    """The definition, piece by piece."""
    labels, total, t = [], 0.0, 0
    for begin, end, k in [*spans, (length, length, None)]:
        for x in range(t, begin):
            labels.append(0)
            total += scores.tokens[first + x, 0]
        if k is None:
            break
        own = scores.tokens[first + begin : first + end]
        total += own[:, 1 + 3 * k].sum() + own[0, 2 + 3 * k] + own[-1, 3 + 3 * k] + scores.lengths[end - begin - 1, k]
        labels.append(k + 1)
        t = end
    return (
        total
        + scores.start[labels[0]]
        + scores.end[labels[-1]]
        + sum(scores.transitions[a, b] for a, b in pairwise(labels))
    )


def loss(truth, found, measure):
    g, q, m = len(truth), len(found), len(set(truth) & set(found))
    if measure == "segments":
        return g + q - 2 * m
    return 1 - 2 * m / (g + q) if g + q else 0.0


@examples(30, 200)
@given(
    st.data(),
    st.integers(1, 2),
    st.integers(1, 3),
    st.sampled_from(["segments", "f1"]),
    st.integers(-6, 6),
    st.sampled_from([0.0, 1.0, 0.5, 3.0]),
)
def test_best_of_a_space_without_features_is_that_of_all_segmentations(data, m, longest, measure, power, augment):
    lengths = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    n, K, scale = sum(lengths), m + 1, 10.0**power
    shapes = (n, 1 + 3 * m), (longest, m), (0, m), (K, K), (K,), (K,)
    scores = SegmentScores(*(scale * data.draw(whole(shape)) for shape in shapes))
    truth = [data.draw(st.sampled_from(listed(length, m, longest))) for length in lengths]
    space = SegmentSpace.of_lengths(lengths, m, longest, truth, measure)
    best = space.best(scores, augment)
    losses = space.losses(best.found)
    for j, length in enumerate(lengths):
        first = int(space.bounds[j])
        values = [
            score(z, scores, first, length) + augment * loss(truth[j], z, measure) for z in listed(length, m, longest)
        ]
        assert best.values[j] == pytest.approx(max(values), rel=1e-12, abs=1e-12)
        found = space.names.named(best.found[first : first + length])
        assert losses[j] == pytest.approx(loss(truth[j], found, measure))
        own = inner(space.indicator(best.found, np.eye(len(lengths))[j]), scores)
        assert own == pytest.approx(score(found, scores, first, length), rel=1e-12, abs=1e-12)
    assert space.losses(space.truth).tolist() == [0.0] * len(lengths)
    bare = SegmentSpace.of_lengths([0, *lengths, 0], m, longest)
    np.testing.assert_array_equal(bare.best(scores).values[1:-1], space.best(scores).values)
    sums = bare.sums(scores)
    for j, length in enumerate(lengths):
        each = [score(z, scores, int(space.bounds[j]), length) for z in listed(length, m, longest)]
        assert sums.log_partitions[j + 1] == pytest.approx(np.logaddexp.reduce(each), rel=1e-12, abs=1e-12)


def test_many_sequences_are_searched_some_at_a_time(monkeypatch):
    rng = np.random.default_rng(0)
    lengths = [3, 0, 5, 2, 4, 0]
    scores = SegmentScores(*(rng.standard_normal(shape) for shape in ((14, 7), (3, 2), (0, 2), (3, 3), 3, 3)))
    space = SegmentSpace.of_lengths(lengths, 2, 3)
    whole_ = space.best(scores)
    monkeypatch.setattr(segment_space, "AT_ONCE", 10)
    parts = space.best(scores)
    np.testing.assert_array_equal(parts.found, whole_.found)
    np.testing.assert_array_equal(parts.values, whole_.values)
    assert SegmentSpace.of_lengths([], 2, 3).best(scores._replace(tokens=np.zeros((0, 7)))).values.tolist() == []


@pytest.mark.parametrize(
    ("what", "message"),
    [
        (lambda: SegmentSpace.of_lengths([1, 0], 1, 1, [[], []]), "has no true segmentation"),
        (lambda: SegmentSpace.of_lengths([2], 1, 1, [[(0, 2, 0)]]), "has 2 tokens, more than max_length=1"),
        (lambda: SegmentSpace.of_lengths([2], 1, 1).losses(np.zeros(2, dtype=np.int32)), "need true outputs"),
    ],
)
def test_what_does_not_fit_is_refused(what, message):
    with pytest.raises(ValueError, match=message):
        what()


def described(tokens, begin, end):
    return {f"size={end - begin}": 1.0, f"first={tokens[begin][0]}": 0.5}


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"measure": "segments"},
        {"measure": "segments", "costs": {"P": 2.0}},
        {"measure": "f1"},
        {"segment_features": described},
        {"segment_features": described, "measure": "f1", "max_length": 3},
    ],
)
def test_scored_segments_keep_the_contract(settings):
    check_scored(SemiMarkov(**settings), X, Y)


def test_batches_and_predictions_go_through_score_space():
    task = SemiMarkov(measure="f1")
    batch = task.setup_and_pack(X, Y)
    w = np.random.default_rng(0).standard_normal(task.dim)
    for index in ([0, 1, 2], [2, 0]):
        scored = batch.take(np.array(index)).scored()
        planes = scored.planes_of(scored.best(scored.scores(w), 1.0).found)
        np.testing.assert_array_equal(planes.dpsi.toarray(), batch.planes(w).dpsi.toarray()[index])
    bare = task.scored([*X, []])
    best = bare.best(bare.scores(w))
    assert task.decode(w, [*X, []]) == [task.names.named(best.found[a:b]) for a, b in pairwise(bare.bounds)]
    np.testing.assert_array_equal(task.scores(w, [*X, []]), best.values)
