"""GrammarBatch: packed sentences with their true derivations, and the searches and sums that training asks for."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.base.rounding import UNIT, gamma
from maxmargin.problem.contract.batch import Batch
from maxmargin.problem.contract.capabilities.rescaled_search import RescaledSearch
from maxmargin.problem.contract.capabilities.smooth import Smooth
from maxmargin.problem.contract.tangents import Softness, Tangents
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.planes.atoms import Atoms
from maxmargin.problem.planes.planes import Planes
from maxmargin.structures.parsing.compiled.kinds import HAMMING
from maxmargin.structures.parsing.joint_features import JointFeatures
from maxmargin.structures.parsing.losses import Loss
from maxmargin.structures.parsing.scored import ParseExample, ScoredTrees
from maxmargin.structures.parsing.summed_charts import SummedCharts


class GrammarBatch(Batch, RescaledSearch, Smooth):
    """Sentences of one data set with their true trees; all batches that `take` makes share the data."""

    call_cost = 300.0

    def __init__(self, task: Any, examples: list[ParseExample], atoms: Atoms):
        super().__init__(task, len(examples))
        self.examples, self.atoms = examples, atoms
        self.features: JointFeatures = task.features_

    def scored(self) -> ScoredTrees:
        """Return these sentences with their truths, ready to be scored and searched."""
        examples = [self.examples[i] for i in self.ids.tolist()]
        return ScoredTrees(self.features, self.atoms, examples, self.task.on_failure)

    @property
    def plane_atoms(self) -> Atoms:
        return self.atoms

    def planes(self, w: Array, augment: float | Array = 1.0) -> Planes:
        scored = self.scored()
        return scored.planes_of(scored.best(scored.scores(w), augment).found)

    def rescaled_planes(self, w: Array, formulation: Formulation) -> Planes:
        """Return the planes of the z with the highest formulation.value(Δ, ⟨w, δΨ⟩), exactly."""
        scored = self.scored()
        return scored.planes_of(scored.most_violated(scored.scores(w), formulation.value))

    def add_tangents(self, w: Array, weights: Array, softness: Softness, total: Array) -> Tangents:
        """Sum over all trees by the kernels of compiled/inside.py, at b times the scores."""
        b, reader, scored, scaled = softness.sharpness, self.features.reader, self.scored(), softness.sharpness * w
        scores, charts = scored.scores(scaled), SummedCharts(self.features.rules, max(scored.lengths, default=1))
        slacks, size, largest = np.empty(len(self)), np.empty((len(self), 3)), self.atoms.largest(w)
        truths = scored.truths or []
        for j, sentence in enumerate(scored.sentences(scores)):
            example, (truth, used, loss), price = scored.examples[j], truths[j], 0.0
            bonus = np.ascontiguousarray(scored.brackets(scores, j))
            if softness.margin:
                price = softness.margin * self._bracket_price(loss)
                bonus = truth.bonus(bonus, b * price)
            log_z = charts.fill(scores.productions, sentence, bonus)
            slacks[j] = (log_z - scored.score(scores, j, truth, used)) / b + price * loss.n_true
            charts.spread(-weights[j], total)
            np.add.at(total, used, weights[j])
            if reader.first_atom(example.sentence) >= 0:
                of_words = -weights[j] * charts.word_shares()[:, reader.tag_symbols]
                words, tags = truth.words.T
                of_words[words, reader.tag_numbers[tags]] += weights[j]
                self.atoms.add_units(total, example.units, of_words)
            size[j] = self._sizes(example, sentence, largest, (loss.n_true, price), b)
        errors, lengths, steps = size.T
        additions = sum(len(true.derivation.rows) ** 3 for true in truths)
        most = float(np.max(steps + 4 * b * errors / UNIT, initial=0.0))
        return Tangents(slacks, errors, float(np.dot(weights, lengths)), most + additions)

    def _bracket_price(self, loss: Loss) -> float:
        """Return the loss of a missed or wrong bracket."""
        if loss.kind != HAMMING:
            raise ValueError(
                "the loss in a smooth objective must be a sum over brackets, as with measure='hamming'; "
                f"with measure={self.task.measure!r} use objective='likelihood', which has no loss"
            )
        return float(loss.scale)

    def _sizes(
        self, example: ParseExample, scored: Any, largest: float, n_true_and_price: tuple[int, float], b: float
    ) -> tuple[float, float, float]:
        """Bound the rounding error of a slack and ‖Ψ(x, y)‖ + ‖Ψ(x, z)‖, and count the numbers that are added.

        A derivation has 2n - 1 nodes and some productions, each of which counts a few weights. The error at a node is
        the sum of the errors at its children, the error of its own scores, and the errors of a few operations with the
        scores of all nodes below it.
        """
        n, rules, (n_true, price) = len(scored.leaf), self.features.rules, n_true_and_price
        nodes, n_places, n_splits = 2 * n - 1, scored.places.shape[1], scored.splits.shape[1]
        productions = n - 1 + nodes * self.features.grammar.longest_chain
        scores = (productions * n_places + n * (n_splits + 1) + 1) * largest + price * (productions + n_true)
        terms = 4.0 * (n + len(rules.parent) + len(rules.top) + len(rules.roots) + 8)
        steps = self.atoms.terms + (1 + self.features.grammar.longest_chain) * (n_places + 1) + nodes * (n_splits + 8)
        error = 2 * gamma(steps) * (scores + nodes * np.log(n * terms) / b) + gamma(nodes * terms) / b
        of_words = float(self.atoms.lengths[example.units].sum()) if self.atoms.n_units else 0.0
        length = np.sqrt(productions**2 * n_places + n**2 * n_splits + 1) + of_words
        return error, 2 * length, nodes * terms
