"""Train the models of digests.py twice, once in many sessions, and compare what was learnt.

    python tests/training/checkpoints/every_model.py STEPS PREFIX …

The first session makes so many steps and is stopped in the next; the following one continues from the checkpoint and makes
half as many steps again, so that fits of thousands of steps take tens of sessions.
"""

from __future__ import annotations

import sys
import tempfile
import time
import traceback
import warnings
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

import digests  # noqa: F401 - which registers all groups
from digest_groups.fits import GROUPS, Fits
from sklearn.base import clone
from training.checkpoints.sessions import assert_same, in_sessions


def stoppable(model):
    """Return whether a callback can end a session of this model; kills.py stops those of counting."""
    parameters = getattr(model, "get_params", dict)()
    return "checkpoint" in parameters and parameters.get("callback", model) is None


class SessionFits(Fits):
    """Every fit once at a stretch and once in sessions; `results` has how many there were, or what went wrong."""

    steps = 1

    def refit(self, label, model, data, answer, few, given):
        if stoppable(model):
            self.compare(label, model, lambda each: [each.fit(*data, **given)])

    def path(self, values, label="path", **changes):
        model, data, _, _, given = self._chosen(changes)
        if stoppable(model):
            self.compare(label, model, lambda each: each.fit_path(*data, values, **given))

    def warm(self, then, label="warm", **changes):
        pass

    def compare(self, label, model, train):
        assert label not in self.results, label
        try:
            whole = train(clone(model))
        except Exception:
            return  # which other tests look at
        with tempfile.TemporaryDirectory() as folder:
            try:
                parts, sessions = in_sessions(lambda: clone(model), Path(folder) / "checkpoint", train, self.steps, growth=1.5)
                for one, other in zip(whole, parts, strict=True):
                    assert_same(one, other)
                self.results[label] = sessions
            except Exception as error:
                if any(known in str(error) for known in ("cannot be hashed", "takes no checkpoint")):
                    return  # data with lambdas, and a path of MeasureSVC, which say so
                self.results[label] = f"{type(error).__name__}: {error}\n{traceback.format_exc(limit=-3)}"

    def partial(self, *args, **changes):
        pass

    def certify(self, *args, **changes):
        pass

    def unfinished(self, *args, **changes):
        pass

    def record(self, label, train):
        pass


def compared(name, steps):
    """Return, for every model of a group, the number of sessions, or a text that says what differs."""
    SessionFits.steps = steps
    found = {}
    GROUPS[name](partial(SessionFits, found))
    return found


def main(steps, *prefixes):
    """Print what differs in each group; return whether anything does."""
    warnings.simplefilter("ignore")
    wrong = {}
    for name in GROUPS:
        if name.startswith(prefixes or ""):
            start, found = time.perf_counter(), compared(name, int(steps))
            bad = {f"{name}/{label}": each for label, each in found.items() if not isinstance(each, int)}
            wrong |= bad
            print(f"{name}: {len(found)} models, {len(bad)} wrong, {time.perf_counter() - start:.1f} s", flush=True)
    for name, each in wrong.items():
        print(f"--- {name}: {each}")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
