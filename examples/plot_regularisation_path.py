"""
The regularisation path: how large should C be?
===============================================

``fit_path`` trains one model for every C, each started from the dual point of the one before: a
feasible dual point for one C is, scaled, a feasible one for the next.
"""

import time

import matplotlib.pyplot as plt
import numpy as np

import maxmargin as mm

plt.style.use(mm.plotting.STYLE)

X, Y, X_test, Y_test = mm.datasets.digit_strings(n_train=200, n_test=400)
Cs = np.logspace(-2, 3, 21)
mm.SequenceLabeler(tol=1e-6, max_passes=20).fit(X[:10], Y[:10])  # compile before the clock starts

# %%
# The whole path, and for comparison every model on its own. Both stop at the same proved gap.

began = time.perf_counter()
path = mm.SequenceLabeler(tol=1e-2).fit_path(X, Y, Cs)
warm_seconds = time.perf_counter() - began

began = time.perf_counter()
cold = [mm.SequenceLabeler(C=C, tol=1e-2).fit(X, Y) for C in Cs]
cold_seconds = time.perf_counter() - began

passes = {"path": [m.certificate_.passes for m in path], "alone": [m.certificate_.passes for m in cold]}
print(f"path: {sum(passes['path']):.0f} passes, {warm_seconds:.1f} s")
print(f"one by one: {sum(passes['alone']):.0f} passes, {cold_seconds:.1f} s")
print(f"largest relative gap on the path: {max(m.certificate_.relative_gap for m in path):.3%}")

# %%
# The error on training and test strings, and what each model cost. (Test strings are used to choose C here only to show
# where the lowest error is; :class:`maxmargin.Tuned` chooses C by cross-validation.)

train_error = [1 - m.score(X, Y) for m in path]
test_error = [1 - m.score(X_test, Y_test) for m in path]
best = int(np.argmin(test_error))
print(f"lowest test error {test_error[best]:.2%} at C = {Cs[best]:.3g}")

fig, (left, right) = plt.subplots(1, 2, figsize=(7, 3.9), sharex=True)
left.plot(Cs, 100 * np.array(train_error), "--", label="training strings")
left.plot(Cs, 100 * np.array(test_error), label="test strings")
left.plot(Cs[best], 100 * test_error[best], "C1o", markersize=9, label="lowest test error")
left.set(ylim=(0, 10), title="Wrong digits, %", xlabel="C", xscale="log")
left.legend()
right.plot(Cs, passes["path"], label="from the model before")
right.plot(Cs, passes["alone"], label="from zero")
right.set(title="Passes until the gap is 1%", xlabel="C", ylim=(0, 1.25 * max(passes["alone"])))
right.legend(title="started", loc="upper left", alignment="left")
plt.show()
