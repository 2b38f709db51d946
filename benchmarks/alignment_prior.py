"""Few reference alignments: BLOSUM62 as it is, scores learnt from nothing, and with BLOSUM62 as the prior.

The parts are those of alignment.py, and Q on the validation part chooses: mode and gap costs of BLOSUM62; for the prior
also a number that is added to all its scores, which makes free gaps at the ends as dear as they should be; C. Pairs of
at most 18% identity are left out of training, or, where there are few, whichever is better.

Many values of C are compared on the same validation pairs, and the highest Q of them is partly luck. Without a prior it
is taken all the same. With it, it is taken if it is above that of the prior itself by more than one standard error of
the difference, pair by pair; otherwise nothing is learnt (C = 0). That rule was chosen, of two, with the validation and
the test part in each other's place: the other takes the least C within one standard error of the best.
"""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

import numpy as np
from rich.table import Table

from benchmarks.alignment import IDENTITIES, Part
from benchmarks.loaders import load_prefab4, load_substitution_matrix, prefab4_split
from benchmarks.timing import Report, cpu_seconds
from maxmargin import Aligner

PROBLEMS = ("prefab4-prior",)
Setting = tuple[float, float, float, str]  # what is added to all scores, gap costs, and the mode
SETTINGS: list[Setting] = list(product((0.0,), (8.0, 11.0, 14.0, 18.0), (0.5, 1.0, 2.0), ("overlap", "global")))
RAISED: list[Setting] = list(product((1.0, 2.0), (11.0, 14.0, 18.0), (0.0, 0.5), ("overlap",)))
CS = (1e-4, 1e-3, 0.01, 0.1, 1.0)
SIZES = (10, 30, 100)
OPTIONS: dict[str, Any] = {"unknown": "ignore", "tol": 3e-3, "max_passes": 100}


class Marked(NamedTuple):
    """A model with its Q of every validation pair; C is 0 where nothing was learnt."""

    C: float
    model: Aligner
    q: np.ndarray
    settings: str

    @property
    def mean(self) -> float:
        return float(self.q.mean())


def run(name: str, repeat: int, quick: bool, report: Report) -> Table:
    """Train on more and more pairs; nothing is repeated, because time is not the point."""
    pairs = load_prefab4()
    train, validation, test = (
        Part([(pairs[i].a, pairs[i].b) for i in index], [pairs[i].alignment for i in index])
        for index in (np.random.default_rng(0).permutation(prefab4_split()[0]), *prefab4_split()[1:])
    )
    if quick:
        validation, test = (Part(part.X[::10], part.Y[::10]) for part in (validation, test))
    matrix = load_substitution_matrix("BLOSUM62")

    def marked(C: float, model: Aligner, settings: str = "") -> Marked:
        return Marked(C, model, validation.q(model), settings)

    report("gap costs")
    published = max((marked(0.0, from_setting(matrix, each), told(each)) for each in SETTINGS), key=_mean)
    raised = max((marked(0.0, from_setting(matrix, each), told(each)) for each in RAISED), key=_mean)
    prior = max(published, raised, key=_mean)
    modes = dict.fromkeys((prior.model.mode, published.model.mode))
    table = Table(title=f"mean Q of {len(test.X)} test pairs of PREFAB 4")
    for heading in (
        "training pairs",
        published.settings,
        f"the prior: {prior.settings}",
        "learnt",
        "with the prior",
        "C, learnt",
        "C, with the prior",
        "CPU s",
    ):
        table.add_column(heading, justify="right")
    known = [f"{100 * test.q(each.model).mean():.1f}" for each in (published, prior)]
    for size in SIZES[:1] if quick else (*SIZES, len(train.X)):
        part, spent = Part(train.X[:size], train.Y[:size]), 0.0
        learnt, near = [], [prior]
        for least, mode in product(IDENTITIES if size < SIZES[-1] else IDENTITIES[1:], modes):
            seen = part.above(least)
            for drawn in (False, True):
                if drawn and mode != prior.model.mode:
                    continue
                report(f"{size} pairs, identity > {least}, {mode}, {'with' if drawn else 'without'} the prior")
                model = Aligner(mode, prior=prior.model if drawn else None, alphabet=prior.model.alphabet_, **OPTIONS)
                grid = CS if drawn else CS[2:]
                path, seconds = cpu_seconds(
                    lambda model=model, seen=seen, grid=grid: model.fit_path(seen.X, seen.Y, grid)
                )
                spent += seconds
                (near if drawn else learnt).extend(marked(each.C, each, f"{each.C:g}, {mode}") for each in path)
        chosen = (max(learnt, key=_mean), better_than(prior, near))
        cells = [f"{100 * test.q(each.model).mean():.1f}" for each in chosen]
        table.add_row(f"{size}", *known, *cells, chosen[0].settings, f"{chosen[1].C:g}", f"{spent:.0f}")
    table.caption = "The time is the sum over all trainings."
    return table


def better_than(prior: Marked, models: list[Marked]) -> Marked:
    """The best, if that is clear; the prior itself otherwise."""
    best = max(models, key=_mean)
    gained = best.q - prior.q
    return best if gained.mean() > gained.std() / np.sqrt(len(gained)) else prior


def from_setting(matrix: Any, setting: Setting) -> Aligner:
    """BLOSUM62 with a number added to all scores, gap costs and a mode."""
    more, gap_open, gap_extend, mode = setting
    scores = {
        (a, b): more + float(matrix.values[i, j])
        for i, a in enumerate(matrix.alphabet)
        for j, b in enumerate(matrix.alphabet)
    }
    return Aligner.from_matrix(scores, gap_open, gap_extend, mode, unknown="ignore")


def told(setting: Setting) -> str:
    more, gap_open, gap_extend, mode = setting
    return f"BLOSUM62{f' + {more:g}' if more else ''}, gaps {gap_open:g} and {gap_extend:g}, {mode}"


def _mean(each: Marked) -> float:
    return each.mean
