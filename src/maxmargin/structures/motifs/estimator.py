"""MotifFinder: what some strings have in common and others do not, and where it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from numbers import Real
from typing import TYPE_CHECKING, Any, Self, Unpack

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from maxmargin.arrays import Array
from maxmargin.objective import Certificate
from maxmargin.online import NoPartialFit
from maxmargin.oracle import Oracle
from maxmargin.solvers import CCCP, Solution, Solver
from maxmargin.structures.motifs import models
from maxmargin.structures.motifs.examples import MotifExamples, motif_examples, strings_of
from maxmargin.structures.motifs.models import Site
from maxmargin.structures.motifs.task import Motif, check_whole
from maxmargin.trainer import Options, Trainer

if TYPE_CHECKING:
    from maxmargin.inputs.text_file import TextFile
    from maxmargin.structures.motifs.meme import MemeFile


class MotifFinder(ClassifierMixin, Trainer):
    """Classify strings by a motif that is found in training: a latent structural SVM (Yu and Joachims 2009, 5.1).

    X is a list of strings, y their classes, one of which has the motif. Without y all of X has it, and it is compared
    with controls that are drawn from a Markov chain fitted to X, so that MotifFinder().fit(sequences) discovers motifs.

    Parameters
    ----------
    length : int or several
        Letters in the motif. Of several lengths (a list, a range) the one with the smallest error on a quarter of the
        labelled strings, which is held out for that, is chosen (a tie by the objective); the model is then trained on
        all of them. See `length_` and `length_errors_`.
    order : int or None
        Of the Markov chain that models what is not motif; None leaves it out.
    strands : 1 or 2
        2 also looks for the motif on the other strand (DNA and RNA).
    alphabet : str
        The letters; upper and lower case are the same.
    restarts : int
        Trainings from different guesses; the one with the best objective is kept.
    start : "words" or "windows"
        How to guess where the motifs are: see maxmargin.tasks.Motif.
    seed : None, str or (positions, letters) array
        What the motif may look like: IUPAC codes such as "WTTTAYRTTTW", or a matrix of scores or frequencies. Training
        then begins where it fits best, once.
    positive : label or None
        The class that has the motif; None for the last in sorted order.
    background_weight : float
        Of every string of `background` (see `fit`), where a labelled one counts 1.
    unknown : "error" or "skip"
        What to do with letters outside the alphabet, such as N. If they are skipped, windows that contain one cannot
        hold the motif, and they are not part of the background.
    C : float
        Weight of the mean hinge against ½‖w‖². The mean is weighted: a string of weight v has the price
        C · v / (sum of all weights), so that C need not be changed with the number of strings or of those in the
        background.
    solver : str or Solver
        What trains between two guesses of the motifs' places, or a solvers.CCCP object (with restarts of its own).
    tol : float or None
        Relative gap to stop at; None: 1%, or what a solver object says itself.
    The other parameters are those of StructuredSVM.

    Attributes
    ----------
    length_, classes_, w_, certificate_, history_, rounds_ (one entry per outer round of every restart);
    sites_, counts_, frequencies_, consensus_, information_: of the motif in the training strings that have it;
    pssm_; background_frequencies_.
    """

    def __init__(
        self,
        length: Any = 11,
        order: int | None = 3,
        strands: int = 2,
        alphabet: str = "ACGT",
        restarts: int = 10,
        start: str = "words",
        seed: Any = None,
        positive: Any = None,
        background_weight: float = 0.02,
        unknown: str = "error",
        C: float = 100.0,
        solver: str | Solver = "bcfw",
        **options: Unpack[Options],
    ):
        self.length = length
        self.order = order
        self.strands = strands
        self.alphabet = alphabet
        self.restarts = restarts
        self.start = start
        self.seed = seed
        self.positive = positive
        self.background_weight = background_weight
        self.unknown = unknown
        super().__init__(C=C, solver=solver, **options)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, background: Any = None) -> Self:
        """Train on strings X.

        y : two classes, or None: then all of X has the motif, and classes_ is [False, True].
        sample_weight : of the strings in X.
        background : more strings, without the motif; each weighs `background_weight`. Without y they take the place of
            the controls, of which otherwise 10 are drawn for every string of X (as long as it, from the Markov chain of
            the given order, or of order 0 for None); given or drawn, controls weigh as much as X, taken together.
        """
        with self._training(X, y, sample_weight, background) as examples:
            return super().fit(examples.X, examples.has, examples.weights)

    def fit_path(
        self, X: Any, y: Any, Cs: Sequence[float], sample_weight: Any = None, background: Any = None
    ) -> list[Self]:
        """A fitted model for every C, each started from the one before; the last one stays in this estimator."""
        with self._training(X, y, sample_weight, background) as examples:
            return super().fit_path(examples.X, examples.has, Cs, examples.weights)

    def certify(
        self, X: Any, y: Any = None, sample_weight: Any = None, tol: float = 1e-2, background: Any = None
    ) -> Certificate:
        """How far the current weights are from the optimum for the motifs' present places; see StructuredSVM."""
        check_is_fitted(self)
        examples = self._examples(X, y, sample_weight, background)
        return super().certify(examples.X, examples.has, examples.weights, tol)

    @property
    def partial_fit(self) -> Any:
        """Not offered, whatever the solver: training goes back and forth between motif and places."""
        raise NoPartialFit("MotifFinder has no partial_fit: online solvers cannot look for hidden places again")

    def decision_function(self, X: Any) -> Array:
        """(n,) scores, positive for classes_[1]: what the best place gains over no motif, or minus that."""
        gains = self._found(X)[1].gains
        return gains if self._positive_number == 1 else -gains

    def predict(self, X: Any) -> NDArray[Any]:
        """The class with the motif for strings in which it gains something."""
        has = self._found(X)[1].gains > 0
        return np.asarray(self.classes_[np.where(has, self._positive_number, 1 - self._positive_number)])

    def find_sites(self, X: Any) -> list[Site]:
        """The best place of every string, whether or not it gains something there."""
        X = strings_of(X)
        data, found = self._found(X)
        starts = found.starts - data.strings.begins[:-1]
        return [self._site(X, i, int(starts[i]), int(found.strands[i]), float(found.gains[i])) for i in range(len(X))]

    def all_sites(self, X: Any, threshold: float = 0.0) -> list[list[Site]]:
        """All places of every string that gain more than the threshold and do not overlap, from left to right.

        Where places overlap, the better one is taken.
        """
        check_is_fitted(self)
        if isinstance(threshold, bool) or not isinstance(threshold, Real) or np.isnan(float(threshold)):
            raise ValueError(f"threshold must be a number, got {threshold!r}")
        X = strings_of(X)
        self.task_.windows(X)  # names the string in any error
        found = []
        for i, x in enumerate(X):
            gains = self.task_.gains(self.w_, x)
            places = models.apart(gains, self.length_, float(threshold))
            found.append([self._site(X, i, start, strand, float(gains[strand, start])) for start, strand in places])
        return found

    @property
    def counts_(self) -> Array:
        """(length, letters): how many of sites_ have each letter at each position."""
        check_is_fitted(self)
        counts = np.zeros((self.length_, len(self.task_.letters_)))
        for site in self.sites_:
            counts[np.arange(self.length_), self.task_.letters_.codes(site.text, "a site")] += 1
        return counts

    @property
    def frequencies_(self) -> Array:
        """(length, letters): counts_ as shares."""
        return self.counts_ / len(self.sites_)

    @property
    def information_(self) -> Array:
        """(length,): bits that each position of frequencies_ tells, compared with equally frequent letters."""
        return models.information(self.frequencies_)

    @property
    def consensus_(self) -> str:
        """frequencies_ in IUPAC codes (a dot for any letter, in alphabets that have no codes)."""
        return models.consensus(self.frequencies_, self.task_.letters_)

    @property
    def pssm_(self) -> Array:
        """(length, letters): position-specific weights less the background's.

        From every letter's weight its mean weight in the background is taken, over all places where the negative
        strings of training have that letter. Summed over a window this is what `decision_function` gains there, but for
        the contexts of its letters.
        """
        check_is_fitted(self)
        return self.w_[: self.length_ * len(self.task_.letters_)].reshape(self.length_, -1) - self._letter_weights_

    def to_meme(self, name: str | None = None) -> MemeFile:
        """The motif in the form that formats.write_meme writes; its name is the consensus unless another is given."""
        from maxmargin.structures.motifs.meme import MemeFile, MemeMotif

        check_is_fitted(self)
        letters = self.task_.letters_.letters
        order = np.argsort(list(letters))  # the format wants them sorted
        motif = MemeMotif(name or self.consensus_, self.frequencies_[:, order], nsites=len(self.sites_))
        background = self.background_frequencies_[order]
        return MemeFile("".join(sorted(letters)), (motif,), background, "+ -" if self.task_.strands == 2 else "+")

    def write_meme(self, target: TextFile, name: str | None = None) -> None:
        """Write frequencies_ to a file in MEME's minimal format."""
        from maxmargin.structures.motifs.meme import write_meme

        write_meme(target, self.to_meme(name))

    # --- inside

    @property
    def _positive_number(self) -> int:
        """Which of classes_ has the motif."""
        return int(np.flatnonzero(self.classes_ == self.positive_)[0])

    def _found(self, X: Any) -> tuple[Any, Any]:
        check_is_fitted(self)
        data = self.task_.windows(strings_of(X))
        return data, self.task_.found(self.w_, data)

    def _site(self, X: Sequence[str], i: int, start: int, strand: int, gain: float) -> Site:
        text = X[i][start : start + self.length_]
        sign = 1 if strand == 0 else -1
        return Site(i, start, "+" if sign > 0 else "-", gain, models.reading(text, sign, self.task_.letters_))

    @contextmanager
    def _training(self, X: Any, y: Any, sample_weight: Any, background: Any) -> Iterator[MotifExamples]:
        """The examples, with the length of the motif chosen; `_keep` reads them while training runs."""
        examples = self._examples(X, y, sample_weight, background)
        self.length_, self.length_errors_ = self._chosen_length(examples)
        with self._learning_from(examples):
            yield examples

    @contextmanager
    def _learning_from(self, examples: MotifExamples) -> Iterator[None]:
        self.classes_, self.positive_ = examples.classes, examples.positive
        self._examples_now = examples
        try:
            yield
        finally:
            del self._examples_now

    def _keep(self, oracle: Oracle, solution: Solution, data: str | None = None) -> None:
        try:
            super()._keep(oracle, solution, data)
        finally:
            self._describe(self._examples_now)

    def _describe(self, examples: MotifExamples) -> None:
        """What the model says about the training strings."""
        has = np.flatnonzero(examples.has)
        sites = self.find_sites([examples.X[i] for i in has])
        self.sites_ = [site._replace(sequence=int(has[site.sequence])) for site in sites]
        data = self.task_.windows([examples.X[i] for i in np.flatnonzero(~examples.has)])
        size = len(self.task_.letters_)
        known = data.strings.codes >= 0
        counts = np.bincount(data.strings.codes[known], minlength=size)
        self.background_frequencies_ = counts / counts.sum()
        background = np.append(self.w_[self.length_ * size :], 0.0)
        totals = np.bincount(data.strings.codes[known], background[data.contexts[known]], minlength=size)
        self._letter_weights_ = totals / np.maximum(counts, 1)

    def _examples(self, X: Any, y: Any, sample_weight: Any, background: Any) -> MotifExamples:
        lengths = sorted({check_whole("length", length, 1) for length in self._lengths})
        tasks = [self._task_of(length) for length in lengths]
        return motif_examples(
            tasks[-1], X, y, background, sample_weight, self.positive, self.background_weight, self._seed()
        )

    @property
    def _lengths(self) -> list[Any]:
        """Those to choose from."""
        several = isinstance(self.length, Iterable) and not isinstance(self.length, str)
        lengths = list(self.length) if several else [self.length]
        if not lengths:
            raise ValueError("length is empty; expected a whole number, or several to choose from")
        return lengths

    def _chosen_length(self, examples: MotifExamples) -> tuple[int, dict[int, float]]:
        """The length with the smallest error on strings that are held out, and the errors of all."""
        lengths = sorted({int(length) for length in self._lengths})
        if len(lengths) == 1:
            return lengths[0], {}
        kept, tested = examples.split(np.random.default_rng(self._seed()))
        errors, objectives = {}, {}
        for length in lengths:
            model = clone(self).set_params(length=length)
            model.length_ = length
            with model._learning_from(kept):
                Trainer.fit(model, kept.X, kept.has, kept.weights)
            wrong = (model._found(tested.X)[1].gains > 0) != tested.has
            errors[length] = float(np.average(wrong, weights=tested.weights))
            objectives[length] = model.certificate_.primal
        return min(lengths, key=lambda length: (errors[length], objectives[length])), errors

    def _task_of(self, length: int) -> Motif:
        """Set up, for checks of data; raises where parameters make no sense."""
        task = Motif(length, self.order, self.strands, self.alphabet, self.unknown, self.start)
        task.setup([], [])
        if self.seed is not None:
            models.pattern_weights(self.seed, length, task.letters_)
        return task

    def _make_task(self, Y: Any) -> Motif:
        return Motif(self.length_, self.order, self.strands, self.alphabet, self.unknown, self.start)

    def _first_weights(self, oracle: Oracle, C: float) -> Array | None:
        if self.seed is None:
            return None
        task: Any = oracle.task
        weights = np.zeros(oracle.dim)
        weights[: task.length * len(task.letters_)] = models.pattern_weights(
            self.seed, task.length, task.letters_
        ).ravel()
        return weights

    def _solver(self, latent: bool = False, **options: Any) -> Solver:
        check_whole("restarts", self.restarts, 1)
        solver = super()._solver(latent, **options)
        if latent and isinstance(solver, CCCP) and not isinstance(self.solver, CCCP):
            solver.set_params(restarts=1 if self.seed is not None else self.restarts)
        return solver

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = False
        tags.classifier_tags.multi_class = False
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        return tags
