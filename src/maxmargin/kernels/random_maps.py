"""The fields of scikit-learn's random feature maps, for model files."""

from __future__ import annotations

import numpy as np
from sklearn.kernel_approximation import PolynomialCountSketch, RBFSampler

from maxmargin.base.files.fields import NumberArray, Real, Seed, Whole
from maxmargin.base.files.objects import Field, Sometimes, declare

__all__ = ["PolynomialCountSketch", "RBFSampler"]

declare(
    RBFSampler,
    {
        "gamma": Real(least=0),
        "n_components": Whole(1, 2**24),
        "random_state": Seed(),
        "n_features_in_": Whole(1),
        "_gamma": Sometimes(Real(least=0)),
        "random_weights_": NumberArray(float, "n_features_in_", "n_components"),
        "random_offset_": NumberArray(float, "n_components"),
        "_n_features_out": Whole("n_components", "n_components"),
        "_sklearn_version": Sometimes(Field()),
    },
)
declare(
    PolynomialCountSketch,
    {
        "gamma": Real(least=0),
        "degree": Whole(1, 2**10),
        "coef0": Real(least=0),
        "n_components": Whole(1, 2**24),
        "random_state": Seed(),
        "n_features_in_": Whole(1),
        "indexHash_": NumberArray(np.int64, "degree", None, least=0, below="n_components"),
        "bitHash_": NumberArray(np.int64, "degree", "indexHash_.shape.1"),
        "_n_features_out": Whole("n_components", "n_components"),
        "_sklearn_version": Sometimes(Field()),
    },
)
