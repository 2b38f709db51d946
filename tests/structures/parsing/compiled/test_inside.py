"""Sums over derivations: against a list of them, at every span."""

from itertools import islice

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from structures.parsing.compiled import cky_twin as twin
from structures.parsing.compiled.filled_charts import each_span, root_weights
from structures.parsing.tree_strategies import parsings
from thorough import examples

from maxmargin.structures.parsing.compiled.cky import chain_score
from maxmargin.structures.parsing.compiled.inside import rule_score
from maxmargin.structures.parsing.derivations import all_derivations
from maxmargin.structures.parsing.summed_charts import SummedCharts

scales = st.sampled_from([1e-8, 0.3, 1.0, 300.0, 1e8])


def filled(drawn, scale):
    """The drawn problem with weights of this scale, and its charts, in memory that another sentence has used."""
    sentence = drawn.sentence._replace(leaf=scale * drawn.sentence.leaf)
    drawn = drawn._replace(w=scale * drawn.w, bonus=scale * drawn.bonus, sentence=sentence)
    charts = SummedCharts(drawn.rules, len(sentence.leaf) + 1)
    for array in (*charts.masses, *charts.shares):
        array[:] = 7.0
    charts.fill(drawn.w, sentence, drawn.bonus)
    return drawn, charts


def listed(drawn):
    """All derivations, their scores with those of roots, their probabilities and log Z."""
    rows = list(all_derivations(drawn.rules, drawn.tags))
    roots = root_weights(drawn)
    scores = np.array(
        [
            twin.score(each, drawn.w, drawn.sentence, drawn.bonus, drawn.rules) + roots[twin.top(each[0], drawn.rules)]
            for each in rows
        ]
    )
    masses = np.exp(scores - scores.max())
    return rows, masses / masses.sum(), scores.max() + np.log(masses.sum())


@examples(16, 40)
@given(parsings(), scales)
def test_masses_are_sums_over_all_derivations(drawn, scale):
    drawn, charts = filled(drawn, scale)
    n = len(drawn.sentence.leaf)
    assert charts.log_z == pytest.approx(listed(drawn)[2], rel=1e-12, abs=1e-12)
    for i, j, c in each_span(n):
        for s in range(len(drawn.rules.label)):
            below = list(islice(twin.below(s, i, j, drawn.tags, drawn.rules), 301))
            assume(len(below) <= 300)  # as many as there are of the whole sentence
            scores = [twin.score(rows, drawn.w, drawn.sentence, drawn.bonus, drawn.rules) for rows in below]
            expected = np.logaddexp.reduce(scores) if scores else -np.inf
            assert charts.masses.above[c, s] == pytest.approx(expected, rel=1e-12, abs=1e-12)


@examples(16, 40)
@given(parsings(), scales)
def test_shares_entropy_and_expected_features(drawn, scale):
    drawn, charts = filled(drawn, scale)
    n, rules = len(drawn.sentence.leaf), drawn.rules
    rows, p, _ = listed(drawn)
    total = np.ones(len(drawn.w))
    entropy = charts.spread(-2.0, total)
    near = 1e-9 + 1e-14 * scale * n
    assert entropy == pytest.approx(-np.dot(p[p > 0], np.log(p[p > 0])), abs=near * 30)
    expected, labels = np.ones(len(drawn.w)), np.zeros((n * (n + 1) // 2, charts.n_labels))
    words = np.zeros((n, len(rules.label)))
    for each, share in zip(rows, p, strict=True):
        np.add.at(expected, twin.counted(each, drawn.sentence, rules), -2.0 * share)
        for label, i, j in twin.brackets(each, rules):
            labels[twin.cell(i, j, n), label] += share
        for row in each[each[:, 1] < 0]:
            words[row[2], row[3]] += share
    np.testing.assert_allclose(total, expected, atol=100 * near)
    np.testing.assert_allclose(charts.shares.labels[: len(labels)], labels, atol=near)
    np.testing.assert_allclose(charts.word_shares(), words, atol=near)


@examples(6, 15)
@given(parsings(), st.sampled_from([0.3, 1e8]))
def test_derivations_are_drawn_with_their_probability(drawn, scale):
    drawn, charts = filled(drawn, scale)
    rows, p, _ = listed(drawn)
    numbers = {each.tobytes(): k for k, each in enumerate(rows)}
    rng, counts, n = np.random.default_rng(0), np.zeros(len(rows)), 300
    for _ in range(n):
        counts[numbers[charts.drawn(rng).tobytes()]] += 1  # it is a derivation
    assert (np.abs(counts / n - p) <= 6 * np.sqrt(p * (1 - p) / n) + 6 / n).all()


@examples(5, 10)
@given(parsings())
def test_scores_of_rules_and_chains(drawn):
    """Those that shares are made of: the score of a row, in two parts."""
    n, rules = len(drawn.sentence.leaf), drawn.rules
    for row in drawn.truth:
        c = twin.cell(row[2], row[4], n)
        score = 0.0
        if row[1] >= 0:
            score += rule_score(drawn.w, c, row[1], drawn.sentence.places, drawn.bonus, rules)
            score += sum(drawn.w[at + row[1]] for at in drawn.sentence.splits[row[3]])
        else:
            score += drawn.sentence.leaf[row[2], row[3]]
        if row[0] >= 0:
            score += chain_score(drawn.w, c, row[0], drawn.sentence.places, drawn.bonus, rules)
        assert score == twin.score([row], drawn.w, drawn.sentence, drawn.bonus, rules)


@settings(max_examples=5)
@given(parsings())
def test_without_a_derivation_there_is_no_mass(drawn):
    nothing = drawn.sentence._replace(leaf=np.full_like(drawn.sentence.leaf, -np.inf))
    assert filled(drawn._replace(sentence=nothing), 1.0)[1].log_z == -np.inf
