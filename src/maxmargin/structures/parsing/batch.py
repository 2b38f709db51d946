"""GrammarBatch: packed sentences with their true derivations, and the searches and sums that training asks for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.base.arrays import Array
from maxmargin.base.rounding import UNIT, gamma
from maxmargin.problem.contract.batch import Batch
from maxmargin.problem.contract.capabilities.rescaled_search import RescaledSearch
from maxmargin.problem.contract.capabilities.smooth import Smooth
from maxmargin.problem.contract.tangents import Softness, Tangents
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.planes.atoms import AtomRows, Atoms
from maxmargin.problem.planes.planes import Planes
from maxmargin.structures.parsing.charts import Charts, Violation, losses
from maxmargin.structures.parsing.compiled.kinds import HAMMING
from maxmargin.structures.parsing.joint_features import JointFeatures
from maxmargin.structures.parsing.productions import Rows
from maxmargin.structures.parsing.sentences import ReadSentence
from maxmargin.structures.parsing.summed_charts import SummedCharts

Find = Callable[[Charts, list[Any]], list[Any]]  # a search in charts for something in every scored sentence of a batch


class ParseExample(NamedTuple):
    """A sentence and, if its tree is known, what training needs of it."""

    sentence: ReadSentence
    token_numbers: NDArray[np.int64]  # as SpanFeatures numbers the tokens of the sentence
    truth: Any = None  # a Derivation
    true_atoms: Any = None  # that the true derivation counts
    loss: Any = None  # a Loss

    @property
    def units(self) -> NDArray[np.int64]:
        """The numbers of its words among the units of the atoms."""
        first = self.sentence.first_unit
        return np.arange(first, first + len(self.sentence.words))

    def true_score(self, w: Array, scored: Any, first: int) -> float:
        """⟨w, Ψ(x, y)⟩; the weights of words begin at `first`."""
        words = self.truth.words
        return float(w[self.true_atoms[self.true_atoms < first]].sum() + scored.leaf[words[:, 0], words[:, 1]].sum())


class GrammarBatch(Batch, RescaledSearch, Smooth):
    """Sentences of one data set, which all parts of a batch share."""

    call_cost = 300.0

    def __init__(self, task: Any, examples: list[ParseExample], atoms: Atoms):
        super().__init__(task, len(examples))
        self.examples, self.atoms = examples, atoms
        self.features: JointFeatures = task.features_

    def example(self, j: int) -> ParseExample:
        """The example at position j of this batch."""
        return self.examples[self.ids[j]]

    def searched(self, w: Array, find: Find) -> list[tuple[ParseExample, Any, Any]]:
        """Every example of this batch, its sentence scored by w, and what the search finds in it.

        All sentences are scored before the first is searched, because taking turns is slower for short sentences.
        """
        sentences, charts = self.scored(w), Charts(self.features.rules, self.longest)
        found = find(charts, sentences)
        return [(self.example(j), *each) for j, each in enumerate(zip(sentences, found, strict=True))]

    def scored(self, w: Array) -> list[Any]:
        """The sentences of this batch, scored by w, as compiled.cky.Sentence."""
        examples = [self.example(j) for j in range(len(self))]
        return [self.features.scored(w, self.atoms, each.sentence, each.token_numbers) for each in examples]

    @property
    def longest(self) -> int:
        """The number of words of its longest sentence."""
        return max((len(self.example(j).sentence.words) for j in range(len(self))), default=1)

    @property
    def plane_atoms(self) -> Atoms:
        return self.atoms

    def planes(self, w: Array, augment: float | Array = 1.0) -> Planes:
        """One plane per example, from z = argmax λΔ(y, z) + ⟨w, Ψ(x, z)⟩ with λ = augment (a number, or one each)."""
        return self._planes(w, self.loss_augmented(w, self.loss_weights(augment)))

    def rescaled_planes(self, w: Array, formulation: Formulation) -> Planes:
        """Planes of the z with the highest formulation.value(Δ, ⟨w, δΨ⟩), exactly."""

        def find(charts: Charts, sentences: list[Any]) -> list[Rows]:
            return [self._most_violated(w, charts, scored, j, formulation.value) for j, scored in enumerate(sentences)]

        return self._planes(w, find)

    def loss_augmented(self, w: Array, lam: Array) -> Find:
        """The search for argmax λΔ + ⟨w, Ψ⟩.

        A Hamming loss is a sum over brackets, so that it can be added to the scores; other losses need counts.
        """

        def bonus(charts: Charts, j: int) -> Array | None:
            example = self.example(j)
            return example.truth.bonus(charts.n_labels, lam[j] * example.loss.scale) if lam[j] else None

        def one(charts: Charts, scored: Any, j: int) -> Rows | None:
            if lam[j] == 0:
                return charts.best(w, scored)[0]
            return self._most_violated(w, charts, scored, j, lambda loss, margin: lam[j] * loss - margin)

        def find(charts: Charts, sentences: list[Any]) -> list[Rows | None]:
            if all(lam[j] == 0 or self.example(j).loss.kind == HAMMING for j in range(len(self))):
                found = charts.best_of_all(w, sentences, [bonus(charts, j) for j in range(len(self))])
                return [rows for rows, _ in found]
            return [one(charts, scored, j) for j, scored in enumerate(sentences)]

        return find

    def add_tangents(self, w: Array, weights: Array, softness: Softness, total: Array) -> Tangents:
        """By the sums of compiled/inside.py, at b times the scores."""
        b, reader, charts = softness.sharpness, self.features.reader, SummedCharts(self.features.rules, self.longest)
        scaled, slacks, size = b * w, np.empty(len(self)), np.empty((len(self), 3))
        largest = self.atoms.largest(w)
        for j, scored in enumerate(self.scored(scaled)):
            example, bonus, price = self.example(j), None, 0.0
            if softness.margin:
                price = softness.margin * self._bracket_price(example)
                bonus = example.truth.bonus(charts.n_labels, b * price)
            log_z = charts.fill(scaled, scored, bonus)
            true_score = example.true_score(scaled, scored, reader.first_)
            slacks[j] = (log_z - true_score) / b + price * example.loss.n_true
            charts.spread(-weights[j], total)
            np.add.at(total, example.true_atoms[example.true_atoms < reader.first_], weights[j])
            if reader.first_atom(example.sentence) >= 0:
                of_words = -weights[j] * charts.word_shares()[:, reader.tag_symbols]
                words, tags = example.truth.words.T
                of_words[words, reader.tag_numbers[tags]] += weights[j]
                self.atoms.add_units(total, example.units, of_words)
            size[j] = self._sizes(example, scored, largest, price, b)
        errors, lengths, steps = size.T
        additions = sum(len(self.example(j).truth.rows) ** 3 for j in range(len(self)))
        most = float(np.max(steps + 4 * b * errors / UNIT, initial=0.0))
        return Tangents(slacks, errors, float(np.dot(weights, lengths)), most + additions)

    def _bracket_price(self, example: ParseExample) -> float:
        """What a missed or wrong bracket costs."""
        if example.loss.kind != HAMMING:
            raise ValueError(
                "the loss in a smooth objective must be a sum over brackets, as with measure='hamming'; "
                f"with measure={self.task.measure!r} use objective='likelihood', which has no loss"
            )
        return float(example.loss.scale)

    def _sizes(
        self, example: ParseExample, scored: Any, largest: float, price: float, b: float
    ) -> tuple[float, float, float]:
        """How far rounding may shift a slack, a bound on ‖Ψ(x, y)‖ + ‖Ψ(x, z)‖, and how many numbers are added up.

        A derivation has 2n - 1 nodes and some productions, each counted at some places, in a block of weights each. To
        what the sums of its children are off by, a node adds what its own scores are off by, and a few operations with
        the scores of all below it. A sum has so many terms, and log Z is that of so many derivations.
        """
        n, rules = len(scored.leaf), self.features.rules
        nodes, n_places, n_splits = 2 * n - 1, scored.places.shape[1], scored.splits.shape[1]
        productions = n - 1 + nodes * self.features.longest_chain
        scores = (productions * n_places + n * (n_splits + 1) + 1) * largest + price * (
            productions + example.loss.n_true
        )
        terms = 4.0 * (n + len(rules.parent) + len(rules.top) + len(rules.roots) + 8)
        steps = self.atoms.terms + (1 + self.features.longest_chain) * (n_places + 1) + nodes * (n_splits + 8)
        error = 2 * gamma(steps) * (scores + nodes * np.log(n * terms) / b) + gamma(nodes * terms) / b
        of_words = float(self.atoms.lengths[example.units].sum()) if self.atoms.n_units else 0.0
        length = np.sqrt(productions**2 * n_places + n**2 * n_splits + 1) + of_words
        return error, 2 * length, nodes * terms

    def _most_violated(self, w: Array, charts: Charts, scored: Any, j: int, violation: Violation) -> Rows:
        """The derivation of example j with the highest violation(loss, margin)."""
        example = self.example(j)
        true_score = example.true_score(w, scored, self.features.reader.first_)
        return charts.most_violated(w, scored, example.truth, example.loss, true_score, violation)

    def _planes(self, w: Array, find: Find) -> Planes:
        """The planes of the derivations that a search finds."""
        searched, features = self.searched(w, find), self.features
        true_atoms = [example.true_atoms for example, _, _ in searched]
        found_atoms = [features.counted_atoms(rows, scored, example.sentence) for example, scored, rows in searched]
        examples, found = [example for example, _, _ in searched], [rows for _, _, rows in searched]
        loss = losses([each.truth for each in examples], [each.loss for each in examples], found, features.rules)
        return Planes(atom_rows(true_atoms, found_atoms, self.atoms), np.array(loss))


def atom_rows(plus: list[NDArray[np.int64]], minus: list[NDArray[np.int64]], atoms: Atoms) -> AtomRows:
    """One row per example: +1 for every atom in `plus`, -1 for every atom in `minus`; those in both cancel out."""
    parts = plus + minus
    row_numbers = np.concatenate([np.full(len(part), j % len(plus)) for j, part in enumerate(parts)])
    signs = np.repeat([1.0, -1.0], [sum(map(len, plus)), sum(map(len, minus))])
    rows = sparse.csr_array((signs, (row_numbers, np.concatenate(parts))), shape=(len(plus), atoms.count))
    rows.sum_duplicates()
    rows.eliminate_zeros()
    return AtomRows(atoms, rows.indptr.astype(np.int32), rows.indices.astype(np.int32), rows.data)
