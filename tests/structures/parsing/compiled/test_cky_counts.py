import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from structures.parsing.compiled import cky_twin as twin
from structures.parsing.compiled.filled_charts import NOTHING, around, each_span, root_weights
from structures.parsing.tree_strategies import parsings
from thorough import examples

from maxmargin.structures.parsing.compiled import cky_counts
from maxmargin.structures.parsing.derivations import Derivation, all_derivations

KINDS = {"brackets": cky_counts.BRACKETS, "hamming": cky_counts.HAMMING, "zero_one": cky_counts.ZERO_ONE}
every_kind = pytest.mark.parametrize("kind", KINDS)


def new_fronts(n_cells, n_symbols, room, capacity):
    def line():
        entries = np.full((n_symbols, room, 7), 77, dtype=np.int32)
        return entries, np.full((n_symbols, room), 1e6), np.full(n_symbols, 77, dtype=np.int32)

    table = (np.full((n_cells, n_symbols), 77, dtype=np.int32) for _ in range(2))
    return cky_counts.Fronts(np.full((capacity, 7), 77, dtype=np.int32), np.ones(capacity), *table, *line(), *line())


def filled(drawn, kind, least=NOTHING, room=200, capacity=20_000):
    """Whether the memory was enough, the fronts, and the outside scores."""
    chart, outer, outer_below = around(drawn)
    fronts = new_fronts(*outer.shape, room, capacity)
    truth = Derivation(drawn.truth, drawn.rules).by_span(drawn.bonus.shape[1])
    scores = np.ones(len(drawn.rules.parent))
    done = cky_counts.fill_fronts(
        drawn.w, kind, drawn.sentence, drawn.bonus, drawn.rules, truth,
        chart.above, outer, outer_below, least, scores, fronts,
    )  # fmt: skip
    return done, fronts, outer


def entries_of(fronts, c, s):
    """(m, q, score) of every entry."""
    own = range(fronts.first[c, s], fronts.first[c, s] + fronts.size[c, s])
    return [(int(fronts.entry[x, 0]), int(fronts.entry[x, 1]), float(fronts.score[x])) for x in own]


def score_of(rows, drawn):
    return twin.score(rows, drawn.w, drawn.sentence, drawn.bonus, drawn.rules)


@every_kind
@examples(15, 40)
@given(drawn=parsings())
def test_fronts_are_those_of_all_derivations(kind, drawn):
    done, fronts, outer = filled(drawn, KINDS[kind])
    assert done
    n = len(drawn.sentence.leaf)
    for i, j, c in each_span(n):
        for s in range(len(drawn.rules.label)):
            expected = set()
            if outer[c, s] > NOTHING:  # others are in no derivation of the sentence
                every = twin.below(s, i, j, drawn.tags, drawn.rules)
                expected = twin.front(
                    (*twin.count(kind, rows, drawn.truth, drawn.rules), score_of(rows, drawn)) for rows in every
                )
            found = entries_of(fronts, c, s)
            assert set(found) == expected
            assert len(found) == len(expected)
    known = {rows.tobytes() for rows in all_derivations(drawn.rules, drawn.tags)}
    for s in drawn.rules.roots:
        for x, entry in enumerate(entries_of(fronts, twin.cell(0, n, n), s), fronts.first[twin.cell(0, n, n), s]):
            rows = traced(x, n, fronts)
            assert rows.tobytes() in known
            assert twin.top(rows[0], drawn.rules) == s
            assert entry == (*twin.count(kind, rows, drawn.truth, drawn.rules), score_of(rows, drawn))


@every_kind
@examples(15, 40)
@given(drawn=parsings(), below=st.integers(0, 8))
def test_what_cannot_reach_a_score_is_dropped(kind, drawn, below):
    rules, n, roots = drawn.rules, len(drawn.sentence.leaf), root_weights(drawn)
    totals = {rows.tobytes(): (rows, score_of(rows, drawn)) for rows in all_derivations(rules, drawn.tags)}
    least = max(score + roots[twin.top(rows[0], rules)] for rows, score in totals.values()) - below
    _, fronts, _ = filled(drawn, KINDS[kind], least)
    whole = twin.cell(0, n, n)
    for s, weight in roots.items():
        own = [(rows, score) for rows, score in totals.values() if twin.top(rows[0], rules) == s]
        every = twin.front((*twin.count(kind, rows, drawn.truth, rules), score) for rows, score in own)
        assert set(entries_of(fronts, whole, s)) == {entry for entry in every if entry[2] + weight >= least}


def traced(x, n, fronts):
    rows = np.full((2 * n - 1, 5), 99, dtype=np.int32)
    cky_counts.trace_entry(x, n, fronts, np.empty((n + 1, 3), dtype=np.int32), rows)
    return rows


@given(parsings(), st.integers(1, 6))
def test_k_best(drawn, k):
    done, fronts, outer = filled(drawn, cky_counts.K_BEST, room=k)
    assert done
    n = len(drawn.sentence.leaf)
    for i, j, c in each_span(n):
        for s in range(len(drawn.rules.label)):
            scores = []
            if outer[c, s] > NOTHING:
                scores = [score_of(rows, drawn) for rows in twin.below(s, i, j, drawn.tags, drawn.rules)]
            found = entries_of(fronts, c, s)
            assert [score for _, _, score in found] == sorted(scores, reverse=True)[:k]
    for s in drawn.rules.roots:
        c = twin.cell(0, n, n)
        rows = [traced(x, n, fronts) for x in range(fronts.first[c, s], fronts.first[c, s] + fronts.size[c, s])]
        assert len({each.tobytes() for each in rows}) == len(rows)
        assert [score_of(each, drawn) for each in rows] == [score for _, _, score in entries_of(fronts, c, s)]


@given(parsings(forbidden=0.2))
def test_forbidden_rules_are_never_used(drawn):
    """With weights of -inf no entry has the score -inf, even if there are fewer than k entries."""
    done, fronts, outer = filled(drawn, cky_counts.K_BEST, room=50)
    assert done
    for i, j, c in each_span(len(drawn.sentence.leaf)):
        for s in range(len(drawn.rules.label)):
            scores = [score_of(rows, drawn) for rows in twin.below(s, i, j, drawn.tags, drawn.rules)]
            expected = [score for score in scores if score > NOTHING] if outer[c, s] > NOTHING else []
            assert [e[2] for e in entries_of(fronts, c, s)] == sorted(expected, reverse=True)[:50]


@every_kind
@examples(6, 15)
@given(drawn=parsings())
def test_too_little_room_is_reported(kind, drawn):
    """The result is never a smaller front."""
    _, whole, _ = filled(drawn, KINDS[kind])
    entries = int(whole.size.sum())
    for capacity in {0, 1, entries - 1, entries}:
        assert filled(drawn, KINDS[kind], capacity=capacity)[0] == (capacity >= entries)
    largest = int(whole.size.max())
    if largest > 1:
        assert not filled(drawn, KINDS[kind], room=largest - 1)[0]


@examples(33, 100)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(-3, 3)), max_size=12), st.integers(1, 12))
def test_offers_make_a_front(offers, room):
    fronts = new_fronts(1, 2, room, 1)
    entry, score, size = fronts.below, fronts.below_score, fronts.below_size
    size[:] = 0, 1
    largest = 0
    for x, (m, q, value) in enumerate(offers):
        expected = twin.front((m, q, float(value)) for m, q, value in offers[: x + 1])
        largest = max(largest, len(expected))
        new = cky_counts.Entry(m, q, -1, 5, 6, 7, 8)
        accepted = cky_counts.offer(cky_counts.BRACKETS, entry, score, size, 0, float(value), new)
        assert accepted == (largest <= room)
        if not accepted:
            return
        found = [(int(entry[0, y, 0]), int(entry[0, y, 1]), float(score[0, y])) for y in range(size[0])]
        assert set(found) == expected
        assert len(found) == len(expected)
        assert (entry[0, : size[0], 2:] == [-1, 5, 6, 7, 8]).all()
    assert (entry[1] == 77).all()
    assert size[1] == 1


@given(st.lists(st.integers(-3, 3), max_size=9), st.integers(1, 6))
def test_offers_of_the_k_best(values, k):
    fronts = new_fronts(1, 1, k, 1)
    fronts.below_size[0] = 0
    for x, value in enumerate(values):
        better = cky_counts.full_of_better(fronts, 0, float(value))
        assert better == (x >= k and sorted(values[:x])[-k] >= value)
        front, new = (fronts.below, fronts.below_score, fronts.below_size), cky_counts.Entry(0, 0, -1, x, 0, 0, 0)
        assert cky_counts.offer(cky_counts.K_BEST, *front, 0, float(value), new)
        size = fronts.below_size[0]
        assert fronts.below_score[0, :size].tolist() == sorted(values[: x + 1], reverse=True)[:k]
        assert [values[rule] for rule in fronts.below[0, :size, 3]] == fronts.below_score[0, :size].tolist()
        assert len(set(fronts.below[0, :size, 3].tolist())) == size
