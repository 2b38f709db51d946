import numpy as np
import pytest
from hypothesis import given
from structures.parsing.compiled import cky_twin as twin
from structures.parsing.compiled.filled_charts import NOTHING, around, each_span, inside, root_weights
from structures.parsing.tree_strategies import parsings
from thorough import examples

from maxmargin.structures.parsing.compiled import cky
from maxmargin.structures.parsing.derivations import all_derivations


def test_cells_are_numbered_by_begin_and_end():
    for n in range(1, 7):
        assert [cky.cell(i, j, n) for i, j, _ in each_span(n)] == list(range(n * (n + 1) // 2))


def assert_best_of_all_derivations(drawn):
    chart = inside(drawn)
    n, rules = len(drawn.sentence.leaf), drawn.rules
    for i, j, c in each_span(n):
        for s in range(len(rules.label)):
            scores = [
                twin.score(rows, drawn.w, drawn.sentence, drawn.bonus, rules)
                for rows in twin.below(s, i, j, drawn.tags, rules)
            ]
            assert chart.above[c, s] == max(scores, default=NOTHING)


@given(parsings())
def test_best_derivation(drawn):
    chart = inside(drawn)
    n, rules, roots = len(drawn.sentence.leaf), drawn.rules, root_weights(drawn)
    known = {rows.tobytes(): rows for rows in all_derivations(rules, drawn.tags)}
    scores = {
        key: twin.score(rows, drawn.w, drawn.sentence, drawn.bonus, rules) + roots[twin.top(rows[0], rules)]
        for key, rows in known.items()
    }
    root, score = cky.best_root(drawn.w, n, rules, chart.above)
    assert score == max(scores.values())
    rows = np.full((2 * n - 1, 5), 99, dtype=np.int32)
    cky.trace(rules.roots[root], n, rules, chart, np.empty((n + 1, 3), dtype=np.int32), rows)
    assert scores[rows.tobytes()] == score  # it is a derivation, and has the score


@examples(5, 10)
@given(parsings())
def test_without_a_derivation_there_is_no_root(drawn):
    n, nothing = len(drawn.sentence.leaf), drawn.sentence._replace(leaf=np.full_like(drawn.sentence.leaf, NOTHING))
    chart = inside(drawn._replace(sentence=nothing))
    assert (chart.above[: n * (n + 1) // 2] == NOTHING).all()
    assert cky.best_root(drawn.w, n, drawn.rules, chart.above) == (-1, NOTHING)


def assert_best_through_every_item(drawn):
    chart, outer, outer_below = around(drawn)
    n, rules, roots = len(drawn.sentence.leaf), drawn.rules, root_weights(drawn)
    through, through_below = np.full_like(outer, NOTHING), np.full_like(outer, NOTHING)
    for rows in all_derivations(rules, drawn.tags):
        score = twin.score(rows, drawn.w, drawn.sentence, drawn.bonus, rules) + roots[twin.top(rows[0], rules)]
        for row in rows:
            c = twin.cell(row[2], row[4], n)
            for best, symbol in ((through, twin.top(row, rules)), (through_below, twin.bottom(row, rules))):
                best[c, symbol] = max(best[c, symbol], score)
    below = np.full_like(outer, NOTHING)
    for i, j, c in each_span(n):
        for s in range(len(rules.label)):
            for rows in twin.below(s, i, j, drawn.tags, rules):
                if rows[0, 0] < 0:  # no unary rules: the symbol stands below
                    score = twin.score(rows, drawn.w, drawn.sentence, drawn.bonus, rules)
                    below[c, s] = max(below[c, s], score)
    np.testing.assert_array_equal(chart.above + outer, through)
    np.testing.assert_array_equal(below + outer_below, through_below)


@examples(20, 60)
@given(parsings())
def test_inside_is_the_best_of_all_derivations(drawn):
    assert_best_of_all_derivations(drawn)


@examples(20, 60)
@given(parsings())
def test_inside_and_outside_make_the_best_derivation_through_an_item(drawn):
    assert_best_through_every_item(drawn)


@given(parsings(forbidden=0.2))
def test_forbidden_rules_are_never_used(drawn):
    """Weights of -inf, as a PCFG has them for rules that it has never seen."""
    assert_best_of_all_derivations(drawn)
    assert_best_through_every_item(drawn)


@pytest.mark.parametrize("first_atom", [-1, 1000])
@examples(10, 25)
@given(drawn=parsings())
def test_atoms_of_a_derivation(first_atom, drawn):
    rules, symbols = drawn.rules, list(drawn.productions.tags.values())
    numbers = np.full(len(rules.label), -1, dtype=np.int32)
    numbers[symbols] = np.arange(len(symbols))
    atoms = np.empty(500, dtype=np.int64)
    for rows in all_derivations(rules, drawn.tags):
        count = cky.derivation_atoms(rows, *drawn.sentence[1:], rules, numbers, len(symbols), first_atom, atoms)
        expected = twin.counted(rows, drawn.sentence, rules)
        if first_atom >= 0:
            words = rows[rows[:, 1] < 0]
            expected += [1000 + i * len(symbols) + symbols.index(tag) for i, tag in words[:, [2, 3]].tolist()]
        assert sorted(atoms[:count].tolist()) == sorted(expected)
