import numpy as np
import pytest
from hypothesis import given
from structures.motifs.motif_strategies import motif_problems
from structures.motifs.planted import COMPLEMENTS, MOTIF, planted
from thorough import examples

from maxmargin.structures.motifs.task import Motif
from maxmargin.structures.motifs.words import WordSearch, first_motif


def read(task, w):
    """The best letters of a motif."""
    return "".join(task.alphabet[k] for k in w[: task.length * 4].reshape(task.length, 4).argmax(axis=1))


@pytest.mark.parametrize("seed", range(3))
def test_finds_a_planted_motif(seed):
    X, y, _ = planted(seed=seed)
    task = Motif(len(MOTIF))
    task.setup(X, y)
    batch = task.pack(X, list(y == "with"))
    strings = task, batch.data, batch.positive, batch.negative
    w = first_motif(*strings, np.random.default_rng(0))
    assert any(MOTIF[2:-2] in text for text in (read(task, w), read(task, w)[::-1].translate(COMPLEMENTS)))
    assert not w[4 * len(MOTIF) :].any()
    assert np.array_equal(w, first_motif(*strings, np.random.default_rng(0)))


@examples(12, 30)
@given(motif_problems())
def test_counted_letters_are_those_of_the_moved_windows(problem):
    task, X, Y, w = problem
    batch = task.pack(X, Y)
    if not any(Y):
        return
    search = WordSearch(task, batch.data, batch.positive, batch.negative, np.random.default_rng(0))
    windows = task.best_windows(w, batch.data, search.positive).windows
    for step in (-2, 0, 1):
        counts = np.zeros((task.length, len(task.alphabet)))
        for i, start, strand in zip(search.positive, *windows, strict=True):
            h = int(start - batch.data.strings.begins[i]) + (step if strand == 0 else -step)
            h = min(max(h, 0), len(X[i]) - task.length)
            for j in range(task.length):
                letter = X[i][h + j]
                if letter not in task.alphabet:
                    continue
                if strand == 0:
                    counts[j, task.alphabet.index(letter)] += 1
                else:
                    counts[task.length - 1 - j, task.alphabet.index(letter.translate(COMPLEMENTS))] += 1
        counts += search.frequencies
        wanted = np.log(counts / counts.sum(axis=1, keepdims=True) / search.frequencies)
        assert search.counted(windows, step)[: counts.size] == pytest.approx(wanted.ravel())


def test_refinement_never_tells_worse():
    X, y, _ = planted(seed=7, kept=0.7)
    task = Motif(len(MOTIF))
    task.setup(X, y)
    batch = task.pack(X, list(y == "with"))
    search = WordSearch(task, batch.data, batch.positive, batch.negative, np.random.default_rng(0))
    for place in search.random_windows(20):
        value, w = search.word(int(place))
        better, refined = search.refined(value, w)
        assert better >= value
        assert better == pytest.approx(search.value(refined)[0])


@examples(8, 20)
@given(motif_problems())
def test_any_strings_have_a_first_motif(problem):
    """With one class only, one string only, unknown letters, short ones."""
    task, X, Y, _ = problem
    after = task.pack(X, Y).guessed(np.random.default_rng(0))
    assert ((after.windows.starts >= 0) == np.array(Y)).all()
