"""A small set that needs no download, made of the digits that scikit-learn brings along."""

from __future__ import annotations

import numpy as np


def digit_strings(
    n_train: int = 100, n_test: int = 100, seed: int = 0
) -> tuple[list[np.ndarray], list[list[int]], list[np.ndarray], list[list[int]]]:
    """Strings of handwritten digits that mostly count upwards: ``(X_train, Y_train, X_test, Y_test)``.

    A string has 5 to 9 digits; each is its predecessor plus one (modulo ten) four times out of five and any
    digit otherwise, so that a model of neighbouring labels can do better than reading each digit alone. Every
    digit is shown by a real 8 x 8 image of that digit, scaled to [0, 1], drawn (with replacement) from the
    set that scikit-learn brings along; no image is used both for training and for testing. Needs no
    ``MAXMARGIN_DATA``.
    """
    # Imported here because it is the one loader that needs scikit-learn.
    from sklearn.datasets import load_digits

    images, digits = load_digits(return_X_y=True)
    images = images / 16.0
    rng = np.random.default_rng(seed)
    in_train = rng.random(len(digits)) < 0.5

    def strings(count: int, usable: np.ndarray) -> tuple[list[np.ndarray], list[list[int]]]:
        pools = [np.flatnonzero(usable & (digits == digit)) for digit in range(10)]
        X: list[np.ndarray] = []
        Y: list[list[int]] = []
        for _ in range(count):
            string = [int(rng.integers(10))]
            for _ in range(int(rng.integers(4, 9))):
                counts_on = rng.random() < 0.8
                string.append((string[-1] + 1) % 10 if counts_on else int(rng.integers(10)))
            X.append(images[[rng.choice(pools[digit]) for digit in string]])
            Y.append(string)
        return X, Y

    X_train, Y_train = strings(n_train, in_train)
    X_test, Y_test = strings(n_test, ~in_train)
    return X_train, Y_train, X_test, Y_test
