"""Fits that are stopped again and again, and what must be the same in the end."""

from __future__ import annotations

import numpy as np

OFTEN = "0.000001 passes"  # at every step


class Killed(BaseException):
    """As sudden as a signal, within a process."""


def killed_after(steps):
    """A callback that ends everything when so many steps were made and one more has begun."""
    made = 0

    def count(record):
        nonlocal made
        made += 1
        if made > steps:
            raise Killed

    return count


def left(path):
    """Return the files of a checkpoint; Tuned has one for each fold."""
    return {each.name: each.read_bytes() for each in path.parent.glob(f"{path.name}*") if each.is_file()}


def in_sessions(model, path, fit, steps=1, most=100_000, growth=1.0):
    """Fit in as many sessions as it takes, each of so many steps, the last of them being the end; how many there were.

    `model` is made anew for every session, by a function without arguments. A session that leaves no new checkpoint is
    followed by one of twice as many steps: of restarts side by side, only whole ones are kept. Otherwise the next one
    makes `growth` times as many steps; fits of many thousand steps end soon if this is more than 1.
    """
    for session in range(1, most + 1):
        before = left(path)
        fitted = model().set_params(checkpoint=path, checkpoint_every=OFTEN, callback=killed_after(steps))
        try:
            return fit(fitted), session
        except Killed:
            steps *= 2 if left(path) == before else growth
    raise AssertionError(f"no end after {most} sessions")


def told(model):
    """What two fits must have in common: weights, certificate and history, but for seconds."""
    found = {"w": np.array(model.w_), "risk": model.solution_.risk}
    certificate = model.certificate_
    if certificate is not None:
        found |= {name: value for name, value in vars(certificate).items() if "seconds" not in name}
    found["history"] = [{name: value for name, value in line.items() if name != "seconds"} for line in model.history_]
    found["rounds"] = [each._replace(seconds=0.0) for each in getattr(model, "rounds_", [])]
    return found


def assert_same(model, other):
    """To the last bit."""
    one, two = told(model), told(other)
    assert one.keys() == two.keys()
    for name, value in one.items():
        if isinstance(value, np.ndarray):
            assert value.tobytes() == two[name].tobytes(), name
        else:
            assert repr(value) == repr(two[name]), name
