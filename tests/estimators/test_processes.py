"""One model in every process: whatever the hash seed, and through a pickle made elsewhere."""

import json
import os
import pickle
import subprocess
import sys

import pytest

SCRIPT = """
import hashlib, json, pickle, sys
import numpy as np
from maxmargin import MulticlassSVC, SequenceLabeler, StructuredSVM, tasks

rng = np.random.default_rng(0)
names = {
    "odd": [":", "\\\\", "\\t", "🙂"],
    "tuples": [("B", 1), ("I", 1), ("B", "x"), ("O",)],
    "mixed": ["a", 1, 2.5, ("a", 1)],
}
shown = [rng.integers(4, size=int(rng.integers(2, 7))) for _ in range(30)]
dicts = [[{f"w{k}": "x" * int(rng.integers(3)), "n": float(k), "s": [f"s{k}", "t"]} for k in x] for x in shown]
words = [[[f"w={k}", f"v={int(rng.integers(9))}", "b"] for k in x] for x in shown]

def mark(model, X):
    digest = hashlib.sha256(model.w_.tobytes() + repr(model.certificate_.dual).encode())
    return digest.hexdigest(), hashlib.sha256(repr(model.predict(X)).encode()).hexdigest()

marks = {}
for kind, labels in names.items():
    Y = [[labels[k] for k in x] for x in shown]
    for form, X in (("dicts", dicts), ("words", words)):
        for solver in ("bcfw", "one_slack", "subgradient", "perceptron"):
            model = SequenceLabeler(C=10.0, solver=solver, n_jobs=1 + (kind == "odd")).fit(X, Y)
            marks[f"{kind} {form} {solver}"] = mark(model, X)
labels = [{"a", "b", 1, ("c", 2)}, {"b", "c"}, "d", None]  # of several kinds, so that they cannot be sorted
choices = [[labels[k] for k in x] for x in shown]
for solver in ("bcfw", "one_slack"):
    marks[f"choices {solver}"] = mark(SequenceLabeler(C=10.0, solver=solver).fit(words, choices), words)
marks["features"] = model.task_.packer_.feature_names
model = MulticlassSVC(C=3.0).fit(np.concatenate([np.eye(4)[x] for x in shown]), np.concatenate(shown).astype(str))
marks["flat"] = hashlib.sha256(model.w_.tobytes()).hexdigest()
model = SequenceLabeler(C=10.0).fit(dicts, Y)
sys.stdout.buffer.write(json.dumps(marks).encode() + b"\\n" + pickle.dumps((model, dicts, model.predict(dicts))))
"""


def run(hash_seed):
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    result = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, check=False)
    assert result.stderr == b"", result.stderr.decode()
    marks, _, model = result.stdout.partition(b"\n")
    return json.loads(marks), model


@pytest.fixture(scope="module")
def runs():
    return [run(seed) for seed in ("0", "12345", "1")]


@pytest.mark.slow
def test_same_weights_for_every_hash_seed(runs):
    assert len(runs[0][0]) == 28
    assert all(marks == runs[0][0] for marks, _ in runs[1:])


@pytest.mark.slow
def test_pickles_from_other_processes(runs):
    for _, pickled in runs:
        model, X, found = pickle.loads(pickled)
        assert model.predict(X) == found
