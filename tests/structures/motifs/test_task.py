import numpy as np
import pytest
from hypothesis import given
from structures.motifs.compiled import motif_twin as twin
from structures.motifs.listed_motif import listed, truths
from structures.motifs.motif_strategies import motif_problems

from maxmargin.problem.contract.examples import dot
from maxmargin.structures.motifs.task import ABSENT, Motif, Occurrence


@given(motif_problems())
def test_features_are_those_of_the_paper(problem):
    task, X, _, _ = problem
    for x in X:
        windows = twin.windows(x, task.length, task.alphabet)
        outputs = task.outputs(x)
        strands = (1, -1)[: task.strands]
        assert outputs == [ABSENT, *(Occurrence(True, h, s) for h in windows for s in strands)]
        for z in outputs:
            found = np.zeros(task.dim)
            np.add.at(found, *task.psi(x, z))
            wanted = np.zeros(task.dim)
            for name, count in twin.features(x, z, task.length, task.background_order, task.alphabet).items():
                wanted[twin.coordinate(name, task.length, task.alphabet)] += count
            assert np.array_equal(found, wanted)


@given(motif_problems())
def test_one_example_equals_enumeration(problem):
    task, X, Y, w = problem
    plain = listed(problem)
    for x, y in zip(X, Y, strict=True):
        for label in (None, y):
            values = [
                dot(task.psi(x, z), w) + (0 if label is None else task.loss(y, z))
                for z in (task.argmax(w, x, label), plain.argmax(w, x, label))
            ]
            assert values[0] == values[1]
        z = task.complete(w, x, y)
        assert task.loss(y, z) == 0
        assert dot(task.psi(x, z), w) == dot(task.psi(x, plain.complete(w, x, y)), w)
        assert task.loss(y, task.guess(np.random.default_rng(0), x, y)) == 0


def test_guesses_are_uniform():
    task = Motif(2, None, 2, unknown="skip")
    x = "ACGNNACG"  # four windows, two strands
    task.setup([x], [True])
    batch = task.pack([x] * 4000, [True] * 4000)
    for counted in (truths(batch), [task.guess(np.random.default_rng(i), x, True) for i in range(4000)]):
        starts = np.bincount([z.start - 0 for z in counted], minlength=8)
        assert set(np.flatnonzero(starts)) == {0, 1, 5, 6}
        assert starts[[0, 1, 5, 6]].min() > 850
        assert 1800 < sum(z.strand == 1 for z in counted) < 2200


@given(motif_problems())
def test_decoding_many_equals_one_by_one(problem):
    task, X, _, w = problem
    for x, z in zip(X, task.decode(w, X), strict=True):
        best = max(dot(task.psi(x, other), w) for other in task.outputs(x))
        assert dot(task.psi(x, z), w) == best
        gains = task.gains(w, x)
        absent = dot(task.psi(x, ABSENT), w)
        for h in range(gains.shape[1]):
            for s, strand in enumerate((1, -1)[: task.strands]):
                output = Occurrence(True, h, strand)
                wanted = dot(task.psi(x, output), w) - absent if output in task.outputs(x) else -np.inf
                assert gains[s, h] == wanted


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"length": 0}, "length must be a whole number >= 1, got 0"),
        ({"length": -3}, "length must be a whole number >= 1, got -3"),
        ({"length": 2.5}, "length must be a whole number >= 1, got 2.5"),
        ({"length": True}, "length must be a whole number >= 1, got True"),
        (
            {"background_order": -1},
            r"order must be a whole number >= 0 \(or None for no background\), got -1",
        ),
        ({"background_order": "3"}, "background_order must be a whole number >= 0"),
        ({"background_order": 12}, "weights, more than 10000000; use a lower order"),
        ({"strands": 3}, "strands must be 1 or 2, got 3"),
        ({"strands": True}, "strands must be 1 or 2, got True"),
        ({"alphabet": "ACDEFGHIKLMNPQRSTVWY"}, "strands=2 needs letters that have complements.* use strands=1"),
        ({"alphabet": "AACG"}, "has 'A' twice"),
        ({"unknown": "drop"}, "unknown must be 'error' or 'skip', got 'drop'"),
    ],
)
def test_options_that_make_no_sense(options, message):
    with pytest.raises(ValueError, match=message):
        Motif(**{"length": 3, **options}).setup(["ACGT"], [True])


@pytest.mark.parametrize(
    ("X", "Y", "unknown", "message"),
    [
        (
            ["ACGT", "AC"],
            [True, False],
            "error",
            "sequence 1 has 2 letters; expected 3 or more, the length of the motif",
        ),
        (["ACGT", ""], [True, False], "error", "sequence 1 is empty; expected 3 or more"),
        (["ACGT", "ACNGT"], [True, False], "error", "sequence 1 has 'N' at position 2"),
        (["ACGT", "ACNGT"], [True, False], "skip", "sequence 1 has 5 letters but no 3 consecutive known ones"),
        (["ACGT", 7], [True, False], "error", "sequence 1 is 7; expected a string"),
        (["ACGT", "ACGT"], [True, "no"], "error", "the label of sequence 1 is 'no'; expected True"),
        (["ACGT", "ACGT"], [True, 0], "error", "the label of sequence 1 is 0; expected True"),
        (["ACGT"], [True, False], "error", "X has 1 strings but there are 2 labels"),
    ],
)
def test_data_that_make_no_sense(X, Y, unknown, message):
    task = Motif(3, unknown=unknown)
    task.setup(X, Y)
    with pytest.raises(ValueError, match=message):
        task.pack(X, Y)


@pytest.mark.parametrize("start", [-1, 2, 9])
def test_features_of_windows_that_are_none(start):
    task = Motif(3)
    task.setup(["ACGT"], [True])
    with pytest.raises(ValueError, match="no motif of length 3 can begin at"):
        task.psi("ACGT", Occurrence(True, start, 1))
