"""
Calibrated probabilities: a reliability diagram before and after
================================================================

A structural SVM gives scores, not probabilities. The scores define a distribution over all label sequences (that of a
conditional random field), but training for a margin does not determine their scale: the probabilities that follow from
the raw scores may be far too low or too high. One number, the temperature, puts the scale right. This example draws
reliability diagrams of both: the share of right labels against the probability that the model gave to them.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

import maxmargin as mm
from maxmargin.errors import Uncalibrated
from maxmargin.plotting import ReliabilityDisplay

plt.style.use(mm.plotting.STYLE)

# %%
# Strings of handwritten digits, with noise on the pixels so that a good share of them is read wrongly.

rng = np.random.default_rng(0)
X, Y, X_test, Y_test = mm.datasets.digit_strings(n_train=150, n_test=400)
X, X_test = ([x + 0.35 * rng.standard_normal(x.shape) for x in each] for each in (X, X_test))

# %%
# The same training twice. With ``calibrate=5`` it ends with a cross-validation in five folds, in which the temperature
# is chosen that makes the held-out strings most probable. Predicted labels are the same in both cases.

raw = mm.SequenceLabeler(C=30).fit(X, Y)
calibrated = mm.SequenceLabeler(C=30, calibrate=5).fit(X, Y)
print(f"right labels: {raw.score(X_test, Y_test):.1%} and {calibrated.score(X_test, Y_test):.1%}")
print(f"temperature: {calibrated.temperature_:.3f} instead of 1")

# %%
# A point is a bin of labels with similar probability; large points have many labels. Above the diagonal the model is
# right more often than it says (it is too modest), below it less often (too sure). The raw scores of this model are far
# too modest. After calibration the points lie close to the diagonal, and most labels have a probability near 1; the few
# labels in the bins on the left are not enough to measure their accuracy well. The error in the titles is the expected
# calibration error: the mean distance from the diagonal, weighted by the number of labels.

figure, axes = plt.subplots(1, 2, figsize=(7, 4.1), sharey=True)
with warnings.catch_warnings():
    warnings.simplefilter("ignore", Uncalibrated)  # it is what the left picture is about
    displays = [ReliabilityDisplay.from_estimator(model, X_test, Y_test) for model in (raw, calibrated)]
for display, ax, name in zip(displays, axes, ("Raw scores", "Calibrated"), strict=True):
    display.plot(ax)
    ax.set(title=f"{name}: error {100 * display.error:.1f} points", xlabel="predicted probability", ylabel="")
axes[0].set_ylabel("share of right labels")
plt.show()
