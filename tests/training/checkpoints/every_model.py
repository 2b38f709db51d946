"""Trains the models of digests.py twice, once in many sessions, and says which do not end alike.

    python tests/checkpoints/every_model.py STEPS PREFIX …

A session makes so many steps and is stopped in the next; the next session goes on from the checkpoint.
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


class SessionFits(Fits):
    """Every fit once at a stretch and once in sessions; `results` has how many there were, or what went wrong."""

    steps = 1

    def refit(self, label, model, data, answer, few, given):
        parameters = getattr(model, "get_params", dict)()
        if "checkpoint" not in parameters or parameters["callback"] is not None:
            return
        self.compare(label, model, lambda each: [each.fit(*data, **given)])

    def path(self, values, label="path", **changes):
        model, data, _, _, given = self._chosen(changes)
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
                parts, sessions = in_sessions(lambda: clone(model), Path(folder) / "checkpoint", train, self.steps)
                for one, other in zip(whole, parts, strict=True):
                    assert_same(one, other)
                self.results[label] = sessions
            except Exception as error:
                if "cannot be hashed" in str(error):  # data with lambdas, which say so
                    return
                self.results[label] = f"{type(error).__name__}: {error}\n{traceback.format_exc(limit=-3)}"

    def partial(self, *args, **changes):
        pass

    def certify(self, *args, **changes):
        pass

    def unfinished(self, *args, **changes):
        pass

    def record(self, label, train):
        pass


def main(steps, *prefixes):
    """How many models were compared, and what was said of those that differ."""
    warnings.simplefilter("ignore")
    SessionFits.steps = int(steps)
    wrong, compared, sessions = {}, 0, 0
    for name, function in GROUPS.items():
        if name.startswith(prefixes or ""):
            found, start = {}, time.perf_counter()
            function(partial(SessionFits, found))
            bad = {f"{name}/{label}": each for label, each in found.items() if not isinstance(each, int)}
            wrong |= bad
            compared += len(found)
            sessions += sum(each for each in found.values() if isinstance(each, int))
            print(f"{name}: {len(found)} models, {len(bad)} wrong, {time.perf_counter() - start:.1f} s", flush=True)
    for name, each in wrong.items():
        print(f"--- {name}: {each}")
    print(f"{compared} models, {sessions} sessions, {len(wrong)} wrong")
    return compared, wrong


if __name__ == "__main__":
    sys.exit(bool(main(*sys.argv[1:])[1]))
