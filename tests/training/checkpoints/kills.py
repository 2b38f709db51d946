"""Processes that train are killed (SIGKILL) at random moments, and others go on from their checkpoints.

    python tests/training/checkpoints/kills.py TRIALS SEED

Every trial is a process of its own that is killed, and another that goes on to the end; what that has learnt must be,
to the last bit, what a process has learnt that nobody disturbed. Prints a line for every trial that is not alike, and
how many were. Processes are forked, so that moments fall into training and not into imports.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import tempfile
import time
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

import numpy as np
from digest_groups import data
from estimators.problems import Threshold, choices
from training.checkpoints.sessions import told

import maxmargin as mm
from maxmargin import solvers
from maxmargin.counting import AllSubsets

CERTIFIED = ("bcfw", "n_slack", "one_slack", "bundle", "sampled_cuts")
ONLINE = ("perceptron", "subgradient")


def fitted(model, X, Y):
    return [model.fit(X, Y)]


def subsets(n=60):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 8))
    return X, [frozenset(np.flatnonzero(x[:7] + rng.standard_normal(7) > 0).tolist()) for x in X]


def unscaled(n=60):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 6)) * 10.0 ** np.arange(-2, 4)
    return X, (X[:, 0] * 100 + X[:, 5] / 1000 + 0.5 * rng.standard_normal(n) > 0).astype(int)


def problems():
    """name -> (a function that makes the estimator, its data, what trains)."""
    X, Y = mm.datasets.digit_strings(n_train=60, n_test=1)[:2]
    words = data.tagged(60)
    table, images, few = data.table(400), data.images(300), data.chains(40)
    hidden = few[0], data.hidden_labels(few[1])
    found = {f"digits {s}": (lambda s=s: mm.SequenceLabeler(C=100.0, solver=s, tol=1e-4), (X, Y)) for s in CERTIFIED}
    found |= {f"digits {s}": (lambda s=s: mm.SequenceLabeler(C=100.0, solver=s, max_passes=15), (X, Y)) for s in ONLINE}
    found |= {
        f"likelihood {s}": (
            lambda s=s: mm.SequenceLabeler(C=10.0, solver=s, tol=1e-6, objective="likelihood"),
            (X, Y),
        )
        for s in ("lbfgs", "exponentiated_gradient")
    }
    found |= {
        f"classes {s}": (lambda s=s: mm.MulticlassSVC(C=100.0, solver=s, tol=1e-5, max_passes=200), table)
        for s in CERTIFIED
    }
    found |= {
        f"own task {s}": (lambda s=s: mm.StructuredSVM(Threshold(), C=50.0, solver=s, tol=1e-4), choices(80))
        for s in ("bcfw", "one_slack")
    }
    found |= {
        "words": (lambda: mm.SequenceLabeler(C=10.0, forbidden="BIO", tol=1e-5), words),
        "slack rescaling": (lambda: mm.SequenceLabeler(C=10.0, rescaling="slack", tol=1e-3), few),
        "squared": (lambda: mm.SequenceLabeler(C=10.0, slack="l2", tol=1e-3), few),
        "bounds": (lambda: mm.SequenceLabeler(C=10.0, bounds={"transitions": (0, None)}, tol=1e-4), few),
        "unscaled": (lambda: mm.MulticlassSVC(C=100.0, tol=1e-4, max_passes=300), unscaled()),
        "kernel classes": (lambda: mm.MulticlassSVC(C=10.0, kernel="rbf", tol=1e-4), images),
        "kernel cuts": (lambda: mm.MulticlassSVC(C=10.0, kernel="rbf", solver="one_slack", tol=1e-2), data.images(100)),
        "kernel blocks": (lambda: mm.SequenceLabeler(C=10.0, kernel="rbf", tol=1e-3), data.chains(20)),
        "ordinal": (lambda: mm.OrdinalSVC(C=10.0, tol=1e-4), (table[0], table[1])),
        "relaxed graphs": (
            lambda: mm.GraphLabeler(C=5.0, method="relaxation", max_passes=15),
            data.graphs(extra=14, alike=0.1),
        ),
        "clusters": (
            lambda: mm.Clusterer(C=5.0, linkage="correlation", method="relaxed", max_passes=15),
            data.clusters()[:2],
        ),
        "trees": (lambda: mm.Parser(C=10.0, tol=1e-3), data.sentences()),
        "hidden labels": (
            lambda: mm.SequenceLabeler(C=10.0, solver=solvers.CCCP(restarts=3, tol=1e-3)),
            hidden,
        ),
        "motifs": (lambda: mm.MotifFinder(length=8, restarts=2, background_order=0), data.planted(20)),
        "measure": (lambda: mm.MeasureSVC("f1", C=10.0, tol=1e-3), data.rare()),
        "counting": (lambda: mm.CountingPredictor(AllSubsets(7), solver="cg", kernel="rbf", alpha=1e-6), subsets()),
    }
    found = {name: (*each, fitted) for name, each in found.items()}
    found["path"] = (
        lambda: mm.SequenceLabeler(tol=1e-4),
        few,
        lambda model, X, Y: model.fit_path(X, Y, [0.1, 1.0, 10.0, 100.0]),
    )
    return found


def learnt(model):
    """What must be alike, as bytes."""
    if hasattr(model, "w_"):
        return repr({name: each.tobytes() if name == "w" else each for name, each in told(model).items()})
    certificate = {name: each for name, each in vars(model.certificate_).items() if "seconds" not in name}
    return repr(
        [None if each is None else each.tobytes() for each in (model.dual_coef_, model._weights_)] + [certificate]
    )


def train(problem, out, **options):
    """In this process: fit, and write what was learnt, or the error."""
    make, given, fit = problem
    try:
        found = [learnt(each) for each in fit(make().set_params(**options), *given)]
    except Exception as error:
        found = [f"{type(error).__name__}: {error}"]
    draft = out.with_suffix(".draft")
    draft.write_bytes(pickle.dumps(found))
    draft.rename(out)


def started(*args, **options):
    """A process that trains."""
    child = os.fork()
    if child:
        return child
    try:
        warnings.simplefilter("ignore")
        train(*args, **options)
    finally:
        os._exit(0)


def ended(child, within=None):
    """Wait for a process, or so many seconds; whether it has ended."""
    until = None if within is None else time.monotonic() + within
    while until is None or time.monotonic() < until:
        pid, _ = os.waitpid(child, 0 if until is None else os.WNOHANG)
        if pid:
            return True
        time.sleep(0.0005)
    return False


def trial(problem, seconds, folder, rng):
    """Kill one at a random moment, and go on; what was learnt, and when it was killed. None if it was too late."""
    checkpoint, out = folder / "checkpoint", folder / "out"
    options = {"checkpoint": checkpoint, "checkpoint_every": [0.005, "0.001 passes", "2 passes"][rng.integers(3)]}
    child = started(problem, out, **options)
    moment = float(rng.uniform(0.0, seconds))
    if ended(child, moment):
        return None
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    if out.exists():
        return None
    left = checkpoint.exists() or checkpoint.with_name("checkpoint.previous").exists()
    ended(started(problem, out, **options))
    return pickle.loads(out.read_bytes()), moment, left


def main(trials, seed=0, *prefixes):
    """How many trials were alike, of how many."""
    warnings.simplefilter("ignore")
    rng, alike, done, used = np.random.default_rng(int(seed)), 0, 0, 0
    chosen = {name: each for name, each in problems().items() if name.startswith(prefixes or "")}
    whole, seconds = {}, {}
    with tempfile.TemporaryDirectory() as main_folder:
        for name, problem in chosen.items():
            out = Path(main_folder) / name
            train(problem, out)  # here, so that forks need not load compiled code
            whole[name], began = pickle.loads(out.read_bytes()), time.monotonic()
            options = {"checkpoint": Path(main_folder) / f"{name} c", "checkpoint_every": "0.001 passes"}
            ended(started(problem, out, **options))
            seconds[name] = time.monotonic() - began
            assert pickle.loads(out.read_bytes()) == whole[name], f"{name} differs with a checkpoint"
            assert not whole[name][0].startswith(("ValueError", "TypeError", "TaskError")), (name, whole[name])
        names = list(chosen)
        while done < int(trials):
            name = names[done % len(names)]
            with tempfile.TemporaryDirectory() as folder:
                found = trial(chosen[name], 0.9 * seconds[name], Path(folder), rng)
            if found is None:
                continue
            done += 1
            result, moment, left = found
            used += left
            if result == whole[name]:
                alike += 1
            else:
                when = f"{moment:.3f} of {seconds[name]:.3f} s"
                print(f"{name}, killed after {when}: {result[0][:300]}", flush=True)
    print(f"{alike} of {done} alike; {used} of them had a checkpoint to go on from; {len(names)} problems", flush=True)
    return alike, done


if __name__ == "__main__":
    alike, done = main(*sys.argv[1:])
    sys.exit(alike != done)
