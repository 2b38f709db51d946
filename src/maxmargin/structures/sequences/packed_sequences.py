"""Labelled sequences in a packed folder: written as they come, and read as the batch of a Chain.

Besides the rows of features of all tokens (inputs/packed_rows.py), a folder has `offsets`, the beginning of every
sequence, and `rows`, for every token the number of its label or set of labels. It has `factors` of tokens and `weights`
of sequences only if they are not all 1.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.base.arrays import Array
from maxmargin.base.files.array_folder import ArrayFolderWriter
from maxmargin.base.files.fields import Each, Label, LabelList, OneOf, Part, Whole
from maxmargin.base.files.objects import Fields
from maxmargin.inputs.labels.labels import Labels, in_order, plain
from maxmargin.inputs.labels.weighted import Weighted
from maxmargin.inputs.packed.packed_data import PackedData
from maxmargin.inputs.packed.packed_rows import (
    MostlySame,
    RowWriter,
    check_bounds,
    check_rows,
    check_weights,
    deny,
    expect,
)
from maxmargin.inputs.tokens.token_templates import TokenTemplates
from maxmargin.inputs.tokens.tokens import SequencePacker, Sequences
from maxmargin.structures.sequences.partial_labels import (
    Choices,
    LabelPositions,
    as_choice,
    is_nan,
    is_partial,
    named_labels,
)

AT_ONCE = 256  # sequences that are read together
COUNTED = re.compile(r"^sequence (\d+)")


class PackedSequences(PackedData):
    """Labelled sequences in a packed folder, which SequenceLabeler.fit takes instead of X and Y; see maxmargin.pack."""

    kind = "sequences"
    saved: ClassVar[Fields] = {
        "packer": Part(SequencePacker),
        "labels": LabelList(),  # the first numbers of `rows`
        "choices": Each(OneOf(None, Label())),  # the other numbers: any label (None), or one of a set
        "n_tokens": Whole(1),
    }
    packer: SequencePacker
    labels: list[Hashable]
    choices: list[Any]
    n_tokens: int

    def __init__(self, packer: SequencePacker, labels: list[Hashable], choices: list[Any], n: int, n_tokens: int):
        self.packer, self.labels, self.choices, self.n, self.n_tokens = packer, labels, choices, n, n_tokens

    def _check_saved(self) -> None:
        known, sets = set(self.labels), [choice for choice in self.choices if choice is not None]
        if len(set(self.choices)) < len(self.choices) or not all(map(is_partial, self.choices)):
            raise ValueError("a set of allowed labels occurs twice or is a label")
        if not all(isinstance(each, frozenset) and known >= each for each in sets):
            raise ValueError("a set of allowed labels has unknown labels")
        if self.packer.hashed is None and self.packer.min_count > 1:
            raise ValueError("packed features have no minimal count")

    @property
    def offsets(self) -> NDArray[np.int64]:
        """The beginning of every sequence, and the end of the last one."""
        return self.folder.arrays["offsets"]

    @property
    def rows(self) -> Labels:
        """(tokens,): the number of the label, or of a choice after the labels."""
        return self.folder.arrays["rows"]

    @property
    def factors(self) -> Array:
        """(tokens,): the factor of the cost of a mistake."""
        known = self.folder.arrays.get("factors")
        return np.broadcast_to(1.0, self.n_tokens) if known is None else known

    def packer_for(self, task: Any) -> SequencePacker:
        """Return a packer that reads tokens as these were read, for a task that requires nothing else."""
        has = self.packer
        bits = None if has.hashed is None else has.hashed.bits
        if task.features not in (None, has.templates) or task.hash_bits not in (None, bits) or task.min_count > 1:
            raise ValueError(
                "features, hash_bits and min_count say how to read tokens, but packed tokens are already read: give "
                "the first two to pack, and leave all three out here"
            )
        for name, used in (
            ("kernel", task.kernel is not None),
            ("transition_features", task.transition_features is not None),
            ("invalid='repair'", task.invalid == "repair"),
            ("a model as prior", task.earlier is not None),
        ):
            if used:
                raise ValueError(f"{name} is not available for packed sequences: give lists, or leave it out")
        packer = SequencePacker(task.unknown, 1, bits, None, has.templates)
        packer.vocabulary, packer.n_features = has.vocabulary, has.n_features
        packer._columns, packer.n_pruned = has._columns, has.n_pruned
        return packer

    def check_features(self, packer: SequencePacker) -> None:
        """Raise an error unless a model with this packer knows the columns of these tokens."""
        has = self.packer
        same = has.n_features == packer.n_features and has.templates == packer.templates
        if not same or has.vocabulary != packer.vocabulary:
            raise ValueError("the sequences were packed with features that differ from the features of the model")

    def positions(self, numbers: dict[Hashable, int]) -> LabelPositions:
        """Return the labels in the numbers of a task."""
        choices = Choices(numbers)
        missing = [k for k, label in enumerate(self.labels) if label not in numbers]
        if missing:
            t = int(np.argmax(self.rows == missing[0]))
            i = int(np.searchsorted(self.offsets, t, side="right")) - 1
            raise ValueError(f"sequence {i}: the label {self.labels[missing[0]]!r} is not one of the classes")
        found = choices.read([*self.labels, *self.choices])
        same = np.array_equal(found, np.arange(len(found)))
        return LabelPositions(self.rows if same else found[self.rows], self.offsets, choices)

    def _check(self) -> None:
        folder = self.folder
        expect(folder, "offsets", np.int64, self.n + 1)
        expect(folder, "rows", np.int32, self.n_tokens)
        check_bounds(folder, "offsets", self.n_tokens, least=1)
        check_rows(folder, self.n_tokens, self.packer.n_features)
        for _, some in folder.pieces("rows"):
            wrong = some.min() < 0 or some.max() >= len(self.labels) + len(self.choices)
            deny(folder, wrong, "a label is not in the manifest")
        check_weights(folder, "factors", self.n_tokens)
        check_weights(folder, "weights", self.n)


def pack_sequences(
    data: Iterable[Any], folder: ArrayFolderWriter, features: TokenTemplates | None = None, hash_bits: int | None = None
) -> PackedSequences:
    """Write the pairs (x, y) or triples (x, y, weight) of an iterable, reading each once and a few at a time."""
    packer, rows, labels = SequencePacker("ignore", 1, hash_bits, None, features), RowWriter(folder), _LabelNumbers()
    factors, weights = MostlySame(folder, "factors"), MostlySame(folder, "weights")
    folder.append("offsets", np.zeros(1, dtype=np.int64))
    n = 0
    with folder.draft_of("labels") as numbers:
        for some in _pieces(data):
            with _counted_from(n):
                X, Y, weight = _columns(some)
                packed = packer.fit_more(X)
                found, costs = labels.read(Y, packed)
            folder.append("offsets", rows.n_rows + packed.offsets[1:])
            rows.append(sparse.csr_array(packed.matrix))
            numbers.append(found)
            factors.append(costs)
            weights.append(weight)
            n += len(some)
        if n == 0:
            raise ValueError("no sequences given: at least one example is needed")
        names, choices, final = labels.finished()
        for found in numbers.pieces(np.int32):
            folder.append("rows", final[found])
    rows.finish()
    return PackedSequences(packer, names, choices, n, rows.n_rows)


def _pieces(data: Iterable[Any]) -> Iterator[list[Any]]:
    members = iter(data)
    while some := list(islice(members, AT_ONCE)):
        yield some


def _columns(some: list[Any]) -> tuple[list[Any], list[Any], Array]:
    """Return inputs, outputs and weights."""
    for i, each in enumerate(some):
        if not isinstance(each, tuple | list) or not 2 <= len(each) <= 3:
            raise ValueError(f"sequence {i} is neither a pair (x, y) nor (x, y, weight); to pack lists, give zip(X, Y)")
    weights = np.array([each[2] if len(each) == 3 else 1.0 for each in some], dtype=np.float64)
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(wrong):
        raise ValueError(f"sequence {wrong[0]} has the weight {weights[wrong[0]]}; weights must be finite and >= 0")
    return [each[0] for each in some], [each[1] for each in some], weights


@contextmanager
def _counted_from(first: int) -> Iterator[None]:
    """Number the sequences in errors of a piece as in all of the data, not from 0."""
    try:
        yield
    except ValueError as error:
        message = COUNTED.sub(lambda found: f"sequence {int(found[1]) + first}", str(error))
        raise ValueError(message) from None


class _LabelNumbers:
    """A table that numbers labels and choices in the order in which they come."""

    def __init__(self) -> None:
        self.numbers: dict[Hashable, int] = {}

    def read(self, Y: list[Any], packed: Sequences) -> tuple[Labels, Array]:
        """Return the numbers of the labels of some sequences, concatenated, and the costs of their positions."""
        names: list[Sequence[Any]] = []
        costs = np.ones(int(packed.offsets[-1]))
        for i, y in enumerate(Y):
            given, its = (y.labels, y.costs) if isinstance(y, Weighted) else (y, None)
            begin, end = packed.offsets[i], packed.offsets[i + 1]
            if not hasattr(given, "__len__"):
                raise ValueError(f"sequence {i} has the labels {y!r}; expected a list, one per position")
            for what, length in (("labels", len(given)), ("costs", end - begin if its is None else len(its))):
                if length != end - begin:
                    raise ValueError(f"sequence {i} has {end - begin} positions but {length} {what}")
            if its is not None:
                costs[begin:end] = its
                if not (np.isfinite(costs[begin:end]).all() and (costs[begin:end] >= 0).all()):
                    raise ValueError(f"sequence {i}: position costs must be finite and >= 0")
            names.append(given)
        return self._numbered(names, len(costs)), costs

    def _numbered(self, names: list[Sequence[Any]], count: int) -> Labels:
        try:  # the usual case
            return np.fromiter(map(self.numbers.__getitem__, chain.from_iterable(names)), dtype=np.int32, count=count)
        except (KeyError, TypeError):
            pass
        for i, labels in enumerate(names):
            for t, label in enumerate(labels):
                key = plain(as_choice(label))
                if is_nan(key):
                    raise ValueError(
                        f"sequence {i}: the label at position {t} is NaN; put None where a label is not known"
                    )
                if key == frozenset():
                    raise ValueError(f"sequence {i}: the set of labels allowed at position {t} is empty")
                try:
                    self.numbers.setdefault(key, len(self.numbers))
                except TypeError as error:
                    raise ValueError(f"sequence {i}: a label cannot be used: {error}") from None
        keys = (self.numbers[plain(as_choice(label))] for label in chain.from_iterable(names))
        return np.fromiter(keys, dtype=np.int32, count=count)

    def finished(self) -> tuple[list[Hashable], list[Any], Labels]:
        """Return the labels in order, the choices after them, and the final number of each number given out here."""
        labels = in_order(named_labels(self.numbers))
        choices = [key for key in self.numbers if is_partial(key)]
        places = {key: k for k, key in enumerate([*labels, *choices])}
        return labels, choices, np.array([places[key] for key in self.numbers], dtype=np.int32)
