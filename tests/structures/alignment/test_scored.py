"""Score space of alignments: against enumeration, with ties, at all scales; planes and predictions go through it."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import whole
from structures.alignment.compiled import alignment_twin as twin
from thorough import examples

from maxmargin.problem.contract.scored import inner
from maxmargin.structures.alignment.alignment_space import MODES, with_totals
from maxmargin.tasks import Alignment, AlignmentScores, AlignmentSpace
from maxmargin.testing import check_scored

X = [("AB", "BA"), ("ABB", "AB"), ("A", "BAB")]
Y = [("AB-", "-BA"), ("ABB", "A-B"), ("-A-", "BAB")]


def listed(n, m):
    for k in range(min(n, m) + 1):
        for rows in combinations(range(n), k):
            for columns in combinations(range(m), k):
                yield np.array([rows, columns], dtype=np.int64).T


@examples(30, 200)
@given(
    st.data(),
    st.lists(st.tuples(st.integers(1, 3), st.integers(1, 3)), min_size=1, max_size=2),
    st.sampled_from(MODES),
    st.integers(0, 1),
    st.integers(-6, 6),
    st.sampled_from([0.0, 1.0, 0.5, 3.0]),
)
def test_best_of_a_space_without_features_is_that_of_all_alignments(data, lengths, mode, max_shift, power, augment):
    scale = 10.0**power
    scores = [
        AlignmentScores(*(scale * data.draw(whole(shape)) for shape in ((n, m), (4, n + 1), (4, m + 1))))
        for n, m in lengths
    ]
    truth = [data.draw(st.sampled_from([z for z in listed(n, m) if len(z)])) for n, m in lengths]
    space = AlignmentSpace.of_lengths(lengths, mode, truth, max_shift)
    best, sums = space.best(scores, augment), space.sums(scores)
    losses = space.losses(best.found)
    for k, (n, m) in enumerate(lengths):
        alone, own = AlignmentSpace.of_lengths([(n, m)], mode, [truth[k]], max_shift), scores[k]
        outputs = list(listed(n, m))
        each = np.array([inner(alone.indicator([z]), [own]) for z in outputs])
        values = each + augment * np.array([alone.losses([z])[0] for z in outputs])
        assert best.values[k] == pytest.approx(values.max(), rel=1e-12, abs=1e-12 * scale)
        found = inner(space.indicator(best.found, np.eye(len(lengths))[k]), scores)
        assert best.values[k] == pytest.approx(found + augment * losses[k], rel=1e-12, abs=1e-12 * scale)
        tables = with_totals(own.of_a), with_totals(own.of_b)
        highest = twin.best(own.pairs, *tables, mode)  # which knows nothing of indicators
        assert each.max() == pytest.approx(highest, rel=1e-12, abs=1e-12 * scale)
        assert sums.log_partitions[k] == pytest.approx(np.logaddexp.reduce(each), rel=1e-9, abs=1e-9)
        expected = each[-1] - np.logaddexp.reduce(each)
        assert alone.sums([own]).log_probabilities([outputs[-1]])[0] == pytest.approx(expected, rel=1e-9, abs=1e-6)
    assert space.losses(space.truth).tolist() == [0.0] * len(lengths)
    bare = AlignmentSpace.of_lengths(lengths, mode).best(scores)
    np.testing.assert_allclose(bare.values, space.best(scores).values, rtol=1e-12)


@pytest.mark.parametrize(
    ("what", "message"),
    [
        (lambda: AlignmentSpace.of_lengths([(1, 1)], "free"), "mode must be one of 'global', 'overlap', 'local'"),
        (lambda: AlignmentSpace.of_lengths([(1, 1)], truth=[[]]), "expected positions"),
        (lambda: AlignmentSpace.of_lengths([(1, 2)], truth=[[(0, 2)]]), "expected positions"),
        (
            lambda: AlignmentSpace.of_lengths([(1, 2)]).best([AlignmentScores.of(np.zeros((2, 2)))]),
            "`pairs` have shape",
        ),
        (lambda: AlignmentSpace.of_lengths([(1, 2)]).best([AlignmentScores.of(np.zeros((1, 2)))], 1.0), "need true"),
    ],
)
def test_what_does_not_fit_is_refused(what, message):
    with pytest.raises(ValueError, match=message):
        what()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "settings",
    [{}, {"gaps": "linear", "max_shift": 1}, {"features": ["simple", "window"]}, {"symmetric": False}],
    ids=str,
)
def test_scored_alignments_keep_the_contract(mode, settings):
    check_scored(Alignment(mode=mode, **settings), X, Y)


def test_the_search_by_shared_rows_is_that_by_all_scores():
    """Training never makes the table of all pairs."""
    task = Alignment()
    batch = task.setup_and_pack(X, Y)
    w = np.random.default_rng(0).standard_normal(task.dim)
    for scored in (batch.scored(), batch.take(np.array([2, 0])).scored(), task.scored(X)):
        for augment in (0.0, 1.0) if scored.truth is not None else (0.0,):
            best, other = scored.best(scored.scores(w), augment), scored.best_at(task.prepared(w), augment)
            np.testing.assert_allclose(best.values, other.values, rtol=1e-14)
            for one, two in zip(best.found, other.found, strict=True):
                np.testing.assert_array_equal(one, two)
