"""
Six solvers for one objective: BCFW, cutting planes, subgradient
================================================================

All solvers minimise the same objective on the same data, so that one lower bound serves to judge all of them: how far
above the best proved bound is the model that each of them holds, pass after pass?
"""

import warnings

import matplotlib.pyplot as plt
from sklearn.exceptions import ConvergenceWarning

import maxmargin as mm
from maxmargin.plotting import GapDisplay

plt.style.use(mm.plotting.STYLE)

X, Y, X_test, Y_test = mm.datasets.digit_strings(n_train=100, n_test=300)
solvers = [name for name in mm.solvers.SOLVERS if name != "cccp"]  # which, without hidden parts, is its inner solver


def trained(solver, n, tol, max_passes):
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):  # who stops early is printed below
        return mm.SequenceLabeler(C=30, solver=solver, tol=tol, max_passes=max_passes).fit(X[:n], Y[:n])


for solver in solvers:
    trained(solver, 10, 1e-6, 20)  # compile before the clock starts

# %%
# The perceptron knows nothing of C and the margin: its objective is measured all the same, but only its test error is
# of interest. The others train until they have proved that their gap is at most 0.1%, or for 150 passes.

models = {}
for solver in solvers:
    models[solver] = trained(solver, 100, 1e-3, 20 if solver == "perceptron" else 150)
    certificate = models[solver].certificate_
    print(f"{solver:12s} test error {1 - models[solver].score(X_test, Y_test):.2%}  {certificate}")

# %%
# Every model's distance to the best bound that any of them has proved. Passes count the calls of the decoder, which is
# what costs time where decoding is slow; seconds also contain what a solver does between the calls. Lines join points
# that were measured; faint dots are what a solver estimates in between, which is free.

bound = max(model.certificate_.dual for model in models.values())
fig, axes = plt.subplots(1, 2, figsize=(7, 4.6), sharey=True)
for solver, model in models.items():
    if solver != "perceptron":
        display = GapDisplay.from_estimator(model, bound=bound)
        display.plot(axes[0], x="passes", label=solver)
        display.plot(axes[1], x="seconds", label=solver)
for ax, title in zip(axes, ("By decoder calls", "By the clock"), strict=True):
    ax.set(title=title, ylabel="")
    ax.get_legend().remove()
axes[0].set_ylabel("above the best lower bound")
fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
plt.show()
