import numpy as np
import pytest
from structures.motifs.planted import dna_strings

from maxmargin.structures.motifs.markov import MarkovChain
from maxmargin.structures.motifs.strings import Strings


@pytest.mark.parametrize("order", [0, 1, 2])
def test_a_chain_counts_letters_after_their_contexts(order):
    X = ["ACGTTNACAC", "CCA"]
    chain = MarkovChain(dna_strings(X), 4, order)
    for depth, table in enumerate(chain.chances):
        assert table.shape == (4**depth, 4)
        chances = np.diff(table, axis=1, prepend=0)
        for context in range(4**depth):
            before = "".join("ACGT"[context // 4 ** (depth - 1 - k) % 4] for k in range(depth))
            seen = [sum(x[i : i + depth + 1] == before + a for x in X for i in range(len(x))) for a in "ACGT"]
            assert chances[context] == pytest.approx((np.array(seen) + 0.25) / (sum(seen) + 1))


def test_drawn_strings_look_like_those_of_the_chain():
    source = ["ACACACGTGTGT" * 40]
    chain = MarkovChain(dna_strings(source), 4, 2)
    drawn = chain.draw([2000, 0, 3], np.random.default_rng(0))
    assert [len(each) for each in drawn] == [2000, 0, 3]
    again = MarkovChain(Strings(drawn), 4, 2)
    seen = np.bincount(dna_strings(source).contexts(4, 2), minlength=85)[20:84].reshape(16, 4).sum(axis=1) > 30
    assert seen.sum() > 4
    assert np.abs(chain.chances[2] - again.chances[2])[seen].max() < 0.1
    assert chain.draw([], np.random.default_rng(0)) == []


def test_chains_of_order_0_know_frequencies_only():
    drawn = MarkovChain(dna_strings(["A" * 30 + "C" * 10]), 4, 0).draw([4000], np.random.default_rng(1))
    assert np.bincount(drawn[0], minlength=4) / 4000 == pytest.approx([0.75, 0.25, 0, 0], abs=0.03)
