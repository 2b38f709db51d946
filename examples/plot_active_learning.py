"""
Which strings should be labelled next?
======================================

Labels cost time. Active learning asks a model, trained on few labelled sequences, which of the others it is least
certain about, and these are labelled next. Here 400 strings of handwritten digits have no labels at first; the curves
compare three orders of labelling them, by the number of digits that somebody has labelled.
"""

import matplotlib.pyplot as plt
import numpy as np

import maxmargin as mm

plt.style.use(mm.plotting.STYLE)

X, Y, X_test, Y_test = mm.datasets.digit_strings(n_train=400, n_test=300)
BUDGETS = [50, 100, 150, 200, 300, 400, 600, 800]


def curve(order, seed):
    """Return the share of wrong digits of new strings after every number of labelled digits."""
    rng = np.random.default_rng(seed)
    free, labelled, errors = rng.permutation(len(X)).tolist(), [], []
    coming = list(free)
    for budget in BUDGETS:
        for i in coming:
            if sum(len(Y[k]) for k in labelled) >= budget:
                break
            labelled.append(i)
            free.remove(i)
        model = mm.SequenceLabeler(C=30, random_state=0).fit([X[i] for i in labelled], [Y[i] for i in labelled])
        errors.append(1 - model.score(X_test, Y_test))
        if order == "random":
            coming = rng.permutation(free).tolist()
        else:
            chosen = mm.active.next_to_label(model, [X[i] for i in free], 50, by="margin", diverse=order == "diverse")
            coming = [free[k] for k in chosen]
    return errors


# %%
# Every order starts with the same random strings, and is repeated with four starts.

NAMES = {"random": "random order", "margin": "smallest margin first", "diverse": "small margin, and diverse"}
errors = {order: np.mean([curve(order, seed) for seed in range(4)], axis=0) for order in NAMES}
for order, each in errors.items():
    print(f"{NAMES[order]:26}", " ".join(f"{100 * error:5.1f}" for error in each))

fig, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
for order, each in errors.items():
    ax.plot(BUDGETS, each, "o-", label=NAMES[order])
ax.set(xlabel="labelled digits", ylabel="wrong digits of new strings", ylim=(0, None))
ax.yaxis.set_major_formatter(lambda share, _: f"{100 * share:.0f}%")
ax.legend(frameon=False, loc="upper right")

# %%
# Asking the model saves about a third of the labels until 3% of the digits are wrong, and less and less later, when the
# difficult strings of the pool are labelled. That strings should also differ from each other hardly matters here,
# because the pool has no near copies. A random order has an advantage of its own: a random sample can also be used to
# estimate errors, which a sample of difficult strings cannot.

plt.show()
