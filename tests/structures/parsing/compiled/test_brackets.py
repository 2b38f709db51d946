"""Brackets of derivations, against sets of labelled spans."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from structures.parsing.tree_strategies import grammars
from thorough import examples

from maxmargin.structures.parsing.compiled.brackets import count_brackets
from maxmargin.structures.parsing.compiled.kinds import BRACKETS, HAMMING, ZERO_ONE
from maxmargin.structures.parsing.derivations import Derivation
from maxmargin.structures.parsing.losses import Loss, losses

pytestmark = pytest.mark.filterwarnings("ignore::maxmargin.errors.LossReplaced")  # which f1_words is drawn to cause


def spans(derivation):
    return set(zip(derivation.cells[derivation.brackets].tolist(), derivation.bracket_labels.tolist(), strict=True))


@examples(20, 60)
@given(grammars(), st.data())
def test_brackets_are_counted_once(problem, data):
    task, X, Y = problem
    rules, batch = task.features_.rules, task.pack(X, Y)
    truths = [each.true.derivation for each in batch.examples]
    found = []
    for x in X:
        trees = list(task.outputs(x))
        tree = trees[data.draw(st.integers(0, len(trees) - 1))]
        found.append(task.pack([x], [tree]).examples[0].true.derivation.rows)
    sets = [(spans(truth), spans(Derivation(rows, rules))) for truth, rows in zip(truths, found, strict=True)]
    expected = [(len(true), len(own), len(true & own)) for true, own in sets]
    longest = max(truth.n for truth in truths)
    table = np.full((longest * (longest + 1) // 2, int(rules.label.max(initial=-1)) + 1), 9, dtype=np.uint8)
    counts, ends = np.zeros((len(X), 3), dtype=np.int64), np.cumsum([len(rows) for rows in found])
    count_brackets(np.concatenate([truth.rows for truth in truths]), np.concatenate(found), ends, rules, table, counts)
    assert [tuple(row) for row in counts.tolist()] == expected
    for kind in (HAMMING, BRACKETS, ZERO_ONE):
        each = [Loss(kind, len(true)) for true, _ in sets]
        values = losses(truths, each, found, rules)
        for value, loss, truth, rows, (true, own) in zip(values, each, truths, found, sets, strict=True):
            if kind == ZERO_ONE:
                assert value == float(not np.array_equal(truth.rows, rows))
            elif kind == HAMMING:
                assert value == float(loss.of(0, len(true ^ own)))
            else:
                assert value == float(loss.of(len(true & own), len(own)))
        assert values == [losses([t], [o], [r], rules)[0] for t, o, r in zip(truths, each, found, strict=True)]
