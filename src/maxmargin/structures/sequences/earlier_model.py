"""Checks that new sequences have the features and the labels of an earlier model."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from maxmargin.inputs.tokens.tokens import SequencePacker
from maxmargin.inputs.tokens.vocabulary import Vocabulary


def check_same_features(packer: SequencePacker, earlier: SequencePacker) -> None:
    """Raise a ValueError unless the features of new sequences are of the kind that the earlier model has."""
    if type(packer.vocabulary) is not type(earlier.vocabulary):
        raise ValueError(
            f"the earlier model has {_kind_of_features(earlier)}, the sequences have {_kind_of_features(packer)}; "
            "expected the same kind of features"
        )
    if not isinstance(packer.vocabulary, Vocabulary) and packer.n_features != earlier.n_features:
        raise ValueError(
            f"there are {packer.n_features} features; expected {earlier.n_features} as in the earlier model"
        )
    named = isinstance(packer.feature_names, list) and packer.vocabulary is None
    if named and packer.feature_names != earlier.feature_names:
        raise ValueError("the columns differ in name or order from the columns of the earlier model")


def check_known_labels(classes: Sequence[Hashable] | None, earlier: Sequence[Hashable]) -> None:
    """Raise a ValueError if `classes` is given and leaves out a label of the earlier model."""
    missing = [] if classes is None else [label for label in earlier if label not in set(classes)]
    if missing:
        raise ValueError(f"classes leaves out {missing[0]!r}, which the earlier model knows")


def _kind_of_features(packer: SequencePacker) -> str:
    if packer.vocabulary is None:
        return "columns of matrices"
    return "hashed features of tokens" if packer.hashed is not None else "named features of tokens"
