"""Motif: the task of finding a short pattern in strings without knowing where (Yu and Joachims 2009, 5.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.base.checks import check_whole, is_whole
from maxmargin.base.files.fields import OneOf, Whole
from maxmargin.base.files.objects import Dropped, Fields
from maxmargin.problem.contract.pieces import Pieces, Unit
from maxmargin.structures.motifs.alphabet import Alphabet
from maxmargin.structures.motifs.batch import MotifBatch
from maxmargin.structures.motifs.scored_windows import ScoredWindows
from maxmargin.structures.motifs.start import given_weights
from maxmargin.structures.motifs.strings import markov_size
from maxmargin.structures.motifs.windows import ChosenWindows, IntArray

Unknown = Literal["error", "skip"]

LARGEST_TABLE = 512  # words per search table (4 letters of DNA, 2 of proteins), larger tables do not fit the fast cache
MOST_FEATURES = 10**7


class Occurrence(NamedTuple):
    """Output of motif finding: whether a string has the motif, and where.

    Attributes
    ----------
    has : bool
        Whether the string has the motif.
    start : int
        The position of the first letter of the motif, counted from 0; -1 if there is no motif.
    strand : int
        1 for the string itself, -1 for its reverse complement; 0 if there is no motif.

    See Also
    --------
    Motif : The task whose outputs these are.

    Examples
    --------
    >>> from maxmargin import tasks
    >>> tasks.Occurrence(True, start=3, strand=-1).start
    3
    """

    has: bool
    start: int = -1
    strand: int = 0


ABSENT = Occurrence(False)
STRANDS = (1, -1)  # the strand of an Occurrence for each strand number in compiled code


SIZES = (
    "alphabet_",
    "n_motif_",
    "n_background_",
    "complement_",
    "word_width_",
    "word_places_",
    "first_weights_",
)


class Motif(ScoredWindows):
    """Motif discovery in strings, with the position of the motif as a latent variable.

    x is a string, y says whether it has the motif, and an output z = (has, start, strand) also says where. If z has the
    motif in the window [start, start + length), Ψ counts the letter at every position of the motif (as read from the
    strand) and the background outside the window; otherwise it counts the background of the whole string (Yu and
    Joachims 2009, section 5.1). The background is a Markov chain of order k: every letter together with the k letters
    before it, even if these are in the window. Letters with fewer letters before them, at the beginning of a string or
    after an unknown letter, have separate features. The features of two outputs thus differ only in their windows. Δ is
    1 if the class is wrong.

    Parameters
    ----------
    length : int
        The number of letters of the motif.
    background_order : int or None
        The order of the Markov chain that models the background: the number of preceding letters on which a letter
        depends. None leaves the background out.
    strands : 1 or 2
        2 also searches for the motif on the other strand (DNA and RNA).
    alphabet : str
        The letters; upper and lower case are not distinguished.
    unknown : "error" or "skip"
        What to do with letters outside the alphabet, such as N. If they are skipped, windows that contain one cannot
        hold the motif, and they are not part of the background.
    start : None, str or array
        The initial guess of the motif: "words" (or None) or "windows", which are ways to guess its positions; a pattern
        that the motif may look like, as a string or a matrix; or an array of all weights. See start.py.

    See Also
    --------
    maxmargin.MotifFinder : The estimator.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import tasks
    >>> task = tasks.Motif(length=3, background_order=None, strands=1, start="TGA")
    >>> task.setup(["CCTGAC"], [True])
    >>> task.complete(task.first_weights_, "CCTGAC", True)
    Occurrence(has=True, start=2, strand=1)
    """

    latent = True

    saved: ClassVar[Fields] = {
        "length": Whole(1, MOST_FEATURES),
        "background_order": OneOf(None, Whole(0, 64)),
        **dict.fromkeys(SIZES, Dropped()),
    }

    def __init__(
        self,
        length: int = 11,
        background_order: int | None = 3,
        strands: int = 2,
        alphabet: str = "ACGT",
        unknown: Unknown = "error",
        start: Any = None,
    ):
        self.length = length
        self.background_order = background_order
        self.strands = strands
        self.alphabet = alphabet
        self.unknown = unknown
        self.start = start

    def _check_saved(self) -> None:
        dim = self.dim
        self.setup([], [])  # sets all attributes, which depend on the parameters only
        if self.dim != dim:
            raise ValueError(f"dim is {dim}; expected {self.dim} by the parameters")

    def setup(self, X: Sequence[Any], Y: Sequence[Any]) -> None:
        self.alphabet_ = Alphabet(self.alphabet)
        check_whole("length", self.length, least=1)
        order, complement = self.background_order, self.alphabet_.complement
        if order is not None and not (is_whole(order) and order >= 0):
            raise ValueError(f"background_order must be a whole number >= 0 (or None for no background), got {order!r}")
        if self.unknown not in ("error", "skip"):
            raise ValueError(f"unknown must be 'error' or 'skip', got {self.unknown!r}")
        if isinstance(self.strands, bool) or self.strands not in (1, 2):
            raise ValueError(f"strands must be 1 or 2, got {self.strands!r}")
        if self.strands == 2 and complement is None:
            raise ValueError(
                f"strands=2 needs letters that have complements, ACGT or ACGU, but the alphabet is "
                f"{self.alphabet_.letters}; use strands=1"
            )
        size = len(self.alphabet_)
        self.n_motif_ = self.length * size
        self.n_background_ = 0 if order is None else markov_size(size, order)
        self.dim = self.n_motif_ + self.n_background_
        if self.dim > MOST_FEATURES:
            raise ValueError(
                f"a motif of length {self.length} and a background of order {order} over {size} letters have "
                f"{self.dim} weights, more than {MOST_FEATURES}; use a lower order"
            )
        self.complement_ = np.zeros(size, dtype=np.int32) if complement is None else complement
        self.word_width_ = 1
        while self.word_width_ < self.length and size ** (self.word_width_ + 1) <= LARGEST_TABLE:
            self.word_width_ += 1
        self.word_places_ = np.arange(-(-self.length // self.word_width_), dtype=np.int64) * self.word_width_
        self.word_places_[-1] = self.length - self.word_width_
        self.first_weights_ = given_weights(self)

    # --- the plain form: one example at a time

    def psi(self, x: str, z: Occurrence) -> tuple[IntArray, Array]:
        return self.pieces(x, z).psi()

    def pieces(self, x: str, z: Occurrence) -> Pieces:
        """Return Ψ(x, z) by letters of the string."""
        data = self.windows([x])
        letters = np.flatnonzero(data.strings.codes >= 0) if self.n_background_ else np.zeros(0, dtype=np.int64)
        owners, features = letters, self.n_motif_ + data.contexts[letters]
        if z.has:
            window = data.strings.codes[z.start : z.start + self.length]
            if len(window) < self.length or z.start < 0 or window.min() < 0:
                raise ValueError(
                    f"no motif of length {self.length} can begin at position {z.start} of a string of length {len(x)}; "
                    "expected a window of known letters"
                )
            if z.strand not in STRANDS[: self.strands]:
                raise ValueError(f"the motif is on strand {z.strand}; expected one of {STRANDS[: self.strands]}")
            outside = (letters < z.start) | (letters >= z.start + self.length)
            read = self.alphabet_.read(window, STRANDS.index(z.strand))
            places = np.arange(z.start, z.start + self.length)[:: z.strand]
            owners = np.concatenate([places, letters[outside]])
            features = np.concatenate([np.arange(self.length) * len(self.alphabet_) + read, features[outside]])
        units = [Unit("letter", t) for t in range(len(x))]
        return Pieces(units, owners.astype(np.int64), features.astype(np.int64), np.ones(len(features)))

    def loss(self, y: bool, z: Occurrence) -> float:
        return float(bool(y) != z.has)

    def label(self, z: Occurrence) -> bool:
        return z.has

    def outputs(self, x: str) -> list[Occurrence]:
        """Return the output without a motif, and one output for every window of known letters on every strand."""
        starts = self.windows([x]).starts(0)
        return [ABSENT, *(Occurrence(True, int(h), s) for h in starts for s in STRANDS[: self.strands])]

    def argmax(self, w: Array, x: str, y: bool | None = None) -> Occurrence:
        windows, gains = self.best_windows(w, self.windows([x]))
        absent, present = (0.0, 0.0) if y is None else (float(bool(y)), float(not y))
        return _occurrence(windows, 0) if gains[0] + present > absent else ABSENT

    def complete(self, w: Array, x: str, y: bool) -> Occurrence:
        return _occurrence(self.best_windows(w, self.windows([x])).windows, 0) if y else ABSENT

    def guess(self, rng: np.random.Generator, x: str, y: bool) -> Occurrence:
        """Return the best window at the weights given as `start`, or else a random window.

        Frequent words cannot be used as a guess, because a single string has none.
        """
        if not y:
            return ABSENT
        if self.first_weights_ is not None:
            return self.complete(self.first_weights_, x, y)
        starts = self.windows([x]).starts(0)
        return Occurrence(True, int(rng.choice(starts)), int(rng.choice(STRANDS[: self.strands])))

    # --- all examples at a time

    def pack(self, X: Sequence[Any], Y: Sequence[Any]) -> MotifBatch:
        if len(X) != len(Y):
            raise ValueError(f"X has {len(X)} strings but there are {len(Y)} labels; expected one label per string")
        has = np.zeros(len(Y), dtype=bool)
        for i, y in enumerate(Y):
            if not isinstance(y, bool | np.bool_):
                raise ValueError(f"the label of sequence {i} is {y!r}; expected True (it has the motif) or False")
            has[i] = y
        return MotifBatch(self, self.windows(X), has).anywhere(np.random.default_rng(0))

    def decode(self, w: Array, X: Sequence[Any]) -> list[Occurrence]:
        data = self.windows(X)
        windows, gains = self.best_windows(w, data)
        return [
            _occurrence(windows, i, int(begin)) if gain > 0 else ABSENT
            for i, (begin, gain) in enumerate(zip(data.strings.begins[:-1], gains, strict=True))
        ]


def _occurrence(windows: ChosenWindows, i: int, begin: int = 0) -> Occurrence:
    """Return the i-th window as an Occurrence; its string begins at index `begin` of the flat arrays."""
    return Occurrence(True, int(windows.starts[i]) - begin, STRANDS[windows.strands[i]])
