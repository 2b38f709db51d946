"""Identity: hashes by which a problem is recognised."""

from __future__ import annotations

from typing import Any, NamedTuple

from maxmargin.training.checkpoints.user_code import user_code


class Identity(NamedTuple):
    """Hashes of a problem, which are equal if a solution or a checkpoint of one problem belongs to the other.

    A dual point proves nothing about another problem, so only the same one may be continued.
    """

    data: str | None  # None if the data or the task cannot be hashed
    code: str  # the hash of the classes and functions of the user


def identity_of(*problem: Any, code: Any = ()) -> Identity:
    """Return the identity of a problem (task, data, weights, loss); `code` has further objects whose code matters."""
    import joblib

    try:
        data = str(joblib.hash(problem))
    except Exception:  # a task or data that cannot be pickled: every fit starts cold
        return Identity(None, "")
    return Identity(data, user_code(*problem, code))
