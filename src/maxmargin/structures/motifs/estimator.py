"""MotifFinder: discovery of motifs that some strings have and others do not."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, ClassVar, Self, Unpack

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from maxmargin.base.arrays import Array
from maxmargin.base.checks import check_whole, is_real
from maxmargin.base.files.fields import Each, Label, LabelArray, NumberArray, Part, Whole
from maxmargin.base.files.objects import Field, Fields
from maxmargin.base.named_weights import Weights
from maxmargin.inputs.labels.labels import plain
from maxmargin.problem.dual.objective import Certificate
from maxmargin.report.findings import Findings, Section
from maxmargin.solvers import CCCP, Solver
from maxmargin.solvers.named import SolverName
from maxmargin.structures.motifs.description import MotifDescription
from maxmargin.structures.motifs.examples import MotifExamples, motif_examples, strings_of
from maxmargin.structures.motifs.lengths import chosen_length, possible_lengths
from maxmargin.structures.motifs.sites import Site, best_sites, separate_sites
from maxmargin.structures.motifs.start import is_guess
from maxmargin.structures.motifs.strings import context_names
from maxmargin.structures.motifs.task import Motif, Occurrence, Unknown
from maxmargin.training.checkpoints.checkpoint import Checkpoint
from maxmargin.training.checkpoints.checkpointed import open_checkpoint
from maxmargin.training.options import Options, seed_of
from maxmargin.training.parameters import task_from
from maxmargin.training.problem import Problem
from maxmargin.training.trainer import Trainer


class MotifFinder(MotifDescription, ClassifierMixin, Trainer):
    """Find a motif that some strings have and others do not, such as a binding site in DNA, and classify strings by it.

    This is a latent structural SVM (Yu and Joachims 2009, section 5.1).

    X is a list of strings, y their classes, one of which has the motif. Without y all strings have it, and they are
    compared with controls that are drawn from a Markov chain fitted to X, so that MotifFinder().fit(sequences)
    discovers motifs.

    Parameters
    ----------
    length : int or several
        The number of letters of the motif. Of several lengths (a list, a range) the one with the smallest error on a
        held-out quarter of the labelled strings is chosen (ties by the objective); the model is then trained on all of
        them. See `length_` and `length_errors_`.
    {background_order}
    {strands}
    {alphabet}
    restarts : int
        The number of trainings from different guesses; the one with the best objective is kept.
    start : None, str or array
        The initial guess. None or "words" compares words of the strings that have the motif, and begins at the matches
        of the best one; "windows" begins at random windows. Any other string is a pattern that the motif may look like,
        in IUPAC codes such as "WTTTAYRTTTW" (a dot stands for any letter); a (positions, letters) array of scores or
        frequencies is a pattern too. A pattern may be shorter than the motif. An array with one axis has all weights,
        like w_. From a pattern or weights training runs once, whatever `restarts` is.
    positive : label or None
        The class that has the motif; None for the last in sorted order.
    background_weight : float
        The weight of every string of `background` (see `fit`); a labelled one has weight 1.
    {unknown}
    C : float
        Weight of the mean hinge against ½‖w‖². The mean is weighted: a string of weight v counts
        C · v / (sum of all weights), so that C need not change with the number of strings or of those in the
        background.
    solver : str or Solver
        The solver of the convex problems between two updates of the motif's positions, or a solvers.CCCP object (with
        restarts of its own).
    tol : float or None
        The relative gap at which training stops; None: 1%, or the tol of a solver object.
    {options}

    Attributes
    ----------
    length_ : int
        The number of letters of the motif.
    length_errors_ : dict
        The error of every length that was tried.
    classes_ : array of shape (2,)
        The classes.
    positive_ : label
        The class that has the motif.
    weights_ : dict of Weights
        "motif", a weight for every position and letter, and "background", one for every letter after each context
        of up to `background_order` letters.
    sites_ : list of Site
        The sites of the motif in the training strings that have it.
    counts_, frequencies_, pssm_ : array of shape (length_, letters)
        Counts and frequencies of letters at these sites, and the scores of letters; alphabet_ names the columns.
    consensus_ : str
        The most frequent letters, in IUPAC codes.
    information_ : array of shape (length_,)
        The information of every position.
    background_frequencies_, letter_weights_ : array
        The frequencies of letters in the training strings without the motif, and their mean weights in the background.
    rounds_ : list of solvers.Round
        One entry per outer round of every restart.
    w_ : array
        All weights as one vector.
    certificate_ : Certificate
        The objective of the model, and a proved lower bound on the best possible one.
    history_ : list of dict
        One dict per step of training.

    See Also
    --------
    maxmargin.plotting : Pictures of motifs.
    maxmargin.tasks.Motif : The task, with its formulas.

    Examples
    --------
    >>> from maxmargin import MotifFinder
    >>> X = ["ACGTTGCATT", "GGTTGCAACC", "TTTTGCAGGA", "ACACACACAC", "GGGAAACCCT", "TATATACGCG"]
    >>> model = MotifFinder(length=5, background_order=None, strands=1, restarts=2).fit(X, [1, 1, 1, 0, 0, 0])
    >>> model.predict(["CCTTGCAGGG"]).tolist()
    [1]
    """

    _described_by = (Motif,)

    whole_arguments = ("background",)

    why_not_online = "online solvers cannot update the latent positions of motifs"

    saved: ClassVar[Fields] = {
        "length_": Whole(1),
        "length_errors_": Field(),
        "classes_": LabelArray(2),
        "positive_": Label(),
        "sites_": Each(Part(Site)),
        "background_frequencies_": NumberArray(float, None),
        "letter_weights_": NumberArray(float, None),
    }

    def __init__(
        self,
        length: Any = 11,
        background_order: int | None = 3,
        strands: int = 2,
        alphabet: str = "ACGT",
        restarts: int = 10,
        start: Any = None,
        positive: Any = None,
        background_weight: float = 0.02,
        unknown: Unknown = "error",
        C: float = 100.0,
        solver: SolverName | Solver = "bcfw",
        **options: Unpack[Options],
    ):
        self.length = length
        self.background_order = background_order
        self.strands = strands
        self.alphabet = alphabet
        self.restarts = restarts
        self.start = start
        self.positive = positive
        self.background_weight = background_weight
        self.unknown = unknown
        super().__init__(C=C, solver=solver, **options)

    # --- training

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, background: Any = None) -> Self:
        """Train on strings X.

        y : two classes, or None: then all of X has the motif, and classes_ is [False, True].
        sample_weight : the weights of the strings in X.
        background : more strings, without the motif; each has the weight `background_weight`. Without y they replace
            the controls, of which otherwise 10 are drawn for every string of X (of the same length, from the Markov
            chain of the given order, or of order 0 for None); all controls together weigh as much as X.
        """
        with open_checkpoint(self) as checkpoint:
            examples = self._prepared(X, y, sample_weight, background, checkpoint)
            self._fit(examples.X, examples.has, examples.weights, checkpoint)
        self._warn()
        return self

    def path(self, X: Any, y: Any, Cs: Any, sample_weight: Any = None, background: Any = None) -> Iterator[Self]:
        """Yield the models of `fit_path` one by one."""
        with open_checkpoint(self) as checkpoint:
            examples = self._prepared(X, y, sample_weight, background, checkpoint)
            for model in self._path(examples.X, examples.has, Cs, examples.weights, checkpoint):
                model._warn()
                yield model

    def certify(
        self, X: Any, y: Any = None, sample_weight: Any = None, tol: float = 1e-2, background: Any = None
    ) -> Certificate:
        """Measure how far the weights are from the optimum for the current motif positions; see StructuredSVM."""
        check_is_fitted(self)
        examples = self._examples(X, y, sample_weight, background)
        return super().certify(examples.X, examples.has, examples.weights, tol)

    # --- prediction

    def decision_function(self, X: Any) -> Array:
        """Return the (n,) scores, positive for classes_[1]: plus or minus the gain of the best site over no motif."""
        gains = self._gains(X)
        return gains if self._positive_number == 1 else -gains

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class with the motif for strings in which it has a positive score, else the other class."""
        has = self._gains(X) > 0
        return np.asarray(self.classes_[np.where(has, self._positive_number, 1 - self._positive_number)])

    def find_sites(self, X: Any) -> list[Site]:
        """Return the best site of the motif in every string, whatever its score is."""
        check_is_fitted(self)
        data = self.task_.windows(strings_of(X))
        return best_sites(self.task_, self.w_, data, np.arange(len(data.strings)))

    def all_sites(self, X: Any, threshold: float = 0.0) -> list[list[Site]]:
        """Return the non-overlapping sites of every string with a score above the threshold, from left to right.

        Of overlapping sites, the better one is taken.
        """
        check_is_fitted(self)
        if not is_real(threshold) or np.isnan(float(threshold)):
            raise ValueError(f"threshold must be a number, got {threshold!r}")
        return separate_sites(self.task_, self.w_, strings_of(X), float(threshold))

    # --- inside

    @property
    def _positive_number(self) -> int:
        """The index in classes_ of the class with the motif."""
        return int(np.flatnonzero(self.classes_ == self.positive_)[0])

    def _gains(self, X: Any) -> Array:
        check_is_fitted(self)
        found: Array = self.task_.best_windows(self.w_, self.task_.windows(strings_of(X))).gains
        return found

    def _examples(self, X: Any, y: Any, sample_weight: Any, background: Any) -> MotifExamples:
        """Return the examples, checked against the longest possible motif."""
        for length in possible_lengths(self.length):
            task = task_from(self, Motif, length=length)
            task.setup([], [])  # raises an error if parameters are not valid
        return motif_examples(
            task,
            X,
            y,
            sample_weight,
            background,
            positive=self.positive,
            background_weight=self.background_weight,
            seed=seed_of(self.random_state),
        )

    def _prepared(
        self, X: Any, y: Any, sample_weight: Any, background: Any, checkpoint: Checkpoint | None
    ) -> MotifExamples:
        """Return the examples, after setting the classes and the length of the motif."""
        examples = self._examples(X, y, sample_weight, background)
        lengths = possible_lengths(self.length)
        length, errors = lengths[0], dict[int, float]()
        if len(lengths) > 1:
            rng = np.random.default_rng(seed_of(self.random_state))
            length, errors = chosen_length(lengths, examples, partial(self._trained, checkpoint), rng)
        self.length_, self.length_errors_ = length, errors
        self.classes_, self.positive_ = examples.classes, examples.positive
        return examples

    def _trained(self, checkpoint: Checkpoint | None, length: int, examples: MotifExamples) -> Trainer:
        """Train another finder with the same parameters for a motif of this length."""
        finder = clone(self)
        finder.length_ = length
        finder._fit(examples.X, examples.has, examples.weights, checkpoint)
        finder._warn()
        return finder

    def _findings(self, X: Any, Y: Any) -> Findings:
        from maxmargin.structures.motifs.findings import motif_findings

        return motif_findings(self, X, Y)

    def _learnt(self) -> list[Section]:
        from maxmargin.structures.motifs.findings import learnt_motif

        return learnt_motif(self)

    def _make_task(self, Y: Any) -> Motif:
        return task_from(self, Motif, length=self.length_)

    def _first_weights(self, problem: Problem, C: float) -> Array | None:
        weights: Array | None = problem.batch.task.first_weights_
        return weights

    def _solver(self, latent: bool = False, **options: Any) -> Solver:
        check_whole("restarts", self.restarts, least=1)
        solver = super()._solver(latent, **options)
        if latent and isinstance(solver, CCCP) and not isinstance(self.solver, CCCP):
            solver.set_params(restarts=self.restarts if is_guess(self.start) else 1)
        return solver

    def _full_output(self, x: Any, z: Any) -> Any:
        if isinstance(z, Occurrence):
            return z
        if plain(z) not in self.classes_.tolist():
            raise ValueError(f"the label {plain(z)!r} is not one of the classes {self.classes_.tolist()}")
        return self.task_.complete(self.w_, x, bool(z == self.positive_))

    def _shown_output(self, z: Any) -> Any:
        return plain(self.classes_[self._positive_number if z.has else 1 - self._positive_number])

    def _layout(self, task: Any, w: Array) -> dict[str, Weights]:
        motif, background = task.split_weights(w)
        letters, order = list(task.alphabet_.letters), task.background_order
        named = {"motif": Weights(motif, position=range(len(motif)), letter=letters)}
        if order is not None:
            contexts = context_names(task.alphabet_.letters, order)
            named["background"] = Weights(background, context=contexts, letter=letters)
        return named

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = False
        tags.classifier_tags.multi_class = False
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        return tags
