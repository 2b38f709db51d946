"""Tasks whose processes are killed, as often as a test says: what executors must survive."""

import os
import signal
import time
from pathlib import Path

import numpy as np

from maxmargin.testing.executor_checks import Hidden, Plain


class Mortal:
    """Beside a task: whoever makes call k of argmax, for any k of `moments`, is killed, unless it is at home.

    Calls are counted in a folder that all processes see, so that a process in the place of another goes on.
    """

    def __init__(self, folder, moments, ending="killed", home=None):
        self.folder, self.moments, self.ending, self.home = folder, moments, ending, home

    def setup(self, X, Y):
        super().setup(X, Y)
        self.safe = self.home or os.getpid()

    def argmax(self, w, x, y=None):
        if os.getpid() != self.safe:
            k = self._count()
            if k in self.moments:
                Path(self.folder, f"{self.ending} {k}").touch()
                if self.ending == "killed":
                    os.kill(os.getpid(), signal.SIGKILL)
                time.sleep(3600 if self.ending == "stuck" else 0.5)
        return super().argmax(w, x, y)

    def _count(self):
        """The number of this call: whoever makes a file first has it."""
        k = getattr(self, "_last", 0)
        while True:
            k += 1
            try:
                Path(self.folder, f"call {k}").open("x").close()
            except FileExistsError:
                continue
            self._last = k
            return k

    def __getstate__(self):
        return {name: value for name, value in vars(self).items() if name != "_last"}


class MortalPlain(Mortal, Plain):
    pass


class MortalHidden(Mortal, Hidden):
    pass


def deaths(folder):
    """How many processes were killed."""
    return len(list(Path(folder).glob("killed *")))


def data(n=24, ballast=0):
    rng = np.random.default_rng(1)
    return [np.append(rng.integers(-2, 3, 4), np.zeros(ballast)) for _ in range(n)], rng.integers(0, 3, n).tolist()
