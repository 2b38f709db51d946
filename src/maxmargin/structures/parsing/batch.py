"""GrammarBatch: packed sentences with their true derivations, and the searches that training asks for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.arrays import Array
from maxmargin.atoms import AtomRows, Atoms
from maxmargin.batch import Batch
from maxmargin.objective import Formulation
from maxmargin.planes import Planes
from maxmargin.structures.parsing.charts import Charts, Violation
from maxmargin.structures.parsing.compiled.kinds import HAMMING
from maxmargin.structures.parsing.joint_features import JointFeatures
from maxmargin.structures.parsing.productions import Rows
from maxmargin.structures.parsing.sentences import ReadSentence

Find = Callable[[Charts, Any, int], Any]  # a search: from charts, a scored sentence and its position in the batch


class ParseExample(NamedTuple):
    """A sentence and, if its tree is known, what training needs of it."""

    sentence: ReadSentence
    token_numbers: NDArray[np.int64]  # as SpanFeatures numbers the tokens of the sentence
    truth: Any = None  # a Derivation
    true_atoms: Any = None  # that the true derivation counts
    loss: Any = None  # a Loss

    def true_score(self, w: Array, scored: Any, first: int) -> float:
        """⟨w, Ψ(x, y)⟩; the weights of words begin at `first`."""
        words = self.truth.words
        return float(w[self.true_atoms[self.true_atoms < first]].sum() + scored.leaf[words[:, 0], words[:, 1]].sum())


class GrammarBatch(Batch):
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
        examples = [self.example(j) for j in range(len(self))]
        charts = Charts(self.features.rules, max((len(each.sentence.words) for each in examples), default=1))
        sentences = [self.features.scored(w, self.atoms, each.sentence, each.token_numbers) for each in examples]
        found = [find(charts, scored, j) for j, scored in enumerate(sentences)]
        return list(zip(examples, sentences, found, strict=True))

    def planes(self, w: Array, augment: float | Array = 1.0) -> Planes:
        """One plane per example, from z = argmax λΔ(y, z) + ⟨w, Ψ(x, z)⟩ with λ = augment (a number, or one each)."""
        return self._planes(w, self.loss_augmented(w, self.each(augment)))

    def rescaled_planes(self, w: Array, formulation: Formulation) -> Planes:
        """Planes of the z with the highest formulation.value(Δ, ⟨w, δΨ⟩), exactly."""

        def find(charts: Charts, scored: Any, j: int) -> Rows:
            return self._most_violated(w, charts, scored, j, formulation.value)

        return self._planes(w, find)

    def loss_augmented(self, w: Array, lam: Array) -> Find:
        """The search for argmax λΔ + ⟨w, Ψ⟩.

        A Hamming loss is a sum over brackets, so that it can be added to the scores; other losses need counts.
        """

        def find(charts: Charts, scored: Any, j: int) -> Rows | None:
            example = self.example(j)
            if lam[j] == 0:
                return charts.best(w, scored)[0]
            if example.loss.kind == HAMMING:
                bonus = example.truth.bonus(charts.n_labels, lam[j] * example.loss.scale)
                return charts.best(w, scored, bonus)[0]
            return self._most_violated(w, charts, scored, j, lambda loss, margin: lam[j] * loss - margin)

        return find

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
        losses = [example.truth.loss(example.loss, rows, features.rules) for example, _, rows in searched]
        return Planes(atom_rows(true_atoms, found_atoms, self.atoms), np.array(losses))


def atom_rows(plus: list[NDArray[np.int64]], minus: list[NDArray[np.int64]], atoms: Atoms) -> AtomRows:
    """One row per example: +1 for every atom in `plus`, -1 for every atom in `minus`; those in both cancel out."""
    parts = plus + minus
    row_numbers = np.concatenate([np.full(len(part), j % len(plus)) for j, part in enumerate(parts)])
    signs = np.repeat([1.0, -1.0], [sum(map(len, plus)), sum(map(len, minus))])
    rows = sparse.csr_array((signs, (row_numbers, np.concatenate(parts))), shape=(len(plus), atoms.count))
    rows.sum_duplicates()
    rows.eliminate_zeros()
    return AtomRows(atoms, rows.indptr.astype(np.int32), rows.indices.astype(np.int32), rows.data)
