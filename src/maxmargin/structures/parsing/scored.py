"""ScoredTrees: sentences with features, scored by the weights of a Grammar task."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.base.arrays import Array
from maxmargin.problem.contract.scored import need_truth
from maxmargin.problem.planes.atoms import AtomRows, Atoms
from maxmargin.problem.planes.planes import Planes
from maxmargin.structures.parsing.joint_features import JointFeatures
from maxmargin.structures.parsing.productions import Rows
from maxmargin.structures.parsing.sentences import ReadSentence, tree_of_sentence
from maxmargin.structures.parsing.span_features import Places
from maxmargin.structures.parsing.tree_space import TreeScores, TreeSpace, TrueTree, Unparseable, used_atoms
from maxmargin.structures.parsing.trees import Tree


class ParseExample(NamedTuple):
    """A sentence and, if its tree is known, the data of the tree for training."""

    sentence: ReadSentence
    token_numbers: NDArray[np.int64]  # as SpanFeatures numbers the tokens of the sentence
    true: TrueTree | None = None  # the true tree, if it is known
    true_atoms: Any = None  # the atoms that the true derivation counts

    @property
    def units(self) -> NDArray[np.int64]:
        """The numbers of its words among the units of the atoms."""
        first = self.sentence.first_unit
        return np.arange(first, first + len(self.sentence.words))


class ScoredTrees(TreeSpace):
    """A TreeSpace whose scores come from features and weights. Brackets have no features: their scores are 0.

    Parameters
    ----------
    features : JointFeatures
        The position of every feature in w, and the grammar.
    atoms : Atoms
        The coordinates of w, and the features of all words.
    examples : list of ParseExample
        The sentences, all of them with their true trees or all without.
    on_failure : "error" or "flat"
        The treatment of a sentence that has no derivation, by `failed`.
    """

    def __init__(self, features: JointFeatures, atoms: Atoms, examples: Sequence[ParseExample], on_failure: str):
        known = [example.true for example in examples if example.true is not None]
        lengths = [len(example.sentence.words) for example in examples]
        super().__init__(features.grammar, lengths, known if len(known) == len(examples) else None)
        self.features, self.atoms, self.examples, self.on_failure = features, atoms, examples, on_failure

    @property
    def n_anchored(self) -> int:
        """The number of values of span features, each of which has a weight for every production."""
        return self.features.n_anchored

    def places(self, j: int) -> tuple[Places, Places]:
        """Return where the weights of the features of every span, and of every split, begin."""
        return self.features.spans.places(self.examples[j].token_numbers)

    def scores(self, w: Array) -> TreeScores:
        """Return the scores of productions, roots, brackets and tags at the weights w."""
        reader, sentences = self.features.reader, [example.sentence for example in self.examples]
        brackets = np.broadcast_to(0.0, (self.spans[-1], self.grammar.n_labels))  # without memory for each
        return TreeScores(w[: reader.first_], brackets, reader.tag_scores(w, self.atoms, sentences))

    def planes_of(self, found: Sequence[Rows]) -> Planes:
        """Return Ψ(x, y) - Ψ(x, z) and Δ(y, z) of these derivations."""
        need_truth(self.truths)
        true_atoms = [example.true_atoms for example in self.examples]
        found_atoms = [self.counted_atoms(j, rows) for j, rows in enumerate(found)]
        return Planes(atom_rows(true_atoms, found_atoms, self.atoms), self.losses(found))

    def counted_atoms(self, j: int, rows: Rows) -> NDArray[np.int64]:
        """Return the atoms that a derivation of sentence j counts; one that it counts twice is there twice."""
        first_atom = self.features.reader.first_atom(self.examples[j].sentence)
        atoms: NDArray[np.int64] = used_atoms(rows, self.all_places[j], self.grammar, first_atom)
        return atoms

    def derivation(self, j: int, y: Any) -> Rows:
        """Return the derivation of a tree of sentence j; raise an error if its words or tags are others."""
        tree = tree_of_sentence(y, j)
        self.features.reader.check_tree(self.examples[j].sentence, tree, j)
        return self.grammar.productions.derivation(tree, f"the tree of sentence {j}")

    def with_truth(self, j: int, y: Any, measure: str, f1_words: int) -> ParseExample:
        """Return sentence j with its true tree."""
        rows, reader, example = self.derivation(j, y), self.features.reader, self.examples[j]
        atoms = used_atoms(rows, self.places(j), self.grammar, reader.first_atom(example.sentence))
        true = self.true_tree(rows, atoms[atoms < reader.first_], measure, f1_words)
        return example._replace(true=true, true_atoms=atoms)

    def tree(self, j: int, rows: Rows) -> Tree:
        """Return the tree of a derivation of sentence j."""
        return self.grammar.productions.tree(rows, self.examples[j].sentence.words)

    def failed(self, j: int, scores: TreeScores) -> Tree:
        """Return a tree for sentence j, which has no derivation: all words below one node, or raise Unparseable."""
        sentence, productions = self.examples[j].sentence, self.grammar.productions
        tags = scores.tags[self.words[j] : self.words[j + 1]]
        if self.on_failure == "error":
            unknown = np.flatnonzero(np.isneginf(tags).all(axis=1))
            reason = "the grammar has no tree for its tags"
            if len(unknown):
                reason = f"the tag of word {unknown[0]}, {sentence.tokens[unknown[0]]!r}, is not in the grammar"
            raise Unparseable(f"sentence {j}: {reason}; on_failure='flat' puts all its words below one node instead")
        symbols, roots = list(productions.symbols), productions.roots.most_common()
        label = next((symbols[s].name for s, _ in roots if symbols[s].kind == "label"), "ROOT")
        best = self.features.reader.best_tags(sentence, tags)
        return Tree(label, [Tree(tag, [word]) for tag, word in zip(best, sentence.words, strict=True)])


def atom_rows(plus: list[NDArray[np.int64]], minus: list[NDArray[np.int64]], atoms: Atoms) -> AtomRows:
    """Return one row per example: +1 for every atom in `plus`, -1 for every atom in `minus`, which cancel out."""
    parts = plus + minus
    row_numbers = np.concatenate([np.full(len(part), j % len(plus)) for j, part in enumerate(parts)])
    signs = np.repeat([1.0, -1.0], [sum(map(len, plus)), sum(map(len, minus))])
    rows = sparse.csr_array((signs, (row_numbers, np.concatenate(parts))), shape=(len(plus), atoms.count))
    rows.sum_duplicates()
    rows.eliminate_zeros()
    return AtomRows(atoms, rows.indptr.astype(np.int32), rows.indices.astype(np.int32), rows.data)
