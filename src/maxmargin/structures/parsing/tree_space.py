"""TreeSpace: parse trees, searched by the scores of productions, roots, brackets and tags."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.problem.contract.score_capabilities import SoftOutputs
from maxmargin.problem.contract.scored import BestOutputs, need_truth
from maxmargin.structures.parsing.chart_rules import ChartGrammar
from maxmargin.structures.parsing.charts import Charts, Violation
from maxmargin.structures.parsing.compiled.kinds import HAMMING
from maxmargin.structures.parsing.derivations import Derivation
from maxmargin.structures.parsing.losses import Loss, TreeMeasure, check_measure, losses
from maxmargin.structures.parsing.productions import Productions, Rows
from maxmargin.structures.parsing.sentences import check_length, tree_of_sentence
from maxmargin.structures.parsing.span_features import Places
from maxmargin.structures.parsing.summed_charts import SummedCharts
from maxmargin.structures.parsing.tree_sums import TreeSums
from maxmargin.structures.parsing.trees import Tree


class Unparseable(ValueError):  # noqa: N818 - what happened is the better name
    """The error that a sentence has no derivation in the grammar."""


class TreeScores(NamedTuple):
    """Scores of parse trees, for a grammar with P productions, R roots, L labels of phrases and T tags.

    The score of a tree is the sum of the scores of its root, its productions, its brackets and the tags of its words.
    `TreeSpace.scores_of` makes them, and `TreeSpace.tables` cuts `productions` into tables.

    See Also
    --------
    TreeSpace : The trees that have these scores.

    Examples
    --------
    >>> from maxmargin.tasks import TreeSpace
    >>> space = TreeSpace.of_lengths([2], "S -> N V")
    >>> [each.shape for each in space.scores_of(rules=[1.0])]
    [(2,), (3, 1), (2, 2)]
    """

    productions: Array  # (P + R + rows · P,): scores of productions, of roots, and of productions at certain spans
    brackets: Array  # (spans of all sentences, L): the score of a label at a span
    tags: Array  # (words of all sentences, T): the score of a tag at a word; -inf if it is impossible


class ProductionScores(NamedTuple):
    """The scores of productions and roots, as views of `TreeScores.productions`."""

    rules: Array  # (P,): the score of a production at any span
    roots: Array  # (R,): the score of the root of a tree
    anchored: Array  # (rows, P): the score of a production at the spans or splits that use the row


class TrueTree(NamedTuple):
    """The true tree of a sentence: its derivation, the scores of productions and roots that it uses, and its loss."""

    derivation: Derivation
    used: NDArray[np.int64]  # positions in TreeScores.productions
    loss: Loss


class TreeSpace:
    """The parse trees of n sentences under a grammar, as a score space (`maxmargin.tasks.ScoreSpace`).

    Scores are TreeScores. Found outputs are a list with the derivation of every sentence: an int32 array with a row
    (chain, rule, begin, split, end) for every node, or None if all trees of the sentence have the score -inf. `tree`
    makes the tree of a derivation. The search is exact.

    Spans are ordered by their sentence, then by their first word, then by their last word. Productions, roots, tags and
    labels have the order of `production_names`, `root_names`, `tag_names` and `label_names`.

    Parameters
    ----------
    grammar : ChartGrammar
        The grammar.
    lengths : array of int
        The number of words of every sentence.
    truths : list of TrueTree, or None
        The true trees; None if they are not known.
    anchored : bool
        True: every span has a row of scores of productions of its own.

    See Also
    --------
    maxmargin.tasks.Grammar : The task that makes scores from features and weights.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.tasks import TreeSpace
    >>> space = TreeSpace.of_lengths([3], "S -> N VP | S N\\nVP -> V N | V")
    >>> space.label_names, space.tag_names
    (['S', 'VP'], ['N', 'V'])
    >>> brackets = np.zeros((6, 2))  # the spans 0:1, 0:2, 0:3, 1:2, 1:3, 2:3 with the labels S, VP
    >>> brackets[4, 1] = 1.0
    >>> tags = np.array([[0.0, -np.inf], [-np.inf, 0.0], [0.0, -np.inf]])
    >>> best = space.best(space.scores_of(brackets=brackets, tags=tags))
    >>> print(space.tree(0, best.found[0]), best.values)
    (S (N 0) (VP (V 1) (N 2))) [1.]
    """

    def __init__(
        self,
        grammar: ChartGrammar,
        lengths: Sequence[int],
        truths: Sequence[TrueTree] | None = None,
        anchored: bool = False,
    ):
        self.grammar, self.lengths, self.truths, self.anchored = grammar, list(lengths), truths, anchored
        self.words, self.spans = [0], [0]  # where those of each sentence begin, and the number of all
        for n in self.lengths:
            self.words.append(self.words[-1] + n)
            self.spans.append(self.spans[-1] + n * (n + 1) // 2)

    @classmethod
    def of_lengths(
        cls,
        lengths: Iterable[int],
        rules: str | Iterable[str] | Productions,
        truth: Sequence[Any] | None = None,
        measure: TreeMeasure = "hamming",
        anchored: bool = False,
    ) -> TreeSpace:
        """Make the space of sentences with given numbers of words.

        Parameters
        ----------
        lengths : sequence of int
            The number of words of every sentence, at least 1.
        rules : strings, or Productions
            Rules like "NP -> DT NN | NNP"; the parent of the first rule is the root, and a name that has no rule is a
            tag. Or the `productions_` of a Grammar task that is set up.
        truth : list of trees, or None
            The true tree of every sentence, as `Tree` or in bracket notation; its words do not matter.
        measure : "hamming", "f1" or "zero_one"
            The loss of a wrong tree, as in Grammar.
        anchored : bool
            True: scores have a row with all productions for every span.

        Returns
        -------
        TreeSpace
        """
        check_measure(measure)
        productions = rules if isinstance(rules, Productions) else Productions().read_rules(rules).sort()
        space = cls(ChartGrammar.of(productions), list(lengths), anchored=anchored)
        if min(space.lengths, default=1) < 1:
            raise ValueError(f"a sentence has {min(space.lengths)} words; expected at least 1")
        if truth is not None:
            if len(truth) != len(space):
                raise ValueError(f"there are {len(space)} sentences but {len(truth)} trees")
            space.truths = [
                space.true_tree(rows, space.used(j, rows), measure, f1_words=space.lengths[j])
                for j, rows in enumerate(space.derivation(j, y) for j, y in enumerate(truth))
            ]
        return space

    def __len__(self) -> int:
        return len(self.lengths)

    # --- names and forms

    @property
    def production_names(self) -> list[str]:
        """The productions, as people write them: binary rules, then unary rules."""
        return self.grammar.productions.names()[0]

    @property
    def root_names(self) -> list[str]:
        """The symbols that may be the root of a tree."""
        return self.grammar.productions.names()[1]

    @property
    def tag_names(self) -> list[str]:
        """The tags of words."""
        return list(self.grammar.productions.tags)

    @property
    def label_names(self) -> list[str]:
        """The labels of brackets."""
        return self.grammar.label_names

    @property
    def n_anchored(self) -> int:
        """The number of rows of scores of productions at certain spans or splits."""
        return self.spans[-1] if self.anchored else 0

    def scores_of(
        self, rules: Any = 0.0, roots: Any = 0.0, anchored: Any = 0.0, brackets: Any = 0.0, tags: Any = 0.0
    ) -> TreeScores:
        """Return scores that are made of tables; a table that is not given has the score 0 everywhere.

        Parameters
        ----------
        rules : array (productions,)
            The score of every production, wherever it is used.
        roots : array (roots,)
            The score of every root.
        anchored : array (spans, productions)
            The score of every production at every span, for a space with anchored=True.
        brackets : array (spans, labels)
            The score of every label at every span.
        tags : array (words, tags)
            The score of every tag at every word; -inf where a tag is impossible.

        Returns
        -------
        TreeScores
        """
        scores = TreeScores(*(np.zeros(shape) for shape in self._shapes))
        tables = self.tables(scores)
        given = (rules, roots, anchored, brackets, tags)
        for table, values in zip((*tables, scores.brackets, scores.tags), given, strict=True):
            table[...] = values
        return scores

    def tables(self, scores: TreeScores) -> ProductionScores:
        """Cut the scores of productions, or an indicator, into its tables, which are views."""
        P, first = self.grammar.block, self.grammar.first_anchored
        flat = scores.productions
        return ProductionScores(flat[:P], flat[P:first], flat[first:].reshape(self.n_anchored, P))

    def places(self, j: int) -> tuple[Places, Places]:
        """Return the positions in TreeScores.productions of the blocks of every span, and of every split.

        The score of a production is the sum of its numbers in all blocks of its span and of its split.
        """
        n, span = self.lengths[j], np.arange(self.spans[j], self.spans[j + 1])
        columns = [np.zeros(len(span), dtype=np.int64)]
        if self.anchored:
            columns.append(self.grammar.first_anchored + span * self.grammar.block)
        return np.stack(columns, axis=1), np.zeros((n, 0), dtype=np.int64)

    @cached_property
    def all_places(self) -> list[tuple[Places, Places]]:
        """The places of every sentence."""
        return [self.places(j) for j in range(len(self))]

    def sentences(self, scores: TreeScores) -> list[Any]:
        """Return every sentence with its scores, as compiled.cky.Sentence."""
        from maxmargin.structures.parsing.compiled.cky import Sentence

        leaf = np.full((len(scores.tags), len(self.grammar.rules.label)), -np.inf)
        leaf[:, self.grammar.tag_symbols] = scores.tags
        at = self.words
        return [Sentence(leaf[at[j] : at[j + 1]], *places) for j, places in enumerate(self.all_places)]

    def brackets(self, scores: TreeScores, j: int) -> Array:
        """Return the scores (spans, labels) of the brackets of sentence j."""
        return scores.brackets[self.spans[j] : self.spans[j + 1]]

    # --- derivations and trees

    @property
    def truth(self) -> list[Rows] | None:
        """The true derivations."""
        return None if self.truths is None else [true.derivation.rows for true in self.truths]

    def derivation(self, j: int, y: Any) -> Rows:
        """Return the derivation of a tree of sentence j; raise an error if the grammar has none."""
        tree = tree_of_sentence(y, j)
        check_length(self.lengths[j], tree, j)
        return self.grammar.productions.derivation(tree, f"the tree of sentence {j}")

    def true_tree(self, rows: Rows, used: NDArray[np.int64], measure: str, f1_words: int) -> TrueTree:
        """Return a derivation as a true one; `used` are the positions in TreeScores.productions that it uses."""
        derivation = Derivation(rows, self.grammar.rules)
        return TrueTree(derivation, used, Loss.of_measure(measure, derivation.n, len(derivation.brackets), f1_words))

    def tree(self, j: int, rows: Rows) -> Tree:
        """Return the tree of a derivation of sentence j, whose words are their numbers."""
        return self.grammar.productions.tree(rows, [str(t) for t in range(self.lengths[j])])

    def failed(self, j: int, scores: TreeScores) -> Tree:
        """Raise an Unparseable error, because sentence j has no derivation with a finite score."""
        raise Unparseable(f"sentence {j}: the grammar has no tree with a finite score")

    def used(self, j: int, rows: Rows) -> NDArray[np.int64]:
        """Return the positions in TreeScores.productions that a derivation of sentence j uses."""
        used: NDArray[np.int64] = used_atoms(rows, self.all_places[j], self.grammar)
        return used

    def score(self, scores: TreeScores, j: int, own: Derivation, used: NDArray[np.int64]) -> float:
        """Return the score of a derivation of sentence j that uses these scores of productions."""
        words, symbols = own.words.T
        of_words = scores.tags[self.words[j] + words, self.grammar.tag_numbers[symbols]]
        brackets = self.brackets(scores, j)[own.cells[own.brackets], own.bracket_labels]
        return float(scores.productions[used].sum() + of_words.sum() + brackets.sum())

    # --- the score space

    def best(self, scores: TreeScores, augment: float | Array = 0.0) -> BestOutputs:
        """Return the derivation with the highest score + augment · loss of every sentence."""
        lam, scores = np.full(len(self), augment, dtype=float), self.checked(scores)
        if lam.any():
            need_truth(self.truths)
        sentences, charts, truths = self.sentences(scores), self.charts(), self.truths or []
        # The search depends on the loss of the sentence alone, so that ties do not depend on the other sentences.
        additive = [j for j in range(len(self)) if lam[j] == 0 or truths[j].loss.kind == HAMMING]
        together = charts.best_of_all(
            scores.productions, [sentences[j] for j in additive], [self._bonus(scores, j, lam[j]) for j in additive]
        )
        outputs, values = dict(zip(additive, (rows for rows, _ in together), strict=True)), np.empty(len(self))
        for j, (_, value) in zip(additive, together, strict=True):
            values[j] = value + (lam[j] * (truths[j].loss.scale * truths[j].loss.n_true) if lam[j] else 0.0)
        for j in range(len(self)):
            if j not in outputs:
                outputs[j], score, loss = self._most_violated(scores, charts, sentences[j], j, _augmented(lam[j]))
                values[j] = score + lam[j] * loss
        return BestOutputs([outputs[j] for j in range(len(self))], values)

    def most_violated(self, scores: TreeScores, violation: Violation) -> list[Rows]:
        """Return the derivation with the highest violation(loss, margin) of every sentence, exactly."""
        scores, charts = self.checked(scores), self.charts()
        each = enumerate(self.sentences(scores))
        return [self._most_violated(scores, charts, sentence, j, violation)[0] for j, sentence in each]

    def best_lists(self, scores: TreeScores, n: int) -> list[list[tuple[Rows, float]]]:
        """Return the n derivations with the highest scores of every sentence, best first, with their scores."""
        scores, charts = self.checked(scores), self.charts()
        each = enumerate(self.sentences(scores))
        return [charts.k_best(scores.productions, x, self._bonus(scores, j, 0.0), n) for j, x in each]

    def losses(self, found: Sequence[Rows]) -> Array:
        """Return the loss of every derivation."""
        need_truth(self.truths)
        assert self.truths is not None
        truths, each = [true.derivation for true in self.truths], [true.loss for true in self.truths]
        return np.array(losses(truths, each, found, self.grammar.rules))

    def indicator(self, found: Sequence[Rows | None], weights: Array | None = None) -> TreeScores:
        """Return how often the derivations use each score, in the form of scores."""
        counts = TreeScores(*(np.zeros(shape) for shape in self._shapes))
        for j, rows in enumerate(found):
            if rows is None:
                continue
            weight, own = 1.0 if weights is None else float(weights[j]), Derivation(rows, self.grammar.rules)
            np.add.at(counts.productions, self.used(j, rows), weight)
            np.add.at(self.brackets(counts, j), (own.cells[own.brackets], own.bracket_labels), weight)
            words, symbols = own.words.T
            counts.tags[self.words[j] + words, self.grammar.tag_numbers[symbols]] += weight
        return counts

    def sums(self, scores: TreeScores) -> TreeSums:
        """Return the distributions of the trees of every sentence."""
        return TreeSums(self, self.checked(scores))

    def totals(self, scores: TreeScores, found: Sequence[Rows]) -> Array:
        """Return the score of every derivation."""
        scores, rules = self.checked(scores), self.grammar.rules
        each = [self.score(scores, j, Derivation(rows, rules), self.used(j, rows)) for j, rows in enumerate(found)]
        return np.array(each, dtype=float)

    def soft_best(
        self, scores: TreeScores, augment: float | Array = 0.0, sharpness: float = 1.0, weights: Array | None = None
    ) -> SoftOutputs:
        """Return the smooth maxima over trees, and the expected number of uses of every score."""
        lam, b, values = np.full(len(self), augment, dtype=float), sharpness, np.empty(len(self))
        raised = TreeScores(*(b * each for each in self.checked(scores)))
        counts = TreeScores(*(np.zeros(shape) for shape in self._shapes))
        charts = SummedCharts(self.grammar.rules, max(self.lengths, default=1))
        if lam.any():
            need_truth(self.truths)
        for j, sentence in enumerate(self.sentences(raised)):
            bonus, each = self._bonus(raised, j, self._price(j, b * lam[j])), 1.0 if weights is None else weights[j]
            values[j] = charts.fill(raised.productions, sentence, bonus) / b
            if np.isneginf(values[j]):
                self.failed(j, scores)
            if lam[j] and self.truths is not None:
                values[j] += lam[j] * self.truths[j].loss.scale * self.truths[j].loss.n_true
            charts.spread(float(each), counts.productions)
            self.brackets(counts, j)[...] = each * charts.shares.labels[: len(bonus)]
            words = slice(self.words[j], self.words[j + 1])
            counts.tags[words] = each * charts.word_shares()[:, self.grammar.tag_symbols]
        return SoftOutputs(values, counts)

    def _price(self, j: int, lam: float) -> float:
        """Return lam; raise a ValueError unless it is 0 or the loss of sentence j is a sum over brackets."""
        if lam and self.truths is not None and self.truths[j].loss.kind != HAMMING:
            raise ValueError("a smooth maximum with a loss needs measure='hamming', which is a sum over brackets")
        return lam

    def checked(self, scores: TreeScores) -> TreeScores:
        """Return scores as arrays of floats; raise a ValueError where one has another shape than it must have."""
        productions, brackets, tags = (np.asarray(each, dtype=np.float64) for each in scores)
        checked = TreeScores(np.ascontiguousarray(productions), brackets, tags)
        for name, each, shape in zip(checked._fields, checked, self._shapes, strict=True):
            if each.shape != shape:
                raise ValueError(f"the scores `{name}` have shape {each.shape}; expected {shape}")
        return checked

    # --- inside

    @property
    def _shapes(self) -> tuple[tuple[int, ...], ...]:
        """The shapes of the arrays of scores."""
        grammar = self.grammar
        length = grammar.first_anchored + self.n_anchored * grammar.block
        return (length,), (self.spans[-1], grammar.n_labels), (self.words[-1], len(grammar.tag_symbols))

    def charts(self) -> Charts:
        """Return memory for searches."""
        return Charts(self.grammar.rules, max(self.lengths, default=1))

    def _bonus(self, scores: TreeScores, j: int, lam: float) -> Array:
        """Return the scores of the brackets of sentence j, plus λ times their contributions to a Hamming loss."""
        brackets = self.brackets(scores, j)
        if lam == 0 or self.truths is None:
            return np.ascontiguousarray(brackets)
        return self.truths[j].derivation.bonus(brackets, lam * self.truths[j].loss.scale)

    def _most_violated(
        self, scores: TreeScores, charts: Charts, sentence: Any, j: int, violation: Violation
    ) -> tuple[Rows, float, float]:
        need_truth(self.truths)
        assert self.truths is not None
        true, bonus = self.truths[j], self._bonus(scores, j, 0.0)
        true_score = self.score(scores, j, true.derivation, true.used)
        table = scores.productions
        return charts.most_violated(table, sentence, bonus, true.derivation, true.loss, true_score, violation)


def used_atoms(rows: Rows, places: tuple[Places, Places], grammar: ChartGrammar, first_atom: int = -1) -> Any:
    """Return the positions in TreeScores.productions that a derivation uses; one that it uses twice is there twice.

    Unless first_atom is -1, word i with tag t adds the number first_atom + i · number of tags + t.
    """
    from maxmargin.structures.parsing.compiled.cky import derivation_atoms

    (of_spans, of_splits), rules = places, grammar.rules
    n = (len(rows) + 1) // 2
    most = (2 * n - 1) * of_spans.shape[1] * (1 + grammar.longest_chain) + n * (1 + of_splits.shape[1]) + 1
    atoms = np.empty(most, dtype=np.int64)
    n_tags = len(grammar.tag_symbols)
    return atoms[: derivation_atoms(rows, of_spans, of_splits, rules, grammar.tag_numbers, n_tags, first_atom, atoms)]


def _augmented(lam: float) -> Violation:
    return lambda loss, margin: lam * loss - margin
