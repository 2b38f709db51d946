"""
Latent structural SVM: find a hidden pattern in signals
=======================================================

Signals are labelled by whether a certain pattern occurs in them. What it looks like, and where it is, nobody has said.
An output is a place (or none); the label shows only whether there is one. Training alternates between best places and
best weights, and ends in a local optimum: it begins at five different guesses.
"""

import matplotlib.pyplot as plt
import numpy as np

import maxmargin as mm
from maxmargin.plotting import RoundsDisplay
from maxmargin.solvers import CCCP

plt.style.use(mm.plotting.STYLE)
# sphinx_gallery_thumbnail_number = 2


class HiddenPattern(mm.Task):
    """x is a signal, y whether the pattern is in it; an output z is where it begins, or None."""

    latent = True
    width = 20

    def setup(self, X, Y):
        self.dim = self.width + 1

    def psi(self, x, z):
        return np.zeros(self.dim) if z is None else np.append(x[z : z + self.width], 1.0)

    def loss(self, y, z):
        return float(y != self.label(z))

    def label(self, z):
        return z is not None

    def argmax(self, w, x, y=None):
        z, score = self.best_place(w, x)
        gain = 0.0 if y is None else self.loss(y, z) - self.loss(y, None)
        return z if score + gain > 0 else None

    def complete(self, w, x, y):  # the best output that has the label y
        return self.best_place(w, x)[0] if y else None

    def best_place(self, w, x):
        scores = np.correlate(x, w[:-1], "valid") + w[-1]
        return int(np.argmax(scores)), scores.max()


# %%
# A short chirp in noise, in every other signal.

CHIRP = 2.5 * np.sin(np.linspace(0, 2.4, 20) ** 2 * np.pi) * np.hanning(20)


def signals(n, rng):
    X, Y, places = rng.standard_normal((n, 100)), np.arange(n) % 2 == 0, rng.integers(0, 80, n)
    for i in np.flatnonzero(Y):
        X[i, places[i] : places[i] + 20] += CHIRP
    return X, Y.tolist(), places


X, Y, _ = signals(200, np.random.default_rng(0))
X_test, Y_test, places = signals(500, np.random.default_rng(1))
model = mm.StructuredSVM(HiddenPattern(), C=100, solver=CCCP(inner="bcfw", restarts=5)).fit(X, Y)
print(model.certificate_)
found = model.task_.decode(model.w_, X_test)
right = [i for i, z in enumerate(found) if Y_test[i] and z is not None]
near = np.mean([abs(found[i] - places[i]) <= 5 for i in right])
print(f"{-model.score(X_test, Y_test):.1%} wrong labels; {near:.1%} of the patterns found are there, up to 5 steps")

# %%
# The lowest of the five runs is kept. No label says where the pattern begins, so that the window may sit some steps
# aside: the pattern is drawn where it fits the weights best.

figure, axes = plt.subplots(1, 2, figsize=(7, 3.6))
RoundsDisplay.from_estimator(model).plot(axes[0])
axes[0].get_legend().remove()
axes[0].legend(fontsize=8)
axes[0].set_title("Training")
pattern, weights = (curve / np.linalg.norm(curve) for curve in (CHIRP, model.w_[:-1]))
shift = int(np.argmax(np.correlate(weights, pattern, "full"))) - 19
axes[1].plot(np.arange(20) + shift, pattern, color="0.7", linewidth=5, label="pattern")
axes[1].plot(np.arange(20), weights, label="learnt weights")
axes[1].set(title="What was learnt", xlabel="step in the window", yticks=[], ylim=(-0.65, 0.95))
axes[1].legend(ncols=2, loc="upper center", columnspacing=1)

# %%
# Signals that were not seen in training: grey boxes are where the pattern is, the coloured part is where it was found.

figure, ax = plt.subplots(figsize=(7, 4))
for i, level in zip(right, (0, 9, 18, 27), strict=False):
    ax.axvspan(places[i], places[i] + 20, level / 40, (level + 8) / 40, color="0.88", zorder=0)
    ax.plot(X_test[i] + level + 4, color="0.55", linewidth=1)
    ax.plot(np.arange(100)[found[i] :][:20], X_test[i][found[i] :][:20] + level + 4, color="C0")
ax.set(title="Where the pattern is, and where it was found", xlabel="step", yticks=[], ylim=(0, 40))
plt.show()
