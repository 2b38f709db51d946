"""Sequences: feature rows of sequences of different lengths, packed into one flat matrix.

A sequence may be a (T, F) array, a (T, F) sparse matrix, or a list of T tokens (see token_features.py). All sequences
of a data set must be matrices, or all lists of tokens. Reading tokens takes as long as several passes of training: code
that needs them twice calls `read_once` first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.base.checks import check_whole, refuse_complex
from maxmargin.base.files.fields import OneOf, Part, Text, Texts, Whole
from maxmargin.base.files.objects import Dropped, Fields, Sometimes
from maxmargin.inputs.matrices import bad_number, table_columns, without_duplicates
from maxmargin.inputs.tokens.hashed_names import HashedNames
from maxmargin.inputs.tokens.token_features import FeatureRows, ends_of, place_of, read_tokens
from maxmargin.inputs.tokens.token_templates import TokenTemplates
from maxmargin.inputs.tokens.vocabulary import Vocabulary


class Sequences:
    """A flat (tokens × features) matrix with the bounds of sequences: sequence i has the rows offsets[i]:offsets[i+1].

    Everything that takes a list of sequences takes this too, without copying. Columns of a data frame keep their names.

    Parameters
    ----------
    matrix : array of shape (tokens, features)
        The features of all tokens; also a sparse matrix or a data frame.
    offsets : array of int
        Increasing row numbers, the first of which is 0 and the last the number of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.tasks import Sequences
    >>> [len(x) for x in Sequences(np.eye(3), [0, 2, 3])]
    [2, 1]

    See Also
    --------
    maxmargin.SequenceLabeler : the estimator that takes them.
    """

    def __init__(self, matrix: Any, offsets: Any):
        self.feature_names = table_columns(matrix)
        refuse_complex("the matrix of sequences", matrix)
        self.matrix: Any
        if sparse.issparse(matrix):
            self.matrix = without_duplicates(sparse.csr_array(matrix, dtype=np.float64))
        else:
            self.matrix = np.asarray(matrix, dtype=np.float64)
        self.offsets = _row_numbers(offsets)
        if self.matrix.ndim != 2:
            raise ValueError(f"the matrix has shape {self.matrix.shape}; expected two dimensions, (tokens, features)")
        if len(self.offsets) == 0 or self.offsets[0] != 0 or (np.diff(self.offsets) < 0).any():
            raise ValueError("offsets must be an increasing list of row numbers that starts with 0")
        if self.offsets[-1] != self.matrix.shape[0]:
            raise ValueError(f"offsets end at {self.offsets[-1]}, but the matrix has {self.matrix.shape[0]} rows")

    @classmethod
    def from_groups(cls, matrix: Any, groups: Any) -> Sequences:
        """Make sequences from a long table: consecutive rows with the same group value are one sequence."""
        groups = np.asarray(groups)
        if len(groups) != matrix.shape[0]:
            raise ValueError(f"there are {len(groups)} group values for {matrix.shape[0]} rows")
        starts = np.flatnonzero(groups[1:] != groups[:-1]) + 1
        if len(np.unique(groups)) != len(starts) + min(len(groups), 1):
            raise ValueError("rows of one group must be adjacent; sort the table by group first")
        return cls(matrix, np.concatenate([[0], starts, [len(groups)]]) if len(groups) else [0])

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, i: int) -> Any:
        if not -len(self) <= i < len(self):
            raise IndexError(f"there is no sequence {i}; the data have {len(self)} sequences")
        i = int(i) % len(self)
        return self.matrix[self.offsets[i] : self.offsets[i + 1]]

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))


class TokenSequences(Sequences):
    """Lists of tokens that have been read.

    Each of their features has a column, in order of appearance, after the columns of a given vocabulary.
    """

    def __init__(self, X: Any, vocabulary: Vocabulary | HashedNames, templates: TokenTemplates | None = None):
        self.vocabulary = vocabulary
        offsets = _offsets(X, "tokens")
        learn, read = vocabulary.learn, read_tokens(_with_attributes(X, templates), offsets)
        rows = FeatureRows.stacked(FeatureRows.of(f.columns(learn(f.names)), f.values, f.ends) for f in read)
        super().__init__(rows.to_matrix(len(self.vocabulary)), offsets)


def read_once(X: Any, vocabulary: Vocabulary | HashedNames | None = None) -> Any:
    """Return lists of tokens as TokenSequences, so that `fit` and `pack` need not read them; other inputs unchanged."""
    first = None if hasattr(X, "shape") and len(X.shape) != 1 else next(iter(X), None)
    is_token_list = isinstance(first, Sequence) and not isinstance(first, str) and not hasattr(first, "shape")
    return TokenSequences(X, Vocabulary() if vocabulary is None else vocabulary) if is_token_list else X


class SequencePacker:
    """A converter of sequences of any accepted form into Sequences; `fit` fixes the form and the features.

    unknown : "ignore" or "error", the treatment of token features that `fit` has not seen.
    min_count : features that occur in fewer tokens get no column; `n_pruned` is their number.
    hash_bits : None, or a number of bits: columns are hashes of the names of features (see hashed_names.py).
    known : None, or token features that have the first columns, even if they do not occur.
    templates : None, or TokenTemplates that make the features of tokens, which are then tuples of columns.
    """

    templates: TokenTemplates | None = None  # missing in older files

    saved: ClassVar[Fields] = {
        "unknown": Text("ignore", "error"),
        "min_count": Whole(1),
        "hashed": OneOf(None, Part(HashedNames)),
        "known": Dropped(),  # used while fitting
        "vocabulary": OneOf(None, Part(Vocabulary, HashedNames)),
        "_columns": OneOf(None, Texts()),
        "n_pruned": Whole(),
        "n_features": Whole(1),
        "templates": Sometimes(OneOf(None, Part(TokenTemplates))),
    }

    def __init__(
        self,
        unknown: str = "ignore",
        min_count: int = 1,
        hash_bits: int | None = None,
        known: Vocabulary | None = None,
        templates: TokenTemplates | None = None,
    ):
        if unknown not in ("ignore", "error"):
            raise ValueError(f"unknown must be 'ignore' or 'error', got {unknown!r}")
        self.unknown, self.min_count = unknown, check_whole("min_count", min_count, least=1)
        self.hashed, self.known = None if hash_bits is None else HashedNames(hash_bits), known
        self.templates = templates
        if templates is not None and not isinstance(templates, TokenTemplates):
            raise ValueError(f"features must be None or TokenTemplates, got {templates!r}")
        if self.hashed is not None and self.min_count > 1:
            raise ValueError("min_count counts features by name, and hash_bits keeps no names: give one of the two")
        if unknown == "error" and (self.hashed is not None or self.min_count > 1):
            what = "with hash_bits every feature is known" if self.hashed else "min_count makes rare features unknown"
            raise ValueError(f"{what}, so no feature is unknown: give either that or unknown='error'")

    def _check_saved(self) -> None:
        if self.vocabulary is not None and self.n_features != len(self.vocabulary):
            raise ValueError(f"its vocabulary has {len(self.vocabulary)} features; expected {self.n_features}")
        if self._columns is not None and self.n_features != len(self._columns):
            raise ValueError(f"there are {len(self._columns)} names for {self.n_features} columns")
        if (self.hashed is not None) != isinstance(self.vocabulary, HashedNames) or self.hashed not in (
            None,
            self.vocabulary,
        ):
            raise ValueError("it does not say whether names are hashed")
        if self.templates is not None and self.vocabulary is None:
            raise ValueError("it has templates but reads no token features")

    def read_once(self, X: Any) -> Any:
        """Return lists of tokens in a form that `fit` and `pack` need not read again; other inputs unchanged."""
        if self.hashed is not None:
            vocabulary: Vocabulary | HashedNames = self.hashed
        else:
            vocabulary = Vocabulary() if self.known is None else Vocabulary(self.known.names)
        if self.templates is None or isinstance(X, TokenSequences):
            return read_once(X, vocabulary)
        if isinstance(X, Sequences) or sparse.issparse(X):
            raise ValueError("feature templates need columns of tokens; expected lists of tokens, got a matrix")
        return TokenSequences(X, vocabulary, self.templates)

    def fit(self, X: Any) -> SequencePacker:
        """Learn the form of the sequences and their features: for tokens, in order of appearance."""
        self.vocabulary: Vocabulary | HashedNames | None = None  # the names of features of tokens
        self._columns: list[str] | None = None
        self.n_pruned = 0
        X = self.read_once(X)
        if not isinstance(X, TokenSequences):
            self._refuse_matrices()
        if isinstance(X, TokenSequences):
            self.vocabulary = self._frequent(X)
            self.n_features = len(self.vocabulary)
        elif isinstance(X, Sequences):
            self._columns, self.n_features = X.feature_names, int(X.matrix.shape[1])
        elif sparse.issparse(X):
            raise ValueError("X is one sparse matrix; expected a list of sequences, or Sequences(matrix, offsets)")
        elif len(X) == 0:
            raise ValueError("no sequences given: at least one example is needed")
        else:
            first = next(iter(X))
            _form(first, 0)
            self._columns, self.n_features = table_columns(first), int(first.shape[1])
        return self

    def fit_more(self, X: Any) -> Sequences:
        """Learn the features of more sequences, in addition to those of earlier calls, and pack the sequences.

        For matrices the first call fixes the number of columns.
        """
        if not hasattr(self, "n_features"):
            self.fit(X)
        if self.vocabulary is None:
            return self._checked(self._packed(X), may_be_empty=False)
        packed = TokenSequences(X, self.vocabulary, self.templates)
        self.n_features = len(self.vocabulary)
        return self._checked(packed, may_be_empty=False)

    def _refuse_matrices(self) -> None:
        for name, used in (("min_count", self.min_count > 1), ("hash_bits", self.hashed is not None)):
            if used:
                raise ValueError(
                    f"{name} is for token features, which have names; it does not apply to matrices, which keep all "
                    "their columns"
                )

    def _frequent(self, X: TokenSequences) -> Vocabulary | HashedNames:
        """Return the vocabulary of the features that occur in enough tokens."""
        if self.min_count == 1 or isinstance(X.vocabulary, HashedNames):
            return X.vocabulary
        counts = np.bincount(X.matrix.indices[X.matrix.data != 0], minlength=len(X.vocabulary))
        kept = counts >= self.min_count
        kept[: 0 if self.known is None else len(self.known)] = True
        if not kept.any():
            raise ValueError(
                f"min_count={self.min_count} leaves no feature: the most frequent of {len(kept)} features occurs in "
                f"{counts.max(initial=0)} tokens"
            )
        self.n_pruned = int(np.sum(~kept))
        return Vocabulary(X.vocabulary.names.where(kept))

    @property
    def feature_names(self) -> list[str] | None:
        """The token features or the columns of data frames, in the order of the matrix; None for other matrices.

        Hashed features have no names either.
        """
        return self.vocabulary.names.strings() if isinstance(self.vocabulary, Vocabulary) else self._columns

    def pack(self, X: Any, may_be_empty: bool = False) -> Sequences:
        """Check and flatten sequences; errors name the sequence. In prediction sequences may be empty."""
        return self._checked(self._packed(X), may_be_empty)

    def _checked(self, packed: Sequences, may_be_empty: bool) -> Sequences:
        empty = np.flatnonzero(np.diff(packed.offsets) == 0)
        if len(empty) and not may_be_empty:
            raise ValueError(f"sequence {empty[0]} is empty; leave out sequences without tokens")
        if packed.matrix.shape[1] != self.n_features:
            raise ValueError(
                f"sequences have {packed.matrix.shape[1]} features; expected {self.n_features} as in training"
            )
        _check_finite(packed)
        return packed

    def _packed(self, X: Any) -> Sequences:
        if isinstance(X, Sequences) and not isinstance(X, TokenSequences):
            return X
        if sparse.issparse(X):
            raise ValueError("X is one sparse matrix; expected a list of sequences, or Sequences(matrix, offsets)")
        if self.vocabulary is None:
            if isinstance(X, TokenSequences):
                raise _wrong_form(0, "matrix")
            offsets = _offsets(X, "matrix")
            filled = [_checked(x, i, self.n_features) for i, x in enumerate(X) if offsets[i] < offsets[i + 1]]
            return Sequences(_stack(filled, self.n_features), offsets)
        if not isinstance(X, TokenSequences):
            offsets = _offsets(X, "tokens")
            rows = FeatureRows.stacked(self._looked_up(X, offsets))
            return Sequences(rows.to_matrix(self.n_features), offsets)
        return X if X.vocabulary == self.vocabulary else self._renumbered(X, self.vocabulary)

    def _looked_up(self, X: Any, offsets: NDArray[np.int64]) -> Iterator[FeatureRows]:
        assert self.vocabulary is not None
        first = 0
        for read in read_tokens(_with_attributes(X, self.templates), offsets):
            columns = read.columns(self.vocabulary.look_up(read.names))
            if self.unknown == "error" and (columns < 0).any():
                k = int(np.argmin(columns))
                raise _unknown(read.name(k), first + _owner(read.ends, k), offsets)
            yield FeatureRows.of(columns, read.values, read.ends)
            first += len(read.ends) - 1

    def _renumbered(self, X: TokenSequences, vocabulary: Vocabulary | HashedNames) -> Sequences:
        """Return the same rows with the columns of another vocabulary."""
        assert isinstance(X.vocabulary, Vocabulary)
        matrix, names = X.matrix, X.vocabulary.names
        columns = vocabulary.look_up(names)[matrix.indices]
        if self.unknown == "error" and (columns < 0).any():
            k = int(np.argmin(columns))
            (name,) = names.some(matrix.indices[k], matrix.indices[k] + 1).strings()
            raise _unknown(name, _owner(matrix.indptr, k), X.offsets)
        rows = FeatureRows.of(columns, matrix.data.copy(), matrix.indptr.astype(np.int64))
        return Sequences(rows.to_matrix(self.n_features), X.offsets)


def _with_attributes(X: Any, templates: TokenTemplates | None) -> Any:
    """Return the sequences with attributes in place of columns, made while they are read."""
    return X if templates is None else templates.attributes_of_all(X)


def _owner(ends: NDArray[Any], k: int) -> int:
    """Return the row that contains entry k."""
    return int(np.searchsorted(ends, k, side="right")) - 1


def _unknown(name: str, row: int, offsets: NDArray[np.int64]) -> ValueError:
    return ValueError(f"{place_of(row, offsets)} has the feature {name!r}, which was not seen in training")


def _form(x: Any, i: int) -> str:
    if hasattr(x, "shape"):
        if len(x.shape) != 2:
            raise ValueError(f"sequence {i} has shape {x.shape}; expected two dimensions, (length, features)")
        return "matrix"
    if isinstance(x, Sequence) and not isinstance(x, str):
        return "tokens"
    raise ValueError(f"sequence {i} is a {type(x).__name__}; expected a (length, features) matrix or a list of tokens")


def _offsets(X: Any, form: str) -> NDArray[np.int64]:
    """Return the beginning of every sequence; all must have this form."""
    if form == "tokens" and set(map(type, X)) <= {list, tuple}:
        return ends_of(map(len, X), len(X))
    lengths = []
    for i, x in enumerate(X):
        if _is_empty(x):
            lengths.append(0)
            continue
        if _form(x, i) != form:
            raise _wrong_form(i, form)
        lengths.append(int(x.shape[0]) if form == "matrix" else len(x))
    return ends_of(lengths, len(lengths))


def _is_empty(x: Any) -> bool:
    """Return whether this is a sequence without positions, which counts as any form."""
    if hasattr(x, "shape"):
        return len(x.shape) > 0 and x.shape[0] == 0
    return isinstance(x, Sequence) and not isinstance(x, str) and len(x) == 0


def _wrong_form(i: int, form: str) -> ValueError:
    what, expected = ("a list of tokens", "matrix") if form == "matrix" else ("a matrix", "list of tokens")
    return ValueError(f"sequence {i} is {what}; expected a {expected} like the first sequence in training")


def _checked(x: Any, i: int, n_features: int) -> Any:
    """Return a matrix of numbers; raise a ValueError if its width is wrong."""
    if x.shape[1] != n_features:
        raise ValueError(f"sequence {i} has {x.shape[1]} features; expected {n_features} as in training")
    refuse_complex(f"sequence {i}", x)
    if sparse.issparse(x):
        return sparse.csr_array(x, dtype=np.float64)
    try:
        return np.asarray(x, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"sequence {i} is a matrix of {np.asarray(x).dtype}, not of numbers") from None


def _row_numbers(offsets: Any) -> NDArray[np.int64]:
    given = np.asarray(offsets)
    if given.dtype.kind not in "iuf" or given.ndim != 1:
        raise ValueError(f"offsets must be an increasing list of row numbers that starts with 0, got {offsets!r}")
    broken = np.flatnonzero(given != np.floor(given))
    if len(broken):
        raise ValueError(f"offsets[{broken[0]}] is {given[broken[0]]}; expected whole row numbers")
    return given.astype(np.int64)


def _stack(matrices: list[Any], n_features: int) -> Any:
    if not matrices:
        return np.zeros((0, n_features))
    if any(sparse.issparse(matrix) for matrix in matrices):
        return sparse.vstack([sparse.csr_array(matrix) for matrix in matrices], format="csr")
    return np.concatenate(matrices)


def _check_finite(packed: Sequences) -> None:
    place = bad_number(packed.matrix)
    if place is not None:
        row, _, what = place
        raise ValueError(f"{place_of(row, packed.offsets)}: features contain {what}")
