"""
The regularisation path
=======================

How large should C be? ``fit_path`` trains one model for every C, each started from the dual point of the one before: a
feasible dual point for one C is, scaled, a feasible one for the next.
"""

import time

import matplotlib.pyplot as plt
import numpy as np

import maxmargin as mm

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
# The error on training and test strings, the length of w, and what each model cost.

train_error = [1 - m.score(X, Y) for m in path]
test_error = [1 - m.score(X_test, Y_test) for m in path]
best = int(np.argmin(test_error))
print(f"lowest test error {test_error[best]:.2%} at C = {Cs[best]:.3g}")

fig, (left, middle, right) = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
left.plot(Cs, train_error, label="training strings")
left.plot(Cs, test_error, label="test strings")
left.axvline(Cs[best], color="0.7", linestyle=":", label="lowest test error")
left.set(ylabel="wrong digits", ylim=(0, 0.1), title="error")
left.yaxis.set_major_formatter(lambda share, _: f"{100 * share:.0f}%")
left.legend(frameon=False)
middle.plot(Cs, [np.linalg.norm(m.w_) for m in path])
middle.set(ylabel="‖w‖", title="size of the model")
right.plot(Cs, passes["path"], label="started from the model before")
right.plot(Cs, passes["alone"], label="started from zero")
right.set(ylabel="passes until the gap is 1%", title="cost")
right.legend(frameon=False)
for ax in (left, middle, right):
    ax.set(xscale="log", xlabel="C")
    ax.grid(alpha=0.25)
plt.show()
