import numpy as np
import pytest
from proofs import prove_training_is_optimal

from maxmargin.problem.contract.examples import dot
from maxmargin.problem.dual.objective import Formulation
from maxmargin.tasks import Aligned, Alignment, Homologs
from maxmargin.testing import check_task

X = [("AC", ["CA", "A"]), ("CA", ["C", "AC", "CC"]), ("A", ["A", "CA"]), ("C", ["A"])]
Y = [Aligned(1, [(0, 0)]), Aligned(1, [(1, 0)]), Aligned(0, []), Aligned(0, [(0, 0)])]
FORMULATIONS = [Formulation(), Formulation("slack", "l1"), Formulation("margin", "l2"), Formulation("slack", "l2")]


class Rivals(Homologs):
    """What a homolog in its known alignment competes with: all alignments of all other candidates."""

    def setup(self, X, Y):
        super().setup(X, Y)
        self.truths_ = {id(x): y for x, y in zip(X, Y, strict=True)}

    def outputs(self, x):
        y = self.truths_[id(x)]
        return [y, *(z for z in super().outputs(x) if z.candidate != y.candidate)]

    def argmax(self, w, x, y=None):
        if y is None:
            return max(self.outputs(x), key=lambda z: dot(self.psi(x, z), w))
        return super().argmax(w, x, y)

    def decode(self, w, X):
        return [self.argmax(w, x) for x in X]


@pytest.mark.parametrize("mode", ["global", "overlap", "local"])
def test_keeps_the_contract(mode):
    check_task(Rivals(Alignment(mode=mode)), X, Y, trials=2)


def test_local_alignment_is_the_default():
    task = Homologs()
    task.setup(X, Y)
    assert task.alignment_.mode == "local"
    assert task.alignment is None


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=str)
def test_training_is_optimal(formulation):
    prove_training_is_optimal(Rivals(), X, Y, 3.0, formulation)


@pytest.mark.parametrize("mode", ["global", "overlap", "local"])
def test_candidates_are_scored_by_their_best_alignments(mode):
    task = Homologs(Alignment(mode=mode))
    task.setup(X, Y)
    rng = np.random.default_rng(0)
    for _ in range(10):
        w = rng.integers(-2, 3, task.dim).astype(float)
        for x, z, scores in zip(X, task.decode(w, X), task.candidate_scores(w, X), strict=True):
            best = [-np.inf] * len(x[1])
            for other in task.outputs(x):
                best[other.candidate] = max(best[other.candidate], dot(task.psi(x, other), w))
            assert scores.tolist() == best
            assert dot(task.psi(x, z), w) == max(best) == scores[z.candidate]
            assert dot(task.psi(x, task.argmax(w, x)), w) == max(best)


@pytest.mark.parametrize(
    ("inputs", "outputs", "message"),
    [
        ([*X[:3], "AC"], Y, r"example 3 is not a pair \(native sequence, list of candidates\)"),
        ([*X[:3], ("A", "AC")], Y, "example 3 is not a pair"),
        ([*X[:3], ("A", [])], Y, "example 3 has no candidates"),
        (X, [*Y[:3], 0], r"Y\[3\] is int; expected \(number of the homolog, its alignment\)"),
        (X, [*Y[:3], (0, [], 1)], r"Y\[3\] is tuple of 3; expected \(number of the homolog"),
        (X, [*Y[:3], ("A", [])], r"Y\[3\] begins with 'A'; expected a whole number, the number of the homolog"),
        (X, [*Y[:3], (0.5, [])], r"Y\[3\] begins with 0.5; expected a whole number"),
        (X, [*Y[:3], ([(0, 0)], 0)], r"Y\[3\] begins with \[\(0, 0\)\]; expected .* and then its alignment"),
        (X, [*Y[:3], (0, 0)], "the alignment of example 3: got int"),
        (X, [*Y[:3], (1, [])], r"Y\[3\] names candidate 1; example 3 has 1 candidates"),
        (X, [*Y[:3], (0, [(0, 1)])], "the alignment of example 3: pair 0 is"),
        (
            X,
            [*Y[:3], (0, ("C", "C"))],
            "the second row of the alignment of example 3 has 'C' as residue 0, the sequence 'A'",
        ),
    ],
)
def test_bad_input_is_named(inputs, outputs, message):
    with pytest.raises(ValueError, match=message):
        packed(Homologs(), inputs, outputs)


def packed(task, inputs, outputs):
    task.setup(inputs, outputs)
    return task.pack(inputs, outputs)


def test_unknown_letters_are_named_with_the_candidate():
    task = Homologs()
    task.setup(X, Y)
    with pytest.raises(ValueError, match="candidate 1: example 0, second sequence has 'X' at position 1"):
        task.decode(np.zeros(task.dim), [("A", ["C", "AX"])])
