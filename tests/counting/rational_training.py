"""Counting-based training in rational arithmetic: the exact objective of given coefficients, and its exact minimum.

Floating-point numbers are rational, and so are the moments of a set that is listed, so nothing is rounded.
"""

from __future__ import annotations

from fractions import Fraction
from math import lcm

import numpy as np

Row = list[Fraction]


def rational(array):
    """The entries of a matrix as rational numbers."""
    return [[Fraction(float(value)) for value in row] for row in np.atleast_2d(array)]


def dot(u, v):
    return sum((a * b for a, b in zip(u, v, strict=True) if a and b), Fraction(0))


def times(M, v):
    return [dot(row, v) for row in M]


def solved(M, b):
    """The solution of M x = b, by elimination without fractions (Bareiss)."""
    rows = []
    for row, right in zip(M, b, strict=True):
        common = lcm(*(value.denominator for value in (*row, right)))
        rows.append([int(value * common) for value in (*row, right)])
    n, last = len(rows), 1
    for k in range(n):
        pivot = next(i for i in range(k, n) if rows[i][k])
        rows[k], rows[pivot] = rows[pivot], rows[k]
        for i in range(k + 1, n):
            rows[i] = [
                0 if j < k else (rows[k][k] * rows[i][j] - rows[i][k] * rows[k][j]) // last for j in range(n + 1)
            ]
        last = rows[k][k]
    x = [Fraction(0)] * n
    for k in reversed(range(n)):
        x[k] = (rows[k][n] - sum(rows[k][j] * x[j] for j in range(k + 1, n))) / Fraction(rows[k][k])
    return x


class Quadratic:
    """J = λ‖f‖² + Σᵢ ½ fᵢᵀ Gᵢ fᵢ - ⟨fᵢ, tᵢ⟩, from a list of all outputs.

    several: Y[i] lists the correct outputs of example i. law : the weight of an output, if the set is not uniform.
    """

    def __init__(self, outputs, Y, lam, target, law=None):
        members = list(outputs.outputs())
        rows = [[Fraction(float(v)) for v in outputs.features(z)] for z in members]
        weights = [Fraction(1) if law is None else law(z) for z in members]
        total, d = sum(weights), len(rows[0])
        self.d, self.lam = d, Fraction(lam) / outputs.repeats
        mean = [sum(w * row[j] for w, row in zip(weights, rows, strict=True)) / total for j in range(d)]
        centred = [[a - m for a, m in zip(row, mean, strict=True)] for row in rows]
        S = [
            [sum(w * c[i] * c[j] for w, c in zip(weights, centred, strict=True)) / total for j in range(d)]
            for i in range(d)
        ]
        self.G, self.t, self.at_zero = [], [], Fraction(0)
        for right in Y:
            chosen = [members.index(y) for y in right]
            m, s = len(chosen), [sum(column) for column in zip(*(centred[k] for k in chosen), strict=True)]
            if target == "similarity":
                self.G.append([[m * value for value in row] for row in S])
                self.t.append(times(S, s))
                self.at_zero += sum(dot(centred[k], times(S, centred[k])) for k in chosen) / 2
                continue
            whole = [sum(column) for column in zip(*(rows[k] for k in chosen), strict=True)]
            several = Fraction(2, len(members)) if m > 1 else Fraction(0)
            self.G.append(
                [
                    [
                        m * S[i][j]
                        + sum(centred[k][i] * centred[k][j] for k in chosen)
                        - several * (m * sum(rows[k][i] * rows[k][j] for k in chosen) - whole[i] * whole[j])
                        for j in range(d)
                    ]
                    for i in range(d)
                ]
            )
            self.t.append(s)
            self.at_zero += Fraction(m, 2)

    def _loss(self, F):
        return sum(dot(f, times(G, f)) / 2 - dot(f, t) for f, G, t in zip(F, self.G, self.t, strict=True))

    def of_weights(self, X, W):
        """J of weights W (p, d) of inputs X (n, p)."""
        X, W = rational(X), rational(W)
        F = [[dot(x, column) for column in zip(*W, strict=True)] for x in X]
        return self.lam * sum(dot(row, row) for row in W) + self._loss(F)

    def of_coefficients(self, K, A):
        """J of coefficients A (n, d) of kernel values K (n, n)."""
        K, A = rational(K), rational(A)
        F = [[dot(k, column) for column in zip(*A, strict=True)] for k in K]
        return self.lam * sum(dot(a, f) for a, f in zip(A, F, strict=True)) + self._loss(F)

    def minimum(self, K):
        """The smallest J for the kernel matrix K, which is rational: J at the solution of 2λ aᵢ + Gᵢ fᵢ = tᵢ."""
        n, d = len(K), self.d
        M = [[Fraction(0)] * (n * d) for _ in range(n * d)]
        for i in range(n):
            for j in range(n):
                for a in range(d):
                    for b in range(d):
                        M[i * d + a][j * d + b] = K[i][j] * self.G[i][a][b]
        for k in range(n * d):
            M[k][k] += 2 * self.lam
        flat = solved(M, [value for t in self.t for value in t])
        A = [flat[i * d : i * d + d] for i in range(n)]
        F = [[dot(k, column) for column in zip(*A, strict=True)] for k in K]
        return -sum(dot(f, t) for f, t in zip(F, self.t, strict=True)) / 2
