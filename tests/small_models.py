"""Fit a small model of every estimator, and print what it learns and predicts as JSON.

test_kernel_modes.py runs this in fresh interpreters, with kernels that are compiled in other ways or not at all.
"""

import json
import sys
import warnings

import numpy as np
from threadpoolctl import threadpool_limits


class Recorded:
    """An estimator that remembers the inputs of `fit`."""

    def __init__(self, model):
        self.model = model

    def fit(self, X, *others):
        self.X = X
        return self.model.fit(X, *others)


def small_models(ways=()):
    """Return {way: {"weights": list, "predictions": list or str}} of the fits in test_vocabulary.py, or of some."""
    from sklearn.base import clone
    from test_vocabulary import FITS

    results = {}
    with threadpool_limits(1):  # so that sums of BLAS have one order
        for way in ways or FITS:
            model, fit, _ = FITS[way]
            recorded = Recorded(clone(model))
            named = fit(recorded).weights_.values()
            weights = np.concatenate([each.values.ravel() for each in named])
            results[way] = {"weights": weights.tolist(), "predictions": plain(recorded.model.predict(recorded.X))}
    return results


def plain(predictions):
    """Return a list of numbers if the predictions are an array of these, otherwise their text."""
    if isinstance(predictions, np.ndarray) and predictions.dtype.kind == "f":
        return predictions.ravel().tolist()
    return repr(predictions)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps(small_models(sys.argv[1:])))
